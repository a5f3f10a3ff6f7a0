import { didYouMean } from "../../../provider/data/text";
import {
  celLibrary,
  flatName,
  flattenNames,
  type NameUse,
  type Node,
  namesOfExpressions,
  policyEnvironment,
} from "./cel";
import { foreignFunctionNames, standardFunctions } from "./vocabulary";

/*
 * Finds what is wrong with one expression: its syntax, its names, types that never fit, and comparisons that the service accepts
 * although they never match.
 */

/** A mistake in an expression. It names variables, functions, headers and operators, but quotes no text. */
export interface Finding {
  offset: number;
  /** What is wrong, to follow the place in a sentence. */
  reason: string;
}

interface Analysis {
  findings: readonly Finding[];
  uses: readonly NameUse[];
}

/** A cache by expression, because a program that makes many endpoints repeats expressions. */
const analyses = new Map<string, Analysis>();
const MAX_CACHED = 2_000;

/** Finds the mistakes in an expression, and the variables and functions that it uses. */
export function analyse(expression: string): Analysis {
  const cached = analyses.get(expression);
  if (cached) return cached;
  if (analyses.size === MAX_CACHED) analyses.clear();
  const { text, uses, isUndocumented } = flattenNames(expression);
  const analysis = { findings: isUndocumented ? [] : findingsIn(expression, text, uses), uses };
  analyses.set(expression, analysis);
  return analysis;
}

function findingsIn(expression: string, text: string, uses: readonly NameUse[]): Finding[] {
  const parsed = parse(text);
  if (!parsed) return [];
  if ("code" in parsed) return [syntaxFinding(expression, parsed)];
  const nodes = nodesOf(parsed);
  const ofMacros = new Set([...expression.matchAll(MACRO)].map(([, name]) => name));
  const unknown = uses.filter(({ name, isListed }) => !isListed && !ofMacros.has(name.split(".")[0]));
  const names = unknown.map((use) =>
    finding(use.offset, use.isFunction ? unknownFunction(use) : unknownVariable(use)),
  );
  return [
    ...names,
    ...nodes.flatMap(headerFindings),
    ...nodes.flatMap(networkFindings),
    ...typeFindings(text),
    ...nodes.flatMap(textFindings),
  ];
}

