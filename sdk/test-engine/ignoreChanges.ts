import {
  isProps,
  isSecret,
  type PropertyPath,
  type Props,
  parsePath,
  secret,
  valueAt,
} from "../pulumi-cli/index";

/**
 * Applies the resource option `ignoreChanges` as Pulumi's engine does: resets the inputs at the paths to their old values.
 * `failed` lists the paths that could not be reset. Secrets (objects with Pulumi's signature) stay secret.
 */
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
 * Copies the value at the path from `from` to `to`. Returns false if `to` would need a new object on the path or a list of another
 * length. `mark` marks the copied value as secret if it was secret.
 */
function reset(path: PropertyPath, from: unknown, to: unknown, mark: (value: unknown) => unknown): boolean {
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
  if (Array.isArray(to)) {
    if (old === undefined || now === undefined) return old === now;
    to[Number(key)] = mark(old);
  } else if (!isProps(to)) return old === undefined;
  else if (old === undefined) delete to[key];
  else to[key] = mark(old);
  return true;
}

function keysIn(value: unknown): (string | number)[] {
  if (Array.isArray(value)) return [...value.keys()];
  return isProps(value) ? Object.keys(value) : [];
}
