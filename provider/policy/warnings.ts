import { isMapping, type JsonObject } from "../api/json";
import { didYouMean, nearName, oneLine } from "../api/text";
import { derivedFromUrl } from "../api/url";
import { type Path, pathText, UNKNOWN } from "../endpoint/documents";
import {
  type ActionInfo,
  type ActionType,
  actionKeys,
  actions,
  type KeyInfo,
  type Keys,
  legacyPhases,
  type PhaseInfo,
  type PhaseName,
  type Protocol,
  phases,
  ruleKeys,
} from "./catalogue";
import { expressionWarnings } from "./expressions";

/*
 * Warnings of probable mistakes in a traffic policy. They never block, because the service may know more than the catalogue.
 * They contain places and names, those of misspelt actions and in expressions too, but no other value. Values that are not known yet are skipped.
 */

export interface PolicyWarning {
  /** The place in the policy; empty for the whole policy. */
  path: Path;
  /** The place in the text at the path, for an expression. */
  offset?: number;
  /** Follows the place in a sentence: `is missing`. */
  reason: string;
}

/** The known facts about the policy's endpoint. */
export interface PolicyTarget {
  url?: unknown;
  bindings?: unknown;
  /** Whether it is a cloud endpoint, whose policy must contain an action that answers. */
  isCloud?: boolean;
}

/** The most warnings. It bounds the time for a policy with many mistakes. */
const MOST_WARNINGS = 100;

/** The warnings for a policy, in the order of the policy. */
export function policyWarnings(
  policy: unknown,
  target: PolicyTarget = {},
  most = MOST_WARNINGS,
): PolicyWarning[] {
  const found: PolicyWarning[] = [];
  for (const warning of warningsIn(policy, endpointOf(target))) {
    found.push(warning);
    if (found.length === most) break;
  }
  return found;
}

/** A warning as one line. `place` is the name of the whole policy. */
export function warningText({ path, reason }: PolicyWarning, place: string, more = ""): string {
  return oneLine(`${path.length > 0 ? pathText(path) : place}${more} ${reason}`);
}

/**
 * The phase that a key of a policy names or probably means. For a phase of older policies, it is the one for requests or
 * responses. Undefined if the key does not resemble a phase.
 */
export function phaseMeant(name: string): string | undefined {
  if (Object.hasOwn(legacyPhases, name)) return legacyPhases[name]?.[0];
  return isPhase(name) ? name : nearName(name, called(allPhases));
}

/** Whether an action ends what it applies to. A forward ends what it forwards, whatever its `on_error`. */
export function endsTraffic(action: unknown, phase: PhaseName): boolean {
  const type = isMapping(action) ? action["type"] : undefined;
  return isAction(type) && infoOf(type).ends === "always" && infoOf(type).phases.includes(phase);
}

/** Whether an action can answer a request. An unknown action might. */
export function mayAnswer(type: unknown): boolean {
  return !isAction(type) || infoOf(type).ends !== undefined;
}

interface PolicyEndpoint {
  protocol?: Protocol;
  isInternal: boolean;
  isCloud: boolean;
}

function endpointOf({ url, bindings, isCloud = false }: PolicyTarget): PolicyEndpoint {
  const derived = typeof url === "string" && url !== UNKNOWN ? derivedFromUrl(url) : undefined;
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
    const reason = phase ? wrongPhase(phase, endpoint) : unknownPhase(name);
    if (reason) yield { path: [name], reason };
    // If a key does not resemble a phase, its value may be anything.
    if (phase || nearName(name, called(allPhases))) yield* warningsInRules(rules, [name], phase, endpoint);
  }
  if (endpoint.isCloud && !policyMayAnswer(policy, endpoint)) {
    const reason =
      "has no action that answers, such as forward-internal, custom-response or deny; a cloud endpoint needs one at the end";
    yield { path: [], reason };
  }
}

