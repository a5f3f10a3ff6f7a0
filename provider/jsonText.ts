import { isDeeper, parseJson } from "./api/json";

/*
 * JSON as text, and what reading it has in common with reading YAML. Whatever the text holds, this takes time in proportion
 * to its length. Nothing quotes it, since it may hold a secret.
 */

/** Something wrong at a place in a document. The path is for people: `line 3`, `on_http_request[0].actions`. */
export interface Problem {
  path: string;
  reason: string;
}

/** The mistake of a text that contains no data. */
export interface Unparsed {
  problem: Problem;
}

export type Parsed = { data: unknown } | Unparsed;

/** More than any policy has, and less than what would take a parser's time or memory. */
export const LONGEST = 1_000_000;

/** More than any policy has; the messages to the engine cannot carry thousands. */
export const DEEPEST = 200;

export const TOO_LONG = `is longer than ${LONGEST} characters`;
export const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

/** What a number is refused with that would be another one on the wire. */
export const TOO_EXACT = "holds a number with more digits than can be kept";

/** Text that is JSON or nothing; any other is YAML. */
export const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);

/** The data of a document that is JSON. */
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

/** A problem that people find by its line and column. */
export function problemAt(text: string, offset: number, reason: string, advice = ""): Unparsed {
  const before = text.slice(0, offset).split("\n");
  const line = `line ${before.length}`;
  return problem(line, `${reason} (${line}, column ${(before.at(-1)?.length ?? 0) + 1})${advice}`);
}

/** Whether a number stays what it is where it is read into data and written again. */
export function isKept(number: string): boolean {
  const value = Number(number);
  return /^0[xo]/.test(number) ? Number.isSafeInteger(value) : decimal(number) === decimal(String(value));
}

/** A decimal number's value in one spelling, without its sign: its digits but for the zeros around them, and an exponent. */
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

/** Where valid JSON has a number that data would change; undefined where it has none. */
function tooExact(json: string): number | undefined {
  // Fifteen digits are always kept, as are two of an exponent.
  if (!/[\d.]{16}|\de[-+]?\d{3}/i.test(json)) return undefined;
  for (const { 0: token, index } of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs)) {
    if (!token.startsWith('"') && !isKept(token)) return index;
  }
  return undefined;
}

/** A token with the space before it; an empty one where there is none. */
const TOKEN =
  /[ \t\r\n]*([[\]{},:]|"[ !#-[\]-\u{10ffff}]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\u{10ffff}]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|)/uy;

/** What can follow: for each state the first characters that tokens can have there, and the state after each. */
const VALUE = { "[": "first item", "{": "first key", '"': "end", scalar: "end" };
const GRAMMAR: Record<string, Record<string, string>> = {
  value: VALUE,
  "first item": { ...VALUE, "]": "end" },
  "first key": { '"': "colon", "}": "end" },
  key: { '"': "colon" },
  colon: { ":": "value" },
  end: { ",": "next", "]": "end", "}": "end" },
};

/** Where text that is no JSON breaks: at the first token that cannot stand where it does. The parser's error seldom names the place. */
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
