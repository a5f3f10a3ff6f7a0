/*
 * Policies and metadata are data here: text is parsed once, at the check; canonical JSON exists on the wire alone.
 * Nothing in this file ever quotes the text, since it may hold a secret.
 */

/** What the engine sends in place of a value that is not known yet, in any field and at any depth. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** More than any policy has, and less than what would take a parser's time or memory. */
const LONGEST = 1_000_000;

/** More than any policy has; the messages to the engine cannot carry thousands. */
const DEEPEST = 200;

/** Loaded where there is YAML to read: most programs have none, and every command starts the provider twice. */
const yaml = (): typeof import("yaml") => require("yaml");

/** The parser's own errors quote the text, and take long to make; its warnings would go to the terminal. */
const QUIET = { prettyErrors: false, logLevel: "error" } as const;

/** Something wrong at a place in a document. The path is for people: `line 3`, `on_http_request[0].actions`. */
export interface Problem {
  path: string;
  reason: string;
}

export type Parsed = { data: unknown } | { problem: Problem };

/** Whether any part of the value is still unknown. Such a value is valid everywhere, and never compared. */
export function hasUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(hasUnknown);
}

/** Compact JSON with sorted keys: two documents are the same where this is. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    isMapping(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

export function sameData(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** Lists with the same members in any order. */
export function sameSet(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return false;
  return sameData([...a].sort(), [...b].sort());
}

/** Text as it goes over the wire: data as canonical JSON, plain text as it is. */
export function wireText(value: unknown): string {
  return typeof value === "string" ? value : canonicalJson(value);
}

/** A policy's text: JSON if it starts with `{` or `[`, and nothing else; otherwise a YAML mapping. */
export function policyFromText(text: string): Parsed {
  if (text.length > LONGEST) return problem("text", `is longer than ${LONGEST} characters`);
  const parsed = looksLikeJson(text) ? fromJson(text) : fromYaml(text);
  if ("problem" in parsed || isMapping(parsed.data)) return parsed;
  return problem("text", "must be a mapping of phases, as in on_http_request: […]");
}

/** Metadata's text: a JSON object or list becomes data, anything else is plain text. */
export function metadataFromText(text: string): { data: unknown } {
  if (text.length > LONGEST) return { data: text };
  const parsed = looksLikeJson(text) ? fromJson(text) : undefined;
  return parsed && "data" in parsed ? parsed : { data: text };
}

/** What in this data could not be sent as JSON, with the path of each. */
export function problemsOfData(value: unknown, path = ""): Problem[] {
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean")
    return [];
  if (typeof value === "number") {
    return Number.isFinite(value)
      ? []
      : [{ path, reason: `holds at ${path} what is not a number that JSON can hold` }];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => problemsOfData(item, `${path}[${index}]`));
  if (typeof value !== "object")
    return [{ path, reason: `holds at ${path} a ${typeof value}, which JSON cannot hold` }];
  if (!isMapping(value))
    return [
      {
        path,
        reason: `holds at ${path} what is no plain object; write it as text, numbers, lists and objects`,
      },
    ];
  return Object.entries(value).flatMap(([key, item]) =>
    problemsOfData(item, path === "" ? key : `${path}.${key}`),
  );
}

/** A place in a document: names and indexes. */
export type Path = (string | number)[];

/** One place at which two documents differ, as small as it can be told. */
export interface Change {
  path: Path;
  kind: "add" | "delete" | "update";
}

/** Every place at which two documents differ. What came or went as a whole is one; lists are compared item by item. */
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

/** A path as Pulumi writes it: `on_http_request[0].actions`; what a plain name cannot hold stands in brackets. */
export function pathText(path: Path): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      if (part === "" || /[.[\]"]/.test(part)) return `["${part.replaceAll('"', '\\"')}"]`;
      return index === 0 ? part : `.${part}`;
    })
    .join("");
}

