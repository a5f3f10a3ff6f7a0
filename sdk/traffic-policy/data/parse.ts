import type { Document } from "yaml";
import { canonicalJson, isDeeper, isMapping, type JsonObject, parseJson, RepeatedKey } from "./json";
import { partsOf, pathText } from "./paths";

/*
 * Parsing. JSON is JavaScript's, YAML the library's, with its limits. No message quotes the text, because it may contain a
 * secret.
 */

/** More than any policy needs, but harmless to a parser. */
export const MAX_LENGTH = 1_000_000;

/** The most characters of a YAML document. In a hostile text, each can cost the library an error. */
const MAX_YAML_LENGTH = 50_000;

/** More than any policy needs. Messages to the engine cannot carry thousands of levels. */
export const MAX_DEPTH = 200;

/** The most uses of anchors in a YAML document: of all, and of each if those in repeated parts count each time. */
const MAX_USES = 100;

/** The most mistakes that are reported of one input. */
export const MAX_PROBLEMS = 20;

const tooLong = (most: number, of = "") => `is longer than ${most} characters${of}`;
const TOO_DEEP = `is nested more than ${MAX_DEPTH} levels deep`;
const NOT_JSON = "a value that JSON cannot hold; write it as text, numbers, lists and plain objects";
export const NO_MAPPING = "must be a mapping of phases, as in on_http_request: […]";
const NO_FILE = `${NO_MAPPING}; of a file, give what it contains, not its name`;

/** What is wrong with a text, as a sentence that follows its name. */
export interface Unparsed {
  problem: string;
}

export type Parsed = { data: unknown } | Unparsed;

/** The start of text that must be JSON. Other text is YAML. */
export const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);

/** Parses a policy. Text that starts with `{` or `[` must be JSON; other text must be a YAML mapping. */
export function policyFromText(text: string): Parsed {
  const parsed = documentsFromText(text);
  if ("problem" in parsed) return parsed;
  const [first, second] = parsed.documents;
  return second ? { problem: SEVERAL_DOCUMENTS } : { data: first?.data };
}

/** The mistake of a policy that was bytes, or a list, before an SDK made a mapping of it. */
export function numberedPhases(policy: object): string | undefined {
  const keys = Object.keys(policy);
  if (keys.length === 0 || !keys.every((key) => /^\d+$/.test(key))) return undefined;
  return "has only numbers for phases, as the bytes of a file have; read the file as text, with utf8";
}

/** A document that is a policy, or contains some. */
interface TextDocument {
  data: JsonObject;
  /** The same as nodes with positions. JSON is parsed again for them, as YAML. */
  nodes: () => Document;
}

/** Parses a text with at least one document. Each is a mapping that JSON can carry. Nothing else decides what a policy is. */
export function documentsFromText(text: string): { documents: TextDocument[] } | Unparsed {
  const parsed = looksLikeJson(text) ? jsonDocument(text) : documentsFromYaml(text);
  if ("problem" in parsed) return parsed;
  const documents: TextDocument[] = [];
  for (const { data, nodes } of parsed.documents) {
    if (!isMapping(data)) return { problem: typeof data === "string" ? NO_FILE : NO_MAPPING };
    // YAML has values that JSON lacks. In both, a short text can become long on the wire: 1e20 has 21 digits.
    const problem = problemsOfData(data)[0] ?? numberedPhases(data);
    if (problem !== undefined) return { problem };
    documents.push({ data, nodes });
  }
  return documents.length > 0 ? { documents } : { problem: NO_MAPPING };
}

export const SEVERAL_DOCUMENTS = "has more than one YAML document";

/** Why JSON cannot carry this data, with the path of each part that it lacks. */
export function problemsOfData(data: unknown): string[] {
  const problems: string[] = [];
  for (const [path, part] of partsOf(data)) {
    if (path.length === MAX_DEPTH && typeof part === "object" && part !== null) return [TOO_DEEP];
    if (!isJson(part)) problems.push(`contains at ${pathText(path)} ${NOT_JSON}`);
    if (problems.length === MAX_PROBLEMS) return problems;
  }
  return problems.length === 0 && canonicalJson(data).length > MAX_LENGTH ? [tooLong(MAX_LENGTH)] : problems;
}

/** Whether JSON has such a part, whatever that contains. It leaves out what is undefined. */
function isJson(part: unknown): boolean {
  if (typeof part === "number") return Number.isFinite(part);
  if (typeof part === "object") return part === null || Array.isArray(part) || isMapping(part);
  return ["string", "boolean", "undefined"].includes(typeof part);
}

