import * as pulumi from "@pulumi/pulumi";
import { isMapping, type JsonObject } from "../provider/api/json";
import { oneLine } from "../provider/api/text";
import { policyFromText } from "../provider/endpoint/documents";
import { mayAnswer as canAnswer, endsTraffic, phaseMeant } from "../provider/policy/warnings";
import type { TrafficPolicy } from "./policyRules";
import { headersAreChecked, warnOfHeaders } from "./preflight";
import { programError } from "./programRun";
import { WebhookVerification } from "./webhooks/webhookVerification";

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
 * @param verification One or several verifications; they run in this order. At most one rule of the result may verify and
 *   enforce without `expressions`, because a request has the signature of at most one platform.
 * @returns The policy as data, always secret.
 * @throws RunError, through the output, for an invalid policy, for an empty list of verifications, if two rules (including
 *   the policy's own) would refuse every request, if nothing would be verified because an earlier rule ends every connection or
 *   request, and if rules are under another name of a phase.
 */
export function mergeTrafficPolicy(
  policy: pulumi.Input<TrafficPolicy | object | string>,
  verification: WebhookVerification | readonly WebhookVerification[],
): pulumi.Output<object> {
  const all: unknown[] = [verification].flat();
  const policies = pulumi.all(
    all.map((each) => (WebhookVerification.isInstance(each) ? each.trafficPolicy : undefined)),
  );
  const given = (pulumi.output(policy) as pulumi.Output<object | string>).apply(policyData);
  // Each verification has checked its own expressions.
  void warnOfHeaders("mergeTrafficPolicy", given);
  return headersAreChecked(
    pulumi.secret(
      pulumi.all([given, policies]).apply(([policy, policies]) => mergedPolicy(policy, policies)),
    ),
  );
}

/**
 * The policy with the rules of the verifications before its own.
 *
 * @throws RunError if they cannot be merged.
 */
export function mergedPolicy(policy: object | string, policies: readonly (string | undefined)[]): object {
  const data = policyData(policy);
  assertPhaseNames(data);
  const own = rulesOf(data, "on_http_request");
  const ending = rulesOf(data, "on_tcp_connect").filter((rule) =>
    actionMappings(rule).some((action) => endsTraffic(action, "on_tcp_connect")),
  );
  if (policies.length === 0)
    throw programError(
      "mergeTrafficPolicy: the list of verifications is empty, so nothing would be verified",
    );
  const verifying = policies.flatMap((text) => rulesOf(verificationData(text), "on_http_request"));
  if ([...verifying, ...own].flatMap(demands).length > 1)
    throw programError(
      "mergeTrafficPolicy: two verifications of every request would refuse all requests, because no request is signed by two platforms; give each verification expressions that select its requests, such as req.url.path.startsWith('/brex'), or enforce: false",
    );
  if (!ending.every(isForSome))
    throw programError(
      "mergeTrafficPolicy: a rule of on_tcp_connect without expressions ends every connection before any request, so nothing would be verified; move it to on_http_request",
    );
  if (isVerifiedTooLate(own))
    throw programError(
      "mergeTrafficPolicy: a verify-webhook of the policy follows an action that ends every request, so it never runs; move it before that action",
    );
  if (ending.length > 0)
    void pulumi.log.warn(
      "mergeTrafficPolicy: a rule of on_tcp_connect ends the connections that its expressions select, before the verification; if it forwards them, their webhooks are not verified",
    );
  if (!own.some(hasAnswer))
    void pulumi.log.warn(
      `mergeTrafficPolicy: no action after the verification answers requests. That is right for an agent, which forwards them. A cloud endpoint needs an action such as forward-internal, custom-response or deny; without one, the service refuses the policy.`,
    );
  return { ...data, on_http_request: [...verifying, ...own] };
}

function verificationData(text: string | undefined): JsonObject {
  if (text !== undefined) return JSON.parse(text);
  throw programError(
    "mergeTrafficPolicy: the second argument must be a WebhookVerification, or a list of them",
  );
}

function policyData(policy: object | string): JsonObject {
  if (typeof policy !== "string") {
    if (isMapping(policy)) return policy;
    throw programError("mergeTrafficPolicy: the policy must be an object or text");
  }
  const parsed = policyFromText(policy);
  if ("problem" in parsed) throw programError(`mergeTrafficPolicy: the policy ${parsed.problem.reason}`);
  return parsed.data as JsonObject;
}

/** The service might run rules under another name of a phase before the verification, or not at all. */
function assertPhaseNames(policy: JsonObject): void {
  for (const [name, rules] of Object.entries(policy)) {
    const meant = phaseMeant(name);
    const hasNone = rules === null || rules === undefined || (Array.isArray(rules) && rules.length === 0);
    if (meant === undefined || meant === name || hasNone) continue;
    throw programError(
      `mergeTrafficPolicy: the policy has rules under ${oneLine(name, 100)}, which is no phase; move them to ${meant}`,
    );
  }
}

function rulesOf(policy: JsonObject, phase: "on_tcp_connect" | "on_http_request"): object[] {
  const rules = policy[phase] ?? [];
  if (Array.isArray(rules) && rules.every(isMapping)) return rules;
  throw programError(`mergeTrafficPolicy: the policy's ${phase} must be a list of rules`);
}

/** Whether a verification follows an action that ends each of its requests. */
function isVerifiedTooLate(rules: readonly object[]): boolean {
  let areAllEnded = false;
  for (const rule of rules) {
    let areEnded: boolean = areAllEnded;
    for (const action of actionMappings(rule)) {
      if (areEnded && action["type"] === "verify-webhook") return true;
      areEnded ||= endsTraffic(action, "on_http_request");
    }
    if (!isForSome(rule)) areAllEnded = areEnded;
  }
  return false;
}

function hasAnswer(rule: object): boolean {
  return actionMappings(rule).some((action) => canAnswer(action["type"]));
}

/** The verifications that every request must pass. */
function demands(rule: object): JsonObject[] {
  if (isForSome(rule)) return [];
  return actionMappings(rule).filter(({ type, config }) => {
    return type === "verify-webhook" && !(isMapping(config) && config["enforce"] === false);
  });
}

const isForSome = (rule: object): boolean =>
  "expressions" in rule && Array.isArray(rule.expressions) && rule.expressions.length > 0;

const actionMappings = (rule: object): JsonObject[] =>
  "actions" in rule && Array.isArray(rule.actions) ? rule.actions.filter(isMapping) : [];
