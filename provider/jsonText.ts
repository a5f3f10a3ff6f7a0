import { isDeeper, parseJson } from "./api/json";

/*
 * Parses JSON text, with the limits that it shares with YAML. The time is linear in the length of the text. No message quotes
 * the text, because it may contain a secret.
 */

/** A mistake at a place in a document. The path is for messages: `line 3`, `on_http_request[0].actions`. */
export interface Problem {
  path: string;
  reason: string;
}

/** The mistake in a text that cannot be parsed. */
export interface Unparsed {
  problem: Problem;
}

export type Parsed = { data: unknown } | Unparsed;

/** More than any policy needs, but harmless to a parser. */
export const LONGEST = 1_000_000;

/** More than any policy needs. Messages to the engine cannot carry thousands of levels. */
export const DEEPEST = 200;

export const TOO_LONG = `is longer than ${LONGEST} characters`;
export const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

/** The mistake of a number that would be another one on the wire. */
export const TOO_EXACT = "contains a number with more digits than can be kept";

/** The start of text that must be JSON. Other text is YAML. */
export const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);

/** Parses a JSON document. */
export function fromJson(text: string): Parsed {
  if (isDeeper(text, DEEPEST)) return problem("text", TOO_DEEP);
  try {
    const data = parseJson(text);
    const at = tooExact(text);
    return at === undefined ? { data } : problemAt(text, at, TOO_EXACT, "; write it as text");
  } catch {
    return problemAt(text, breakOf(text), "is not valid JSON");
  }
}

export const problem = (path: string, reason: string): Unparsed => ({ problem: { path, reason } });

/** A problem at a line and a column. */
export function problemAt(text: string, offset: number, reason: string, advice = ""): Unparsed {
  const before = text.slice(0, offset).split("\n");
  const line = `line ${before.length}`;
  return problem(line, `${reason} (${line}, column ${(before.at(-1)?.length ?? 0) + 1})${advice}`);
}

/** Whether JavaScript reads and writes a number without a change of its value. */
export function isKept(number: string): boolean {
  const value = Number(number);
  return /^0[xo]/.test(number) ? Number.isSafeInteger(value) : decimal(number) === decimal(String(value));
}

/** A decimal number in one spelling, without its sign: its digits without zeros at either end, and an exponent. */
function decimal(number: string): string | undefined {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^[-+]?(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?$/i.exec(number) ?? [];
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (digits[start] === "0") start++;
  while (end > start && digits[end - 1] === "0") end--;
  if (start === end) return "0";
  return `${digits.slice(start, end)}e${Number(exponent) + digits.length - end - fraction.length}`;
}

/** The position of the first number in valid JSON that JavaScript would change; undefined if there is none. */
function tooExact(json: string): number | undefined {
  // Numbers of up to fifteen digits, with an exponent of up to two, are always kept.
  if (!/[\d.]{16}|\de[-+]?\d{3}/i.test(json)) return undefined;
  for (const { 0: token, index } of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs)) {
    if (!token.startsWith('"') && !isKept(token)) return index;
  }
  return undefined;
}

/** A token with the space before it. Empty if there is none. */
const TOKEN =
  /[ \t\r\n]*([[\]{},:]|"[ !#-[\]-\u{10ffff}]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\u{10ffff}]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|)/uy;

/** For each state, the first characters of the tokens that may follow, and the state after each. */
const VALUE = { "[": "first item", "{": "first key", '"': "end", scalar: "end" };
const GRAMMAR: Record<string, Record<string, string>> = {
  value: VALUE,
  "first item": { ...VALUE, "]": "end" },
  "first key": { '"': "colon", "}": "end" },
  key: { '"': "colon" },
  colon: { ":": "value" },
  end: { ",": "next", "]": "end", "}": "end" },
};

/** The position of the first invalid token in text that is no JSON. The parser's error seldom has it. */
function breakOf(json: string): number {
  const open: string[] = [];
  let state = "value";
  for (TOKEN.lastIndex = 0; ; ) {
    const token = TOKEN.exec(json)?.[1] ?? "";
    const kind = /^["[\]{},:]/.exec(token)?.[0] ?? (token && "scalar");
    const next = GRAMMAR[state]?.[kind];
    const isClosed = kind === "]" || kind === "}" ? open.pop() === kind : next !== "next" || open.length > 0;
    if (next === undefined || !isClosed) return TOKEN.lastIndex - token.length;
    if (kind === "[" || kind === "{") open.push(kind === "[" ? "]" : "}");
    state = next !== "next" ? next : open.at(-1) === "]" ? "value" : "key";
  }
}
