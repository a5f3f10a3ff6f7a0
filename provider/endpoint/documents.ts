import type { Document } from "yaml";
import { canonicalJson, isDeeper, isMapping, parseJson } from "../api/json";

/*
 * Policies and metadata as data. The check parses text once, and the inputs hold the data. The wire and the outputs hold
 * canonical JSON, because Pulumi writes one text into a checkpoint much faster than many values.
 * No message quotes the text, because it may contain a secret.
 */

/** The engine's sentinel for a value that is not known yet, in any field and at any depth. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Whether any part of the value is unknown. Such a value passes every check, and is never compared. */
export function hasUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(hasUnknown);
}

export function sameData(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** Whether two lists have the same members, in any order. */
export function sameSet(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return false;
  return sameData([...a].sort(), [...b].sort());
}

/** The text of the wire: canonical JSON for data; other text is unchanged. */
export function wireText(value: unknown): string {
  return typeof value === "string" ? value : canonicalJson(value);
}

const FILE_NAME =
  'is the name of a file, but must be what the file contains; in Node.js, read it with readFileSync(…, "utf8")';

/** Parses a policy. Text that starts with `{` or `[` must be JSON; other text must be a YAML mapping. */
export function policyFromText(text: string): Parsed {
  const isJson = looksLikeJson(text);
  if (isJson && text.length > LONGEST) return problem("text", tooLong(LONGEST));
  const parsed = isJson ? fromJson(text) : fromYaml(text);
  if ("problem" in parsed) return parsed;
  if (!isMapping(parsed.data)) {
    const isFileName = /^[^\n]+\.(ya?ml|json)$/i.test(text.trim());
    return problem(
      "text",
      isFileName ? FILE_NAME : "must be a mapping of phases, as in on_http_request: […]",
    );
  }
  // YAML has values that JSON lacks. In both, a short text can become long on the wire: 1e20 has 21 digits.
  const [first] = problemsOfData(parsed.data);
  return first ? { problem: first } : parsed;
}

/** Parses metadata. A JSON object or list becomes data; other text stays text. */
export function metadataFromText(text: string): { data: unknown } {
  if (text.length > LONGEST) return { data: text };
  const parsed = looksLikeJson(text) ? fromJson(text) : undefined;
  return parsed && "data" in parsed ? parsed : { data: text };
}

/** The most mistakes that are reported of one document. */
const MOST_PROBLEMS = 20;

/** The parts of this data that JSON cannot carry, with their paths, or that the data is too long. */
export function problemsOfData(value: unknown): Problem[] {
  const problems: Problem[] = [];
  collectProblems(value, "", 0, problems);
  const isLong = typeof value === "object" && problems.length === 0 && canonicalJson(value).length > LONGEST;
  return isLong ? [{ path: "", reason: tooLong(LONGEST) }] : problems;
}

function collectProblems(value: unknown, path: string, depth: number, problems: Problem[]): void {
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean")
    return;
  if (problems.length === MOST_PROBLEMS) return;
  if (typeof value === "number") {
    if (!Number.isFinite(value))
      problems.push({ path, reason: `contains at ${path} a number that JSON cannot represent` });
  } else if (typeof value !== "object") {
    problems.push({ path, reason: `contains at ${path} a ${typeof value}, which JSON cannot represent` });
  } else if (depth === DEEPEST) {
    problems.push({ path: "", reason: TOO_DEEP });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collectProblems(item, `${path}[${index}]`, depth + 1, problems);
  } else if (isMapping(value)) {
    for (const [key, item] of Object.entries(value))
      collectProblems(item, path === "" ? key : `${path}.${key}`, depth + 1, problems);
  } else {
    const reason = `contains at ${path} a value that is no plain object; write it as text, numbers, lists and objects`;
    problems.push({ path, reason });
  }
}

/** A place in a document, as names and indexes. */
export type Path = (string | number)[];

/** The smallest place at which two documents differ. */
export interface Change {
  path: Path;
  kind: "add" | "delete" | "update";
}

/** All places at which two documents differ. An added or removed value is one place. Lists are compared item by item. */
export function changesBetween(before: unknown, after: unknown, path: Path = []): Change[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) return [{ path, kind: "add" }];
  if (after === undefined) return [{ path, kind: "delete" }];
  if (Array.isArray(before) && Array.isArray(after)) {
    return [...Array(Math.max(before.length, after.length)).keys()].flatMap((index) =>
      changesBetween(before[index], after[index], [...path, index]),
    );
  }
  if (isMapping(before) && isMapping(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      changesBetween(before[key], after[key], [...path, key]),
    );
  }
  return sameData(before, after) ? [] : [{ path, kind: "update" }];
}

