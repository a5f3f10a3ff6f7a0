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

/** A change without details. It requires a replacement if `replaces` are given. */
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

/** The option applies only to changes that the diff names. */
export function applyReplaceOnChanges(diff: Diff, texts: string[]): Diff {
  if (diff.changes !== "some") return diff;
  const paths = texts.map(parsePath).filter((path) => path !== undefined);
  const named = (path: Path) => paths.some((each) => isWithin(path, each));
  const keys = diff.changedKeys.filter((key) => named(parsePath(key) ?? [key]));
  return {
    ...diff,
    replaces: [...new Set([...diff.replaces, ...keys])],
    detailed: diff.detailed?.map((each) => (named(each.path) ? { ...each, replace: true } : each)),
  };
}

/** The changes that would undo these. */
export function invert(detailed: PropertyDiff[]): PropertyDiff[] {
  const opposite = { add: "delete", delete: "add", update: "update" } as const;
  return detailed.map((each) => ({ ...each, kind: opposite[each.kind] }));
}

interface Sides {
  inputs: Props;
  outputs?: Props | undefined;
}

/** The changes with their old and new values. */
export function withValues(detailed: PropertyDiff[], old: Sides, next: Sides): Change[] {
  return detailed.map(({ path, kind, inputDiff }) => ({
    path,
    kind,
    old: valueIn(inputDiff ? old.inputs : old.outputs, path),
    new: valueIn(next.inputs, path),
  }));
}

/** A secret or unknown value stands for all properties inside it. */
function valueIn(value: unknown, path: Path): unknown {
  return path.reduce(
    (inside, key) => (isSecret(inside) || inside === UNKNOWN ? inside : valueAt(inside, key)) ?? undefined,
    value,
  );
}

/** Resets the inputs at the paths to their old values. `failed` are the paths that could not be followed. */
export function ignoreChanges(
  inputs: Props,
  olds: Props,
  texts: string[],
): { inputs: Props; failed: string[] } {
  const result = structuredClone(inputs);
  const failed = texts.filter((text) => {
    const path = parsePath(text);
    return path !== undefined && !reset(path, structuredClone(olds), result, (value) => value);
  });
  return { inputs: result, failed };
}

/**
 * Gives what the path names in `to` the value that it has in `from`. Never makes an object on the way and never changes a
 * list's length: false means that the path could not be followed for such a reason. `mark` keeps a secret a secret.
 */
function reset(path: Path, from: unknown, to: unknown, mark: (value: unknown) => unknown): boolean {
  if (isSecret(from)) return reset(path, from.value, to, secret);
  if (isSecret(to)) return reset(path, from, to.value, (value) => value);
  const [key, ...rest] = path;
  if (key === undefined) return false;
  if (key === "*") {
    const every = keysIn(from).concat(rest.length > 0 ? [] : keysIn(to));
    return every.map((each) => reset([each, ...rest], from, to, mark)).every(Boolean);
  }
  const [old, now] = [valueAt(from, key), valueAt(to, key)];
  if (rest.length > 0) return now === undefined ? old === undefined : reset(rest, old, now, mark);
  if (!Array.isArray(to) && !isProps(to)) return old === undefined;
  if (Array.isArray(to) && (old === undefined || now === undefined)) return old === now;
  if (old === undefined) delete (to as Props)[key];
  else (to as Props)[key] = mark(old);
  return true;
}

function keysIn(value: unknown): (string | number)[] {
  if (Array.isArray(value)) return [...value.keys()];
  return isProps(value) ? Object.keys(value) : [];
}

function valueAt(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isProps(value) ? value[key] : undefined;
}
