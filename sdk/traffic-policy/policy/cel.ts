import {
  functionSignatures,
  moreVariables,
  phasesOfVariables,
  standardFunctions,
  undocumentedCalls,
  undocumentedNames,
  variables,
} from "./vocabulary";

/*
 * Makes CEL's library understand the policies' variables and functions. The library has no variables with dots, and its own
 * functions cannot be replaced. So each documented name is replaced by a flat name of the same length, which keeps all
 * positions: `req.url.path.startsWith('/')` becomes `_eq_url_path._tartsWith('/')`.
 */

type Library = typeof import("@marcbachmann/cel-js", { with: { "resolution-mode": "import" }});
type Environment = InstanceType<Library["Environment"]>;
export type Node = ReturnType<Environment["parse"]>["ast"];

/** Loads CEL's library. Throws ERR_REQUIRE_ESM if Node.js is too old for it. */
export const celLibrary = (): Library => require("@marcbachmann/cel-js");

interface Signature {
  /** As in the vocabulary: `string.startsWith(string): bool`. */
  text: string;
  /** The name in an expression: `startsWith`, `hash.md5`. */
  name: string;
  /** The type on which a method is called: `string`. */
  receiver: string | undefined;
}

interface Names {
  /** The types of the variables. */
  variables: ReadonlyMap<string, string>;
  /** The parents of variables, such as `req` and `conn.tls`, which are objects. */
  objects: ReadonlySet<string>;
  /** The functions with their parameters. Macros have parameters of the type `ast`. */
  signatures: readonly Signature[];
  /** The phases of each function by its name; undefined for a function of all phases. */
  functions: ReadonlyMap<string, readonly string[] | undefined>;
  /** The first parts of functions' names: `hash` in `hash.md5`. */
  namespaces: ReadonlySet<string>;
}

let names: Names | undefined;

/** The vocabulary by name. It is built for the first expression, because most programs contain none. */
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
      name: text.replace(RECEIVER_TYPE, "").replace(/\(.*/, ""),
      receiver: RECEIVER_TYPE.exec(text)?.[0].slice(0, -1),
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

/** The type before a method's name in a signature. Any other name before a dot is part of the function's name. */
const RECEIVER_TYPE = /^(?:string|bytes|map|list(?:<V>)?|timestamp|duration)\./;

/** All texts that a text with alternatives in braces stands for: `a.x` and `a.y` for `a.{x|y}`. */
function expanded(text: string): string[] {
  const [braces, inside = ""] = /\{([^{}]*)\}/.exec(text) ?? [];
  if (braces === undefined) return [text];
  return [...new Set(inside.split("|").flatMap((one) => expanded(text.replace(braces, one))))];
}

/** The name by which CEL's library knows a documented variable or function. */
export const flatName = (name: string): string => `_${name.slice(1).replaceAll(".", "_")}`;

/** A variable or function that an expression uses: `req.url.path`, `startsWith`, `hash.md5`. */
export interface NameUse {
  name: string;
  offset: number;
  /** Whether the vocabulary has the name. It lacks the variable of a macro: `x` in `list.all(x, x > 0)`. */
  isListed: boolean;
  isFunction?: true;
  /** The phases that have this name. Undefined if all do. */
  phases?: readonly string[] | undefined;
}

/** The regular expression for a quoted text. After the prefix r, a backslash escapes nothing. */
export const QUOTED = [
  /(?<!\w)[bB]?[rR](?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?!"")[^"\n]*"|'(?!'')[^'\n]*')/,
  /"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''/,
  /"(?!"")(?:\\[\s\S]|[^"\\\n])*"|'(?!'')(?:\\[\s\S]|[^'\\\n])*'/,
]
  .map(({ source }) => source)
  .join("|");

/** The next comment, quoted text, or names with dots. Comments, texts, and all that follows an unclosed quote contain no names. */
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