/** Parses a path of a program, in which `*` matches any part. Undefined if the text is no path. */
export function parsePath(text: string): Path | undefined {
  const path: Path = [];
  let rest = text.startsWith(".") ? "[" : text;
  while (rest !== "") {
    const part = /^(?:\.?([^.[]+)|\.?\["((?:\\"|[^"])*)"\]|\.?\[(\*|-?\d+)\])/.exec(rest);
    if (!part) return undefined;
    const [whole, name, quoted, index] = part;
    if (index !== undefined) path.push(index === "*" ? "*" : Number(index));
    else path.push(name ?? (quoted ?? "").replaceAll('\\"', '"'));
    rest = rest.slice(whole.length);
  }
  return path;
}

/** Whether a path of a program names this path or one that contains it. */
export const isWithin = (path: Path, written: Path): boolean =>
  written.length <= path.length && written.every((part, index) => part === "*" || part === path[index]);

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

/** The most places of a change that one message names. */
const MOST_PLACES = 5;

/** The places of a change, for a message. */
export function firstOf(places: string[]): string {
  const more = places.length - MOST_PLACES;
  return places.slice(0, MOST_PLACES).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/*
 * Parsing. JSON is JavaScript's, YAML the library's, with its limits. No message quotes the text, because it may contain a
 * secret.
 */

/** A mistake at a place in a document. The path is for messages: `line 3`, `on_http_request[0].actions`. */
export interface Problem {
  path: string;
  reason: string;
}

/** The mistake in a text that cannot be parsed. */
export interface Unparsed {
  problem: Problem;
}

export type Parsed = { data: unknown } | Unparsed;

/** More than any policy needs, but harmless to a parser. */
export const LONGEST = 1_000_000;

/** The most characters of a YAML document. In a hostile text, each can cost the library an error. */
const LONGEST_YAML = 50_000;

/** More than any policy needs. Messages to the engine cannot carry thousands of levels. */
export const DEEPEST = 200;

/** The most uses of anchors in a YAML document, also if those in repeated parts count each time. */
const MOST_USES = 100;
const TOO_MANY = `it uses anchors more than ${MOST_USES} times`;

const tooLong = (most: number) => `is longer than ${most} characters`;
const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;
const NO_JSON = "is not valid JSON";
const NO_YAML = "is not valid YAML";
const INEXACT =
  "contains a number with more than 15 digits, or with an exponent of three digits, which may not be kept exactly";

export const problem = (path: string, reason: string): Unparsed => ({ problem: { path, reason } });

/** A place in a text, counted from 1, as in editors. */
export interface Position {
  line: number;
  column: number;
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

function problemAt(text: string, offset: number, reason: string, advice = ""): Unparsed {
  const { line, column } = positionAt(text, offset);
  return problem(`line ${line}`, `${reason} (line ${line}, column ${column})${advice}`);
}

/** Numbers that JavaScript might change: of more than 15 digits (13 in other bases), or with an exponent of three. */
const LONG_NUMBER = /^[^x]*(?:(?:\d\.?){16}|\de[-+]?\d{3})|^0[xo].{14}/i;

/** Whether data holds a number exactly, as it holds each that JavaScript has written. */
const isKept = (number: string) => !LONG_NUMBER.test(number) || String(Number(number)) === number;

/** The start of text that must be JSON. Other text is YAML. */
export const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);

/** Parses a JSON document. */
export function fromJson(text: string): Parsed {
  if (isDeeper(text, DEEPEST)) return problem("text", TOO_DEEP);
  try {
    const data = parseJson(text);
    for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|\d[\d.e+-]*/gi))
      if (!token.startsWith('"') && !isKept(token))
        return problemAt(text, index, INEXACT, "; write it as text");
    return { data };
  } catch (error) {
    return jsonMistake(text, error instanceof Error ? error.message : "");
  }
}

/** The mistake in text that is no JSON. Node.js knows the place of most, and YAML's parser of most others. */
function jsonMistake(text: string, message: string): Unparsed {
  const [, ofNode] = /at position (\d+)/.exec(message) ?? [];
  const options = { schema: "json", prettyErrors: false } as const;
  const ofYaml = () =>
    text.length > LONGEST_YAML || isDeepYaml(text)
      ? undefined
      : yaml().parseDocument(text, options).errors[0]?.pos[0];
  const offset = ofNode ? Number(ofNode) : ofYaml();
  return offset === undefined
    ? problem("text", `${NO_JSON}: it has single quotes, a comment, or a comma before a closing bracket`)
    : problemAt(text, offset, NO_JSON);
}

/** Loaded only for YAML, because most programs have none and every command starts the provider twice. */
export const yaml = (): typeof import("yaml") => require("yaml");

/** Parses a single YAML document. */
function fromYaml(text: string): Parsed {
  const parsed = documentsFromYaml(text);
  if ("problem" in parsed) return parsed;
  const [first, second] = parsed.documents;
  if (second) return problemAt(text, second.document.range[0], NO_YAML, ": it has a second document");
  return { data: first?.data };
}

/** A document as data and as nodes with positions. */
export interface YamlDocument {
  data: unknown;
  document: Document.Parsed;
}

/** Parses the documents of a YAML text. */
export function documentsFromYaml(text: string): { documents: YamlDocument[] } | Unparsed {
  if (text.split(/^---/m).some((document) => document.length > LONGEST_YAML))
    return problem("text", tooLong(LONGEST_YAML));
  if (isDeepYaml(text)) return problem("text", TOO_DEEP);
  const { parseAllDocuments, visit } = yaml();
  const documents: YamlDocument[] = [];
  // With a directive for YAML 1.1, the same text would be other data: `yes` would be true, and 010 would be 8.
  const options = {
    schema: "core",
    merge: true,
    stringKeys: true,
    logLevel: "error",
    prettyErrors: false,
  } as const;
  for (const document of parseAllDocuments(text, options)) {
    const [error] = document.errors;
    if (error) return problemAt(text, error.pos[0], NO_YAML, reasonOf(error.code));
    let mistake: Unparsed | undefined;
    let uses = 0;
    visit(document, {
      Alias: (_, { range }) => {
        if (uses++ === MOST_USES) mistake ??= problemAt(text, range?.[0] ?? 0, NO_YAML, `: ${TOO_MANY}`);
      },
      Scalar: (_, { value, source = "", range }) => {
        if (typeof value === "number" && !isKept(source))
          mistake ??= problemAt(text, range?.[0] ?? 0, INEXACT, "; write it in quotes");
      },
    });
    if (mistake) return mistake;
    try {
      documents.push({ data: document.toJS({ maxAliasCount: MOST_USES + 1 }), document });
    } catch (error) {
      return problem(
        "text",
        NO_YAML + reasonOf(error instanceof Error ? (error.message.split(" ")[0] ?? "") : ""),
      );
    }
  }
  return { documents };
}

/** Whether YAML nests too deeply. Tested first, because the parser's recursion can overflow the stack and end the process. */
function isDeepYaml(text: string): boolean {
  const { Lexer, Parser } = yaml();
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    // The stack contains the open collections, the document and a scalar.
    if (parser.stack.length > DEEPEST + 2) return true;
  }
  return false;
}

/** The library's codes of common mistakes, and the first words of errors without a code. Its messages could quote the text. */
const REASONS: Readonly<Record<string, string>> = {
  BAD_INDENT: "wrong indentation, or a bracket is not closed",
  BLOCK_AS_IMPLICIT_KEY: "wrong indentation, or a second colon",
  DUPLICATE_KEY: "a key is there twice",
  MISSING_CHAR: "a quote, a comma or a colon is missing",
  TAB_AS_INDENT: "a tab as indentation",
  UNEXPECTED_TOKEN: "does not belong here",
  Excessive: TOO_MANY,
  Merge: "what is merged is no mapping",
  Unresolved: "an alias has no anchor before it",
};

const reasonOf = (code: string) => (REASONS[code] ? `: ${REASONS[code]}` : "");

/** Whether a policy is in YAML with comments, which its data lacks. */
export function hasYamlComments(policy: string): boolean {
  if (looksLikeJson(policy)) return false;
  const { CST, Lexer } = yaml();
  let before = "";
  for (const lexeme of new Lexer().lex(policy)) {
    // A text that starts with # follows a marker.
    if (lexeme.startsWith("#") && before !== CST.SCALAR) return true;
    before = lexeme;
  }
  return false;
}
