import type { Document } from "yaml";
import { canonicalJson, isDeeper, isMapping, type JsonObject, parseJson, RepeatedKey } from "./json";
import { partsOf, pathText } from "./paths";

/*
 * Parses policies: JSON with `JSON.parse`, YAML with the library `yaml` and limits. No message quotes the text, because it may
 * contain a secret.
 */

/** The most characters of a text: more than any policy needs, but harmless to a parser. */
export const MAX_LENGTH = 1_000_000;

/** The most characters of a YAML document. In a hostile text, the library may report an error for each character. */
const MAX_YAML_LENGTH = 50_000;

/** The most levels of nesting: more than any policy needs. Messages to Pulumi's engine cannot carry thousands of levels. */
export const MAX_DEPTH = 200;

/** The most uses of anchors in a YAML document. For each anchor, uses within repeated parts count every time. */
const MAX_USES = 100;

/** The most mistakes that are reported for an input. */
export const MAX_PROBLEMS = 20;

const tooLong = (most: number, of = "") => `is longer than ${most} characters${of}`;
const TOO_DEEP = `is nested more than ${MAX_DEPTH} levels deep`;
const NOT_JSON = "a value that JSON cannot hold; write it as text, numbers, lists and plain objects";
export const NO_MAPPING = "must be a mapping of phases, as in on_http_request: […]";
const NO_FILE = `${NO_MAPPING}; of a file, give what it contains, not its name`;

/** A text that cannot be parsed. */
export interface Unparsed {
  /** What is wrong, to follow the text's name in a sentence: `must be a list`. */
  problem: string;
}

export type Parsed = { data: unknown } | Unparsed;

/** Whether text must be JSON, by its first character. Other text is YAML. */
export const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);

/** Parses a policy. Text that starts with `{` or `[` must be JSON; other text must be a YAML mapping. */
export function policyFromText(text: string): Parsed {
  const parsed = documentsFromText(text);
  if ("problem" in parsed) return parsed;
  const [first, second] = parsed.documents;
  return second ? { problem: SEVERAL_DOCUMENTS } : { data: first?.data };
}

/** Detects a Buffer or a list that an SDK turned into a mapping with numbers as keys. Returns what is wrong. */
export function numberedPhases(policy: object): string | undefined {
  const keys = Object.keys(policy);
  if (keys.length === 0 || !keys.every((key) => /^\d+$/.test(key))) return undefined;
  return "has only numbers for phases, as the bytes of a file have; read the file as text, with utf8";
}

/** A document that is a policy or contains policies. */
interface TextDocument {
  data: JsonObject;
  /** The document's nodes with their positions. JSON is parsed again as YAML to get them. */
  nodes: () => Document;
}

/** Parses a text into at least one document. Each document must be a mapping that JSON can hold. */
export function documentsFromText(text: string): { documents: TextDocument[] } | Unparsed {
  const parsed = looksLikeJson(text) ? jsonDocument(text) : documentsFromYaml(text);
  if ("problem" in parsed) return parsed;
  const documents: TextDocument[] = [];
  for (const { data, nodes } of parsed.documents) {
    if (!isMapping(data)) return { problem: typeof data === "string" ? NO_FILE : NO_MAPPING };
    // YAML has values that JSON lacks. A short text can also become long when it is sent: 1e20 has 21 digits.
    const problem = problemsOfData(data)[0] ?? numberedPhases(data);
    if (problem !== undefined) return { problem };
    documents.push({ data, nodes });
  }
  return documents.length > 0 ? { documents } : { problem: NO_MAPPING };
}

export const SEVERAL_DOCUMENTS = "has more than one YAML document";

/** Why JSON cannot hold this data: a problem for each part of a wrong type, with its path. */
export function problemsOfData(data: unknown): string[] {
  const problems: string[] = [];
  for (const [path, part] of partsOf(data)) {
    if (path.length === MAX_DEPTH && typeof part === "object" && part !== null) return [TOO_DEEP];
    if (!isJson(part)) problems.push(`contains at ${pathText(path)} ${NOT_JSON}`);
    if (problems.length === MAX_PROBLEMS) return problems;
  }
  return problems.length === 0 && canonicalJson(data).length > MAX_LENGTH ? [tooLong(MAX_LENGTH)] : problems;
}