function unknownPhase(name: string): string {
  const successors = Object.hasOwn(legacyPhases, name) ? legacyPhases[name] : undefined;
  if (successors) return `is a phase from before November 2024; use ${successors.join(" or ")} instead`;
  return unknownName("phase", name, allPhases, `the phases are ${Object.keys(phases).join(", ")}`);
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
  endpoint: PolicyEndpoint,
): Warnings {
  if (isOpen(rules)) return;
  if (!Array.isArray(rules)) {
    if (phase) yield { path, reason: "must be a list of rules" };
    return;
  }
  const last = rules.findIndex((rule) => alwaysAnswers(rule, phase));
  for (const [index, rule] of rules.entries()) {
    const at = [...path, index];
    if (last >= 0 && index === last + 1)
      yield { path: at, reason: "never runs, because the rule before it always answers" };
    yield* warningsInRule(rule, at, phase, endpoint);
    yield* expressionWarnings(rule, at, phase);
  }
}

function* warningsInRule(
  rule: unknown,
  path: Path,
  phase: PhaseName | undefined,
  endpoint: PolicyEndpoint,
): Warnings {
  if (isOpen(rule)) return;
  if (isMapping(rule) && "type" in rule && !("actions" in rule)) {
    yield { path, reason: "is an action, but a rule is expected; write it as { actions: […] }" };
    return;
  }
  yield* warningsInObject(rule, path, ruleKeys, "a rule");
  const list = isMapping(rule) ? rule["actions"] : undefined;
  if (!Array.isArray(list)) return;
  const at = [...path, "actions"];
  if (list.length === 0) yield { path: at, reason: "is empty; a rule needs an action" };
  const last = list.findIndex((action) => ends(action, phase));
  for (const [index, action] of list.entries()) {
    if (last >= 0 && index === last + 1)
      yield { path: [...at, index], reason: "never runs, because the action before it always answers" };
    yield* warningsInAction(action, [...at, index], phase, endpoint);
  }
}

function* warningsInAction(
  action: unknown,
  path: Path,
  phase: PhaseName | undefined,
  { protocol }: PolicyEndpoint,
): Warnings {
  if (!isMapping(action)) return;
  const { type, config } = action;
  const at = [...path, "type"];
  if (!isAction(type)) {
    yield* warningsInObject(action, path, actionKeys, "an action");
    if (typeof type === "string" && type !== UNKNOWN) {
      const newer = "ignore this if the service now supports it";
      // A word that resembles no action could be a secret in the wrong place.
      const word = nearName(type, called(allActions)) ? `${JSON.stringify(type)} ` : "";
      yield { path: at, reason: word + unknownName("action", type, allActions, newer) };
    }
    return;
  }
  const info = infoOf(type);
  for (const name of Object.keys(action)) {
    if (Object.hasOwn(actionKeys, name)) continue;
    const reason = Object.hasOwn(info.keys, name)
      ? "belongs in config"
      : unknownName("key of an action", name, actionKeys, "an action has type and config");
    yield { path: [...path, name], reason };
  }
  if (phase && !info.phases.includes(phase)) {
    const reason = `is ${type}, which runs in ${info.phases.join(", ")}, not in ${phase}`;
    yield { path: at, reason };
  }
  if (protocol && info.protocols && !info.protocols.includes(protocol)) {
    const reason = `is ${type}, which is for ${info.protocols.join(" and ")} endpoints, not for ${protocol}`;
    yield { path: at, reason };
  }
  yield* warningsInObject(config ?? {}, [...path, "config"], info.keys, type);
}

/** @param owner The name of the object with these keys: `a rule`, `rate-limit`. */
function* warningsInObject(object: unknown, path: Path, keys: Keys, owner: string): Warnings {
  if (isOpen(object)) return;
  if (!isMapping(object)) {
    yield { path, reason: `must be a mapping${names(keys) && ` with ${names(keys)}`}` };
    return;
  }
  for (const [name, value] of Object.entries(object)) {
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (key) {
      // Most values are neither. Skipping them here halves the time.
      if (key.list || isMappingKind(key)) yield* warningsInValue(value, [...path, name], key, owner);
      else if (typeof value === "string") yield* warningsInText(value, [...path, name], key);
    } else {
      const known = names(keys) ? `${owner} has ${names(keys)}` : `${owner} takes none`;
      yield { path: [...path, name], reason: unknownName(`key of ${owner}`, name, keys, known) };
    }
  }
  for (const [name, key] of Object.entries<KeyInfo>(keys)) {
    if (isMissing(name, key, object))
      yield { path: [...path, name], reason: `is missing; ${owner} needs it` };
  }
}

