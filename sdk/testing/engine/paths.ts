import { isProps, type Props, Secret, secret, type Value } from "./values";

/** `trafficPolicy.rules[0]["a.b"]`: names and indexes; `*` matches any of either. */
export type PropertyPath = (string | number)[];

/** As `ParsePropertyPath`; undefined where the text is not a path. */
export function parsePath(text: string): PropertyPath | undefined {
  const path: PropertyPath = [];
  let rest = text;
  if (rest.startsWith(".")) return undefined;
  while (rest.length > 0) {
    if (rest.startsWith(".")) {
      rest = rest.slice(1);
      if (rest.length === 0) return undefined;
      continue;
    }
    const quoted = /^\["((?:\\"|[^"])*)"\]/.exec(rest);
    const indexed = /^\[(\*|-?\d+)\]/.exec(rest);
    const bare = /^[^.[]+/.exec(rest);
    if (quoted) path.push((quoted[1] ?? "").replaceAll('\\"', '"'));
    else if (indexed) path.push(indexed[1] === "*" ? "*" : Number(indexed[1]));
    else if (bare) path.push(bare[0]);
    else return undefined;
    rest = rest.slice((quoted ?? indexed ?? bare)?.[0].length);
  }
  return path;
}

/** True where `path` names `other` or something around it; as `PropertyPath.Contains`. */
export function pathContains(path: PropertyPath, other: PropertyPath): boolean {
  return path.length <= other.length && path.every((key, i) => key === "*" || key === other[i]);
}

/**
 * Gives what the path names in `news` the value that it has in `olds`; as `PropertyPath.Reset`. Never makes an object
 * on the way and never changes an array's length: false says that the path could not be followed for such a reason.
 */
export function resetPath(path: PropertyPath, olds: Props, news: Props): boolean {
  return reset(path, olds, news, false, false);
}

function reset(
  path: PropertyPath,
  oldValue: Value,
  newValue: Value,
  oldSecret: boolean,
  newSecret: boolean,
): boolean {
  if (oldValue instanceof Secret) return reset(path, oldValue.element, newValue, true, newSecret);
  if (newValue instanceof Secret) return reset(path, oldValue, newValue.element, oldSecret, true);
  const [key, ...rest] = path;
  if (key === undefined) return false;
  const kept = (value: Value): Value => (oldSecret && !newSecret ? secret(value) : value);
  if (key === "*") return resetAll(rest, oldValue, newValue, kept, oldSecret, newSecret);
  if (typeof key === "number") return resetIndex(key, rest, oldValue, newValue, kept, oldSecret, newSecret);

  if (rest.length === 0) {
    const value = isProps(oldValue) ? oldValue[key] : undefined;
    if (value === undefined) {
      if (isProps(newValue)) delete newValue[key];
      return true;
    }
    if (!isProps(newValue)) return false;
    newValue[key] = kept(value);
    return true;
  }
  if (!isProps(oldValue) || !isProps(newValue)) return !isProps(oldValue) && !isProps(newValue);
  const [from, to] = [oldValue[key], newValue[key]];
  if (from !== undefined && to === undefined) return false;
  if (from === undefined && to === undefined) return true;
  return reset(rest, from ?? null, to ?? null, oldSecret, newSecret);
}

function resetIndex(
  index: number,
  rest: PropertyPath,
  oldValue: Value,
  newValue: Value,
  kept: (value: Value) => Value,
  oldSecret: boolean,
  newSecret: boolean,
): boolean {
  if (index < 0) return false;
  if (!Array.isArray(oldValue) || !Array.isArray(newValue))
    return !Array.isArray(oldValue) && !Array.isArray(newValue);
  const [from, to] = [oldValue[index], newValue[index]];
  if (from === undefined || to === undefined)
    return rest.length === 0 && from === undefined && to === undefined;
  if (rest.length > 0) return reset(rest, from, to, oldSecret, newSecret);
  newValue[index] = kept(from);
  return true;
}

function resetAll(
  rest: PropertyPath,
  oldValue: Value,
  newValue: Value,
  kept: (value: Value) => Value,
  oldSecret: boolean,
  newSecret: boolean,
): boolean {
  const leaf = rest.length === 0;
  if (isProps(newValue)) {
    if (!isProps(oldValue)) return leaf;
    if (leaf) {
      for (const key of Object.keys(newValue)) if (!(key in oldValue)) delete newValue[key];
      for (const [key, value] of Object.entries(oldValue)) newValue[key] = kept(value);
      return true;
    }
    return Object.entries(oldValue).every(([key, value]) => {
      const to = newValue[key];
      return to !== undefined && reset(rest, value, to, oldSecret, newSecret);
    });
  }
  if (Array.isArray(newValue)) {
    if (!Array.isArray(oldValue)) return leaf;
    for (let i = 0; i < Math.min(oldValue.length, newValue.length); i++) {
      const [from, to] = [oldValue[i] ?? null, newValue[i] ?? null];
      if (leaf) newValue[i] = kept(from);
      else if (!reset(rest, from, to, oldSecret, newSecret)) return false;
    }
    return oldValue.length === newValue.length;
  }
  return false;
}
