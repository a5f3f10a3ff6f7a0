import { didYouMean } from "../data/text";
import {
  celLibrary,
  flatName,
  flattened,
  type Node,
  namesOfExpressions,
  policyEnvironment,
  type Use,
} from "./cel";
import { functionsAlsoCalled, standardFunctions } from "./vocabulary";

/*
 * What is wrong with one expression: syntax, names, values of types that never fit, and what the service accepts in silence
 * although it never matches.
 */

/** A mistake. It names variables, functions, headers and signs, but quotes no text. */
export interface Finding {
  offset: number;
  /** Follows the place in a sentence. */
  reason: string;
}

interface Analysis {
  findings: readonly Finding[];
  uses: readonly Use[];
}

/** Expressions recur, most of all in a program that makes many endpoints. */
const analyses = new Map<string, Analysis>();
const MAX_KEPT = 2_000;

/** The mistakes in an expression, and the variables and functions that it uses. */
export function analysed(expression: string): Analysis {
  const before = analyses.get(expression);
  if (before) return before;
  if (analyses.size === MAX_KEPT) analyses.clear();
  const { text, uses, isOpen } = flattened(expression);
  const examination = { findings: isOpen ? [] : findingsIn(expression, text, uses), uses };
  analyses.set(expression, examination);
  return examination;
}

function findingsIn(expression: string, text: string, uses: readonly Use[]): Finding[] {
  const parsed = parse(text);
  if (!parsed) return [];
  if ("code" in parsed) return [syntaxFinding(expression, parsed)];
  const nodes = nodesOf(parsed);
  const ofMacros = new Set([...expression.matchAll(MACRO)].map(([, name]) => name));
  const unknown = uses.filter(({ name, isKnown }) => !isKnown && !ofMacros.has(name.split(".")[0]));
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

/** Undefined if the library cannot tell, as with an older Node.js or for extreme depth, because warnings never block. */
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
  // Longer than any name that somebody looks for.
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
  // A word may be part of a secret, such as one after a quote that ends its text too early.
  const [sign = "a word here"] = /^(?:&&|\|\||==|[\p{P}\p{S}])/u.exec(rest) ?? [];
  return `${sign} is not expected`;
}

function unknownVariable({ name }: Use): string {
  const parts = name.split(".");
  const known = [...namesOfExpressions().variables.keys()].sort((a, b) => a.length - b.length);
  // People write the whole word for a root, and leave out what is between: `request.headers`, `req.path`.
  const meant = (end: string) =>
    known.find((one) => name.startsWith(one.replace(/\..*/, "")) && one.endsWith(end));
  const near = meant(`.${parts.at(-1)}`) ?? meant(`.is_${parts.at(-1)}`) ?? name;
  const roots = "variables begin with conn, endpoint, req, res, time, vars and actions";
  return `uses ${name}, which is no variable known to this version${didYouMean(near, known, roots)}`;
}

function unknownFunction({ name }: Use): string {
  const known = [...namesOfExpressions().functions.keys(), ...standardFunctions];
  const called = known.map((one) => [one, ...(functionsAlsoCalled[one] ?? [])]);
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
 * Header names that never match, because `req.headers` has them in lower case. Of functions such as `getReqHeader`, the
 * service's reference says that they expect the form `X-Github-Event`, but its examples pass others.
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

/** Functions of texts that compare an address with a part of one, or with a pattern. */
const OF_TEXTS = flatNames("matches", "startsWith", "endsWith", "contains");

/** Networks that are compared with an address as text. */
function networkFindings(node: Node): Finding[] {
  const compared = comparedIn(node);
  const address = compared.map((one) => nameIn(ADDRESSES, one)).find((name) => name !== undefined);
  // A pattern can begin with ^, and have a backslash before each dot.
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

/** The first values whose types are documented, and do not fit, by the library's own check. */
function typeFindings(text: string): Finding[] {
  environment ??= policyEnvironment(() => () => ANY_VALUE);
  const { error } = environment.check(text);
  const { node, summary = "" } = error ?? {};
  const reason = isNode(node) ? typeMistake(node, summary) : undefined;
  return node && reason !== undefined ? [finding(node.start, reason)] : [];
}

let environment: ReturnType<typeof policyEnvironment> | undefined;

/** A macro, as the check takes it. */
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

/** A type in plain words. None for those that nothing here depends on. */
function wordFor(type: string): string | undefined {
  if (type.startsWith("list")) return "a list";
  return { string: "text", int: "a number", double: "a number", bool: "a boolean" }[type];
}

/** Texts in the form of an expression. */
function textFindings(node: Node): Finding[] {
  if (!/^\$\{\s*(?:conn|endpoint|req|res|time|vars|actions)\s*\.\s*[a-z][^{}]*\}$/i.test(textOf(node) ?? ""))
    return [];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the policy
  return [finding(node.start, "has an expression as a text; leave out its quotes, ${ and }")];
}

/** The nodes of an expression, in its order. */
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
