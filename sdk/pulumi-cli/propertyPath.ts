import { isProps } from "./properties";

/** The names and indexes that lead to a part of a resource's properties. */
export type PropertyPath = (string | number)[];

/** Parses a path of a resource option, in which `*` matches any part. Undefined if the text is no path. */
export function parsePath(text: string): PropertyPath | undefined {
  const path: PropertyPath = [];
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

/** Whether the path of a resource option (`ignoreChanges`, `replaceOnChanges`) names this path or a path that contains it. */
export const isWithin = (path: PropertyPath, written: PropertyPath): boolean =>
  written.length <= path.length && written.every((part, index) => part === "*" || part === path[index]);

/** The part of an object or a list with this name or index. Undefined if there is none. */
export function valueAt(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isProps(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A path as Pulumi writes it. Keys that are no plain names are in brackets: `a.b[0]["c.d"]`. */
export const formatPath = (path: PropertyPath): string =>
  path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      if (part === "" || /[.[\]"]/.test(part)) return `["${part.replaceAll('"', '\\"')}"]`;
      return index === 0 ? part : `.${part}`;
    })
    .join("");
