import { notSimulated } from "./trace";

/* Patterns of RE2: the constructs that JavaScript reads in the same way. All others are refused. */

/** To compile a huge pattern can take JavaScript many seconds, in which nothing can stop it. */
const MAX_PATTERN_LENGTH = 1_000;
/** RE2 refuses a part that repeats more often, with nested repetitions multiplied. */
const MAX_REPETITIONS = 1_000;

/** RE2's \s. JavaScript's has more characters. */
const SPACE = "\\t\\n\\f\\r ";

/** Escaped punctuation, and three characters of control. */
const ESCAPE = String.raw`\\[!-/:-@[-^\x60{-~tnr]`;
const IN_CLASS = String.raw`(?:[^\\[\]-]|${ESCAPE})`;

const CONSTRUCTS = new RegExp(
  [
    String.raw`(?<list>\[(?:\^(?!\])|(?![\^\]]))-?(?:\\[dws]|${IN_CLASS}(?:-${IN_CLASS})?)*-?\])`,
    String.raw`(?<open>\((?:\?:|(?!\?)))`,
    String.raw`(?<close>\))`,
    String.raw`(?<repetition>(?:[*+?]|\{(?<least>\d+)(?:,(?<most>\d*))?\})\??)`,
    String.raw`(?<one>[^\\[\](){}*+?]|\\[dDwWsSb]|${ESCAPE})`,
    String.raw`(?<refused>\(\?<?.?|\\.|[\s\S])`,
  ].join("|"),
  "gu",
);

/** A construct in JavaScript's form. Outside lists, JavaScript refuses the escape of a sign that has no meaning. */
const inJavaScript = (construct: string) =>
  construct
    .replace(/\\([!"#%&',:;<=>@`~])/g, "$1")
    .replace(/^\\-$/, "-")
    .replace(/^\\s$/, `[${SPACE}]`)
    .replace(/^\\S$/, `[^${SPACE}]`)
    .replace(/^\[.*\]$/s, (list) => list.replace(/\\s/g, SPACE));

/** A pattern of RE2 as one of JavaScript. A prefix `(?i)` or `(?s)` becomes a flag. */
function translated(pattern: string): { source: string; flags: string } {
  if (pattern.length > MAX_PATTERN_LENGTH) notSimulated(`a pattern of over ${MAX_PATTERN_LENGTH} characters`);
  const [, letters = "", rest = ""] = /^(?:\(\?([is]+)\))?([\s\S]*)$/.exec(pattern) ?? [];
  let source = "";
  let before = "";
  /** Their product is how often a part repeats at most. */
  let [ofParts, ofGroups] = [1, 1];
  for (const { 0: construct, groups: found = {} } of rest.matchAll(CONSTRUCTS)) {
    if (found["refused"]) notSimulated(`${construct} in a pattern`);
    const count = Number(found["most"] || found["least"] || 1);
    if (before === ")") ofGroups *= Math.max(1, count);
    else ofParts = Math.max(ofParts, count);
    before = construct;
    const isAny = construct === "." && !letters.includes("s");
    source += isAny ? "[^\\n]" : inJavaScript(construct);
  }
  if (ofParts * ofGroups > MAX_REPETITIONS)
    notSimulated(`a pattern that may repeat a part over ${MAX_REPETITIONS} times`);
  return { source, flags: `gu${letters}` };
}

/** All matches. */
export function matchesOf(text: string, pattern: string): RegExpExecArray[] {
  const { source, flags } = translated(pattern);
  // JavaScript counts these as letters of words, because they are forms of s and k.
  if (/\\b/.test(source) && flags.includes("i") && /[\u017f\u212a]/.test(text))
    notSimulated("a pattern with \\b and (?i) for this text");
  try {
    return [...text.matchAll(new RegExp(source, flags))];
  } catch (error) {
    if (error instanceof SyntaxError) notSimulated("a pattern that is none in JavaScript");
    throw error;
  }
}
