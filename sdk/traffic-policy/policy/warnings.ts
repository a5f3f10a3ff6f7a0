import { isMapping, type JsonObject } from "../../../provider/data/json";
import { missingValuesIn } from "../../../provider/data/missingValues";
import { type Path, pathText } from "../../../provider/data/paths";
import { closestName, didYouMean, oneLine } from "../../../provider/data/text";
import { derivedFromUrl } from "../../../provider/data/url";
import {
  ACTION_PAGES,
  type ActionInfo,
  type ActionType,
  actionKeys,
  actions,
  type KeyInfo,
  type Keys,
  type PhaseInfo,
  type PhaseName,
  type Protocol,
  phases,
  ruleKeys,
} from "./catalogue";
import { findingsInText } from "./expressions";

/*
 * Warns of probable mistakes in a traffic policy. Warnings never block, because the service may know more than the catalogue.
 * A warning contains places and names (of unknown actions, too), but no other value. Values that are not known yet are skipped.
 */

export interface PolicyWarning {
  /** The place in the policy; empty for the whole policy. */
  path: Path;
  /** The offset in the text at the path, for a mistake in an expression. */
  offset?: number;
  /** What is wrong, to follow the place in a sentence: `is missing`. */
  reason: string;
}

/** The known facts about the policy's endpoint. */
export interface PolicyTarget {
  url?: unknown;
  bindings?: unknown;
  /** Whether it is a cloud endpoint, whose policy must contain an action that answers. */
  isCloud?: boolean;
  /** Whether a value of the policy, or `url` or `bindings`, is not known yet. Default: all are known. */
  isUnknown?: (value: unknown) => boolean;
}

/** The symbol in place of a value that is not known yet. It passes every check. */
const UNKNOWN = Symbol("unknown");

/** The data with a symbol in place of each value that is not known yet. */
export function withUnknown(value: unknown, isUnknown: (value: unknown) => boolean): unknown {
  if (isUnknown(value)) return UNKNOWN;
  if (Array.isArray(value)) return value.map((item) => withUnknown(item, isUnknown));
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withUnknown(part, isUnknown)]));
}

/** The most warnings for a policy. The limit bounds the time for a policy with many mistakes. */
const MAX_WARNINGS = 100;

/** The warnings for a policy, in the order of the policy. */
export function policyWarnings(
  policy: unknown,
  target: PolicyTarget = {},
  most = MAX_WARNINGS,
): PolicyWarning[] {
  const { isUnknown = () => false } = target;
  return atMost(warningsIn(withUnknown(policy, isUnknown), endpointOf(target)), most);
}

/** The warnings for expressions that stand alone, without the rest of their rule. */
export function expressionWarnings(
  expressions: unknown,
  isUnknown: (value: unknown) => boolean,
  most = MAX_WARNINGS,
): PolicyWarning[] {
  const data = withUnknown(expressions, isUnknown);
  return atMost(warningsInValue(data, ["expressions"], ruleKeys.expressions, ""), most);
}

function atMost(warnings: Warnings, most: number): PolicyWarning[] {
  const found: PolicyWarning[] = [];
  for (const warning of warnings) {
    found.push(warning);
    if (found.length === most) break;
  }
  return found;
}

/** A warning as one line. `place` is the name of the whole policy. */
export function warningText({ path, reason }: PolicyWarning, place: string, more = ""): string {
  return oneLine(`${path.length > 0 ? pathText(path) : place}${more} ${reason}`);
}

/** The phase that a key of a policy names or probably means. Undefined if the key does not resemble a phase. */
export function intendedPhase(name: string): string | undefined {
  return isPhase(name) ? name : closestName(name, spellings(phases));
}

/** Whether an action of this phase answers or closes, so that no later action runs. It does not depend on `on_error`. */
export function endsTraffic(action: unknown, phase: PhaseName): boolean {
  const type = isMapping(action) ? action["type"] : undefined;
  return isAction(type) && infoOf(type).ends === "always" && infoOf(type).phases.includes(phase);
}

