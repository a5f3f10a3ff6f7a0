import { isMapping } from "../api/json";
import { DEEPEST, type Path, pathText } from "./documents";

/*
 * Texts that languages and Pulumi's SDKs write in place of a value that is not text yet. The service would accept them, and a
 * preview would look right. No message quotes what is around them.
 */

const IN_TEMPLATE = "build the text with pulumi.interpolate`…`, or in .apply(…)";

/** What stands in place of a value, and what to write instead. */
const STAND_INS: readonly [pattern: RegExp, what: string][] = [
  // Node.js; .NET and Java have the same sentence with other names of the function.
  [
    /Calling \[toJSON\] on an \[Output/,
    "an output used as text, in JSON.stringify(…); use pulumi.jsonStringify(…)",
  ],
  [/Calling \[toString\] on an \[Output/, `an output used as text; ${IN_TEMPLATE}`],
  [/Calling \[ToString\] on an \[Output/, "an output used as text; use Output.Format(…), or .Apply(…)"],
  // Python.
  [
    /Calling __str__ on an Output\[T\]|<pulumi\.output\.Output object/,
    "an output used as text; use Output.concat(…), Output.format(…), or .apply(…)",
  ],
  // Go, with the verbs %s and %v.
  [/\*internal\.OutputState=|\{0x[0-9a-f]{9,16}\}/, "an output used as text; use pulumi.Sprintf(…)"],
  [/\[object Promise\]/, "a promise used as text, [object Promise]; write await before it"],
  [
    /\[object Object\]/,
    "an object used as text, [object Object]; use one of its properties, or JSON.stringify(…)",
  ],
];

/** Any of them. Nearly every text has none, and one pattern is quicker than all of them. */
const ANY = new RegExp(STAND_INS.map(([{ source }]) => source).join("|"));

/** The most mistakes that are reported of one input. */
const MOST = 20;

/** The mistakes of an input with such texts in it, as sentences that follow its name. */
export function stringifiedIn(value: unknown): string[] {
  const found: string[] = [];
  for (const sentence of search(value, [])) if (found.push(sentence) === MOST) break;
  return found;
}

function* search(value: unknown, path: Path): Generator<string, void> {
  if (typeof value === "string") {
    const what = standIn(value);
    if (what !== undefined) yield `contains${path.length > 0 ? ` at ${pathText(path)}` : ""} ${what}`;
  } else if (path.length === DEEPEST) {
    // The check of the document refuses it.
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* search(item, [...path, index]);
  } else if (isMapping(value)) {
    for (const [key, item] of Object.entries(value)) {
      const what = standIn(key);
      if (what === undefined) yield* search(item, [...path, key]);
      else yield `contains in a key${path.length > 0 ? ` of ${pathText(path)}` : ""} ${what}`;
    }
  }
}

const standIn = (text: string): string | undefined =>
  ANY.test(text) ? STAND_INS.find(([pattern]) => pattern.test(text))?.[1] : undefined;

/** The mistake of a normalized URL whose host is built from a missing value. */
export function missingInHost(url: string): string | undefined {
  if (!/^\w+:\/\/(?:[^:]*\.)?undefined(?:[.:]|$)/.test(url)) return undefined;
  return "has undefined as a part of its host, which JavaScript writes for a value that is missing; check the values that the url is built from";
}
