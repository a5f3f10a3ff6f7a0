import { isMapping } from "../api/json";
import { type Path, UNKNOWN } from "../endpoint/documents";
import { type ActionInfo, actions, type Keys } from "./catalogue";
import { QUOTED, type Use } from "./cel";
import { examined } from "./examination";

/*
 * Warnings of probable mistakes in the expressions of a policy. Where the service's documentation contradicts itself or is silent,
 * there is no warning.
 */

export interface ExpressionWarning {
  path: Path;
  /** The place in the text at the path. */
  offset: number;
  reason: string;
}

/**
 * The warnings for the expressions of a rule.
 *
 * @param phase The phase of the rule, if it is known.
 */
export function* expressionWarnings(
  rule: unknown,
  path: Path,
  phase?: string,
): Generator<ExpressionWarning, void> {
  for (const { text, path: at, offset, isText } of textsIn(rule, path)) {
    const { findings, uses } = isText && !EXPRESSION_FIRST.test(text) ? NONE : examined(text);
    if (!isText) {
      const all = findings.length > 0 ? findings : missingInPhase(uses, phase);
      for (const { at: place, reason } of all) yield { path: at, offset: offset + place, reason };
    } else if (uses.length > 0 && findings.length === 0) {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
      yield { path: at, offset, reason: "is text, although it reads as an expression; write it in ${…}" };
    }
  }
}

const NONE: ReturnType<typeof examined> = { findings: [], uses: [] };

/** A text with an expression that the phase does not have. */
function missingInPhase(uses: readonly Use[], phase: string | undefined) {
  // Nothing is documented of the messages of a stream.
  if (phase === undefined || !PHASES.has(phase)) return [];
  const missing = uses.find(({ phases }) => phases && !phases.includes(phase));
  if (!missing) return [];
  const { name, at, isFunction } = missing;
  return [{ at, reason: `${isFunction ? "calls" : "uses"} ${name}, which does not exist in ${phase}` }];
}

const PHASES = new Set(["on_tcp_connect", "on_http_request", "on_http_response"]);

/** How a text begins that is meant as an expression. */
const EXPRESSION_FIRST =
  /^[\s!(]*(?:(?:conn|endpoint|req|res|time|vars|actions\.ngrok)\s*\.\s*[a-z]|(?:get|has)Re[qs][A-Z]\w+\()/;

/** A text that is an expression, or that could contain one. */
interface Text {
  text: string;
  path: Path;
  /** Where the expression begins in the text at the path. */
  offset: number;
  /** Whether it takes expressions in `${…}`, and contains none. */
  isText?: true;
}

/** The keys with expressions that are not in `${…}`. */
const WHOLE: Readonly<Record<string, string>> = {
  "rate-limit": "bucket_key",
  "http-request": "retry_condition",
};
const known: Readonly<Record<string, ActionInfo>> = actions;

function* textsIn(rule: unknown, path: Path): Generator<Text, void> {
  if (!isMapping(rule)) return;
  yield* texts(rule["expressions"], [...path, "expressions"], wholeText);
  if (!Array.isArray(rule["actions"])) return;
  for (const [index, action] of rule["actions"].entries()) {
    if (!isMapping(action)) continue;
    const type = String(action["type"]);
    const at = [...path, "actions", index, "config"];
    const keys = Object.hasOwn(known, type) ? known[type]?.keys : undefined;
    if (keys) yield* textsByKeys(action["config"], at, keys, type);
    else yield* texts(action["config"], at, embeddedTexts);
  }
}

function* textsByKeys(value: unknown, path: Path, keys: Keys, type?: string): Generator<Text, void> {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* textsByKeys(item, [...path, index], keys);
  else if (isMapping(value))
    for (const [name, part] of Object.entries(value)) {
      const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
      const at = [...path, name];
      if (type && WHOLE[type] === name) yield* texts(part, at, wholeText);
      else if (key?.cel || type === "set-vars") yield* texts(part, at, embeddedOrPlainTexts);
      else if (key?.keys) yield* textsByKeys(part, at, key.keys);
    }
}

type Reader = (text: string, path: Path) => Iterable<Text>;

function* texts(value: unknown, path: Path, read: Reader): Generator<Text, void> {
  if (typeof value === "string") {
    if (!value.includes(UNKNOWN)) yield* read(value, path);
  } else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* texts(item, [...path, index], read);
  else if (isMapping(value))
    for (const [name, part] of Object.entries(value)) yield* texts(part, [...path, name], read);
}

const wholeText: Reader = (text, path) => [{ text, path, offset: 0 }];

const embeddedOrPlainTexts: Reader = (text, path) =>
  text.includes("${") ? embeddedTexts(text, path) : [{ text, path, offset: 0, isText: true }];

/** A placeholder of the shell, which a pipeline may replace in a file. */
const PLACEHOLDER = /^[A-Z][A-Z0-9_]*$/;

/** The expressions in `${…}`. What a `${` without an end means is not documented. */
function* embeddedTexts(text: string, path: Path): Generator<Text, void> {
  let start = text.indexOf("${");
  while (start >= 0) {
    const offset = start + 2;
    const end = endOfBraces(text, offset);
    if (end === undefined) return;
    const inside = text.slice(offset, end);
    if (!PLACEHOLDER.test(inside)) yield { text: inside, path, offset };
    start = text.indexOf("${", end);
  }
}

/** The place of the brace that closes one before the place. After a quote that none closes, each brace counts. */
function endOfBraces(text: string, from: number): number | undefined {
  let tokens = new RegExp(`${QUOTED}|\\\\.|["'{}]`, "g");
  tokens.lastIndex = from;
  let depth = 1;
  for (let token = tokens.exec(text); token; token = tokens.exec(text)) {
    if (token[0] === "{") depth++;
    if (token[0] === "}" && --depth === 0) return token.index;
    if (token[0] === "'" || token[0] === '"') {
      tokens = /[{}]/g;
      tokens.lastIndex = token.index;
    }
  }
  return undefined;
}
