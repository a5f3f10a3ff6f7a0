import { isProps, isWithin, type PropertyPath, type Props, parsePath, plain } from "../../pulumi-cli/index";
import { equal } from "../properties";

export type Kind = "add" | "delete" | "update";
export const SIGNS = { add: "+", delete: "-", update: "~" } as const;

export interface ValueChange {
  path: PropertyPath;
  kind: Kind;
  old?: unknown;
  new?: unknown;
}

/** Whether a property is internal to the SDK (its name starts with two underscores) and not shown. */
export const isInternal = (key: unknown) => String(key).startsWith("__");

/** All differences between two values. Objects and lists are compared item by item, other values (also secrets) as a whole. */
export function valueChanges(from: unknown, to: unknown, path: PropertyPath = []): ValueChange[] {
  if (equal(from, to)) return [];
  if (from === undefined || from === null) return [{ path, kind: "add", new: to }];
  if (to === undefined || to === null) return [{ path, kind: "delete", old: from }];
  if (isProps(from) && isProps(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
    return keys.flatMap((key) => valueChanges(from[key], to[key], [...path, key]));
  }
  if (Array.isArray(from) && Array.isArray(to)) {
    const length = Math.max(from.length, to.length);
    return Array.from({ length }).flatMap((_, i) => valueChanges(from[i], to[i], [...path, i]));
  }
  return [{ path, kind: "update", old: from, new: to }];
}

/** The changed top-level properties with their signs: additions, deletions, then updates, each in alphabetical order. */
export function shortDiff(
  changes: Pick<ValueChange, "path" | "kind">[],
  metadata: string[],
  only: string[],
): string[] {
  const signs = new Map<string, string>();
  for (const { path, kind } of changes) signs.set(String(path[0]), path.length === 1 ? SIGNS[kind] : "~");
  for (const key of metadata) signs.set(key, "~");
  const all = [...signs].filter(([key]) => only.length === 0 || only.includes(key));
  const of = (sign: string) => all.filter(([, own]) => own === sign).map(([key]) => sign + key);
  return Object.values(SIGNS).flatMap((sign) => of(sign).sort());
}

/** A changed property of a resource, from the provider or from a comparison of the inputs. */
export interface PropertyDiff {
  path: PropertyPath;
  kind: Kind;
  replace: boolean;
}

export interface Diff {
  changes: "unknown" | "none" | "some";
  replaces: string[];
  deleteBeforeReplace: boolean;
  /** The top-level properties to show. If the list is empty, all changed properties are shown. */
  changedKeys: string[];
  /** Undefined if the provider does not list the changed properties. */
  detailed?: PropertyDiff[] | undefined;
}

/** A change without details. With `replaces` it requires a replacement. */
export function someDiff(...replaces: string[]): Diff {
  return { changes: "some", replaces, deleteBeforeReplace: false, changedKeys: [] };
}

export function mustReplace({ replaces, detailed = [] }: Diff): boolean {
  return replaces.length > 0 || detailed.some(({ replace }) => replace);
}

/** Compares the inputs, including secrets, if the provider does not know whether there are changes. */
export function resolveDiff(diff: Diff, olds: Props, news: Props): Diff {
  if (diff.changes !== "unknown") return diff;
  const found = valueChanges(plain(olds), plain(news));
  if (found.length === 0) return { ...diff, changes: "none" };
  return {
    ...diff,
    changes: "some",
    changedKeys: [...new Set(found.map(({ path }) => String(path[0])))],
    detailed: found.map(({ path, kind }) => ({ path, kind, replace: false })),
  };
}

/** Applies the option `replaceOnChanges` to the changes of a diff. */
export function applyReplaceOnChanges(diff: Diff, texts: string[]): Diff {
  if (diff.changes !== "some") return diff;
  const paths = texts.map(parsePath).filter((path) => path !== undefined);
  const named = (path: PropertyPath) => paths.some((each) => isWithin(path, each));
  const keys = diff.changedKeys.filter((key) => named(parsePath(key) ?? [key]));
  return {
    ...diff,
    replaces: [...new Set([...diff.replaces, ...keys])],
    detailed: diff.detailed?.map((each) => (named(each.path) ? { ...each, replace: true } : each)),
  };
}

export function invert(detailed: PropertyDiff[]): PropertyDiff[] {
  const opposite = { add: "delete", delete: "add", update: "update" } as const;
  return detailed.map((each) => ({ ...each, kind: opposite[each.kind] }));
}