/** The start of a macro, with the name of its variable. */
const MACRO = /\b(?:all|exists|exists_one|filter|map|sortBy)\s*\(\s*(\w+)\s*,/g;

interface SyntaxProblem {
  code: string;
  summary: string;
  range?: { start: number } | undefined;
}

/** Parses an expression. Undefined, so that there is no warning, if Node.js is too old for the library or the text too deep. */
function parse(text: string): Node | SyntaxProblem | undefined {
  try {
    return celLibrary().parse(text).ast;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.name === "ParseError" && "code" in error && error.code !== "limit_exceeded"
      ? (error as unknown as SyntaxProblem)
      : undefined;
  }
}

const finding = (offset: number, reason: string): Finding => ({
  offset,
  reason: reason.replace(/(\S{100})\S+/g, "$1…"),
});

const EXPECTED: Readonly<Record<string, string>> = { RPAREN: ")", RBRACKET: "]", RBRACE: "}", COLON: ":" };

function syntaxFinding(expression: string, { code, summary, range }: SyntaxProblem): Finding {
  const offset = range?.start ?? 0;
  const rest = expression.slice(offset);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
  if (rest.startsWith("${")) return finding(offset, "is an expression as a whole; leave out ${ and }");
  return finding(offset, `is no valid expression: ${syntaxMistake(code, summary, rest)}`);
}

function syntaxMistake(code: string, summary: string, rest: string): string {
  if (code.endsWith("string")) return "a quote is missing";
  if (code.includes("escape")) return "this escape does not exist; r'…' is a text without escapes";
  const missing = EXPECTED[/^Expected (\w+)/.exec(summary)?.[1] ?? ""];
  if (missing) return `${missing} is missing`;
  if (rest === "") return "the end is not expected";
  // Words are not shown: after a quote in the wrong place, a word may be part of a secret.
  const [sign = "a word here"] = /^(?:&&|\|\||==|[\p{P}\p{S}])/u.exec(rest) ?? [];
  return `${sign} is not expected`;
}

function unknownVariable({ name }: NameUse): string {
  const parts = name.split(".");
  const known = [...namesOfExpressions().variables.keys()].sort((a, b) => a.length - b.length);
  // People write out the first name, or leave out names in the middle: `request.headers`, `req.path`.
  const meant = (end: string) =>
    known.find((one) => name.startsWith(one.replace(/\..*/, "")) && one.endsWith(end));
  const near = meant(`.${parts.at(-1)}`) ?? meant(`.is_${parts.at(-1)}`) ?? name;
  const roots = "variables begin with conn, endpoint, req, res, time, vars and actions";
  return `uses ${name}, which is no variable known to this version${didYouMean(near, known, roots)}`;
}

function unknownFunction({ name }: NameUse): string {
  const known = [...namesOfExpressions().functions.keys(), ...standardFunctions];
  const called = known.map((one) => [one, ...(foreignFunctionNames[one] ?? [])]);
  return `calls ${name}, which is no function known to this version${didYouMean(name, called)}`;
}

const flatNames = (...names: string[]) => new Map(names.map((name) => [flatName(name), name]));
const HEADERS = flatNames("req.headers", "res.headers");
const ADDRESSES = flatNames("conn.client_ip", "conn.server_ip");

const textOf = (node: Node | undefined) =>
  node?.op === "value" && typeof node.args === "string" ? node.args : undefined;
const nameIn = (names: Map<string, string>, node: Node) =>
  node.op === "id" ? names.get(node.args) : undefined;

/**
 * Header names that never match, because `req.headers` has names in lower case. Functions such as `getReqHeader` are not checked:
 * the service's reference expects the form `X-Github-Event`, but its examples use other forms.
 */
function headerFindings(node: Node): Finding[] {
  const misspelt = (map: Node, name: string | undefined, offset: number): Finding[] => {
    const asked = nameIn(HEADERS, map);
    const right = name?.toLowerCase();
    if (asked === undefined || name === right) return [];
    return [finding(offset, `looks for ${name} with ${asked}, which never matches: write ${right}`)];
  };
  switch (node.op) {
    // req.headers["x-a"]
    case "[]":
      return misspelt(node.args[0], textOf(node.args[1]), node.args[1].start);
    // req.headers.host
    case ".":
      return misspelt(node.args[0], node.args[1], node.pos);
    // "x-a" in req.headers
    case "in":
      return misspelt(node.args[1], textOf(node.args[0]), node.args[0].start);
    default:
      return [];
  }
}

/** Functions that compare an address as text, with a part of it or with a pattern. */
const OF_TEXTS = flatNames("matches", "startsWith", "endsWith", "contains");

/** Networks that are compared with an address as text. */
function networkFindings(node: Node): Finding[] {
  const compared = comparedIn(node);
  const address = compared.map((one) => nameIn(ADDRESSES, one)).find((name) => name !== undefined);
  // Without the signs of a pattern: `^10\\.0\\.0\\.0/8$`.
  const isNetwork = (one: Node) => /^[\da-f.:]+\/\d{1,3}$/i.test(textOf(one)?.replace(/[\\^$]/g, "") ?? "");
  if (address === undefined || !compared.some(isNetwork)) return [];
  const call = node.op === "in" ? `inCidrRanges(${address}, […])` : `inCidrRange(${address}, …)`;
  return [finding(node.start, `compares ${address} with a network as text; use ${call}`)];
}

/** The values that a comparison compares as texts. */
function comparedIn(node: Node): readonly Node[] {
  switch (node.op) {
    case "==":
    case "!=":
      return node.args;
    case "in":
      return node.args[1].op === "list" ? [node.args[0], ...node.args[1].args] : node.args;
    case "call":
      return OF_TEXTS.has(node.args[0]) ? node.args[1] : [];
    case "rcall":
      return OF_TEXTS.has(node.args[0]) ? [node.args[1], ...node.args[2]] : [];
    default:
      return [];
  }
}

/** The first values with documented types that do not fit, by the library's own check of types. */
function typeFindings(text: string): Finding[] {
  environment ??= policyEnvironment(() => () => ANY_VALUE);
  const { error } = environment.check(text);
  const { node, summary = "" } = error ?? {};
  const reason = isNode(node) ? typeMistake(node, summary) : undefined;
  return node && reason !== undefined ? [finding(node.start, reason)] : [];
}

let environment: ReturnType<typeof policyEnvironment> | undefined;

/** The expansion of a macro for the check of types: a value of any type. */
const ANY_VALUE = {
  typeCheck: (checker: { getType(name: string): unknown }) => checker.getType("dyn"),
  evaluate: () => undefined,
};

/** @param summary The types, in the library's words: `no such overload: list<string> == string`. */
function typeMistake(node: Node, summary: string): string | undefined {
  switch (node.op) {
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
    case "in": {
      const [, left = "", right = ""] = /^no such overload: (.+) \S+ (.+)$/.exec(summary) ?? [];
      if (node.op !== "in") return comparisonMistake(node.args, left, right);
      if (right === "string") return "looks into text with in; use contains";
      const [item, list] = node.args;
      const values = list.op === "list" ? [item, ...list.args] : [item];
      return comparisonMistake(values, left, /^(?:list|map)<(\w+)/.exec(right)?.[1] ?? "");
    }
    case "!_": {
      const word = wordFor(summary.replace("no such overload: !", ""));
      return word && `applies ! to ${word}; write !(…) around a condition`;
    }
    case "rcall": {
      const word = wordFor(/'([^.]+)/.exec(summary)?.[1] ?? "");
      const all = namesOfExpressions().signatures.filter(({ name }) => flatName(name) === node.args[0]);
      const [called] = all;
      if (!word || !called || all.some(({ receiver = "" }) => wordFor(receiver) === word)) return undefined;
      const hint = word === "a list" ? `; ${OF_LISTS}` : "";
      return `calls ${called.name} on ${word}, which has no such function${hint}`;
    }
    default:
      return undefined;
  }
}

const OF_LISTS = "take an item of the list with [0], or use exists";

function comparisonMistake(values: readonly Node[], ...types: string[]): string | undefined {
  const [one, other] = types.map(wordFor);
  if (one === undefined || other === undefined || one === other) return undefined;
  const isQuoted = values.some((value) => textOf(value) !== undefined);
  const ofOthers = isQuoted ? "remove the quotes" : "convert one of them, as in double(…)";
  return `compares ${one} with ${other}; ${one === "a list" || other === "a list" ? OF_LISTS : ofOthers}`;
}

/** A type in plain words. Undefined for types that are not compared here. */
function wordFor(type: string): string | undefined {
  if (type.startsWith("list")) return "a list";
  return { string: "text", int: "a number", double: "a number", bool: "a boolean" }[type];
}

/** Quoted texts that look like an expression. */
function textFindings(node: Node): Finding[] {
  if (!/^\$\{\s*(?:conn|endpoint|req|res|time|vars|actions)\s*\.\s*[a-z][^{}]*\}$/i.test(textOf(node) ?? ""))
    return [];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the policy
  return [finding(node.start, "has an expression as a text; leave out its quotes, ${ and }")];
}

/** The nodes of an expression, in the order of its text. */
function nodesOf(root: Node): Node[] {
  const nodes: Node[] = [];
  const open = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    nodes.push(node);
    const parts: unknown[] = [node.args].flat(3);
    open.push(...parts.filter(isNode).reverse());
  }
  return nodes;
}

const isNode = (part: unknown): part is Node => typeof part === "object" && part !== null && "op" in part;
