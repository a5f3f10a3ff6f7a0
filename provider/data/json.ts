/*
 * JSON as data and as text, in time linear in its length. No message quotes the text, because it may contain a secret.
 */

/** Properties by name: of a document, a request, a reply or a state. */
export type JsonObject = { [key: string]: unknown };

/** Whether this is a plain object. The test uses the constructor's name, so objects of another realm count too. */
export function isMapping(value: unknown): value is { [key: string]: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype.constructor?.name === "Object";
}

/** Compact JSON with sorted keys. Equal data has equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    isMapping(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

/** Whether JSON nests deeper than `most` levels. Tested before parsing, because the parser needs a hundred bytes for each level. */
export function isDeeper(json: string, most: number): boolean {
  if (json.length <= most) return false;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') isText = !isText;
    else if (isText) at += character === "\\" ? 1 : 0;
    else if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    if (depth > most) return true;
  }
  return false;
}

/** More levels than any reply has, but harmless to the parser. */
const MAX_REPLY_DEPTH = 20_000;

/** The error for JSON in which a mapping has a key twice. `JSON.parse` would silently drop the first value. */
export class RepeatedKey extends SyntaxError {
  constructor(readonly offset: number) {
    super("a key is there twice");
  }
}

/** @throws RepeatedKey if a mapping of this valid JSON has a key twice. */
function assertUniqueKeys(json: string): void {
  const open: Set<unknown>[] = [];
  for (const { 0: token, 1: key, index } of json.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")(?:\s*:)?|[{}[\]]/g)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token.endsWith(":")) {
      const keys = open.at(-1);
      // A key with escapes equals the same key without them.
      const name: unknown = key?.includes("\\") ? JSON.parse(key) : key?.slice(1, -1);
      if (keys?.has(name)) throw new RepeatedKey(index);
      keys?.add(name);
    }
  }
}

/** Like `JSON.parse`, but replaces lone surrogates in texts, and refuses a key that is there twice. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  if (isDeeper(text, MAX_REPLY_DEPTH)) throw new SyntaxError();
  const data = parsed(text);
  assertUniqueKeys(text);
  return data;
}

function parsed(text: string): unknown {
  // To visit every value takes longer than to parse the text, and hardly any text contains a lone surrogate.
  const mayHaveHalves = /\p{Surrogate}|\\u[dD][89a-fA-F]/u.test(text);
  if (!mayHaveHalves) return JSON.parse(text);
  const whole = (value: unknown) =>
    typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value;
  return JSON.parse(text, (_, value) => whole(value));
}

/** The data of JSON; undefined for any other text. */
export function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