/** Checks lists and mappings. An expression can take their place. */
function* warningsInValue(value: unknown, path: Path, key: KeyInfo, owner: string): Warnings {
  if (isOpen(value) || isExpression(value, key)) return;
  if (Array.isArray(value) && key.list) {
    if (!isMappingKind(key)) return;
    for (const [index, item] of value.entries()) yield* warningsInItem(item, [...path, index], key, owner);
  } else if (key.list === true) yield { path, reason: "must be a list" };
  else yield* warningsInItem(value, path, key, owner);
}

/** Finds texts that are surely mistakes, unlike an expression or a template's placeholder. The service checks other values. */
function* warningsInText(value: string, path: Path, key: KeyInfo): Warnings {
  if (key.isUrl && /^[\w.-]+(:\d+)?\/?$/.test(value) && value !== UNKNOWN)
    yield { path, reason: "has no scheme; write the whole URL of the endpoint, as in https://app.internal" };
  if ((key.kind === "integer" || key.kind === "number") && /^-?\d+(\.\d+)?$/.test(value))
    yield { path, reason: "is text, but must be a number; remove the quotes" };
}

function* warningsInItem(item: unknown, path: Path, key: KeyInfo, owner: string): Warnings {
  if (isOpen(item) || isExpression(item, key)) return;
  if (key.keys) yield* warningsInObject(item, path, key.keys, `${lastKeyOf(path)} of ${owner}`);
  else if (isMappingKind(key) && !isMapping(item)) yield { path, reason: "must be a mapping" };
}

const isMappingKind = ({ kind }: KeyInfo) => kind === "object" || kind === "map" || kind === "map of text";

const isExpression = (value: unknown, { cel }: KeyInfo) =>
  typeof value === "string" && (cel === true || value.includes("${"));

/** The last name in a path. */
const lastKeyOf = (path: Path) => path.findLast((part) => typeof part === "string") ?? "";

function isMissing(name: string, key: KeyInfo, object: JsonObject): boolean {
  const isGiven = (object[name] ?? undefined) !== undefined;
  return !isGiven && key.required === true && key.default === undefined;
}

/** Whether no later rule ever runs. */
function alwaysAnswers(rule: unknown, phase: PhaseName | undefined): boolean {
  const expressions = isMapping(rule) ? rule["expressions"] : undefined;
  const isForAll =
    (expressions ?? undefined) === undefined || (Array.isArray(expressions) && expressions.length === 0);
  return isForAll && actionsOf(rule).some((action) => ends(action, phase));
}

const actionsOf = (rule: unknown): unknown[] =>
  isMapping(rule) && Array.isArray(rule["actions"]) ? rule["actions"] : [];

/** Whether no later action ever runs. */
function ends(action: unknown, phase: PhaseName | undefined): boolean {
  if (!phase || !isMapping(action) || !endsTraffic(action, phase)) return false;
  if (!isAction(action["type"]) || !("on_error" in infoOf(action["type"]).keys)) return true;
  const { config } = action;
  // With `continue`, later actions run if the endpoint cannot be reached.
  return isMapping(config) && (config["on_error"] ?? "halt") === "halt";
}

/** Whether an action of the policy can answer. Unknown values, and values with another warning, might. */
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

/** Whether a value is missing or not known yet, so that it cannot be checked. */
const isOpen = (value: unknown) => value === undefined || value === null || value === UNKNOWN;

const isPhase = (name: string): name is PhaseName => Object.hasOwn(phases, name);
const isAction = (type: unknown): type is ActionType =>
  typeof type === "string" && Object.hasOwn(actions, type);
const infoOf = (type: ActionType): ActionInfo => actions[type];

/** `name, expressions and actions`; empty if there are no keys. */
function names(keys: Keys): string {
  const all = Object.keys(keys);
  const last = all.pop() ?? "";
  return all.length > 0 ? `${all.join(", ")} and ${last}` : last;
}

type Known = Readonly<Record<string, Pick<KeyInfo, "also">>>;
/** The names, each with the other names that people use. */
const called = (known: Known) => Object.entries(known).map(([name, { also = [] }]) => [name, ...also]);
const allPhases: Readonly<Record<string, PhaseInfo>> = phases;
const allActions: Readonly<Record<string, ActionInfo>> = actions;

function unknownName(what: string, name: string, known: Known, otherwise: string): string {
  return `is no ${what} known to this version; ${didYouMean(name, called(known)) ?? otherwise}`;
}
