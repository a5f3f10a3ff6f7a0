import {
  functionSignatures,
  moreVariables,
  openCalls,
  openNames,
  phasesOfVariables,
  standardFunctions,
  variables,
} from "./vocabulary";

/*
 * The environment of expressions in CEL, from the vocabulary. CEL's library knows no variables with dots, and does not let its own
 * functions be replaced. So each documented variable and function gets a name of its own, of equal length, with which all
 * positions hold: `_eq_url_path._tartsWith('/')` for `req.url.path.startsWith('/')`.
 */

type Library = typeof import("@marcbachmann/cel-js", { with: { "resolution-mode": "import" }});
type Environment = InstanceType<Library["Environment"]>;
export type Node = ReturnType<Environment["parse"]>["ast"];

/** The library. Throws ERR_REQUIRE_ESM if Node.js is too old for it. */
export const celLibrary = (): Library => require("@marcbachmann/cel-js");

interface Signature {
  /** As in the vocabulary: `string.startsWith(string): bool`. */
  text: string;
  /** The name in an expression: `startsWith`, `hash.md5`. */
  name: string;
  /** The type of what a method is called of. */
  receiver: string | undefined;
}

interface Names {
  /** The types of the variables. */
  variables: ReadonlyMap<string, string>;
  /** The parents of variables, such as `req` and `conn.tls`, which are objects. */
  objects: ReadonlySet<string>;
  /** A macro has parameters of the type `ast`. */
  signatures: readonly Signature[];
  /** The functions, and the phases that have them, if not all do. */
  functions: ReadonlyMap<string, readonly string[] | undefined>;
  /** What stands before the names of functions: `hash`. */
  namespaces: ReadonlySet<string>;
}

let names: Names | undefined;

/** The vocabulary by name. It is built for the first expression, because most programs have none. */
export function namesOfExpressions(): Names {
  if (names) return names;
  const all = [variables, moreVariables].flatMap((groups) =>
    Object.entries(groups).flatMap(([type, texts]) =>
      texts.flatMap(expanded).map((name) => [name, type] as const),
    ),
  );
  const parents = all.flatMap(([name]) => [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index)));
  const withPhases = functionSignatures.flatMap(({ phases, signatures }) =>
    signatures.flatMap(expanded).map((text) => ({
      text,
      name: text.replace(RECEIVER, "").replace(/\(.*/, ""),
      receiver: RECEIVER.exec(text)?.[0].slice(0, -1),
      phases,
    })),
  );
  names = {
    variables: new Map(all),
    objects: new Set(parents),
    signatures: withPhases,
    functions: new Map(withPhases.map(({ name, phases }) => [name, phases])),
    namespaces: new Set(
      withPhases.flatMap(({ name }) => (name.includes(".") ? [name.replace(/\..*/, "")] : [])),
    ),
  };
  return names;
}

/** The types of receivers. Any other name before a dot is part of the function's name. */
const RECEIVER = /^(?:string|bytes|map|list(?:<V>)?|timestamp|duration)\./;

/** The texts that a text with alternatives in braces stands for. */
function expanded(text: string): string[] {
  const [braces, inside = ""] = /\{([^{}]*)\}/.exec(text) ?? [];
  if (braces === undefined) return [text];
  return [...new Set(inside.split("|").flatMap((one) => expanded(text.replace(braces, one))))];
}

/** The name of a documented variable or function in the environment. */
export const flatName = (name: string): string => `_${name.slice(1).replaceAll(".", "_")}`;

/** A variable or function as an expression writes it: `req.url.path`, `startsWith`, `hash.md5`. */
export interface Use {
  name: string;
  offset: number;
  /** Whether it is documented. A variable of a macro is not: `x` in `list.all(x, x > 0)`. */
  isKnown: boolean;
  isFunction?: true;
  /** The phases that have it, if not all do. */
  phases?: readonly string[] | undefined;
}

/** A text in its quotes. In one with the prefix r, a backslash escapes nothing. */
export const QUOTED = [
  /(?<!\w)[bB]?[rR](?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?!"")[^"\n]*"|'(?!'')[^'\n]*')/,
  /"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''/,
  /"(?!"")(?:\\[\s\S]|[^"\\\n])*"|'(?!'')(?:\\[\s\S]|[^'\\\n])*'/,
]
  .map(({ source }) => source)
  .join("|");

