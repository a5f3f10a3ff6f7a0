import type { Node, Pair } from "yaml";
import type { Path } from "../document";
import { fromJson, looksLikeJson, type Unparsed } from "../jsonText";
import { documentsFromYaml } from "../yamlText";

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
  const { isAlias, isMap, isScalar, isSeq, visit }: typeof import("yaml") = require("yaml");
  const anchors = new Map<string, Node>();
  if (contents)
    visit(contents, {
      Node: (_, node) => void ("anchor" in node && node.anchor && anchors.set(node.anchor, node)),
    });
  const target = (node: unknown) => (isAlias(node) ? anchors.get(node.source) : node);

  const mark = (given: unknown, part: Part) => {
    const node = target(given);
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
        else if (name === "<<") merged.push(value);
      }
      // A mapping's own keys take precedence.
      for (const value of merged) {
        const sources = target(value);
        for (const source of isSeq(sources) ? sources.items : [sources])
          mark(source, { parts: new Map([...part.parts].filter(([, { offset }]) => offset === undefined)) });
      }
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

/** The text is valid JSON. */
function markJson(text: string, wanted: Part): void {
  /** The open containers, with the parts to find in each and, for lists, the index. */
  const open: { part: Part | undefined; index: number | undefined }[] = [];
  let part: Part | undefined = wanted;
  let key: string | undefined;
  for (const { 0: token, index: offset } of text.matchAll(
    /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s[\]{}:,"]+/gs,
  )) {
    const inside = open.at(-1);
    if (token === "}" || token === "]") open.pop();
    else if (token === ",") {
      if (inside?.index !== undefined) inside.index++;
    } else if (token !== ":") {
      const isKey = inside !== undefined && inside.index === undefined && key === undefined;
      if (isKey) {
        key = JSON.parse(token) as string;
        part = inside.part?.parts.get(key);
        if (part) part.offset = offset;
        continue;
      }
      if (inside?.index !== undefined) part = inside.part?.parts.get(inside.index);
      if (part) part.offset ??= offset;
      if (token === "{" || token === "[") open.push({ part, index: token === "[" ? 0 : undefined });
      key = undefined;
    }
  }
}