/** Whether an action of this type can answer a request. An unknown action might. */
export function mayAnswer(type: unknown): boolean {
  return !isAction(type) || infoOf(type).ends !== undefined;
}

interface PolicyEndpoint {
  protocol?: Protocol;
  isInternal: boolean;
  isCloud: boolean;
}

function endpointOf({ url, bindings, isCloud = false, isUnknown }: PolicyTarget): PolicyEndpoint {
  const derived = typeof url === "string" && !isUnknown?.(url) ? derivedFromUrl(url) : undefined;
  const isBound = Array.isArray(bindings) && bindings.includes("internal");
  const isInternal = isBound || /\.internal$/.test(derived?.publicUrl ?? "");
  const protocol = derived && { protocol: derived.proto as Protocol };
  return { isInternal, isCloud, ...protocol };
}

type Warnings = Generator<PolicyWarning, void>;

function* warningsIn(policy: unknown, endpoint: PolicyEndpoint): Warnings {
  if (!isMapping(policy)) return;
  for (const [name, rules] of Object.entries(policy)) {
    const phase = isPhase(name) ? name : undefined;
    const reason = phase ? wrongPhase(phase, endpoint) : unknownName("phase", name, phases);
    if (reason) yield { path: [name], reason };
    // If a key does not resemble a phase, its value may be anything.
    if (intendedPhase(name)) yield* warningsInRules(rules, [name], phase, endpoint);
  }
  if (endpoint.isCloud && !policyMayAnswer(policy, endpoint)) {
    const reason =
      "has no action that answers, such as forward-internal, custom-response or deny; a cloud endpoint needs one at the end";
    yield { path: [], reason };
  }
  // A missing value in a secret is an error, which other code reports.
  for (const { path, reason, isSecret } of missingValuesIn(policy)) if (!isSecret) yield { path, reason };
}

function wrongPhase(name: PhaseName, { protocol, isInternal }: PolicyEndpoint): string | undefined {
  if (protocol === undefined) return undefined;
  const { protocols, notInternal = [] }: PhaseInfo = phases[name];
  if (!protocols.includes(protocol))
    return `is no phase of ${protocol} endpoints, only of ${protocols.join(" and ")}`;
  if (isInternal && notInternal.includes(protocol)) return `is no phase of internal ${protocol} endpoints`;
  return undefined;
}

function* warningsInRules(
  rules: unknown,
  path: Path,
  phase: PhaseName | undefined,
  { protocol }: PolicyEndpoint,
): Warnings {
  if (isBlank(rules)) return;
  if (!Array.isArray(rules)) {
    if (phase) yield { path, reason: "must be a list of rules" };
    return;
  }
  for (const [index, rule] of rules.entries()) {
    const at = [...path, index];
    if (isMapping(rule) && "type" in rule && !("actions" in rule)) {
      yield { path: at, reason: "is an action, but a rule is expected; write it as { actions: […] }" };
      continue;
    }
    yield* warningsInObject(rule, at, ruleKeys, "a rule", phase);
    const list = isMapping(rule) ? rule["actions"] : undefined;
    if (!Array.isArray(list)) continue;
    if (list.length === 0) yield { path: [...at, "actions"], reason: "is empty; a rule needs an action" };
    for (const [place, action] of list.entries())
      yield* warningsInAction(action, [...at, "actions", place], phase, protocol);
  }
}

