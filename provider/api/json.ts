/*
 * JSON as data and as text. Nothing quotes the text, since it may hold a secret, and all of it takes time in proportion to
 * its length.
 */

/** A policy, or metadata, as data. */
export type JsonObject = { [key: string]: unknown };

/** An object of plain data. Judged by name, so that objects of another realm (a test runner's) count too. */
export function isMapping(value: unknown): value is { [key: string]: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype.constructor?.name === "Object";
}

/** Compact JSON with sorted keys: two documents are the same where this is. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    isMapping(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

/** Text that can travel. */
export const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, "\ufffd");

/** Before it is parsed, since the parser takes a hundred bytes for each level. */
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

/** More than any reply has, and less than what would take the parser's memory. */
const DEEPEST_REPLY = 20_000;

/** As `JSON.parse`, but all text can travel, which half of a surrogate pair cannot. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  if (isDeeper(text, DEEPEST_REPLY)) throw new SyntaxError();
  // To look at every value takes longer than to parse it, and hardly any text has such a half, or a whole pair escaped.
  const mayHaveHalves = /\p{Surrogate}|\\u[dD][89a-fA-F]/u.test(text);
  return JSON.parse(
    text,
    mayHaveHalves ? (_, value) => (typeof value === "string" ? wellFormed(value) : value) : undefined,
  );
}