/** Numbers that JavaScript might change: of more than 15 digits (13 in other bases), or with an exponent of three. */
const LONG_NUMBER = /(?:\d\.?){16}|\de[-+]?\d{3}|^0[xo].{14}/i;

/** Whether data holds a number exactly, as it holds each that JavaScript has written. */
const isExact = (number: string) => !LONG_NUMBER.test(number) || String(Number(number)) === number;

const inexact = (place: string) =>
  `contains a number with more than 15 digits, or with an exponent of three, which may not be kept exactly (${place}); write it as text`;

/** Text without a byte order mark, which only tells of the file's encoding. */
export const withoutByteOrderMark = (text: string) => text.replace(/^\ufeff/, "");

const UTF_16 = "is UTF-16 text; save the file as UTF-8";

/** Whether UTF-16 was read as UTF-8: its byte order mark is no character, and half of the bytes of letters are zero. */
const isUtf16 = (text: string) => text.startsWith("\ufffd\ufffd") || text.slice(0, 2).includes("\0");

/** Parses a JSON document. */
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

/** What is wrong with text that is JSON but for a key that is there twice. Undefined for any other text. */
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

/** Where a text is no JSON. YAML's parser knows the place, or accepts it. */
function jsonMistake(text: string): string {
  const [error] = scanned(text).limit ? [] : yaml().parseDocument(text, { ...YAML, schema: "json" }).errors;
  if (error) return ` (${positionText(text, error.pos[0])})`;
  return ": it has single quotes, a comment, or a comma before a closing bracket";
}

/** Loaded only for YAML, because most programs have none. */
export const yaml = (): typeof import("yaml") => require("yaml");

const YAML = {
  // With a directive for YAML 1.1, the same text would be other data: `yes` would be true, and 010 would be 8.
  schema: "core",
  merge: true,
  stringKeys: true,
  logLevel: "error",
  prettyErrors: false,
} as const;

/**
 * Parses a single YAML document, of which JSON is a kind.
 *
 * @param longest The most characters.
 */
export function fromYaml(text: string, longest?: number): Parsed {
  const parsed = documentsFromYaml(text, longest);
  if ("problem" in parsed) return parsed;
  const [first, second] = parsed.documents;
  return second ? { problem: SEVERAL_DOCUMENTS } : { data: first?.data };
}

type ParsedDocuments = { documents: { data: unknown; nodes: () => Document }[] } | Unparsed;

/** Parses the documents of a YAML text. Empty ones are none. */
function documentsFromYaml(written: string, longest = MAX_YAML_LENGTH): ParsedDocuments {
  if (isUtf16(written)) return { problem: UTF_16 };
  const text = withoutByteOrderMark(written);
  const { limit, tag } = scanned(text, longest);
  const before = limit ?? tag;
  if (before !== undefined) return { problem: before };
  const documents = [];
  for (const document of yaml().parseAllDocuments(text, YAML)) {
    const problem = yamlMistake(document, text);
    if (problem !== undefined) return { problem };
    if (isEmpty(document)) continue;
    try {
      // The library counts the anchor as a use, too.
      documents.push({ data: document.toJS({ maxAliasCount: MAX_USES + 1 }), nodes: () => document });
    } catch {
      return { problem: BAD_ALIAS };
    }
  }
  return { documents };
}

/** Whether nothing is written between the document's marks, as after a `---` at the end of a file. */
const isEmpty = ({ contents }: Document.Parsed) =>
  yaml().isScalar(contents) && contents.value === null && contents.source === "";

const BAD_ALIAS = `is not valid YAML: an alias has no anchor before it, what is merged is no mapping, or anchors are used more than ${MAX_USES} times`;

/** The first mistake of a document, or number that data would not hold exactly. */
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
 * What is known of a YAML text before it is parsed: why it is too long or too deep for the parser, whose recursion can overflow
 * the stack and end the process, or else that it has a tag. A parsed document lacks some tags, and what stood in them.
 */
function scanned(text: string, longest = MAX_YAML_LENGTH): { limit?: string; tag?: string } {
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
    // The stack contains the open collections, the document and a scalar.
    if (parser.stack.length > MAX_DEPTH + 2) return { limit: TOO_DEEP };
  }
  return tag === undefined ? {} : { tag };
}

const tagProblem = (place: string) =>
  `has a YAML tag (${place}): an unquoted ! begins one; quote it if it is text, or else leave it out`;

/** What is wrong with the first tag of a YAML text whose other content does not matter here. */
export const problemOfTags = (text: string): string | undefined =>
  scanned(withoutByteOrderMark(text), Number.POSITIVE_INFINITY).tag;

/** A place in a text, counted from 1, as in editors. */
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