function* warningsInAction(
  action: unknown,
  path: Path,
  phase: PhaseName | undefined,
  protocol: Protocol | undefined,
): Warnings {
  if (!isMapping(action)) return;
  yield* warningsInObject(action, path, actionKeys, "an action");
  const { type, config } = action;
  const at = [...path, "type"];
  if (!isAction(type)) {
    if (typeof type !== "string") return;
    // The message names only text in the form of an action's name. Other text could be a secret in the wrong place.
    const isName = /^[a-z]+(-[a-z]+)*$/.test(type) || closestName(type, spellings(actions));
    const word = isName ? `${JSON.stringify(type)} ` : "";
    const newer = "ignore this if the service now supports it";
    yield { path: at, reason: word + unknownName("action", type, actions, newer) };
    return;
  }
  const info = infoOf(type);
  if (phase && !info.phases.includes(phase)) {
    const reason = `is ${type}, which runs in ${info.phases.join(", ")}, not in ${phase}`;
    yield { path: at, reason };
  }
  if (protocol && info.protocols && !info.protocols.includes(protocol)) {
    const reason = `is ${type}, which is for ${info.protocols.join(" and ")} endpoints, not for ${protocol}`;
    yield { path: at, reason };
  }
  if (info.isDeprecated)
    yield { path: at, reason: `is ${type}, which the service has deprecated; see ${ACTION_PAGES}${type}` };
  else if (isBlank(config) || isMapping(config))
    yield* warningsInObject(config ?? {}, [...path, "config"], info.keys, type, phase);
}

/** @param owner The name of the object with these keys: `a rule`, `rate-limit`. */
function* warningsInObject(
  object: unknown,
  path: Path,
  keys: Keys,
  owner: string,
  phase?: PhaseName,
): Warnings {
  if (isBlank(object)) return;
  if (!isMapping(object)) {
    yield { path, reason: `must be a mapping with ${listOf(keys)}` };
    return;
  }
  for (const [name, value] of Object.entries(object)) {
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (key?.deprecatedFor !== undefined) {
      const reason = `is the deprecated name of ${key.deprecatedFor}; write ${key.deprecatedFor}`;
      yield { path: [...path, name], reason };
    }
    if (key) yield* warningsInValue(value, [...path, name], key, owner, phase);
    else {
      const known = `${owner} ${listOf(keys) ? `has ${listOf(keys)}` : "takes none"}`;
      yield { path: [...path, name], reason: unknownName(`key of ${owner}`, name, keys, known) };
    }
  }
  for (const [name, key] of Object.entries<KeyInfo>(keys)) {
    const isNeeded = key.required === true && key.default === undefined;
    if (isNeeded && (object[name] ?? undefined) === undefined)
      yield { path: [...path, name], reason: `is missing; ${owner} needs it` };
  }
}

/** Checks a value, or each item of a list. An expression can take the place of a list or mapping. */
function* warningsInValue(
  value: unknown,
  path: Path,
  key: KeyInfo,
  owner: string,
  phase?: PhaseName,
): Warnings {
  if (isBlank(value)) return;
  const isOfMapping = key.kind === "object" || key.kind === "map" || key.kind === "map of text";
  if (Array.isArray(value) && key.list) {
    const { list: _, ...item } = key;
    for (const [index, one] of value.entries())
      yield* warningsInValue(one, [...path, index], item, owner, phase);
  } else if (typeof value === "string" && (value.includes("${") || !(isOfMapping || key.list === true))) {
    yield* warningsInText(value, path, key, phase);
  } else if (key.list === true) yield { path, reason: "must be a list" };
  else if (key.isCredentials) yield { path, reason: NO_CREDENTIALS };
  else if (key.isExpression && String(value) !== key.default)
    yield { path, reason: `is ${yamlKind(value)}, but an expression is text; put all of it in quotes` };
  else if (key.keys) {
    const name = path.findLast((part) => typeof part === "string");
    yield* warningsInObject(value, path, key.keys, `${name} of ${owner}`, phase);
  } else if (isOfMapping && !isMapping(value)) yield { path, reason: "must be a mapping" };
  else if (key.cel) yield* warningsInMap(value, path, key, phase);
}

const NO_CREDENTIALS = "must be name:password, with a password of 8 to 128 characters";

/** Checks the texts at any depth of a value whose keys are the user's. */
function* warningsInMap(value: unknown, path: Path, key: KeyInfo, phase?: PhaseName): Warnings {
  if (typeof value === "string") yield* warningsInText(value, path, key, phase);
  else if (value === null && key.kind === "map of text")
    yield { path, reason: "is null, but must be text; give it a value, or leave it out" };
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* warningsInMap(item, [...path, index], key, phase);
  else if (isMapping(value))
    for (const [name, part] of Object.entries(value)) yield* warningsInMap(part, [...path, name], key, phase);
}

