import { canonicalJson, fromJson, isMapping, looksLikeJson, type Path } from "../data/index";

/*
 * Policies and metadata as data. The check parses text once, and the inputs hold the data. The wire and the outputs hold
 * canonical JSON, because Pulumi writes one text into a checkpoint much faster than many values.
 */

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

/** Parses metadata. A JSON object or list becomes data; other text stays text. */
export function metadataFromText(text: string): { data: unknown } {
  const parsed = looksLikeJson(text) ? fromJson(text) : undefined;
  return parsed && "data" in parsed ? parsed : { data: text };
}

/** The smallest part in which two documents differ. */
export interface Change {
  path: Path;
  kind: "add" | "delete" | "update";
}

/** All changes. An added or removed value is one change. Lists are compared item by item. */
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
    // A key such as `constructor` also names a property that every object inherits.
    const own = (mapping: object, key: string) => Object.getOwnPropertyDescriptor(mapping, key)?.value;
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      changesBetween(own(before, key), own(after, key), [...path, key]),
    );
  }
  return sameData(before, after) ? [] : [{ path, kind: "update" }];
}
