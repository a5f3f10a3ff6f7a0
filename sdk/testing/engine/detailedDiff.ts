import { type Change, type DiffKind, diffValue } from "./objectDiff";
import { type PropertyPath, parsePath } from "./paths";
import type { ResourceState } from "./resourceState";
import { isProps, Secret, Unknown, type Value } from "./values";

/** Where a resource changes, said by its provider or, where that does not know, found by the engine. */
export type DetailedDiff = PropertyDiff[];

export interface PropertyDiff {
  path: PropertyPath;
  kind: DiffKind;
  /** Whether this change alone asks for a replacement. */
  replace: boolean;
  /** Whether the old value is to be taken from the inputs; from the outputs otherwise. */
  inputDiff: boolean;
}

/** A provider's path as it wrote it; text that is no path is one key. As `TranslateDetailedDiff` reads it. */
export function pathOf(text: string): PropertyPath {
  return parsePath(text) ?? [text];
}

/** As `NewDetailedDiffFromObjectDiff`. */
export function fromChanges(changes: Change[]): DetailedDiff {
  return changes.map(({ path, kind }) => ({ path, kind, replace: false, inputDiff: true }));
}

/** What would undo the change; as `DiffKind.Invert`. */
export function invert(detailed: DetailedDiff): DetailedDiff {
  const opposite = { add: "delete", delete: "add", update: "update" } as const;
  return detailed.map((each) => ({ ...each, kind: opposite[each.kind] }));
}

/**
 * The changes with the values on both sides, as they are shown: the old ones from the outputs or the inputs, the new
 * ones from the inputs. Where something around a path is new or gone, that is the change. As `TranslateDetailedDiff`.
 */
export function translate(detailed: DetailedDiff, old: ResourceState, next: ResourceState): Change[] {
  const found = new Map<string, Change>();
  for (const { path, kind, inputDiff } of detailed)
    for (const change of changesAt(path, kind, inputDiff ? old.inputs : (old.outputs ?? {}), next.inputs))
      found.set(JSON.stringify(change.path), change);
  return [...found.values()].sort((a, b) => compare(a.path, b.path));
}

/** As `addDiff`. */
function changesAt(path: PropertyPath, kind: DiffKind, olds: Value, news: Value): Change[] {
  let [from, to]: [Value | undefined, Value | undefined] = [olds, news];
  for (const [depth, key] of path.entries()) {
    from = property(from, key);
    to = property(to, key);
    const here = path.slice(0, depth + 1);
    const [before, after] = [from ?? null, to ?? null];
    if (depth === path.length - 1) {
      if (kind === "add") return [{ path: here, kind, new: to ?? new Unknown() }];
      if (kind === "delete") return [{ path: here, kind, old: from ?? new Unknown() }];
      const inside = diffValue(here, from, to).filter((change) => change.path.length > here.length);
      return inside.length > 0 ? inside : [{ path: here, kind, old: before, new: after }];
    }
    if (before === null && after !== null) return [{ path: here, kind: "add", new: after }];
    if (before !== null && after === null) return [{ path: here, kind: "delete", old: before }];
  }
  return [];
}

/** What is inside a secret or an unknown cannot be told, so it stands for all of its properties; as `getProperty`. */
function property(value: Value | undefined, key: string | number): Value | undefined {
  if (value instanceof Secret || value instanceof Unknown) return value;
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isProps(value) && typeof key === "string" ? value[key] : undefined;
}

function compare(a: PropertyPath, b: PropertyPath): number {
  for (const [i, key] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    if (key === other) continue;
    if (typeof key === "number" && typeof other === "number") return key - other;
    return String(key) < String(other) ? -1 : 1;
  }
  return a.length - b.length;
}
