import { isMapping, MAX_DEPTH, MAX_PROBLEMS, partsOf, pathText } from "../data/index";
import { SIGNATURE } from "../pulumi/sentinels";

/*
 * Stand-ins for values: texts that languages, Pulumi's SDKs and the resource's class write for a value that is no data, and objects
 * of Pulumi's protocol. The service would accept a stand-in, and a preview would look right. No message quotes the text around it.
 */

/** What no other text contains: the sentence of Node.js, Python, .NET and Java; Python's repr; Go's %s. */
const OUTPUT =
  /Calling (\[to\w+\]|__str__) on an \[?Output|<pulumi\.output\.Output object|\*internal\.OutputState=/i;

/** Go's %v of an output. */
const POINTER = /^\{0x[\da-f]{9,16}\}$/i;

/** Stands for a value that JSON cannot hold, such as a `Date`. The check refuses it. */
export const standInFor = (kind: string): string => `[object ${kind.replace(/[^\w$ .-]/g, "_") || "value"}]`;

const STAND_IN_FOR = /^\[object ([\w$ .-]+)\]$/;
const BYTES = /^(Buffer|(Shared)?ArrayBuffer|DataView|(Big)?(Int|Uint|Float)\d+(Clamped)?Array)$/;
const NO_DATA = "which is no plain data; write it as text, numbers, lists and plain objects";

/** What a text stands for. Within a longer text, such as a page with a script, only Pulumi's own sentence is certain. */
function standIn(text: string): string | undefined {
  const alone = text.trim();
  if (OUTPUT.test(text) || POINTER.test(alone))
    return "an output used as text; use pulumi.interpolate or pulumi.jsonStringify (Node.js), Output.concat (Python), Output.Format (.NET), pulumi.Sprintf (Go), or apply";
  const [, kind] = STAND_IN_FOR.exec(alone) ?? [];
  if (kind === undefined) return undefined;
  if (kind === "Promise") return "a promise used as text, [object Promise]; write await before it";
  if (kind === "Object")
    return "an object used as text, [object Object]; use a property of it, or JSON.stringify(…)";
  const named = `${/^[aeio]/i.test(kind) ? "an" : "a"} ${kind}`;
  return BYTES.test(kind)
    ? `${named}, which is bytes; read it with utf8, as in readFileSync(file, "utf8")`
    : `${named}, ${NO_DATA}`;
}

/** The mistakes of an input that contains stand-ins, as sentences that follow the input's name. */
export function standInsIn(value: unknown): string[] {
  const found: string[] = [];
  for (const [path, part] of partsOf(value)) {
    // The check of the document refuses more levels.
    if (path.length === MAX_DEPTH || found.length === MAX_PROBLEMS) break;
    const place = pathText(path);
    const at = place && `at ${place} `;
    const text = typeof part === "string" ? standIn(part) : undefined;
    if (text !== undefined) found.push(`contains ${at}${text}`);
    if (!isMapping(part)) continue;
    // A path below it would lead into Pulumi's protocol.
    if (SIGNATURE in part) return [...found, `contains ${at}an asset, an archive or a resource, ${NO_DATA}`];
    const key = Object.keys(part)
      .map(standIn)
      .find((one) => one !== undefined);
    // A path below such a key would quote it.
    if (key !== undefined) return [...found, `contains in a key ${place && `of ${place} `}${key}`];
  }
  return found;
}

/** The mistake of a normalized URL whose host is built from a missing value. */
export function undefinedInHost(url: string): string | undefined {
  if (!/^\w+:\/\/(?:[^:]*\.)?undefined(?:[.:]|$)/.test(url)) return undefined;
  return "has undefined as a part of its host, which JavaScript writes for a value that is missing; check the values that the url is built from";
}