/** Whether JSON can hold a value of this type, not considering what it contains. JSON omits undefined. */
function isJson(part: unknown): boolean {
  if (typeof part === "number") return Number.isFinite(part);
  if (typeof part === "object") return part === null || Array.isArray(part) || isMapping(part);
  return ["string", "boolean", "undefined"].includes(typeof part);
}

/** Numbers that JavaScript might change: with more than 15 digits (13 in other bases), or with an exponent of three digits. */
const LONG_NUMBER = /(?:\d\.?){16}|\de[-+]?\d{3}|^0[xo].{14}/i;

/** Whether JavaScript holds a number exactly. It always does if it writes the number in the same way. */
const isExact = (number: string) => !LONG_NUMBER.test(number) || String(Number(number)) === number;

const inexact = (place: string) =>
  `contains a number with more than 15 digits, or with an exponent of three, which may not be kept exactly (${place}); write it as text`;

/** Text without a byte order mark, which is no part of the content. */
export const withoutByteOrderMark = (text: string) => text.replace(/^\ufeff/, "");

const UTF_16 = "is UTF-16 text; save the file as UTF-8";

/** Whether UTF-16 was read as UTF-8: its byte order mark is then two invalid characters, or a letter has a zero byte. */
const isUtf16 = (text: string) => text.startsWith("\ufffd\ufffd") || text.slice(0, 2).includes("\0");

export function fromJson(written: string): Parsed {
  if (isUtf16(written)) return { problem: UTF_16 };
  const text = withoutByteOrderMark(written);
  if (text.length > MAX_LENGTH) return { problem: tooLong(MAX_LENGTH) };
  if (isDeeper(text, MAX_DEPTH)) return { problem: TOO_DEEP };
  try {
    const data = parseJson(text);
    for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|\d[\d.e+-]*/gi))
      if (!token.startsWith('"') && !isExact(token)) return { problem: inexact(positionText(text, index)) };
    return { data };
  } catch (error) {
    if (error instanceof RepeatedKey) return { problem: keyTwice(positionText(text, error.offset)) };
    return { problem: `is not valid JSON${jsonMistake(text)}; text that starts with { or [ must be JSON` };
  }
}

const keyTwice = (place: string) => `has a key twice (${place}); keep one of the two`;

/** What is wrong with JSON in which a key is there twice. Undefined for any other text. */
export function problemOfKeys(text: string): string | undefined {
  try {
    parseJson(withoutByteOrderMark(text));
    return undefined;
  } catch (error) {
    return error instanceof RepeatedKey
      ? keyTwice(positionText(withoutByteOrderMark(text), error.offset))
      : undefined;
  }
}

function jsonDocument(text: string): ParsedDocuments {
  const parsed = fromJson(text);
  if ("problem" in parsed) return parsed;
  let nodes: Document | undefined;
  const options = { uniqueKeys: false, prettyErrors: false };
  return {
    documents: [
      { ...parsed, nodes: () => (nodes ??= yaml().parseDocument(withoutByteOrderMark(text), options)) },
    ],
  };
}

/** Where the mistake in JSON is, from YAML's parser. It accepts some mistakes, and then the usual ones are named. */
function jsonMistake(text: string): string {
  const [error] = scanYaml(text).limit ? [] : yaml().parseDocument(text, { ...YAML, schema: "json" }).errors;
  if (error) return ` (${positionText(text, error.pos[0])})`;
  return ": it has single quotes, a comment, or a comma before a closing bracket";
}

/** The library `yaml`. It is loaded when it is first needed, because most programs contain no YAML. */
export const yaml = (): typeof import("yaml") => require("yaml");

const YAML = {
  // By the rules of YAML 1.1, the same text would be other data: `yes` would be true, and 010 would be 8.
  schema: "core",
  merge: true,
  stringKeys: true,
  logLevel: "error",
  prettyErrors: false,
} as const;

/**
 * Parses a single YAML document. JSON is YAML, too.
 *
 * @param longest The most characters of the text.
 */
