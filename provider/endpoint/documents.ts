import type { CST, Document, Node } from "yaml";
import { canonicalJson, isDeeper, isMapping, parseJson, wellFormed } from "../api/json";

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
 * Parses JSON text in time linear in its length, with the limits that it shares with YAML. No message quotes the text, because
 * it may contain a secret.
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

/** More than any policy needs. Messages to the engine cannot carry thousands of levels. */
export const DEEPEST = 200;

const tooLong = (most: number) => `is longer than ${most} characters`;
const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

/** The mistake of a number that would be another one on the wire. */
const INEXACT = "contains a number with more digits than can be kept";

const NO_JSON = "is not valid JSON";

/** The start of text that must be JSON. Other text is YAML. */
export const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);

/** Parses a JSON document. */
export function fromJson(text: string): Parsed {
  if (isDeeper(text, DEEPEST)) return problem("text", TOO_DEEP);
  try {
    const data = parseJson(text);
    // Numbers of up to fifteen digits, with an exponent of up to two, are always kept.
    const mayChange = /[\d.]{16}|\de[-+]?\d{3}/i.test(text);
    return (mayChange && firstMistake(text)) || { data };
  } catch {
    return firstMistake(text) ?? problem("text", NO_JSON);
  }
}

/** The first place where text is no JSON, or has a number that JavaScript would change. */
function firstMistake(json: string): Unparsed | undefined {
  const { visit }: typeof import("jsonc-parser") = require("jsonc-parser");
  let first: Unparsed | undefined;
  const stopAt = (offset: number, reason: string, advice = "") => {
    first = problemAt(json, offset, reason, advice);
    // After an unclosed text, the rest may nest too deeply.
    throw new SyntaxError();
  };
  const onLiteralValue = (value: unknown, offset: number, length: number) => {
    if (typeof value === "number" && !isKept(json.slice(offset, offset + length)))
      stopAt(offset, INEXACT, "; write it as text");
  };
  const onError = (_: unknown, offset: number) => stopAt(offset, NO_JSON);
  try {
    visit(json, { onError, onLiteralValue }, { disallowComments: true });
  } catch {}
  return first;
}

export const problem = (path: string, reason: string): Unparsed => ({ problem: { path, reason } });

/** A problem at a line and a column. */
function problemAt(text: string, offset: number, reason: string, advice = ""): Unparsed {
  const before = text.slice(0, offset).split("\n");
  const line = `line ${before.length}`;
  return problem(line, `${reason} (${line}, column ${(before.at(-1)?.length ?? 0) + 1})${advice}`);
}

/** Whether JavaScript reads and writes a number without a change of its value. */
export function isKept(number: string): boolean {
  const value = Number(number);
  return /^0[xo]/.test(number) ? Number.isSafeInteger(value) : decimal(number) === decimal(String(value));
}

/** A decimal number in one spelling, without its sign: its digits without zeros at either end, and an exponent. */
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

/** Loaded only for YAML, because most programs have none and every command starts the provider twice. */
export const yaml = (): typeof import("yaml") => require("yaml");

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
function fromYaml(text: string): Parsed {
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
      if (error) return problemAt(text, error.pos[0], INVALID, reasonForCode(error.code));
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

const reasonForCode = (code: string) => (REASONS[code] ? `: ${REASONS[code]}` : "");

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
