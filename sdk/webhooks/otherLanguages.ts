import type { Webhooks } from "../../provider/plugin/functions";
import { withVerifications } from "../traffic-policy/policy/index";
import { mergedConfig } from "./agentConfig";
import { policyToMerge } from "./webhookChecks";

/**
 * What the plugin offers to programs in other languages. Only the component needs Pulumi's runtime, so only the first component
 * loads it.
 */
export const webhooks: Webhooks = {
  mergedPolicy: (policy, ...others) => withVerifications(policyToMerge(policy), ...others),
  mergedConfig,
  construct: async (...call) => {
    const { constructWebhookVerification } = await import("./construct.js");
    return constructWebhookVerification(...call);
  },
};