/** Quoted texts that CEL allows but its library does not: raw bytes (`br"…"`), and a raw text that ends with a backslash. */
const UNREADABLE = /^[bB][rR]["']|^[rR][\s\S]*(?<!\\)\\(?:\\\\)*(["'])\1*$/;

/** Replaces names by flat names, and lists them. `isUndocumented`: the vocabulary lacks an operator or name, so nothing is checked. */
export function flattenNames(expression: string): { text: string; uses: NameUse[]; isUndocumented: boolean } {
  const uses: NameUse[] = [];
  let text = "";
  let isUndocumented = false;
  for (const { 0: token, index, groups: { dot = "", path, call } = {} } of expression.matchAll(TOKEN)) {
    const between = expression.slice(text.length, index);
    isUndocumented ||=
      /\.\?|\[\?|\.\s*`/.test(between) || UNREADABLE.test(token) || undocumentedCalls.test(`${path}${call}`);
    isUndocumented ||= path !== undefined && dot === "" && undocumentedNames.test(path);
    text += between + dot;
    if (path === undefined) text += token;
    else text += flattenPath(path, text.length, { isMember: dot !== "", isCall: call !== undefined }, uses);
  }
  return { text: text + expression.slice(text.length), uses, isUndocumented };
}

/** @param isMember Whether a dot is before the path, so that it does not begin with a variable. */
function flattenPath(
  path: string,
  offset: number,
  { isMember, isCall }: { isMember: boolean; isCall: boolean },
  uses: NameUse[],
): string {
  const { functions, namespaces } = namesOfExpressions();
  const parts = [...path.matchAll(/\w+/g)];
  const nameOf = (count: number) => parts.slice(0, count).join(".");
  /** Records the use of a function. Returns its flat name, or its own if it has none. */
  const flatFunction = (name: string, at: number): string => {
    const isListed = functions.has(name);
    const phases = functions.get(name);
    uses.push({
      name,
      offset: offset + at,
      isListed: isListed || STANDARD.has(name),
      isFunction: true,
      phases,
    });
    return isListed ? flatName(name) : path.slice(at);
  };
  const whole = nameOf(parts.length);
  if (!isMember && isCall && (functions.has(whole) || namespaces.has(nameOf(parts.length - 1))))
    return flatFunction(whole, 0).padEnd(path.length);
  const method = isCall ? parts.pop() : undefined;
  let flat = path.slice(0, method?.index);
  if (!isMember && parts.length > 0) {
    const count = variableParts(parts.map(([part]) => part));
    const phases = count > 0 ? phasesOfVariables[nameOf(1)] : undefined;
    uses.push({ name: nameOf(count || parts.length), offset, isListed: count > 0, phases });
    const last = parts[count - 1];
    const end = last ? last.index + last[0].length : 0;
    flat = (last ? flatName(nameOf(count)) : "").padEnd(end) + flat.slice(end);
  }
  return flat + (method ? flatFunction(method[0], method.index) : "");
}

const STANDARD = new Set<string>(standardFunctions);

/** The most parts of a variable's name. The limit keeps the time linear for a text with thousands of names. */
const MAX_PARTS = 20;

/** How many parts of a path name a variable. 0 if the parts after it cannot be its fields. */
function variableParts(parts: readonly string[]): number {
  const { variables, objects } = namesOfExpressions();
  if (parts.length <= MAX_PARTS && objects.has(parts.join("."))) return parts.length;
  for (let count = Math.min(parts.length, MAX_PARTS); count > 0; count--) {
    const type = variables.get(parts.slice(0, count).join("."));
    if (type) return count === parts.length || /^(?:dyn|map|list)/.test(type) ? count : 0;
  }
  return 0;
}

/** The implementation of a function of the vocabulary, or the expansion of a macro. */
export type Implementation = (...args: never[]) => unknown;

/**
 * The environment of CEL's library in which expressions with flat names are checked and evaluated.
 *
 * @param implementation Returns the implementation of the function with a signature.
 */
export function policyEnvironment(implementation: (signature: string) => Implementation): Environment {
  const environment = new (celLibrary().Environment)({ homogeneousAggregateLiterals: false });
  const { variables, objects, signatures } = namesOfExpressions();
  // A Map, because two variables can have the same flat name.
  const types = new Map([...objects].map((name) => [flatName(name), "dyn"]));
  for (const [name, type] of variables) types.set(flatName(name), type);
  for (const [name, type] of types) environment.registerVariable(name, libraryTypes(type));
  for (const { text, name } of signatures) {
    const flat = text.replace(`${name}(`, `${flatName(name)}(`);
    environment.registerFunction(libraryTypes(flat), implementation(text));
  }
  return environment;
}

/** A signature or type with the library's names for timestamps and durations. */
const libraryTypes = (text: string) =>
  text
    .replace(/\btimestamp\b(?!\()/g, "google.protobuf.Timestamp")
    .replace(/\bduration\b(?!\()/g, "google.protobuf.Duration");
