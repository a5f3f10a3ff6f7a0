import type { Document } from "yaml";
import type { JsonObject } from "./json";
import {
  documentsFromText,
  type Position,
  positionAt,
  type Unparsed,
  withoutByteOrderMark,
  yaml,
} from "./parse";
import type { Path } from "./paths";

/** A document of a text, with the positions of its parts. */
export interface SourceDocument {
  data: JsonObject;
  /**
   * The position of the key or item at a path. For a missing or merged part, it is the position of its parent.
   *
   * @param inside An offset in a part that is text. If the text is escaped or folded there, the result is the text's start.
   */
  positionOf(path: Path, inside?: number): Position;
}

/** The documents of a text that is JSON (if it starts with `{` or `[`) or YAML. */
export function sourceDocuments(written: string): { documents: SourceDocument[] } | Unparsed {
  const parsed = documentsFromText(written);
  if ("problem" in parsed) return parsed;
  const text = withoutByteOrderMark(written);
  const documents = parsed.documents.map(({ data, nodes }) => ({
    data,
    positionOf: (path: Path, inside?: number) => positionAt(text, offsetOf(nodes(), text, path, inside)),
  }));
  return { documents };
}

/** A part of a document: the node where it begins (its key or item), and the node of its value. */
interface Part {
  start: unknown;
  value: unknown;
}

function offsetOf(document: Document, text: string, path: Path, inside?: number): number {
  let part: Part = { start: document.contents, value: document.contents };
  for (const key of path) {
    const next = partAt(document, part.value, key);
    if (!next) return rangeOf(part.start)[0];
    part = next;
  }
  const value = resolved(document, part.value);
  if (inside === undefined || !yaml().isScalar(value)) return rangeOf(part.start)[0];
  const [start, end] = rangeOf(value);
  const content = String(value.value);
  const lineStart = content.lastIndexOf("\n", inside - 1) + 1;
  const [line = ""] = content.slice(lineStart).split("\n");
  const source = text.slice(start, end);
  // A block's first line is only its header, which can have a comment. Folding joins lines, but never splits a line.
  const before = /^BLOCK/.test(value.type ?? "") ? content.slice(0, lineStart).split("\n").length : 0;
  const at = source.indexOf(line, source.split("\n").slice(0, before).join("\n").length);
  return at < 0 ? start : start + at + inside - lineStart;
}

/** The item of a list, or the part of a mapping with this key. A part merged with `<<` is not found. */
function partAt(document: Document, node: unknown, key: string | number): Part | undefined {
  const { isMap, isScalar, isSeq } = yaml();
  const parent = resolved(document, node);
  const item = isSeq(parent) ? parent.items[Number(key)] : undefined;
  if (item) return { start: item, value: item };
  if (!isMap(parent)) return undefined;
  const own = parent.items.findLast((pair) => isScalar(pair.key) && pair.key.source === key);
  return own && { start: own.key, value: own.value };
}

const resolved = (document: Document, node: unknown) =>
  yaml().isAlias(node) ? node.resolve(document) : node;

/** Where a node begins and ends. */
function rangeOf(node: unknown): [start: number, end: number] {
  const { range } = (yaml().isNode(node) && node) || {};
  return range ? [range[0], range[1]] : [0, 0];
}
