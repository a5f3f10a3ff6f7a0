import type { Alias, CST, Document, Node, Scalar, YAMLMap } from "yaml";
import { wellFormed } from "./api/json";
import {
  DEEPEST,
  isKept,
  LONGEST,
  type Parsed,
  problem,
  problemAt,
  TOO_DEEP,
  TOO_EXACT,
  TOO_LONG,
  type Unparsed,
} from "./jsonText";

/*
 * Parses YAML text in time linear in its length. The library's lexer, parser and composer are linear too, but its search for
 * equal keys and for the targets of aliases is not, so both are done here.
 */

/** Loaded only for YAML, because most programs have none and every command starts the provider twice. */
const yaml = (): typeof import("yaml") => require("yaml");

/** Why a text is refused, and the position of the mistake. */
class Refused extends Error {
  constructor(
    readonly reason: string,
    readonly offset?: number,
    readonly advice?: string,
  ) {
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
  contents: Node | null;
}

/** Parses a YAML text of at most `most` documents. */
export function documentsFromYaml(text: string, most: number): { documents: YamlDocument[] } | Unparsed {
  try {
    const documents = documentsOf(text, most);
    return { documents: documents.map((one) => ({ data: dataOf(one), contents: one.contents })) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { reason, offset, advice } = error;
    return offset === undefined ? problem("text", reason) : problemAt(text, offset, reason, advice);
  }
}

function documentsOf(text: string, most: number): Document.Parsed[] {
  const { Composer } = yaml();
  // With a directive for YAML 1.1, the same text would be other data: `yes` would be true, and 010 would be 8.
  const composer = new Composer({ schema: "core", stringKeys: true, uniqueKeys: false, logLevel: "error" });
  // Only the first mistake is reported. A text can have a mistake in each character, and each error takes time to create.
  let first: Refused | undefined;
  const onError = (
    at: number | number[] | { offset: number },
    code: string,
    _: string,
    isWarning?: boolean,
  ) => {
    if (isWarning) return;
    const offset = typeof at === "number" ? at : Array.isArray(at) ? at[0] : at.offset;
    first ??= new Refused(INVALID, offset, reasonOf(code));
    throw first;
  };
  Object.assign(composer, { onError });
  const documents = [...composer.compose(tokensOf(text, most))];
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error) throw new Refused(INVALID, error.pos[0], reasonOf(error.code));
  return documents;
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

/** The tokens of the documents. Refuses nesting that is too deep, because the composer could overflow the stack. */
function* tokensOf(text: string, most: number): Generator<CST.Token> {
  const { Lexer, Parser } = yaml();
  const parser = new Parser();
  let documents = 0;
  const checked = function* (tokens: Iterable<CST.Token>) {
    for (const token of tokens) {
      if (token.type === "error" || (token.type === "document" && ++documents > most))
        throw new Refused(INVALID, token.offset);
      yield token;
    }
  };
  for (const lexeme of new Lexer().lex(text)) {
    yield* checked(parser.next(lexeme));
    // The stack contains the open collections, the document and a scalar.
    if (parser.stack.length > DEEPEST + 2) throw new Refused(TOO_DEEP);
  }
  yield* checked(parser.end());
}

/** The data of a document, with aliases and merge keys resolved. */
function dataOf(document: Document.Parsed): unknown {
  const { isAlias, isMap, isScalar, isSeq } = yaml();
  /** The last node of each anchor, and the target of each alias at its first occurrence. */
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node | undefined>();
  /** The collections that contain the current node. */
  const open = new Set<Node>();
  let repeating = 0;
  /** How many characters of JSON aliases may still add. Nested aliases multiply. */
  let left = LONGEST;

  const read = (node: unknown): unknown => {
    if (isAlias(node)) return repeated(node);
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) return node;
    if (repeating > 0) left -= 1 + (isScalar(node) ? String(node.value).length : 2);
    if (left < 0) throw new Refused(`${TOO_LONG} with its aliases written out`);
    if (repeating === 0 && node.anchor) anchors.set(node.anchor, node);
    if (isScalar(node)) return scalar(node);
    if (open.size === DEEPEST) throw new Refused(TOO_DEEP);
    open.add(node);
    const data = isMap(node) ? mapping(node) : node.items.map(read);
    open.delete(node);
    return data;
  };

  const repeated = (alias: Alias): unknown => {
    if (repeating === 0) targets.set(alias, anchors.get(alias.source));
    const target = targets.get(alias);
    if (!target) throw invalid(alias, "an alias has no anchor before it");
    if (open.has(target)) throw invalid(alias, "an alias stands within what it repeats");
    repeating++;
    const data = read(target);
    repeating--;
    return data;
  };

  const scalar = (node: Scalar): unknown => {
    const { value, source = "" } = node;
    if (typeof value === "string") return wellFormed(value);
    // The number was checked at its first occurrence.
    const isNumber = repeating === 0 && typeof value === "number" && /\d/.test(source);
    if (isNumber && !isKept(source)) throw new Refused(TOO_EXACT, node.range?.[0], "; write it in quotes");
    return value;
  };

  // Merges as Go's parsers do: a mapping's own keys win, then the first merged mapping.
  const mapping = ({ items }: YAMLMap): object => {
    const names = new Set<string>();
    const own: [string, unknown][] = [];
    let merged: unknown[] = [];
    for (const { key, value } of items) {
      // The composer's options make every key a text.
      const name = isScalar(key) ? wellFormed(String(key.value)) : "";
      if (names.has(name)) throw invalid(key, "a key is there twice");
      names.add(name);
      if (repeating > 0) left -= name.length + 3;
      const isMerge = name === "<<" && isScalar(key) && key.type === "PLAIN" && !key.tag;
      if (!isMerge) {
        own.push([name, read(value)]);
        continue;
      }
      merged = [read(value)].flat();
      if (!merged.every((part) => part instanceof Object && !Array.isArray(part)))
        throw invalid(key, "what is merged is no mapping");
    }
    return Object.fromEntries([
      ...merged.reverse().flatMap((part) => Object.entries(part as object)),
      ...own,
    ]);
  };

  return read(document.contents);
}

const invalid = (node: unknown, what: string) =>
  new Refused(INVALID, yaml().isNode(node) ? node.range?.[0] : undefined, `: ${what}`);
