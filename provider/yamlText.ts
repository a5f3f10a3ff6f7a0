import type { CST, Document, Node } from "yaml";
import { wellFormed } from "./api/json";
import {
  DEEPEST,
  INEXACT,
  isKept,
  LONGEST,
  type Parsed,
  problem,
  problemAt,
  TOO_DEEP,
  tooLong,
  type Unparsed,
} from "./jsonText";

/** Loaded only for YAML, because most programs have none and every command starts the provider twice. */
const yaml = (): typeof import("yaml") => require("yaml");

/** The most characters of a document, with the comments before it. In a hostile text, each can cost the library an error. */
const LONGEST_YAML = 50_000;

/** The most uses of an anchor. */
const MOST_USES = 100;

class Refused extends Error {
  constructor(readonly unparsed: Unparsed) {
    super();
  }
}

const INVALID = "is not valid YAML";

/** Parses a single YAML document. */
export function fromYaml(text: string): Parsed {
  const parsed = documentsFromYaml(text, 1);
  return "problem" in parsed ? parsed : { data: parsed.documents[0]?.data };
}

/** A document as data and as nodes with positions. */
interface YamlDocument {
  data: unknown;
  /** Aliases are replaced by what they repeat. */
  contents: Node | null;
}

/** Parses a YAML text of at most `most` documents. */
export function documentsFromYaml(text: string, most: number): { documents: YamlDocument[] } | Unparsed {
  const { Composer } = yaml();
  // With a directive for YAML 1.1, the same text would be other data: `yes` would be true, and 010 would be 8.
  const composer = new Composer({
    ...{ schema: "core", merge: true, stringKeys: true, logLevel: "error" },
    // Checked below. The library takes the square of their number, and after an empty value it names the line before.
    uniqueKeys: false,
  });
  try {
    const documents: YamlDocument[] = [];
    for (const document of composer.compose(tokensOf(text), true)) {
      const [error] = document.errors;
      if (error) return problemAt(text, error.pos[0], INVALID, reasonOf(error.code));
      if (documents.length === most) return problemAt(text, document.range[0], INVALID);
      prepare(document, text);
      documents.push({ data: document.toJS(), contents: document.contents });
    }
    return { documents };
  } catch (error) {
    if (error instanceof Refused) return error.unparsed;
    throw error;
  }
}

/** The library's codes of common mistakes. Its messages could quote the text. */
const REASONS: Readonly<Record<string, string>> = {
  BAD_INDENT: "wrong indentation, or a bracket is not closed",
  BLOCK_AS_IMPLICIT_KEY: "wrong indentation, or a second colon",
  MISSING_CHAR: "a quote, a comma or a colon is missing",
  TAB_AS_INDENT: "a tab as indentation",
  UNEXPECTED_TOKEN: "does not belong here",
};

const reasonOf = (code: string) => (REASONS[code] ? `: ${REASONS[code]}` : "");

/** The tokens of the documents. Refuses what would keep the composer busy, or overflow its stack and end the process. */
function* tokensOf(text: string): Generator<CST.Token> {
  const { Lexer, Parser } = yaml();
  const parser = new Parser();
  let start = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === "document") start = parser.offset;
      yield token;
    }
    if (parser.offset - start > LONGEST_YAML) throw new Refused(problem("text", tooLong(LONGEST_YAML)));
    // The stack contains the open collections, the document and a scalar.
    if (parser.stack.length > DEEPEST + 2) throw new Refused(problem("text", TOO_DEEP));
  }
  yield* parser.end();
}

/**
 * Replaces each alias by what it repeats. Refuses what the library would accept, or refuse without a position. The library's
 * own aliases take minutes for some texts of this length, and its limit of them lets others grow without end.
 */
function prepare(document: Document.Parsed, text: string): void {
  const { isCollection, isMap, isPair, isScalar, isSeq, visit } = yaml();
  const refused = ({ range }: Node, reason: string, advice = "") =>
    new Refused(problemAt(text, range?.[0] ?? 0, reason, advice));
  /** The last node of each anchor. */
  const anchors = new Map<string, { node: Node; uses: number }>();
  const replacements: (() => void)[] = [];
  visit(document, {
    Value: (_, node) => {
      if (node.anchor) anchors.set(node.anchor, { node, uses: 0 });
      if (!isScalar(node)) return;
      const { value, source = "" } = node;
      if (typeof value === "string") node.value = wellFormed(value);
      if (typeof value === "number" && /\d/.test(source) && !isKept(source))
        throw refused(node, INEXACT, "; write it in quotes");
    },
    Alias: (key, alias, path) => {
      const anchor = anchors.get(alias.source);
      if (!anchor) throw refused(alias, INVALID, ": an alias has no anchor before it");
      const { node } = anchor;
      if (path.includes(node)) throw refused(alias, INVALID, ": an alias stands within what it repeats");
      if (++anchor.uses > MOST_USES) throw refused(alias, `uses an anchor more than ${MOST_USES} times`);
      const parent = path.at(-1);
      // An item's position is that of its alias.
      const item: unknown = Object.create(node, { range: { value: alias.range } });
      replacements.push(() => {
        if (isPair(parent)) parent.value = node;
        else if (isSeq(parent)) parent.items[Number(key)] = item;
      });
    },
  });
  // Only now, because an alias in a repeated part means the anchor before the part's first place.
  for (const replace of replacements) replace();

  let left = LONGEST;
  const check = (node: unknown, level: number, copies: number): void => {
    left -= copies * (isScalar(node) ? 1 + String(node.value).length : 2);
    if (left < 0) throw new Refused(problem("text", `${tooLong(LONGEST)} with its aliases written out`));
    if (!isCollection(node)) return;
    if (level === DEEPEST) throw new Refused(problem("text", TOO_DEEP));
    if (isSeq(node)) for (const item of node.items) check(item, level + 1, copies);
    const names = new Set<unknown>();
    for (const { key, value } of isMap(node) ? node.items : []) {
      if (!isScalar(key)) continue;
      if (names.has(key.value)) throw refused(key, INVALID, ": a key is there twice");
      names.add(key.value);
      const isMerge = key.value === "<<" && key.type === "PLAIN" && !key.tag;
      if (isMerge && !(isSeq(value) ? value.items : [value]).every(isMap))
        throw refused(key, INVALID, ": what is merged is no mapping");
      // The library would merge under the text !!str <<, too.
      if (!isMerge) key.type = "QUOTE_DOUBLE";
      check(key, level, copies);
      // The library copies the parts of a mapping for each merge key around it.
      check(value, level + 1, copies + (isMerge ? 1 : 0));
    }
  };
  check(document.contents, 0, 1);
}
