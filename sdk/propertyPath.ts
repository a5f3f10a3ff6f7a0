import type { Path } from "./traffic-policy/index";

/** Parses a path of a program, in which `*` matches any part. Undefined if the text is no path. */
export function parsePath(text: string): Path | undefined {
  const path: Path = [];
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

/** Whether a path of a program names this path or one that contains it, as for `ignoreChanges` and `replaceOnChanges`. */
export const isWithin = (path: Path, written: Path): boolean =>
  written.length <= path.length && written.every((part, index) => part === "*" || part === path[index]);
