import * as pulumi from "@pulumi/pulumi";
import { policyReader } from "../../provider/data/index";
import { plainData } from "../plainData";
import type { TrafficPolicy } from "../policyRules";
import { warnOfPolicy } from "../programChecks";
import { programError, withProgramErrors } from "../programRun";
import { withVerifications } from "../traffic-policy/policy/index";
import { mergedConfig } from "./agentConfig";
import { policyToMerge } from "./webhookChecks";
import { WebhookVerification } from "./webhookVerification";

/**
 * Adds webhook verifications before a traffic policy's own actions on requests. The result is a policy for a `CloudEndpoint`:
 * it must contain an action that answers, and verification does not answer.
 *
 * ```ts
 * trafficPolicy: mergeTrafficPolicy(
 *   { on_http_request: [{ actions: [{ type: "forward-internal", config: { url: "https://hooks.internal" } }] }] },
 *   verification,
 * ),
 * ```
 *
 * @param policy The policy of the endpoint: an object, or text that holds JSON or YAML.
 * @param verification One or several verifications; they run in this order. An enforced verification without `expressions` must
 *   be the only one, because a request has the signature of at most one platform.
 * @returns The policy as data, always secret.
 * @throws RunError, through the output, for an invalid policy, for an empty list of verifications, if requests would need two
 *   signatures (the policy's own rules included), if nothing would be verified because an earlier rule ends every connection
 *   or request, and if rules are under another name of a phase.
 */
export function mergeTrafficPolicy(
  policy: pulumi.Input<TrafficPolicy | object | string>,
  verification: WebhookVerification | readonly WebhookVerification[],
): pulumi.Output<object> {
  const all: unknown[] = [verification].flat();
  const policies = pulumi.all(
    all.map((each) => (WebhookVerification.isInstance(each) ? each.trafficPolicy : undefined)),
  );
  return mergedOutput(policy, policies);
}

/**
 * The same as `mergeTrafficPolicy`, with the arguments that the function has in other languages, as `pulumi convert` writes it.
 *
 * @param args The policy, and the output `trafficPolicy` of each verification.
 * @returns The policy as data in the property `trafficPolicy`, always secret.
 * @throws RunError, through the output, as `mergeTrafficPolicy` does.
 */
export const mergeTrafficPolicyOutput = (args: {
  policy: pulumi.Input<TrafficPolicy | object | string>;
  verifications: pulumi.Input<pulumi.Input<string>[]>;
}): pulumi.Output<{ trafficPolicy: object }> =>
  pulumi.output({ trafficPolicy: mergedOutput(args.policy, pulumi.output(args.verifications)) });

function mergedOutput(
  policy: pulumi.Input<TrafficPolicy | object | string>,
  policies: pulumi.Output<(string | undefined)[]>,
): pulumi.Output<object> {
  // Data that contains itself has a text in that place, and ends no search.
  const plain = plainData(policy);
  const given = (pulumi.output(plain) as pulumi.Output<object | string>).apply((policy) =>
    withProgramErrors(() => policyToMerge(policy)),
  );
  // Checked here, because the result is secret.
  const doubts = warnOfPolicy("mergeTrafficPolicy", { trafficPolicy: plain }, undefined, policyReader(), {
    isPart: true,
  });
  void doubts.then((text) => {
    if (text) throw programError(text.replace(/^/gm, "mergeTrafficPolicy: "));
  });
  const result = pulumi
    .all([given, policies])
    .apply(([policy, policies]) =>
      withProgramErrors(() =>
        withVerifications(policy, policies, (warning) => void pulumi.log.warn(warning)),
      ),
    );
  return pulumi.secret(result);
}

/**
 * Merges the agent configurations of several webhook verifications into one file. Of several files, an agent would use only the
 * last list of endpoints.
 *
 * ```ts
 * export const agentConfig = mergeAgentConfigs(github.agentConfig, brex.agentConfig);
 * ```
 *
 * @param configs The outputs `agentConfig` of the verifications, all of the same `agentConfigVersion`.
 * @returns The file's text, always secret. It does not contain the agent's own token.
 * @throws RunError, through the output, if a verification has no `agent`, if versions differ, or if two names are equal.
 */
export function mergeAgentConfigs(...configs: pulumi.Input<string | undefined>[]): pulumi.Output<string> {
  return mergeAgentConfigsOutput({ configs }).agentConfig;
}

/**
 * The same as `mergeAgentConfigs`, with the arguments that the function has in other languages, as `pulumi convert` writes it.
 *
 * @returns The file's text in the property `agentConfig`, always secret.
 * @throws RunError, through the output, as `mergeAgentConfigs` does.
 */
export const mergeAgentConfigsOutput = (args: {
  configs: pulumi.Input<pulumi.Input<string | undefined>[]>;
}): pulumi.Output<{ agentConfig: string }> =>
  pulumi.secret(
    pulumi
      .output(args.configs)
      .apply((texts) => ({ agentConfig: withProgramErrors(() => mergedConfig(texts)) })),
  );
