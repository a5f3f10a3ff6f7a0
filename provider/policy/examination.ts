import { nearName } from "../api/text";
import { flatName, flattened, type Node, namesOfExpressions, policyEnvironment, type Use } from "./cel";
import { functionsAlsoCalled, rootsAlsoCalled, standardFunctions } from "./vocabulary";

/* What is wrong with one expression: syntax, names and types, and texts that never match or mean nothing. */

export interface Reasons {
  /** Follows the place in a sentence. */
  reason: string;
  /** The same without anything from the expression, which may be secret. */
  secretReason: string;
}

interface Finding extends Reasons {
  at: number;
}

interface Examination {
  findings: readonly Finding[];
  uses: readonly Use[];
  /** The type of the value, if it is known. */
  type?: string | undefined;
}

type Environment = ReturnType<typeof policyEnvironment>;

/** Expressions recur, most of all in a program that makes many endpoints. */
const examinations = new Map<string, Examination>();
const MOST_KEPT = 2_000;

/** Undefined before the first expression; null if Node.js is too old for the library, because warnings never block. */
let environment: Environment | null | undefined;

function loadedEnvironment() {
  try {
    return policyEnvironment();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_REQUIRE_ESM") return null;
    throw error;
  }
}

/** The mistakes in an expression, and the variables and functions that it uses. */
export function examined(expression: string): Examination {
  const before = examinations.get(expression);
  if (before) return before;
  if (examinations.size === MOST_KEPT) examinations.clear();
  const examination = examine(expression);
  examinations.set(expression, examination);
  return examination;
}

function examine(expression: string): Examination {
  const { text, uses, isOpen } = flattened(expression);
  if (environment === undefined) environment = loadedEnvironment();
  if (isOpen || !environment) return { findings: [], uses };
  const parsed = parsedOrUndefined(text, environment);
  const { error, type } = parsed ? parsed.check() : environment.check(text);
  // Another error than the library's own, as for extreme depth, says nothing about the expression.
  if (error && (typeof error.code !== "string" || error.code === "limit_exceeded"))
    return { findings: [], uses };
  const { start = 0, end = 0 } = error?.range ?? {};
  if (!parsed) return { findings: error ? [syntaxFinding(expression, error, start)] : [], uses };
  const nodes = nodesOf(parsed.ast);
  const typed = error && typeFinding(expression, uses, error, { start, end }, nodes);
  const others = [headerFindings, networkFindings, textFindings, fieldFindings];
  return { findings: [...(typed ?? []), ...others.flatMap((find) => nodes.flatMap(find))], uses, type };
}

function parsedOrUndefined(text: string, environment: Environment) {
  try {
    return environment.parse(text);
  } catch {
    return undefined;
  }
}

const finding = (at: number, secretReason: string, reason = secretReason): Finding => ({
  at,
  // Longer than any name that somebody looks for.
  reason: reason.replace(/(\S{100})\S+/g, "$1…"),
  secretReason,
});

const SYNTAX = "is no valid expression";
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

interface Problem {
  code: string;
  summary: string;
}

function syntaxFinding(expression: string, { code, summary }: Problem, at: number): Finding {
  const [found = "the end"] = /^(?:[\p{L}\p{N}_]+|&&|\|\||==|[\s\S])/u.exec(expression.slice(at)) ?? [];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
  if (expression.startsWith("${", at)) return finding(at, "is an expression as a whole; leave out ${ and }");
  if (code.endsWith("string")) return finding(at, `${SYNTAX}: a quote is missing`);
  if (code.includes("escape"))
    return finding(at, `${SYNTAX}: this escape does not exist; r'…' is a text without escapes`);
  const instead = Object.hasOwn(INSTEAD, found) ? INSTEAD[found] : undefined;
  const missing = EXPECTED[/^Expected (\w+)/.exec(summary)?.[1] ?? ""];
  const detail = instead ?? (missing ? `${missing} is missing` : `${shown(found)} is not expected`);
  return finding(at, SYNTAX, `${SYNTAX}: ${detail}`);
}

const KEYWORDS = new Set(["the end", "in", "true", "false", "null"]);