/** Finds texts that are certainly mistakes. Expressions and templates' placeholders pass, and the service checks other values. */
function* warningsInText(text: string, path: Path, key: KeyInfo, phase?: PhaseName): Warnings {
  if (key.isInternalUrl && /^[\w.-]+(:\d+)?\/?$/.test(text))
    yield { path, reason: "has no scheme; write the whole URL of the endpoint, as in https://app.internal" };
  if (key.isInternalUrl && isNoInternalUrl(text))
    yield {
      path,
      reason:
        "is no internal endpoint; forward to one of your account, whose host ends with .internal, as in https://app.internal",
    };
  if ((key.kind === "integer" || key.kind === "number") && /^-?\d+(\.\d+)?$/.test(text))
    yield { path, reason: "is text, but must be a number; remove the quotes" };
  if (key.isCredentials && !text.includes("${") && !/^[^:]*:.{8,128}$/su.test(text))
    yield { path, reason: NO_CREDENTIALS };
  if (!key.cel && !key.isExpression) return;
  for (const finding of findingsInText(text, key.isExpression === true, phase)) yield { path, ...finding };
}

/** Whether a text is certainly the URL of no internal endpoint. A template may still fill in other texts. */
function isNoInternalUrl(url: string): boolean {
  const [, host] = /^\w+:\/\/([a-z\d.-]+|\[[a-f\d:]+\])(?::\d+)?(?:\/[\w./-]*)?$/.exec(url) ?? [];
  return host !== undefined && !host.endsWith(".internal");
}

/** Whether an action of the policy can answer. Unknown values might, and so might values that have another warning. */
function policyMayAnswer(policy: JsonObject, { protocol }: PolicyEndpoint): boolean {
  if (!Object.keys(policy).every(isPhase)) return true;
  return (["on_tcp_connect", "on_http_request"] as const).some((name) => {
    const { protocols }: PhaseInfo = phases[name];
    if (protocol && !protocols.includes(protocol)) return false;
    const rules = policy[name] ?? [];
    return !Array.isArray(rules) || rules.some(ruleMayAnswer);
  });
}

function ruleMayAnswer(rule: unknown): boolean {
  if (!isMapping(rule) || !Array.isArray(rule["actions"])) return true;
  return rule["actions"].some((action) => !isMapping(action) || mayAnswer(action["type"]));
}

/** The kind of value that YAML makes of an expression without quotes. */
const yamlKind = (value: unknown): string =>
  Array.isArray(value) ? "a list" : typeof value === "object" ? "a mapping" : `a ${typeof value}`;

/** Whether a value cannot be checked, because it is missing or not known yet. */
const isBlank = (value: unknown) => value === undefined || value === null || value === UNKNOWN;

const isPhase = (name: string): name is PhaseName => Object.hasOwn(phases, name);
const isAction = (type: unknown): type is ActionType =>
  typeof type === "string" && Object.hasOwn(actions, type);
const infoOf = (type: ActionType): ActionInfo => actions[type];

/** `name, expressions and actions`; empty if there are no keys. */
function listOf(known: Known): string {
  const all = currentNames(known).map(([name]) => name);
  const last = all.pop() ?? "";
  return all.length > 0 ? `${all.join(", ")} and ${last}` : last;
}

type Known = Readonly<Record<string, PhaseInfo | ActionInfo | KeyInfo>>;

const currentNames = (known: Known) =>
  Object.entries(known).filter(([, info]) => !("deprecatedFor" in info || "isDeprecated" in info));

/** The names, each followed by the wrong names that people use for it. */
const spellings = (known: Known) =>
  currentNames(known).map(([name, { misnamed = [] }]) => [name, ...misnamed]);

function unknownName(
  what: string,
  name: string,
  known: Known,
  otherwise = `the ${what}s are ${listOf(known)}`,
): string {
  return `is no ${what} known to this version${didYouMean(name, spellings(known), otherwise)}`;
}
