import { type PropertyPath, parsePath } from "./paths";
import { equal, isProps, type Props, type Value } from "./values";

export type DiffKind = "add" | "delete" | "update";

/** One place where two values differ: the whole path, and what is there on each side. */
export interface Change {
  path: PropertyPath;
  kind: DiffKind;
  old?: Value | undefined;
  new?: Value | undefined;
}

/**
 * Every leaf that differs between two sets of properties; as `PropertyMap.Diff`. Null counts as missing. Objects and
 * arrays are followed, anything else (a secret, an unknown, another type) is one update.
 */
export function diffProps(
  olds: Props,
  news: Props,
  ignore: (key: string) => boolean = () => false,
): Change[] {
  const keys = [...new Set([...Object.keys(olds), ...Object.keys(news)])].sort();
  return keys.filter((key) => !ignore(key)).flatMap((key) => diffValue([key], olds[key], news[key]));
}

export function diffValue(path: PropertyPath, from: Value | undefined, to: Value | undefined): Change[] {
  if (equal(from, to)) return [];
  if (from === undefined || from === null) return [{ path, kind: "add", new: to }];
  if (to === undefined || to === null) return [{ path, kind: "delete", old: from }];
  if (isProps(from) && isProps(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
    return keys.flatMap((key) => diffValue([...path, key], from[key], to[key]));
  }
  if (Array.isArray(from) && Array.isArray(to)) {
    const length = Math.max(from.length, to.length);
    return Array.from({ length }).flatMap((_, i) => diffValue([...path, i], from[i], to[i]));
  }
  return [{ path, kind: "update", old: from, new: to }];
}

/** Properties whose name starts with two underscores are the SDK's own and never shown; as `IsInternalPropertyKey`. */
export function isInternalKey(key: string): boolean {
  return key.startsWith("__");
}

/**
 * The top-level properties of a diff with their sign, additions first, then deletions, then updates, each in
 * alphabetical order; as `writeShortDiff`.
 */
export function shortDiff(changes: Change[], metadata: string[], only: string[]): string[] {
  const signs = new Map<string, string>();
  for (const { path, kind } of changes) signs.set(String(path[0]), path.length === 1 ? SIGNS[kind] : "~");
  for (const key of metadata) signs.set(key, "~");
  const shown = [...signs].filter(([key]) => only.length === 0 || only.includes(key));
  return Object.values(SIGNS).flatMap((sign) =>
    shown
      .filter(([, of]) => of === sign)
      .map(([key]) => `${sign}${key}`)
      .sort(),
  );
}

export const SIGNS = { add: "+", delete: "-", update: "~" };

/** The top-level keys that `ignoreChanges` and `replaceOnChanges` may name; text that is no path is left out. */
export function parsePaths(texts: string[]): PropertyPath[] {
  return texts.map(parsePath).filter((path) => path !== undefined);
}
