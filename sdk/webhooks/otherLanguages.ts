import type { Webhooks } from "../../provider/plugin/functions";
import { mergedConfig } from "./agentConfig";
import { mergedPolicy } from "./mergedPolicy";

/**
 * What the plugin offers to programs in other languages. Only the component needs Pulumi's runtime, so only the first component
 * loads it.
 */
export const webhooks: Webhooks = {
  mergedPolicy,
  mergedConfig,
  construct: async (...call) => {
    const { constructWebhookVerification } = await import("./construct.js");
    return constructWebhookVerification(...call);
  },
};