/** A word may be part of a secret, such as one after a quote that ends its text too early. */
function shown(found: string): string {
  if (/^[\p{L}\p{N}_]/u.test(found)) return KEYWORDS.has(found) ? found : "a word here";
  return /^[\p{P}\p{S}]/u.test(found) ? found : "this character";
}

/** Empty if the service might accept it. */
function typeFinding(
  expression: string,
  uses: readonly Use[],
  { code, summary }: Problem,
  { start, end }: { start: number; end: number },
  nodes: readonly Node[],
): Finding[] {
  if (code === "unknown_variable") {
    const name = uses.find(({ at, isFunction }) => at === start && !isFunction)?.name ?? "";
    const called = /^\s*\.\s*(\w+)\s*\(/.exec(expression.slice(start + name.length))?.[1];
    const isNamespace = [...namesOfExpressions().functions.keys()].some((one) => one.startsWith(`${name}.`));
    return called !== undefined && isNamespace
      ? [unknownFunction(`${name}.${called}`, start)]
      : [unknownVariable(name, start)];
  }
  const node = nodes.find((one) => one.start === start && one.end === end);
  if (code === "no_matching_overload" && (node?.op === "call" || node?.op === "rcall")) {
    const after = node.op === "rcall" ? node.args[1].end : start;
    const [before = ""] = /^[\s).]*/.exec(expression.slice(after)) ?? [];
    const at = after + before.length;
    const [name = ""] = (node.op === "rcall" ? /^\w+/ : /^[\w.]+/).exec(expression.slice(at)) ?? [];
    return [callFinding(name, at, summary)];
  }
  if (code === "no_such_overload") return operatorFindings(expression.slice(end), start, summary);
  if (summary.includes("'null'")) return [];
  const field = nodes.find((one) => one.op === "." && one.pos === start);
  if (field?.op === ".") return [fieldFinding(field.args[1], start)];
  return [finding(start, "has a value of the wrong type", `has a value of the wrong type: ${summary}`)];
}

function unknownVariable(name: string, at: number): Finding {
  const near = nearVariable(name);
  const hint = near
    ? `did you mean ${near}?`
    : "variables begin with conn, endpoint, req, res, time, vars and actions";
  return finding(
    at,
    "uses an unknown variable",
    `uses ${name}, which is no variable known to this version; ${hint}`,
  );
}

function nearVariable(name: string): string | undefined {
  const [first = "", ...rest] = name.split(".");
  const last = rest.pop();
  const root = Object.hasOwn(rootsAlsoCalled, first) ? rootsAlsoCalled[first] : first;
  const { variables } = namesOfExpressions();
  const parent = [first, ...rest].join(".");
  if (last !== undefined && variables.has(parent) && Object.hasOwn(functionsAlsoCalled, last))
    return `${parent}.${functionsAlsoCalled[last]}()`;
  const known = [...variables.keys()].sort((a, b) => a.length - b.length);
  const meant = (end: string) => known.find((one) => one.startsWith(`${root}.`) && one.endsWith(end));
  return meant(`.${last}`) ?? meant(`.is_${last}`) ?? nearName(name, known);
}

function unknownFunction(name: string, at: number): Finding {
  const meant = Object.hasOwn(functionsAlsoCalled, name) ? functionsAlsoCalled[name] : undefined;
  const near = meant ?? nearName(name, [...namesOfExpressions().functions.keys(), ...standardFunctions]);
  const hint = near ? `; did you mean ${near}?` : "";
  return finding(
    at,
    "calls an unknown function",
    `calls ${name}, which is no function known to this version${hint}`,
  );
}

function callFinding(name: string, at: number, summary: string): Finding {
  const known = namesOfExpressions()
    .signatures.filter((one) => one.name === name)
    .map(({ text }) => text.replace(/: .*|<V>/g, ""));
  if (known.length === 0 && !standardFunctions.includes(name)) return unknownFunction(name, at);
  const [, receiver = "", types = ""] = /'(?:(.*)\.)?\w+\((.*)\)'$/.exec(summary) ?? [];
  const call = `${receiver && `${receiver}.`}${name}(${types})`;
  const hint = known.length > 0 ? `, but its values are ${known.join(" or ")}` : ", which does not exist";
  return finding(at, "calls a function with values of the wrong types", `calls ${call}${hint}`);
}

