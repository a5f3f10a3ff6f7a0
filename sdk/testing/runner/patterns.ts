import { runInNewContext } from "node:vm";
import { NotSimulated, refuse } from "./trace";

/* Patterns of RE2, as far as JavaScript reads them in the same way. */

/** The longest time for a pattern. RE2 needs time that is linear in the text; JavaScript's patterns can need far more. */
const PATTERN_MS = 1_000;

/** Syntax that RE2 lacks or reads differently: assertions and references, nested and POSIX classes, a class that begins with `]`. */
const NOT_RE2 =
  /\(\?(?!:|P?<[A-Za-z_]|[imsU]*\))|\(\?<[=!]|\\[1-9kcCQEpPxu]|\[\^?\]|\[\[?:|\[[^\]]*\[|\{[\d,]*\d{4}/;

/** How often the innermost part of nested repetitions repeats at most: 6 for `(a{2}b){3}`. */
function repetitions(pattern: string): number {
  const most = (text: string) =>
    Math.max(1, ...[...text.matchAll(/\{(?:\d+,)?(\d+),?\}/g)].map(([, count]) => Number(count)));
  const group = /\(([^()]*)\)(\{[\d,]+\})?/g;
  let [before, text] = ["", pattern.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]])*\]/g, "a")];
  while (text !== before) {
    before = text;
    text = text.replace(group, (_, inside: string, count = "") => `a{${most(inside) * most(count)}}`);
  }
  return most(text);
}

/** A pattern of RE2 as one of JavaScript, for what both have. The rest is refused. */
function translated(pattern: string): { source: string; flags: string } {
  const [, letters = "", rest = ""] = /^(?:\(\?([is]+)\))?([\s\S]*)$/.exec(pattern) ?? [];
  if (NOT_RE2.test(rest) || /\(\?[imsU]+\)/.test(rest))
    refuse("this pattern, which JavaScript reads in another way");
  if (repetitions(rest) > 1000) refuse("a pattern that repeats a part over 1000 times");
  let inClass = false;
  const source = rest.replace(/\\[\s\S]|\[|\]|\.|\(\?P</g, (part, at: number) => {
    if (part === "[" || part === "]") inClass = part === "[";
    if (part === ".") return inClass || letters.includes("s") ? part : "[^\\n]";
    if (inClass && /^\\[AbSz]$/.test(part)) return refuse(`a pattern with ${part} in a class`);
    // What it stands for would become the end of a range.
    if (
      inClass &&
      part === "\\s" &&
      (/[^[]-$/.test(rest.slice(at - 2, at)) || /^-[^\]]/.test(rest.slice(at + 2, at + 4)))
    )
      return refuse("a pattern with \\s next to a - in a class");
    if (part === "(?P<") return inClass ? part : "(?<";
    if (part === "\\A") return "(?<![\\s\\S])";
    if (part === "\\z") return "(?![\\s\\S])";
    if (part === "\\s") return inClass ? "\\t\\n\\f\\r " : "[\\t\\n\\f\\r ]";
    if (part === "\\S") return "[^\\t\\n\\f\\r ]";
    return /^\\[!"#%&',:;<=>@_`~]$/.test(part) || (part === "\\-" && !inClass) ? part.slice(1) : part;
  });
  return { source, flags: `gu${letters}` };
}

/** All matches, each with its groups. */
export function matchesOf(text: string, pattern: string): { index: number; groups: (string | null)[] }[] {
  const { source, flags } = translated(pattern);
  // JavaScript counts these as letters of words, because they are forms of s and k.
  if (/\\b/i.test(source) && flags.includes("i") && /[\u017f\u212a]/.test(text))
    refuse("a pattern with \\b and (?i) for this text");
  const script = "JSON.stringify([...text.matchAll(new RegExp(source, flags))].map(m => [m.index, ...m]))";
  try {
    const found = runInNewContext(script, { text, source, flags }, { timeout: PATTERN_MS });
    const matches: [number, ...(string | null)[]][] = JSON.parse(String(found));
    return matches.map(([index, ...groups]) => ({ index, groups }));
  } catch (error) {
    const code = typeof error === "object" && error && "code" in error && error.code;
    const how =
      code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
        ? `takes over ${PATTERN_MS} ms here`
        : "is no pattern of JavaScript";
    throw new NotSimulated(`a pattern that ${how}`);
  }
}
