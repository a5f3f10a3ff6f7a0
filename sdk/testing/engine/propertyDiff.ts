import { isWithin, type Path, parsePath, UNKNOWN } from "../../../provider/document";
import { equal, isProps, isSecret, type Props, plain, secret } from "./properties";

export type Kind = "add" | "delete" | "update";
export const SIGNS = { add: "+", delete: "-", update: "~" } as const;

/** One place where two values differ, with what is there on each side. */
export interface Change {
  path: Path;
  kind: Kind;
  old?: unknown;
  new?: unknown;
}

/** Properties whose name starts with two underscores are the SDK's own and never shown. */
export const isInternal = (key: unknown) => String(key).startsWith("__");

/** Every leaf that differs. Objects and lists are followed; anything else (a secret, another type) is one update. */
export function changesBetween(from: unknown, to: unknown, path: Path = []): Change[] {
  if (equal(from, to)) return [];
  if (from === undefined || from === null) return [{ path, kind: "add", new: to }];
  if (to === undefined || to === null) return [{ path, kind: "delete", old: from }];
  if (isProps(from) && isProps(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
    return keys.flatMap((key) => changesBetween(from[key], to[key], [...path, key]));
  }
  if (Array.isArray(from) && Array.isArray(to)) {
    const length = Math.max(from.length, to.length);
    return Array.from({ length }).flatMap((_, i) => changesBetween(from[i], to[i], [...path, i]));
  }
  return [{ path, kind: "update", old: from, new: to }];
}

/** The top-level properties with their sign: additions first, then deletions, then updates, each in order. */
export function shortDiff(changes: Change[], metadata: string[], only: string[]): string[] {
  const signs = new Map<string, string>();
  for (const { path, kind } of changes) signs.set(String(path[0]), path.length === 1 ? SIGNS[kind] : "~");
  for (const key of metadata) signs.set(key, "~");
  const all = [...signs].filter(([key]) => only.length === 0 || only.includes(key));
  const of = (sign: string) => all.filter(([, own]) => own === sign).map(([key]) => sign + key);
  return Object.values(SIGNS).flatMap((sign) => of(sign).sort());
}

/** Where a resource changes: from its provider or, if that does not know, from comparing the inputs. */
export interface PropertyDiff {
  path: Path;
  kind: Kind;
  /** Whether this change alone asks for a replacement. */
  replace: boolean;
  /** Whether the old value is to be taken from the inputs; from the outputs otherwise. */
  inputDiff: boolean;
}

/** What changes for a resource, and whether it has to be made anew. */
export interface Diff {
  changes: "unknown" | "none" | "some";
  replaces: string[];
  deleteBeforeReplace: boolean;
  /** The properties to name; empty where all that differ are. */
  changedKeys: string[];
  /** Undefined where it is not known where a change is. */
  detailed?: PropertyDiff[] | undefined;
}

/** A change of which no more is known than that it asks for a replacement, or not. */
export function someDiff(...replaces: string[]): Diff {
  return { changes: "some", replaces, deleteBeforeReplace: false, changedKeys: [] };
}

export function mustReplace({ replaces, detailed = [] }: Diff): boolean {
  return replaces.length > 0 || detailed.some(({ replace }) => replace);
}

/** If the provider has no answer, the inputs are compared, secret or not. */
export function resolveDiff(diff: Diff, olds: Props, news: Props): Diff {
  if (diff.changes !== "unknown") return diff;
  const found = changesBetween(plain(olds), plain(news));
  if (found.length === 0) return { ...diff, changes: "none" };
  return {
    ...diff,
    changes: "some",
    changedKeys: [...new Set(found.map(({ path }) => String(path[0])))],
    detailed: found.map(({ path, kind }) => ({ path, kind, replace: false, inputDiff: true })),
  };
}

/** The option speaks only of changes that the diff names, and of a resource that is not ready. */
export function applyReplaceOnChanges(diff: Diff, texts: string[], isUnready: boolean): Diff {
  if (diff.changes !== "some" && !isUnready) return diff;
  const paths = texts.map(parsePath).filter((path) => path !== undefined);
  const named = (path: Path) => paths.some((each) => isWithin(path, each));
  const keys = diff.changedKeys.filter((key) => named(parsePath(key) ?? [key]));
  const unready = isUnready && named(["#initerror"]) ? ["#initerror"] : [];
  return {
    ...diff,
    changes: unready.length > 0 ? "some" : diff.changes,
    replaces: [...new Set([...diff.replaces, ...keys, ...unready])],
    detailed: diff.detailed?.map((each) => (named(each.path) ? { ...each, replace: true } : each)),
  };
}

/** What would undo the changes. */
export function invert(detailed: PropertyDiff[]): PropertyDiff[] {
  const opposite = { add: "delete", delete: "add", update: "update" } as const;
  return detailed.map((each) => ({ ...each, kind: opposite[each.kind] }));
}

interface Sides {
  inputs: Props;
  outputs?: Props | undefined;
}

/** The changes with the values on both sides. Where something around a path is new or gone, that is the change. */
export function withValues(detailed: PropertyDiff[], old: Sides, next: Sides): Change[] {
  const found = new Map<string, Change>();
  for (const { path, kind, inputDiff } of detailed)
    for (const change of changesAt(path, kind, inputDiff ? old.inputs : old.outputs, next.inputs))
      found.set(JSON.stringify(change.path), change);
  return [...found.values()].sort((a, b) => comparePaths(a.path, b.path));
}

function changesAt(path: Path, kind: Kind, olds: unknown, news: unknown): Change[] {
  let [from, to] = [olds, news];
  for (const [depth, key] of path.entries()) {
    [from, to] = [property(from, key), property(to, key)];
    const here = path.slice(0, depth + 1);
    const [before, after] = [from ?? null, to ?? null];
    if (depth === path.length - 1) {
      if (kind === "add") return [{ path: here, kind, new: to ?? UNKNOWN }];
      if (kind === "delete") return [{ path: here, kind, old: from ?? UNKNOWN }];
      const inside = changesBetween(from, to, here).filter((change) => change.path.length > here.length);
      return inside.length > 0 ? inside : [{ path: here, kind, old: before, new: after }];
    }
    if (before === null && after !== null) return [{ path: here, kind: "add", new: after }];
    if (before !== null && after === null) return [{ path: here, kind: "delete", old: before }];
  }
  return [];
}

/** The content of a secret or an unknown is not known, so it stands for all of its properties. */
function property(value: unknown, key: string | number): unknown {
  if (isSecret(value) || value === UNKNOWN) return value;
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isProps(value) ? value[key] : undefined;
}

function comparePaths(a: Path, b: Path): number {
  const i = a.findIndex((key, index) => key !== b[index]);
  const [own, other] = [a[i], b[i]];
  if (own === undefined || other === undefined) return a.length - b.length;
  if (typeof own === "number" && typeof other === "number") return own - other;
  return String(own) < String(other) ? -1 : 1;
}

/** The inputs with what the paths name as it was, and the paths that could not be followed. */
export function ignoreChanges(
  inputs: Props,
  olds: Props,
  texts: string[],
): { inputs: Props; failed: string[] } {
  const result = structuredClone(inputs);
  const failed = texts.filter((text) => {
    const path = parsePath(text);
    return path !== undefined && !reset(path, structuredClone(olds), result, asItIs);
  });
  return { inputs: result, failed };
}

type Mark = (value: unknown) => unknown;
const asItIs: Mark = (value) => value;
const insideSecret: Mark = (value) => value;

/**
 * Gives what the path names in `to` the value that it has in `from`. Never makes an object on the way and never changes a
 * list's length: false means that the path could not be followed for such a reason. A value that
 * was secret is marked again, unless it goes into a secret.
 */
function reset(path: Path, from: unknown, to: unknown, keep: Mark): boolean {
  if (isSecret(from)) return reset(path, from.value, to, keep === insideSecret ? keep : secret);
  if (isSecret(to)) return reset(path, from, to.value, insideSecret);
  const [key, ...rest] = path;
  if (key === undefined) return false;
  if (key === "*") return resetAll(rest, from, to, keep);
  if (typeof key === "number") {
    if (!Array.isArray(from) || !Array.isArray(to)) return !Array.isArray(from) && !Array.isArray(to);
    const isMissing = [from, to].map((list) => list[key] === undefined);
    if (isMissing.includes(true)) return key >= 0 && rest.length === 0 && !isMissing.includes(false);
    if (rest.length > 0) return reset(rest, from[key], to[key], keep);
    to[key] = keep(from[key]);
    return true;
  }
  const old = isProps(from) ? from[key] : undefined;
  if (rest.length > 0) {
    if (!isProps(from) || !isProps(to)) return !isProps(from) && !isProps(to);
    if (to[key] === undefined) return old === undefined;
    return reset(rest, old ?? null, to[key], keep);
  }
  if (!isProps(to)) return old === undefined;
  if (old === undefined) delete to[key];
  else to[key] = keep(old);
  return true;
}

function resetAll(rest: Path, from: unknown, to: unknown, keep: Mark): boolean {
  const isLeaf = rest.length === 0;
  if (isProps(to)) {
    if (!isProps(from)) return isLeaf;
    if (isLeaf) for (const key of Object.keys(to)) if (!(key in from)) delete to[key];
    return Object.entries(from).every(([key, value]) => {
      if (!isLeaf) return to[key] !== undefined && reset(rest, value, to[key], keep);
      to[key] = keep(value);
      return true;
    });
  }
  if (!Array.isArray(to)) return false;
  if (!Array.isArray(from)) return isLeaf;
  for (let i = 0; i < Math.min(from.length, to.length); i++) {
    if (isLeaf) to[i] = keep(from[i]);
    else if (!reset(rest, from[i], to[i], keep)) return false;
  }
  return from.length === to.length;
}
