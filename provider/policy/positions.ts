import type { Node as JsonNode } from "jsonc-parser";
import type { Node, Pair } from "yaml";
import type { Path } from "../endpoint/documents";
import { documentsFromYaml, fromJson, looksLikeJson, type Unparsed } from "../endpoint/documents";

/*
 * The positions of data in its text. The text is parsed once, and searched again only if positions are needed. Both take
 * time linear in its length.
 */

/** Counted from 1, as in editors. */
export interface Position {
  line: number;
  column: number;
}

/** A document of a text, with the positions of its parts. */
export interface SourceDocument {
  data: unknown;
  /** The positions of the parts at these paths, in the same order. A missing part has the position of its parent. */
  positionsOf(paths: readonly Path[]): Position[];
}

/** The documents of a text that is JSON (if it starts with `{` or `[`) or YAML. */
export function sourceDocuments(
  text: string,
  most = Number.POSITIVE_INFINITY,
): { documents: SourceDocument[] } | Unparsed {
  const among = (mark: (wanted: Part) => void) => (paths: readonly Path[]) => positions(text, paths, mark);
  if (looksLikeJson(text)) {
    const parsed = fromJson(text);
    if ("problem" in parsed) return parsed;
    return { documents: [{ data: parsed.data, positionsOf: among((wanted) => markJson(text, wanted)) }] };
  }
  const parsed = documentsFromYaml(text, most);
  if ("problem" in parsed) return parsed;
  const documents = parsed.documents.map(({ data, contents }) => ({
    data,
    positionsOf: among((wanted) => markYaml(contents, wanted)),
  }));
  return { documents };
}

/** The parts to find, as a tree. Each found part gets its offset. */
interface Part {
  offset?: number;
  parts: Map<string | number, Part>;
}

function positions(text: string, paths: readonly Path[], mark: (wanted: Part) => void): Position[] {
  const root: Part = { parts: new Map() };
  for (const path of paths) {
    let part = root;
    for (const key of path) {
      const next = part.parts.get(key) ?? { parts: new Map() };
      part.parts.set(key, next);
      part = next;
    }
  }
  mark(root);
  const { LineCounter }: typeof import("yaml") = require("yaml");
  const lines = new LineCounter();
  for (const start of [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)])
    lines.addNewLine(start);
  return paths.map((path) => {
    let [part, offset]: [Part | undefined, number] = [root, root.offset ?? 0];
    for (const key of path) {
      part = part?.parts.get(key);
      offset = part?.offset ?? offset;
    }
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  });
}

/** The position of a mapping's part is that of its key. */
function markYaml(contents: Node | null, wanted: Part): void {
  const { isMap, isScalar, isSeq }: typeof import("yaml") = require("yaml");
  const mark = (node: unknown, part: Part) => {
    if (part.parts.size === 0) return;
    if (isSeq(node)) {
      for (const [key, wanted] of part.parts) {
        const item = typeof key === "number" ? node.items[key] : undefined;
        if (item) found(item, item, wanted);
      }
    } else if (isMap(node)) {
      const merged: unknown[] = [];
      for (const { key, value } of node.items as Pair[]) {
        const name = isScalar(key) ? String(key.value) : "";
        const wanted = part.parts.get(name);
        if (wanted) found(key, value, wanted);
        else if (name === "<<") merged.push(...(isSeq(value) ? value.items : [value]));
      }
      // A mapping's own keys take precedence.
      for (const source of merged)
        mark(source, { parts: new Map([...part.parts].filter(([, { offset }]) => offset === undefined)) });
    }
  };
  const found = (at: unknown, value: unknown, part: Part) => {
    const range =
      typeof at === "object" && at !== null && "range" in at ? (at.range as number[] | undefined) : undefined;
    if (range?.[0] !== undefined) part.offset ??= range[0];
    mark(value, part);
  };
  found(contents, contents, wanted);
}

/** The position of an object's part is that of its key. The text is valid JSON. */
function markJson(text: string, wanted: Part): void {
  const { parseTree }: typeof import("jsonc-parser") = require("jsonc-parser");
  const root = parseTree(text);
  if (!root) return;
  wanted.offset = root.offset;
  markParts(root, wanted);
}

function markParts(value: JsonNode, wanted: Part): void {
  for (const [index, node] of (value.children ?? []).entries()) {
    const [key, inner] = node.type === "property" ? (node.children ?? []) : [];
    const part = wanted.parts.get(key ? String(key.value) : index);
    if (!part) continue;
    part.offset = node.offset;
    markParts(inner ?? node, part);
  }
}