/** A comment, a text, or names with dots, but no keyword. In the first two, and after a quote that none closes, nothing is a name. */
const TOKEN = new RegExp(
  [
    /\/\/[^\n]*/.source,
    QUOTED,
    /["'][\s\S]*/.source,
    /(?<dot>\.\s*)?(?<!\w)(?<path>(?!(?:true|false|null|in)\b)[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*)(?![\w"'])(?=\s*(?<call>\((?:\s*\w+\s*,\s*\w+\s*,)?)?)/
      .source,
  ].join("|"),
  "g",
);

/** Texts that CEL has, but not its library: bytes without escapes, and a text without escapes that ends with a backslash. */
const UNREAD = /^[bB][rR]["']|^[rR][\s\S]*(?<!\\)\\(?:\\\\)*(["'])\1*$/;

/** The expression with the names of the environment, and what it uses. It is open if nothing is known of a name or operator. */
export function flattened(expression: string): { text: string; uses: Use[]; isOpen: boolean } {
  const uses: Use[] = [];
  let text = "";
  let isOpen = false;
  for (const { 0: token, index, groups: { dot = "", path, call } = {} } of expression.matchAll(TOKEN)) {
    const between = expression.slice(text.length, index);
    isOpen ||= /\.\?|\[\?|\.\s*`/.test(between) || UNREAD.test(token) || openCalls.test(`${path}${call}`);
    isOpen ||= path !== undefined && dot === "" && openNames.test(path);
    text += between + dot;
    if (path === undefined) text += token;
    else text += flattenedPath(path, text.length, { isMember: dot !== "", isCall: call !== undefined }, uses);
  }
  return { text: text + expression.slice(text.length), uses, isOpen };
}

/** @param isMember Whether the path follows a dot, so that it begins with no variable. */
function flattenedPath(
  path: string,
  offset: number,
  { isMember, isCall }: { isMember: boolean; isCall: boolean },
  uses: Use[],
): string {
  const { functions, namespaces } = namesOfExpressions();
  const parts = [...path.matchAll(/\w+/g)];
  const nameOf = (count: number) => parts.slice(0, count).join(".");
  /** The function's flat name if it has one. */
  const flatFunction = (name: string, at: number): string => {
    const isKnown = functions.has(name);
    const phases = functions.get(name);
    uses.push({
      name,
      offset: offset + at,
      isKnown: isKnown || STANDARD.has(name),
      isFunction: true,
      phases,
    });
    return isKnown ? flatName(name) : path.slice(at);
  };
  const whole = nameOf(parts.length);
  if (!isMember && isCall && (functions.has(whole) || namespaces.has(nameOf(parts.length - 1))))
    return flatFunction(whole, 0).padEnd(path.length);
  const method = isCall ? parts.pop() : undefined;
  let flat = path.slice(0, method?.index);
  if (!isMember && parts.length > 0) {
    const count = variableParts(parts.map(([part]) => part));
    const phases = count > 0 ? phasesOfVariables[nameOf(1)] : undefined;
    uses.push({ name: nameOf(count || parts.length), offset, isKnown: count > 0, phases });
    const last = parts[count - 1];
    const end = last ? last.index + last[0].length : 0;
    flat = (last ? flatName(nameOf(count)) : "").padEnd(end) + flat.slice(end);
  }
  return flat + (method ? flatFunction(method[0], method.index) : "");
}

const STANDARD = new Set<string>(standardFunctions);

/** More names than any variable has. It keeps the time linear for a text with thousands of names. */
const MAX_PARTS = 20;

/** How many of the names are those of a variable. None if what follows cannot be a field of it. */
function variableParts(parts: readonly string[]): number {
  const { variables, objects } = namesOfExpressions();
  if (parts.length <= MAX_PARTS && objects.has(parts.join("."))) return parts.length;
  for (let count = Math.min(parts.length, MAX_PARTS); count > 0; count--) {
    const type = variables.get(parts.slice(0, count).join("."));
    if (type) return count === parts.length || /^(?:dyn|map|list)/.test(type) ? count : 0;
  }
  return 0;
}

/** What runs a function of the vocabulary, or expands the call of a macro. */
export type Implementation = (...args: never[]) => unknown;

/**
 * The environment in which flattened expressions are checked and evaluated.
 *
 * @param implementation What runs the function with a signature.
 */
export function policyEnvironment(implementation: (signature: string) => Implementation): Environment {
  const environment = new (celLibrary().Environment)({ homogeneousAggregateLiterals: false });
  const { variables, objects, signatures } = namesOfExpressions();
  // Two spellings of one variable can have the same flat name.
  const types = new Map([...objects].map((name) => [flatName(name), "dyn"]));
  for (const [name, type] of variables) types.set(flatName(name), type);
  for (const [name, type] of types) environment.registerVariable(name, libraryTypes(type));
  for (const { text, name } of signatures) {
    const flat = text.replace(`${name}(`, `${flatName(name)}(`);
    environment.registerFunction(libraryTypes(flat), implementation(text));
  }
  return environment;
}

/** The signature or type with the library's names of the types. */
const libraryTypes = (text: string) =>
  text
    .replace(/\btimestamp\b(?!\()/g, "google.protobuf.Timestamp")
    .replace(/\bduration\b(?!\()/g, "google.protobuf.Duration");
