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
  /**
   * The positions of the parts at these paths, in the same order. A missing part has the position of its parent.
   *
   * @param offsets For a part that is text, a place in it, whose position is wanted.
   */
  positionsOf(paths: readonly Path[], offsets?: readonly (number | undefined)[]): Position[];
}

/** The documents of a text that is JSON (if it starts with `{` or `[`) or YAML. */
export function sourceDocuments(
  text: string,
  most = Number.POSITIVE_INFINITY,
): { documents: SourceDocument[] } | Unparsed {
  const among =
    (mark: (wanted: Part) => void): SourceDocument["positionsOf"] =>
    (paths, offsets = []) =>
      positions(text, paths, offsets, mark);
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
  /** What it is, if it is text, and where that begins and ends. */
  text?: { value: string; start: number; end: number };
  parts: Map<string | number, Part>;
}

function positions(
  text: string,
  paths: readonly Path[],
  offsets: readonly (number | undefined)[],
  mark: (wanted: Part) => void,
): Position[] {
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
  return paths.map((path, index) => {
    let [part, offset]: [Part | undefined, number] = [root, root.offset ?? 0];
    for (const key of path) {
      part = part?.parts.get(key);
      offset = part?.offset ?? offset;
    }
    const inside = offsets[index];
    if (inside !== undefined && part?.text) offset = offsetInText(text, part.text, inside);
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  });
}

/** Where a place in a text is, despite quotes, escapes and indents: all but blanks follow each other in the same order. */
function offsetInText(
  source: string,
  { value, start, end }: NonNullable<Part["text"]>,
  offset: number,
): number {
  let written = source.slice(start, end);
  if (written.startsWith('"'))
    written = written.replace(/\\(?:u([\da-f]{4})|(["\\/])|.)/gi, (sequence, code, character = "") =>
      (code ? String.fromCharCode(Number.parseInt(code, 16)) : character).padStart(sequence.length),
    );
  let at = /^(?:["']|[|>][^\n]*\n)?/.exec(written)?.[0].length ?? 0;
  for (const character of value.slice(0, offset + 1).replace(/\s/g, "")) {
    const next = written.indexOf(character, at);
    if (next < 0) return start;
    at = next + 1;
  }
  return start + at - (/\S/.test(value.charAt(offset)) ? 1 : 0);
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
    if (isScalar(value) && typeof value.value === "string" && value.range)
      part.text ??= { value: value.value, start: value.range[0], end: value.range[1] };
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
    const { type, value: text, offset: start, length } = inner ?? node;
    if (type === "string") part.text = { value: String(text), start, end: start + length };
    markParts(inner ?? node, part);
  }
}
