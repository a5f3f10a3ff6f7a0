import { UserError } from "../../provider/data/index";
import { standInsIn } from "../../provider/endpoint/standIns";
import { mergeTrafficPolicy, policyData } from "../traffic-policy/policy/index";

/* The merge behind `mergeTrafficPolicy`, for Node programs and, in the plugin, for all others. */

/**
 * The policy with the rules of the verifications before its own.
 *
 * @param policies The policy of each verification, as JSON.
 * @throws UserError if they cannot be merged.
 */
export function mergedPolicy(
  policy: object | string,
  policies: readonly (string | undefined)[],
  warn: (warning: string) => void,
): object {
  const data = dataToMerge(policy);
  const verifications = policies.map((text) => {
    if (text !== undefined) return text;
    throw new UserError(
      "mergeTrafficPolicy: the second argument must be a WebhookVerification, or a list of them",
    );
  });
  return mergeTrafficPolicy(data, verifications, warn);
}

/** @throws UserError for text that is no policy, and for values that JSON cannot hold. */
export function dataToMerge(policy: object | string): object {
  const problems = standInsIn(policy).map((problem) => `mergeTrafficPolicy: the policy ${problem}`);
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  return policyData(policy);
}
