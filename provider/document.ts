import { canonicalJson, isMapping } from "./api/json";
import {
  DEEPEST,
  fromJson,
  LONGEST,
  looksLikeJson,
  type Parsed,
  type Problem,
  problem,
  TOO_DEEP,
  tooLong,
} from "./jsonText";
import { fromYaml } from "./yamlText";

/*
 * Policies and metadata as data. The check parses text once, and the inputs hold the data. The wire and the outputs hold
 * canonical JSON, because Pulumi writes one text into a checkpoint much faster than many values.
 * No message quotes the text, because it may contain a secret.
 */

/** The engine's sentinel for a value that is not known yet, in any field and at any depth. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Whether any part of the value is unknown. Such a value passes every check, and is never compared. */
export function hasUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(hasUnknown);
}

export function sameData(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** Whether two lists have the same members, in any order. */
export function sameSet(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return false;
  return sameData([...a].sort(), [...b].sort());
}

/** The text of the wire: canonical JSON for data; other text is unchanged. */
export function wireText(value: unknown): string {
  return typeof value === "string" ? value : canonicalJson(value);
}

/** Parses a policy. Text that starts with `{` or `[` must be JSON; other text must be a YAML mapping. */
export function policyFromText(text: string): Parsed {
  const isJson = looksLikeJson(text);
  if (isJson && text.length > LONGEST) return problem("text", tooLong(LONGEST));
  const parsed = isJson ? fromJson(text) : fromYaml(text);
  if ("problem" in parsed) return parsed;
  if (!isMapping(parsed.data))
    return problem("text", "must be a mapping of phases, as in on_http_request: […]");
  // YAML has values that JSON lacks. In both, a short text can become long on the wire: 1e20 has 21 digits.
  const [first] = problemsOfData(parsed.data);
  return first ? { problem: first } : parsed;
}

/** Parses metadata. A JSON object or list becomes data; other text stays text. */
export function metadataFromText(text: string): { data: unknown } {
  if (text.length > LONGEST) return { data: text };
  const parsed = looksLikeJson(text) ? fromJson(text) : undefined;
  return parsed && "data" in parsed ? parsed : { data: text };
}

/** The most mistakes that are reported of one document. */
const MOST_PROBLEMS = 20;

/** The parts of this data that JSON cannot carry, with their paths, or that the data is too long. */
export function problemsOfData(value: unknown): Problem[] {
  const problems: Problem[] = [];
  collectProblems(value, "", 0, problems);
  const isLong = typeof value === "object" && problems.length === 0 && canonicalJson(value).length > LONGEST;
  return isLong ? [{ path: "", reason: tooLong(LONGEST) }] : problems;
}

function collectProblems(value: unknown, path: string, depth: number, problems: Problem[]): void {
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean")
    return;
  if (problems.length === MOST_PROBLEMS) return;
  if (typeof value === "number") {
    if (!Number.isFinite(value))
      problems.push({ path, reason: `contains at ${path} a number that JSON cannot represent` });
  } else if (typeof value !== "object") {
    problems.push({ path, reason: `contains at ${path} a ${typeof value}, which JSON cannot represent` });
  } else if (depth === DEEPEST) {
    problems.push({ path: "", reason: TOO_DEEP });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collectProblems(item, `${path}[${index}]`, depth + 1, problems);
  } else if (isMapping(value)) {
    for (const [key, item] of Object.entries(value))
      collectProblems(item, path === "" ? key : `${path}.${key}`, depth + 1, problems);
  } else {
    const reason = `contains at ${path} a value that is no plain object; write it as text, numbers, lists and objects`;
    problems.push({ path, reason });
  }
}

/** A place in a document, as names and indexes. */
export type Path = (string | number)[];

/** The smallest place at which two documents differ. */
export interface Change {
  path: Path;
  kind: "add" | "delete" | "update";
}

/** All places at which two documents differ. An added or removed value is one place. Lists are compared item by item. */
export function changesBetween(before: unknown, after: unknown, path: Path = []): Change[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) return [{ path, kind: "add" }];
  if (after === undefined) return [{ path, kind: "delete" }];
  if (Array.isArray(before) && Array.isArray(after)) {
    return [...Array(Math.max(before.length, after.length)).keys()].flatMap((index) =>
      changesBetween(before[index], after[index], [...path, index]),
    );
  }
  if (isMapping(before) && isMapping(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      changesBetween(before[key], after[key], [...path, key]),
    );
  }
  return sameData(before, after) ? [] : [{ path, kind: "update" }];
}

/** Parses a path of a program, in which `*` matches any part. Undefined if the text is no path. */
export function parsePath(text: string): Path | undefined {
  const path: Path = [];
  let rest = text.startsWith(".") ? "[" : text;
  while (rest !== "") {
    const part = /^(?:\.?([^.[]+)|\.?\["((?:\\"|[^"])*)"\]|\.?\[(\*|-?\d+)\])/.exec(rest);
    if (!part) return undefined;
    const [whole, name, quoted, index] = part;
    if (index !== undefined) path.push(index === "*" ? "*" : Number(index));
    else path.push(name ?? (quoted ?? "").replaceAll('\\"', '"'));
    rest = rest.slice(whole.length);
  }
  return path;
}

/** Whether a path of a program names this path or one that contains it. */
export const isWithin = (path: Path, written: Path): boolean =>
  written.length <= path.length && written.every((part, index) => part === "*" || part === path[index]);

/** A path in Pulumi's notation: `on_http_request[0].actions`. Keys that are no plain names are in brackets. */
export function pathText(path: Path): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      if (part === "" || /[.[\]"]/.test(part)) return `["${part.replaceAll('"', '\\"')}"]`;
      return index === 0 ? part : `.${part}`;
    })
    .join("");
}

/** The most places of a change that one message names. */
const MOST_PLACES = 5;

/** The places of a change, for a message. */
export function firstOf(places: string[]): string {
  const more = places.length - MOST_PLACES;
  return places.slice(0, MOST_PLACES).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