function operatorFindings(rest: string, at: number, summary: string): Finding[] {
  const [, left = "", operator = "", right = ""] = /: (.*) (\S+) (.*)$/.exec(summary) ?? [];
  if (operator === "") {
    const hint = /^\s*in\b/.test(rest) ? "; write !(… in …)" : "";
    return [finding(at, `applies ${summary.replace(/^.*: (.)/, "$1 to ")}${hint}`)];
  }
  // It is not documented whether numbers of different types, or null, can be compared.
  const isNumber = (type: string) => /^(?:list<)?(?:int|uint|double)\b/.test(type);
  const isComparison = operator === "==" || operator === "!=" || operator === "in";
  if (isComparison && (left === "null" || right === "null" || (isNumber(left) && isNumber(right)))) return [];
  const isOfList = isComparison && left !== right && [left, right].includes("list<string>");
  const hint =
    operator === "in" && right === "string"
      ? "; use contains"
      : isOfList && operator !== "in"
        ? "; take a value of the list with [0], or write … in …"
        : "";
  const [one, other] = [wordFor(left), wordFor(right)];
  if (!/^[=!<>]=?$/.test(operator)) return [finding(at, `applies ${operator} to ${one} and ${other}${hint}`)];
  const quotes = [one, other].sort().join() === "a number,text" ? "; write a number without quotes" : hint;
  return [finding(at, `compares ${one} with ${other}${quotes}`)];
}

/** A type in plain words. */
function wordFor(type: string): string {
  if (/^(?:int|uint|double)$/.test(type)) return "a number";
  if (type.startsWith("list<")) return "a list";
  return { string: "text", bool: "a truth value" }[type] ?? type;
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
    if (asked === undefined || name === undefined) return [];
    const right = name.toLowerCase();
    if (name === right) return [];
    const reason = (name: string, right: string) =>
      `looks for ${name} with ${asked}, which never matches: write ${right}`;
    return [finding(at, reason("a name", "it in lower case"), reason(name, right))];
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

/** What a text must look like to be a time, and an example. A page of the reference leaves out the hours of a timestamp. */
const FORMATS = new Map<string, readonly [name: string, format: RegExp, example: string]>([
  [flatName("timestamp"), ["timestamp", /^\d{4}-\d\d-\d\d.*(?:Z|[+-]\d\d:\d\d)$/is, "2026-01-31T12:00:00Z"]],
  [flatName("duration"), ["duration", /^[+-]?(?:0|(?:[\d.]+(?:ns|us|µs|μs|ms|s|m|h))+)$/, "36h"]],
]);

/** Texts in the form of an expression, and those that are no time. */
function textFindings(node: Node): Finding[] {
  if (/^\$\{\s*(?:conn|endpoint|req|res|time|vars|actions)\s*\.\s*[a-z][^{}]*\}$/i.test(textOf(node) ?? ""))
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the policy
    return [finding(node.start, "has an expression as a text; leave out its quotes, ${ and }")];
  const [called, [value]] = node.op === "call" ? node.args : ["", []];
  const [name, format, example] = FORMATS.get(called) ?? [];
  const text = textOf(value);
  if (!value || text === undefined || !format || format.test(text)) return [];
  return [
    finding(value.start, `calls ${name} with a text that it cannot read; write one such as ${example}`),
  ];
}

/** Fields of a time, which the library takes for an object. */
function fieldFindings(node: Node): Finding[] {
  if (node.op !== "." || node.args[0].op !== "call" || !FORMATS.has(node.args[0].args[0])) return [];
  return [fieldFinding(node.args[1], node.pos)];
}

function fieldFinding(name: string, at: number): Finding {
  const meant = Object.hasOwn(functionsAlsoCalled, name)
    ? `; did you mean ${functionsAlsoCalled[name]}()?`
    : "";
  return finding(
    at,
    "reads a field of a value that has none",
    `reads ${name} of a value without fields${meant}`,
  );
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
