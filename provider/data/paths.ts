import { isMapping } from "./json";

/** The names and indexes that lead to a part of a document. */
export type Path = (string | number)[];

/** Every part of a document with its path. A part comes before what it contains. */
export function* partsOf(part: unknown, path: Path = []): Generator<[path: Path, part: unknown]> {
  yield [path, part];
  if (Array.isArray(part)) {
    for (const [index, item] of part.entries()) yield* partsOf(item, [...path, index]);
  } else if (isMapping(part)) {
    for (const [key, value] of Object.entries(part)) yield* partsOf(value, [...path, key]);
  }
}

/** A path in Pulumi's notation: `on_http_request[0].actions`. Keys that are no plain names are in brackets. */
export function pathText(path: Path): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      if (part === "" || /[.[\]"]/.test(part)) return `["${part.replaceAll('"', '\\"')}"]`;
      return index === 0 ? part : `.${part}`;
    })
    .join("");
}
