import type { Alias, CST, Document, Node, Scalar, YAMLMap } from "yaml";
import { isDeeper, parseJson, wellFormed } from "./api/json";

/*
 * JSON and YAML as text. Whatever the text holds, all of this takes time in proportion to its length. Nothing quotes it,
 * since it may hold a secret.
 */

/** Something wrong at a place in a document. The path is for people: `line 3`, `on_http_request[0].actions`. */
export interface Problem {
  path: string;
  reason: string;
}

/** The mistake of a text that contains no data. */
export interface Unparsed {
  problem: Problem;
}

export type Parsed = { data: unknown } | Unparsed;

/** More than any policy has, and less than what would take a parser's time or memory. */
export const LONGEST = 1_000_000;

/** More than any policy has; the messages to the engine cannot carry thousands. */
export const DEEPEST = 200;

export const TOO_LONG = `is longer than ${LONGEST} characters`;
export const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

/** What a number is refused with that would be another one on the wire. */
const TOO_EXACT = "holds a number with more digits than can be kept";

/** The data of a document that is JSON. */
export function fromJson(text: string): Parsed {
  if (isDeeper(text, DEEPEST)) return problem("text", TOO_DEEP);
  try {
    const data = parseJson(text);
    const at = tooExact(text);
    return at === undefined ? { data } : problemAt(text, at, TOO_EXACT, "; write it as text");
  } catch {
    return problemAt(text, breakOf(text), "is not valid JSON");
  }
}

export const problem = (path: string, reason: string): Unparsed => ({ problem: { path, reason } });

/** A problem that people find by its line and column. */
function problemAt(text: string, offset: number, reason: string, advice = ""): Unparsed {
  const before = text.slice(0, offset).split("\n");
  const line = `line ${before.length}`;
  return problem(line, `${reason} (${line}, column ${(before.at(-1)?.length ?? 0) + 1})${advice}`);
}

/** Whether a number stays what it is where it is read into data and written again. */
function isKept(number: string): boolean {
  const value = Number(number);
  return /^0[xo]/.test(number) ? Number.isSafeInteger(value) : decimal(number) === decimal(String(value));
}

/** A decimal number's value in one spelling, without its sign: its digits but for the zeros around them, and an exponent. */
function decimal(number: string): string | undefined {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^[-+]?(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?$/i.exec(number) ?? [];
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (digits[start] === "0") start++;
  while (end > start && digits[end - 1] === "0") end--;
  if (start === end) return "0";
  return `${digits.slice(start, end)}e${Number(exponent) + digits.length - end - fraction.length}`;
}

/** Where valid JSON has a number that data would change; undefined where it has none. */
function tooExact(json: string): number | undefined {
  // Fifteen digits are always kept, as are two of an exponent.
  if (!/[\d.]{16}|\de[-+]?\d{3}/i.test(json)) return undefined;
  for (const { 0: token, index } of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs)) {
    if (!token.startsWith('"') && !isKept(token)) return index;
  }
  return undefined;
}

/** A token with the space before it; an empty one where there is none. */
const TOKEN =
  /[ \t\r\n]*([[\]{},:]|"[ !#-[\]-\u{10ffff}]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\u{10ffff}]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|)/uy;

/** What can follow: for each state the first characters that tokens can have there, and the state after each. */
const VALUE = { "[": "first item", "{": "first key", '"': "end", scalar: "end" };
const GRAMMAR: Record<string, Record<string, string>> = {
  value: VALUE,
  "first item": { ...VALUE, "]": "end" },
  "first key": { '"': "colon", "}": "end" },
  key: { '"': "colon" },
  colon: { ":": "value" },
  end: { ",": "next", "]": "end", "}": "end" },
};

/** Where text that is no JSON breaks: at the first token that cannot stand where it does. The parser's error seldom names the place. */
function breakOf(json: string): number {
  const open: string[] = [];
  let state = "value";
  for (TOKEN.lastIndex = 0; ; ) {
    const token = TOKEN.exec(json)?.[1] ?? "";
    const kind = /^["[\]{},:]/.exec(token)?.[0] ?? (token && "scalar");
    const next = GRAMMAR[state]?.[kind];
    const isClosed = kind === "]" || kind === "}" ? open.pop() === kind : next !== "next" || open.length > 0;
    if (next === undefined || !isClosed) return TOKEN.lastIndex - token.length;
    if (kind === "[" || kind === "{") open.push(kind === "[" ? "]" : "}");
    state = next !== "next" ? next : open.at(-1) === "]" ? "value" : "key";
  }
}

/*
 * YAML as text, in time that is in proportion to its length. So are the library's lexer, parser and composer; its search
 * for equal keys and for what an alias means is not, so that is done here.
 */

/** Loaded where there is YAML to read: most programs have none, and every command starts the provider twice. */
const yaml = (): typeof import("yaml") => require("yaml");

/** Why a text is not taken, and where that stands in it. */
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

/** The data of a document that is YAML. */
export function fromYaml(text: string): Parsed {
  const parsed = documentsFromYaml(text, 1);
  return "problem" in parsed ? parsed : { data: parsed.documents[0]?.data };
}

/** A document as data, and as nodes with positions. */
interface YamlDocument {
  data: unknown;
  contents: Node | null;
}

/** The documents of a text that is YAML. More than `most` are refused. */
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
  // A directive for YAML 1.1 would make other data of the same text: `yes` would be true, and 010 would be 8.
  const composer = new Composer({ schema: "core", stringKeys: true, uniqueKeys: false, logLevel: "error" });
  // Only the first mistake is reported. A text can have as many as characters, and an error for each takes long to make.
  let first: Refused | undefined;
  const onError = (
    at: number | number[] | { offset: number },
    _: string,
    __: string,
    isWarning?: boolean,
  ) => {
    if (isWarning) return;
    const offset = typeof at === "number" ? at : Array.isArray(at) ? at[0] : at.offset;
    first ??= new Refused(INVALID, offset);
    throw first;
  };
  Object.assign(composer, { onError });
  const documents = [...composer.compose(tokensOf(text, most))];
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error) throw new Refused(INVALID, error.pos[0]);
  return documents;
}

/** The tokens of the documents. What nests too deeply is refused here: composing it could end the whole process. */
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
    // Beside the collections that are open, the stack holds the document and a scalar.
    if (parser.stack.length > DEEPEST + 2) throw new Refused(TOO_DEEP);
  }
  yield* checked(parser.end());
}

/** The data of a document, with aliases and merge keys written out. */
function dataOf(document: Document.Parsed): unknown {
  const { isAlias, isMap, isScalar, isSeq } = yaml();
  /** The last node with each anchor, and what each alias meant where it was come upon first. */
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node | undefined>();
  /** The collections that are being read. */
  const open = new Set<Node>();
  let repeating = 0;
  /** How many characters of JSON may be repeated, at least: what is repeated within what is repeated multiplies. */
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
    // What is repeated was looked at where it stands.
    const isNumber = repeating === 0 && typeof value === "number" && /\d/.test(source);
    if (isNumber && !isKept(source)) throw new Refused(TOO_EXACT, node.range?.[0], "; write it in quotes");
    return value;
  };

  // As parsers in Go merge: a mapping's own keys win, and among those that it merges the first.
  const mapping = ({ items }: YAMLMap): object => {
    const names = new Set<string>();
    const own: [string, unknown][] = [];
    let merged: unknown[] = [];
    for (const { key, value } of items) {
      // Every key is text: the composer is configured so.
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

/** Text that is JSON or nothing; any other is YAML. */
export const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);