/** An object of plain data. Judged by name, so that objects of another realm (a test runner's) count too. */
export function isMapping(value: unknown): value is { [key: string]: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype.constructor?.name === "Object";
}

const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);

function fromJson(text: string): Parsed {
  let data: unknown;
  try {
    data = parseJson(text);
  } catch {
    // JSON.parse's own message quotes the text and often names no place; the YAML parser names one, and quotes less.
    const at = nestsTooDeeply(text) ? undefined : placeOf(text, yaml().parseDocument(text, QUIET).errors[0]);
    if (at) return problem(at.line, `is not valid JSON (${at.line}, column ${at.column})`);
    return problem(
      "text",
      "is not valid JSON: it takes no comment, trailing comma or text without double quotes",
    );
  }
  if (depthOf(data) > DEEPEST) return problem("text", `is nested more than ${DEEPEST} levels deep`);
  if (losesDigits(text))
    return problem("text", "holds a number with more digits than can be kept; write it as text");
  return { data };
}

function fromYaml(text: string): Parsed {
  if (nestsTooDeeply(text)) return problem("text", `is nested more than ${DEEPEST} levels deep`);
  const document = yaml().parseDocument(text, { ...QUIET, intAsBigInt: true, stringKeys: true });
  const at = placeOf(text, document.errors[0]);
  if (at) return problem(at.line, `is not valid YAML (${at.line}, column ${at.column})`);
  let data: unknown;
  try {
    data = withNumbers(document.toJS());
  } catch (error) {
    if (error instanceof RangeError) {
      return problem("text", "holds a number with more digits than can be kept; write it in quotes");
    }
    return problem("text", "is not valid YAML: an alias is unknown, or repeats too much");
  }
  const [first] = problemsOfData(data);
  return first ? { problem: first } : { data };
}

function placeOf(text: string, error: { pos: [number, number] } | undefined) {
  if (!error) return undefined;
  const before = text.slice(0, error.pos[0]).split("\n");
  return { line: `line ${before.length}`, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** As `JSON.parse`, but all text can travel, which half of a surrogate pair cannot. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  // To look at every value takes longer than to parse it, and hardly any text has such a half, or a whole pair escaped.
  return JSON.parse(text, /\p{Surrogate}|\\u[dD][89a-fA-F]/u.test(text) ? wellFormed : undefined);
}

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value;
}

/** Level by level, since data that nests deeply enough ends the stack of whatever recurses. */
function depthOf(value: unknown): number {
  let level = [value];
  for (let depth = 0; ; depth++) {
    level = level.flatMap((part) => (typeof part === "object" && part !== null ? Object.values(part) : []));
    if (level.length === 0) return depth;
  }
}

/**
 * Whether this YAML nests more deeply than is taken, measured on the parser's tokens: composing them recurses, and ends
 * not just the stack but the process.
 */
function nestsTooDeeply(text: string): boolean {
  let level: unknown[] = [...new (yaml().Parser)().parse(text)];
  // A level of the document is two of tokens: a collection, and its items.
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > 2 * DEEPEST) return true;
    level = level.flatMap((token) => {
      if (!isMapping(token)) return [];
      const items = Array.isArray(token["items"]) ? token["items"] : [];
      return [...items, token["key"], token["value"]];
    });
  }
  return false;
}

const problem = (path: string, reason: string): Parsed => ({ problem: { path, reason } });

function losesDigits(json: string): boolean {
  if (!/\d{16}/.test(json)) return false;
  const numbers =
    json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/gs, '""').match(/(?<![\d.])\d{16,}(?![\d.eE])/g) ?? [];
  return numbers.some((digits) => !Number.isSafeInteger(Number(digits)));
}

function withNumbers(value: unknown): unknown {
  if (typeof value === "bigint") {
    if (!Number.isSafeInteger(Number(value))) throw new RangeError("beyond 2^53");
    return Number(value);
  }
  if (Array.isArray(value)) return value.map(withNumbers);
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withNumbers(item)]));
}
