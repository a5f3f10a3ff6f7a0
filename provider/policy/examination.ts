import { didYouMean } from "../api/text";
import { celLibrary, flatName, flattened, type Node, namesOfExpressions, type Use } from "./cel";
import { functionsAlsoCalled, rootsAlsoCalled, standardFunctions } from "./vocabulary";

/*
 * What is wrong with one expression: syntax, names, and what the service accepts in silence although it never matches. The
 * service itself refuses values of wrong types.
 */

/** A mistake. It names variables, functions, headers and signs, but quotes no text. */
export interface Finding {
  at: number;
  /** Follows the place in a sentence. */
  reason: string;
}

interface Examination {
  findings: readonly Finding[];
  uses: readonly Use[];
}

/** Expressions recur, most of all in a program that makes many endpoints. */
const examinations = new Map<string, Examination>();
const MOST_KEPT = 2_000;

/** The mistakes in an expression, and the variables and functions that it uses. */
export function examined(expression: string): Examination {
  const before = examinations.get(expression);
  if (before) return before;
  if (examinations.size === MOST_KEPT) examinations.clear();
  const { text, uses, isOpen } = flattened(expression);
  const examination = { findings: isOpen ? [] : findingsIn(expression, text, uses), uses };
  examinations.set(expression, examination);
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
    finding(use.at, use.isFunction ? unknownFunction(use) : unknownVariable(use)),
  );
  return [
    ...names,
    ...[headerFindings, networkFindings, textFindings].flatMap((find) => nodes.flatMap(find)),
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

const finding = (at: number, reason: string): Finding => ({
  at,
  // Longer than any name that somebody looks for.
  reason: reason.replace(/(\S{100})\S+/g, "$1…"),
});

const EXPECTED: Readonly<Record<string, string>> = { RPAREN: ")", RBRACKET: "]", RBRACE: "}", COLON: ":" };
/** What people write by the rules of other languages. */
const INSTEAD: Readonly<Record<string, string>> = {
  "=": "write == to compare",
  "&": "write &&",
  "|": "write ||",
  and: "write &&",
  or: "write ||",
  not: "write !(…)",
};

function syntaxFinding(
  expression: string,
  { code, summary, range: { start: at } = { start: 0 } }: SyntaxProblem,
) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
  if (expression.startsWith("${", at)) return finding(at, "is an expression as a whole; leave out ${ and }");
  const [found = "the end"] = /^(?:\w+|&&|\|\||==|[\s\S])/u.exec(expression.slice(at)) ?? [];
  const missing = EXPECTED[/^Expected (\w+)/.exec(summary)?.[1] ?? ""];
  const detail = code.endsWith("string")
    ? "a quote is missing"
    : code.includes("escape")
      ? "this escape does not exist; r'…' is a text without escapes"
      : ((Object.hasOwn(INSTEAD, found) ? INSTEAD[found] : undefined) ??
        (missing ? `${missing} is missing` : `${shown(found)} is not expected`));
  return finding(at, `is no valid expression: ${detail}`);
}

/** A word may be part of a secret, such as one after a quote that ends its text too early. */
const shown = (found: string) => (/^(?:the end|in|[\p{P}\p{S}]+)$/u.test(found) ? found : "a word here");

function unknownVariable({ name }: Use): string {
  const hint =
    hintAtVariable(name) ?? "variables begin with conn, endpoint, req, res, time, vars and actions";
  return `uses ${name}, which is no variable known to this version; ${hint}`;
}

function hintAtVariable(name: string): string | undefined {
  const [first = "", ...rest] = name.split(".");
  const last = rest.pop();
  const root = Object.hasOwn(rootsAlsoCalled, first) ? rootsAlsoCalled[first] : first;
  const { variables } = namesOfExpressions();
  const parent = [first, ...rest].join(".");
  if (last !== undefined && variables.has(parent) && Object.hasOwn(functionsAlsoCalled, last))
    return `did you mean ${parent}.${functionsAlsoCalled[last]}()?`;
  const known = [...variables.keys()].sort((a, b) => a.length - b.length);
  const meant = (end: string) => known.find((one) => one.startsWith(`${root}.`) && one.endsWith(end));
  const one = meant(`.${last}`) ?? meant(`.is_${last}`);
  return didYouMean(one ?? name, one ? [one] : known);
}

function unknownFunction({ name }: Use): string {
  const meant = Object.hasOwn(functionsAlsoCalled, name) ? functionsAlsoCalled[name] : undefined;
  const hint = didYouMean(meant ?? name, [...namesOfExpressions().functions.keys(), ...standardFunctions]);
  return `calls ${name}, which is no function known to this version${hint ? `; ${hint}` : ""}`;
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
  const misspelt = (asked: string | undefined, name: string | undefined, at: number): Finding[] => {
    const right = name?.toLowerCase();
    if (asked === undefined || name === right) return [];
    return [finding(at, `looks for ${name} with ${asked}, which never matches: write ${right}`)];
  };
  switch (node.op) {
    // req.headers["x-a"]
    case "[]":
      return misspelt(nameIn(HEADERS, node.args[0]), textOf(node.args[1]), node.args[1].start);
    // req.headers.host
    case ".":
      return misspelt(nameIn(HEADERS, node.args[0]), node.args[1], node.pos);
    // "x-a" in req.headers
    case "in":
      return misspelt(nameIn(HEADERS, node.args[1]), textOf(node.args[0]), node.args[0].start);
    // req.headers.exists(name, name == "x-a")
    case "rcall": {
      const [variable, condition] = node.args[2];
      if (variable?.op !== "id" || !condition) return [];
      const asked = nameIn(HEADERS, node.args[1]);
      const isVariable = (one: Node) => one.op === "id" && one.args === variable.args;
      return nodesOf(condition).flatMap((one) => {
        if (one.op !== "==") return [];
        const [name, other] = isVariable(one.args[0]) ? one.args.toReversed() : one.args;
        return name && other && isVariable(other) ? misspelt(asked, textOf(name), name.start) : [];
      });
    }
    default:
      return [];
  }
}

/** Networks that are compared with an address as text. */
function networkFindings(node: Node): Finding[] {
  if (node.op !== "in" && node.op !== "==" && node.op !== "!=") return [];
  const [left, right] = node.args;
  const address = nameIn(ADDRESSES, left) ?? nameIn(ADDRESSES, right);
  const network = node.op === "in" && right.op === "list" ? right.args : node.args;
  const isNetwork = network.some((one) => /^[\da-f.:]+\/\d{1,3}$/i.test(textOf(one) ?? ""));
  if (address === undefined || !isNetwork) return [];
  const call = node.op === "in" ? `inCidrRanges(${address}, […])` : `inCidrRange(${address}, …)`;
  return [finding(node.start, `compares ${address} with a network as text; use ${call}`)];
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
