import { numberedPhases, policyFromText } from "../../provider/endpoint/documents";
import { standInsIn } from "../../provider/endpoint/outputAsText";
import { mayAnswer as canAnswer, endsTraffic, phaseMeant } from "../../provider/policy/warnings";
import { UserError } from "../../provider/service/apiErrors";
import { isMapping, type JsonObject } from "../../provider/service/json";
import { oneLine } from "../../provider/service/text";

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
  const data = policyData(policy);
  assertPhaseNames(data);
  const own = rulesOf(data, "on_http_request");
  const ending = rulesOf(data, "on_tcp_connect").filter((rule) =>
    actionMappings(rule).some((action) => endsTraffic(action, "on_tcp_connect")),
  );
  if (policies.length === 0)
    throw new UserError(
      "mergeTrafficPolicy: the list of verifications is empty, so nothing would be verified",
    );
  const verifying = policies.flatMap((text, index) => verificationRules(text, index + 1));
  if (!ending.every(isForSome))
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
  return { ...data, on_http_request: rules };
}

/** The rules of a verification. No message quotes the text, because it may be a secret in the wrong place. */
function verificationRules(text: string | undefined, place: number): object[] {
  if (text === undefined)
    throw new UserError(
      "mergeTrafficPolicy: the second argument must be a WebhookVerification, or a list of them",
    );
  const parsed = policyFromText(text);
  const rules = "data" in parsed && isMapping(parsed.data) ? rulesOf(parsed.data, "on_http_request") : [];
  if (rules.some((rule) => actionMappings(rule).some(({ type }) => type === "verify-webhook"))) return rules;
  throw new UserError(
    `mergeTrafficPolicy: verification ${place} is not the trafficPolicy of a webhook verification`,
  );
}

/** @throws UserError for text that is no policy, and for values that are no data. */
export function policyData(policy: object | string): JsonObject {
  const fail = (...problems: string[]) => {
    throw new UserError(problems.map((problem) => `mergeTrafficPolicy: the policy ${problem}`).join("\n"));
  };
  const standIns = standInsIn(policy);
  if (standIns.length > 0) return fail(...standIns);
  const parsed = typeof policy === "string" ? policyFromText(policy) : { data: policy };
  if ("problem" in parsed) return fail(parsed.problem);
  if (!isMapping(parsed.data)) return fail("must be an object or text");
  const problem = numberedPhases(parsed.data);
  return problem === undefined ? parsed.data : fail(problem);
}

/** The service might run rules under another name of a phase before the verification, or not at all. */
function assertPhaseNames(policy: JsonObject): void {
  for (const [name, rules] of Object.entries(policy)) {
    const meant = phaseMeant(name);
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

/** Whether a verification follows an action that ends each of its requests. */
function isVerifiedTooLate(rules: readonly object[]): boolean {
  let areAllEnded = false;
  for (const rule of rules) {
    let areEnded: boolean = areAllEnded;
    for (const action of actionMappings(rule)) {
      if (areEnded && action["type"] === "verify-webhook") return true;
      areEnded ||= endsRequests(action);
    }
    if (!isForSome(rule)) areAllEnded = areEnded;
  }
  return false;
}

function hasAnswer(rule: object): boolean {
  return actionMappings(rule).some((action) => canAnswer(action["type"]));
}

/** Whether an enforced verification of every request stands beside another. Requests that a rule ends reach none after it. */
function needTwoSignatures(rules: readonly object[]): boolean {
  const ofEvery = rules.findIndex((rule) => !isForSome(rule) && enforced(rule).length > 0);
  const ending = rules.slice(0, ofEvery).findLastIndex((rule) => actionMappings(rule).some(endsRequests));
  return ofEvery >= 0 && rules.slice(ending + 1).flatMap(enforced).length > 1;
}

const enforced = (rule: object): JsonObject[] =>
  actionMappings(rule).filter(
    ({ type, config }) => type === "verify-webhook" && !(isMapping(config) && config["enforce"] === false),
  );

const endsRequests = (action: JsonObject): boolean => endsTraffic(action, "on_http_request");

const isForSome = (rule: object): boolean =>
  "expressions" in rule && Array.isArray(rule.expressions) && rule.expressions.length > 0;

const actionMappings = (rule: object): JsonObject[] =>
  "actions" in rule && Array.isArray(rule.actions) ? rule.actions.filter(isMapping) : [];
