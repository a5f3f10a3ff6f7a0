import { isMapping } from "../api/json";
import { DEEPEST, MOST_PROBLEMS, partsOf, pathText } from "./documents";

/*
 * Texts that languages and Pulumi's SDKs write in place of a value that is not text yet. The service would accept them, and a
 * preview would look right. No message quotes what is around them.
 */

const STAND_INS: readonly [pattern: RegExp, what: string][] = [
  [
    // The sentence of Node.js, Python, .NET and Java; Python's repr; Go's %s and %v.
    /Calling (\[to\w+\]|__str__) on an \[?Output|<pulumi\.output\.Output object|\*internal\.OutputState=|\{0x[\da-f]{9,16}\}/i,
    "an output used as text; use pulumi.interpolate or pulumi.jsonStringify (Node.js), Output.concat (Python), Output.Format (.NET), pulumi.Sprintf (Go), or apply",
  ],
  [/\[object Promise\]/, "a promise used as text, [object Promise]; write await before it"],
  [
    /\[object Object\]/,
    "an object used as text, [object Object]; use a property of it, or JSON.stringify(…)",
  ],
];

const standIn = (text: string) => STAND_INS.find(([pattern]) => pattern.test(text))?.[1];

/** The mistakes of an input with such texts in it, as sentences that follow its name. */
export function outputsAsText(value: unknown): string[] {
  const found: string[] = [];
  for (const [path, part] of partsOf(value)) {
    // The check of the document refuses more levels.
    if (path.length === DEEPEST || found.length === MOST_PROBLEMS) break;
    const place = pathText(path);
    const text = typeof part === "string" ? standIn(part) : undefined;
    if (text !== undefined) found.push(`contains ${place && `at ${place} `}${text}`);
    const key = isMapping(part) ? standIn(Object.keys(part).join("\n")) : undefined;
    // A path below such a key would quote it.
    if (key !== undefined) return [...found, `contains in a key ${place && `of ${place} `}${key}`];
  }
  return found;
}

/** The mistake of a normalized URL whose host is built from a missing value. */
export function missingInHost(url: string): string | undefined {
  if (!/^\w+:\/\/(?:[^:]*\.)?undefined(?:[.:]|$)/.test(url)) return undefined;
  return "has undefined as a part of its host, which JavaScript writes for a value that is missing; check the values that the url is built from";
}
