import { type Path, UNKNOWN } from "../../../provider/endpoint/documents";
import { isWithin, parsePath } from "../../propertyPath";
import { equal, isProps, isSecret, type Props, plain, secret } from "./properties";

export type Kind = "add" | "delete" | "update";
export const SIGNS = { add: "+", delete: "-", update: "~" } as const;

export interface ValueChange {
  path: Path;
  kind: Kind;
  old?: unknown;
  new?: unknown;
}

/** Properties whose names start with two underscores are internal to the SDK and are not shown. */
export const isInternal = (key: unknown) => String(key).startsWith("__");

/** All differences. Objects and lists are compared item by item. Other values, such as secrets, are compared as a whole. */
export function changesBetween(from: unknown, to: unknown, path: Path = []): ValueChange[] {
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

/** The changed top-level properties with their signs: additions, deletions, then updates, each in alphabetical order. */
export function shortDiff(changes: ValueChange[], metadata: string[], only: string[]): string[] {
  const signs = new Map<string, string>();
  for (const { path, kind } of changes) signs.set(String(path[0]), path.length === 1 ? SIGNS[kind] : "~");
  for (const key of metadata) signs.set(key, "~");
  const all = [...signs].filter(([key]) => only.length === 0 || only.includes(key));
  const of = (sign: string) => all.filter(([, own]) => own === sign).map(([key]) => sign + key);
  return Object.values(SIGNS).flatMap((sign) => of(sign).sort());
}

/** A changed property of a resource, from the provider or from a comparison of the inputs. */
export interface PropertyDiff {
  path: Path;
  kind: Kind;
  replace: boolean;
  /** Whether the old value is in the inputs. Otherwise it is in the outputs. */
  inputDiff: boolean;
}

export interface Diff {
  changes: "unknown" | "none" | "some";
  replaces: string[];
  deleteBeforeReplace: boolean;
  /** The top-level properties to show. If it is empty, all changed ones are shown. */
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

/** If the provider does not know whether there are changes, compares the inputs, including secrets. */
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

/** Applies the option `replaceOnChanges`. It has an effect only on changes that the diff names. */
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

export function invert(detailed: PropertyDiff[]): PropertyDiff[] {
  const opposite = { add: "delete", delete: "add", update: "update" } as const;
  return detailed.map((each) => ({ ...each, kind: opposite[each.kind] }));
}

type Sides = Record<"inputs" | "outputs", Props>;

export function withValues(detailed: PropertyDiff[], old: Sides, next: Sides): ValueChange[] {
  return detailed.map(({ path, kind, inputDiff }) => ({
    path,
    kind,
    old: valueIn(inputDiff ? old.inputs : old.outputs, path),
    new: valueIn(next.inputs, path),
  }));
}

/** The value at the path. If a value on the way is secret or unknown, this value is returned. */
function valueIn(value: unknown, path: Path): unknown {
  return path.reduce(
    (inside, key) => (isSecret(inside) || inside === UNKNOWN ? inside : valueAt(inside, key)) ?? undefined,
    value,
  );
}

/** Resets the inputs at the paths to their old values. `failed` lists the paths that could not be reset. */
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
 * Copies the value at the path from `from` to `to`. Returns false if this would need a new object on the path or another
 * length of a list. `mark` marks the copied value as secret if it was.
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
