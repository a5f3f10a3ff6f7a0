import { isDeeper, parseJson } from "./api/json";

/*
 * Parses JSON text in time linear in its length, with the limits that it shares with YAML. No message quotes the text, because
 * it may contain a secret.
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

export const tooLong = (most: number) => `is longer than ${most} characters`;
export const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

/** The mistake of a number that would be another one on the wire. */
export const INEXACT = "contains a number with more digits than can be kept";

const NO_JSON = "is not valid JSON";

/** The start of text that must be JSON. Other text is YAML. */
export const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);

/** Parses a JSON document. */
export function fromJson(text: string): Parsed {
  if (isDeeper(text, DEEPEST)) return problem("text", TOO_DEEP);
  try {
    const data = parseJson(text);
    // Numbers of up to fifteen digits, with an exponent of up to two, are always kept.
    const mayChange = /[\d.]{16}|\de[-+]?\d{3}/i.test(text);
    return (mayChange && firstMistake(text)) || { data };
  } catch {
    return firstMistake(text) ?? problem("text", NO_JSON);
  }
}

/** The first place where text is no JSON, or has a number that JavaScript would change. */
function firstMistake(json: string): Unparsed | undefined {
  const { visit }: typeof import("jsonc-parser") = require("jsonc-parser");
  let first: Unparsed | undefined;
  const stopAt = (offset: number, reason: string, advice = "") => {
    first = problemAt(json, offset, reason, advice);
    // After an unclosed text, the rest may nest too deeply.
    throw new SyntaxError();
  };
  const onLiteralValue = (value: unknown, offset: number, length: number) => {
    if (typeof value === "number" && !isKept(json.slice(offset, offset + length)))
      stopAt(offset, INEXACT, "; write it as text");
  };
  const onError = (_: unknown, offset: number) => stopAt(offset, NO_JSON);
  try {
    visit(json, { onError, onLiteralValue }, { disallowComments: true });
  } catch {}
  return first;
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
