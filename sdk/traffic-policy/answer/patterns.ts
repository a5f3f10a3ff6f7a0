import { notSimulated } from "./trace";

/* Runs patterns of RE2 in JavaScript, as far as both read them in the same way. Other constructs fail the request. */

/** The most characters of a pattern. JavaScript can need many seconds to compile a longer one, and nothing can stop it. */
const MAX_PATTERN_LENGTH = 1_000;
/** The most repetitions of a part, which is RE2's limit. Nested repetitions are multiplied. */
const MAX_REPETITIONS = 1_000;

/** The characters of RE2's \s. JavaScript's \s has more. */
const SPACE = "\\t\\n\\f\\r ";

/** Escapes of punctuation, and of three control characters. */
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

/** A construct in JavaScript's form. Outside brackets, JavaScript refuses to escape a sign without a special meaning. */
const inJavaScript = (construct: string) =>
  construct
    .replace(/\\([!"#%&',:;<=>@`~])/g, "$1")
    .replace(/^\\-$/, "-")
    .replace(/^\\s$/, `[${SPACE}]`)
    .replace(/^\\S$/, `[^${SPACE}]`)
    .replace(/^\[.*\]$/s, (list) => list.replace(/\\s/g, SPACE));

/** Translates a pattern of RE2 into JavaScript's form. A prefix `(?i)` or `(?s)` becomes a flag. */
function translatePattern(pattern: string): { source: string; flags: string } {
  if (pattern.length > MAX_PATTERN_LENGTH) notSimulated(`a pattern of over ${MAX_PATTERN_LENGTH} characters`);
  const [, letters = "", rest = ""] = /^(?:\(\?([is]+)\))?([\s\S]*)$/.exec(pattern) ?? [];
  let source = "";
  let before = "";
  /** The most repetitions of a part, and of the groups around it. Their product bounds how often a part repeats. */
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

/** All matches of a pattern of RE2 in a text. */
export function matchesOf(text: string, pattern: string): RegExpExecArray[] {
  const { source, flags } = translatePattern(pattern);
  // With \b and (?i), only JavaScript takes these two characters, forms of s and k, for letters of words.
  if (/\\b/.test(source) && flags.includes("i") && /[\u017f\u212a]/.test(text))
    notSimulated("a pattern with \\b and (?i) for this text");
  try {
    return [...text.matchAll(new RegExp(source, flags))];
  } catch (error) {
    if (error instanceof SyntaxError) notSimulated("a pattern that is none in JavaScript");
    throw error;
  }
}
