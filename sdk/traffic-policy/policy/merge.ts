import { isMapping, type JsonObject } from "../../../provider/data/json";
import { numberedPhases, policyFromText } from "../../../provider/data/parse";
import { oneLine } from "../../../provider/data/text";
import { UserError } from "../../../provider/data/userError";
import { mayAnswer as canAnswer, endsTraffic, intendedPhase } from "./warnings";

/**
 * A policy with the rules of webhook verifications before its own rules for requests: the work of `mergeTrafficPolicy`.
 *
 * @param verifications The policy of each verification, as JSON. They run in this order.
 * @param warn Called with each warning: if some traffic is not verified, or if no action answers.
 * @throws UserError if the policy is invalid, if nothing would be verified, or if requests would need two signatures.
 */
export function withVerifications(
  policy: JsonObject,
  verifications: readonly (string | undefined)[],
  warn: (warning: string) => void,
): JsonObject {
  assertPhaseNames(policy);
  const own = rulesOf(policy, "on_http_request");
  const ending = rulesOf(policy, "on_tcp_connect").filter((rule) =>
    actionMappings(rule).some((action) => endsTraffic(action, "on_tcp_connect")),
  );
  if (verifications.length === 0)
    throw new UserError(
      "mergeTrafficPolicy: the list of verifications is empty, so nothing would be verified",
    );
  const verifying = verifications.flatMap((one, index) => verificationRules(one, index + 1));
  if (!ending.every(hasExpressions))
    throw new UserError(
      "mergeTrafficPolicy: a rule of on_tcp_connect without expressions ends every connection before any request, so nothing would be verified; move it to on_http_request",
    );
  if (isVerifiedTooLate(own))
    throw new UserError(
      "mergeTrafficPolicy: a verify-webhook of the policy follows an action that ends every request, so it never runs; move it before that action",
    );
  const rules = [...verifying, ...own];
  if (needTwoSignatures(rules))
    throw new UserError(
      "mergeTrafficPolicy: a verification of every request would refuse the other's requests, because no request is signed by two platforms; give each verification expressions that select its requests, such as req.url.path.startsWith('/brex'), or enforce: false",
    );
  if (ending.length > 0)
    warn(
      "mergeTrafficPolicy: a rule of on_tcp_connect ends the connections that its expressions select, before the verification; if it forwards them, their webhooks are not verified",
    );
  if (!own.some(hasAnswer))
    warn(
      `mergeTrafficPolicy: no action after the verification answers requests. That is right for an agent, which forwards them. A cloud endpoint needs an action such as forward-internal, custom-response or deny; without one, the service refuses the policy.`,
    );
  return { ...policy, on_http_request: rules };
}

/** The rules of a verification. No message quotes it, because it may be a secret in the wrong place. */
function verificationRules(verification: string | undefined, place: number): object[] {
  const parsed = policyFromText(verification ?? "");
  const rules = "data" in parsed && isMapping(parsed.data) ? rulesOf(parsed.data, "on_http_request") : [];
  if (rules.some((rule) => actionMappings(rule).some(({ type }) => type === "verify-webhook"))) return rules;
  throw new UserError(
    `mergeTrafficPolicy: verification ${place} is no WebhookVerification, nor the trafficPolicy of one`,
  );
}

/** A policy as data. @throws UserError if it is not a policy. */
export function policyData(policy: object | string): JsonObject {
  const fail = (problem: string) => {
    throw new UserError(`mergeTrafficPolicy: the policy ${problem}`);
  };
  const parsed = typeof policy === "string" ? policyFromText(policy) : { data: policy };
  if ("problem" in parsed) return fail(parsed.problem);
  if (!isMapping(parsed.data)) return fail("must be an object or text");
  const problem = numberedPhases(parsed.data);
  return problem === undefined ? parsed.data : fail(problem);
}

/** @throws UserError for rules under a misspelt phase. The service might run them before the verification, or not at all. */
function assertPhaseNames(policy: JsonObject): void {
  for (const [name, rules] of Object.entries(policy)) {
    const meant = intendedPhase(name);
    const hasNone = rules === null || rules === undefined || (Array.isArray(rules) && rules.length === 0);
    if (meant === undefined || meant === name || hasNone) continue;
    throw new UserError(
      `mergeTrafficPolicy: the policy has rules under ${oneLine(name, 100)}, which is no phase; move them to ${meant}`,
    );
  }
}

function rulesOf(policy: JsonObject, phase: "on_tcp_connect" | "on_http_request"): object[] {
  const rules = policy[phase] ?? [];
  if (Array.isArray(rules) && rules.every(isMapping)) return rules;
  throw new UserError(`mergeTrafficPolicy: the policy's ${phase} must be a list of rules`);
}

/** Whether a verification never runs, because an action before it ends all its requests. */
function isVerifiedTooLate(rules: readonly object[]): boolean {
  let areAllEnded = false;
  for (const rule of rules) {
    let areEnded: boolean = areAllEnded;
    for (const action of actionMappings(rule)) {
      if (areEnded && action["type"] === "verify-webhook") return true;
      areEnded ||= endsRequests(action);
    }
    if (!hasExpressions(rule)) areAllEnded = areEnded;
  }
  return false;
}

function hasAnswer(rule: object): boolean {
  return actionMappings(rule).some((action) => canAnswer(action["type"]));
}

/** Whether some requests would need two signatures: a rule verifies every request, and another rule verifies some of them. */
function needTwoSignatures(rules: readonly object[]): boolean {
  const ofEvery = rules.findIndex((rule) => !hasExpressions(rule) && enforcedVerifications(rule).length > 0);
  const ending = rules.slice(0, ofEvery).findLastIndex((rule) => actionMappings(rule).some(endsRequests));
  return ofEvery >= 0 && rules.slice(ending + 1).flatMap(enforcedVerifications).length > 1;
}

const enforcedVerifications = (rule: object): JsonObject[] =>
  actionMappings(rule).filter(
    ({ type, config }) => type === "verify-webhook" && !(isMapping(config) && config["enforce"] === false),
  );

const endsRequests = (action: JsonObject): boolean => endsTraffic(action, "on_http_request");

const hasExpressions = (rule: object): boolean =>
  "expressions" in rule && Array.isArray(rule.expressions) && rule.expressions.length > 0;

const actionMappings = (rule: object): JsonObject[] =>
  "actions" in rule && Array.isArray(rule.actions) ? rule.actions.filter(isMapping) : [];