export function fromYaml(text: string, longest?: number): Parsed {
  const parsed = documentsFromYaml(text, longest);
  if ("problem" in parsed) return parsed;
  const [first, second] = parsed.documents;
  return second ? { problem: SEVERAL_DOCUMENTS } : { data: first?.data };
}

type ParsedDocuments = { documents: { data: unknown; nodes: () => Document }[] } | Unparsed;

/** Parses the documents of a YAML text. Empty documents are left out. */
function documentsFromYaml(written: string, longest = MAX_YAML_LENGTH): ParsedDocuments {
  if (isUtf16(written)) return { problem: UTF_16 };
  const text = withoutByteOrderMark(written);
  const { limit, tag } = scanYaml(text, longest);
  const before = limit ?? tag;
  if (before !== undefined) return { problem: before };
  const documents = [];
  for (const document of yaml().parseAllDocuments(text, YAML)) {
    const problem = yamlMistake(document, text);
    if (problem !== undefined) return { problem };
    if (isEmpty(document)) continue;
    try {
      // The library counts the anchor itself as a use, too.
      documents.push({ data: document.toJS({ maxAliasCount: MAX_USES + 1 }), nodes: () => document });
    } catch {
      return { problem: BAD_ALIAS };
    }
  }
  return { documents };
}

/** Whether nothing is written between the document's separators, as after a `---` at the end of a file. */
const isEmpty = ({ contents }: Document.Parsed) =>
  yaml().isScalar(contents) && contents.value === null && contents.source === "";

const BAD_ALIAS = `is not valid YAML: an alias has no anchor before it, what is merged is no mapping, or anchors are used more than ${MAX_USES} times`;

/** The first mistake of a document, or the first number that JavaScript would not hold exactly. */
function yamlMistake(document: Document.Parsed, text: string): string | undefined {
  const [error] = document.errors;
  if (error) {
    const isTwice = error.code === "DUPLICATE_KEY";
    const reason = isTwice ? "a key is there twice" : "check the indentation, colons, quotes and brackets";
    return `is not valid YAML (${positionText(text, error.pos[0])}): ${reason}`;
  }
  let number: number | undefined;
  let uses = 0;
  yaml().visit(document, {
    Alias: () => {
      uses++;
    },
    Scalar: (_, { value, source = "", range }) => {
      if (typeof value === "number" && !isExact(source)) number ??= range?.[0];
    },
  });
  if (number !== undefined) return inexact(positionText(text, number));
  return uses > MAX_USES ? BAD_ALIAS : undefined;
}

/**
 * Checks a YAML text before it is parsed. `limit`: it is too long or too deep, and the parser's recursion could overflow the stack
 * and end the process. `tag`: it has a tag, which the parser may drop together with the tag's content.
 */
function scanYaml(text: string, longest = MAX_YAML_LENGTH): { limit?: string; tag?: string } {
  if (text.split(/^---/m).some(({ length }) => length > longest))
    return { limit: tooLong(longest, ", the limit of YAML; JSON can have 1000000") };
  const { CST, Lexer, Parser } = yaml();
  const parser = new Parser();
  let tag: string | undefined;
  let isContent = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith("!") && !isContent) tag ??= tagProblem(positionText(text, parser.offset));
    isContent = lexeme === CST.SCALAR;
    for (const _ of parser.next(lexeme));
    // The stack holds the open collections, and two more entries for the document and a scalar.
    if (parser.stack.length > MAX_DEPTH + 2) return { limit: TOO_DEEP };
  }
  return tag === undefined ? {} : { tag };
}

const tagProblem = (place: string) =>
  `has a YAML tag (${place}): an unquoted ! begins one; quote it if it is text, or else leave it out`;

/** What is wrong with the first tag of a YAML text whose other content does not matter here. */
export const problemOfTags = (text: string): string | undefined =>
  scanYaml(withoutByteOrderMark(text), Number.POSITIVE_INFINITY).tag;

/** A line and a column in a text, counted from 1 as in editors. */
export interface Position {
  line: number;
  column: number;
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

function positionText(text: string, offset: number): string {
  const { line, column } = positionAt(text, offset);
  return `line ${line}, column ${column}`;
}
