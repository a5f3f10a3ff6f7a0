import type { Environment } from "@marcbachmann/cel-js" with { "resolution-mode": "import" };
import { variables, functions as vocabulary } from "../../../provider/policy/vocabulary";
import { type Implementation, implementations, NotSimulated } from "./functions";

/*
 * Evaluates expressions with the library. A documented variable is one name for it, also with dots: `req.url.path` is evaluated
 * as `req_url_path`, because `req.url` is a text.
 */

/**
 * The values of variables by their whole names: `req.url.path`. They are read only when an expression needs them. One that is
 * `undefined` is absent from this request; one that is missing is not known on this machine.
 */
export type Values = Readonly<Record<string, () => unknown>>;

type Library = typeof import("@marcbachmann/cel-js", { with: { "resolution-mode": "import" }});

/** Functions that the library has too, with other results. An equal signature cannot replace its own. */
const OWN = new Set(
  "matches|indexOf|lastIndexOf|split|substring|lowerAscii|upperAscii|getMilliseconds|getDayOfYear".split("|"),
);
const NAMESPACES = "base64|basic_auth|hash|json|lists|queryString|rand|secrets|strings|url";
const ownName = (name: string) =>
  OWN.has(name) ? name.charAt(0).toUpperCase() + name.slice(1) : name.replace(".", "__");

/** The texts that a text with `{a|b}` stands for. */
function alternatives(text: string): string[] {
  const found = /\{([^{}]*)\}/.exec(text);
  if (!found) return [text];
  return (found[1] ?? "").split("|").flatMap((one) => alternatives(text.replace(found[0], () => one)));
}

/** The documented variables by their whole names. */
export function variableNames(): ReadonlySet<string> {
  names ??= new Set(Object.values(variables).flatMap((each) => each.flatMap(alternatives)));
  return names;
}

let names: ReadonlySet<string> | undefined;
let base: Environment | undefined;

/** The library with the functions of policies. It is loaded with the first expression. */
function environment(): Environment {
  if (base) return base;
  const { Environment: Cel }: Library = require("@marcbachmann/cel-js");
  const all = new Cel({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
  for (const signature of vocabulary.flatMap(({ signatures }) => signatures.flatMap(alternatives)))
    register(all, signature, implementations);
  for (const signature of ["string(timestamp): string", "timestamp(timestamp): timestamp"])
    register(all, signature, { string: dateText, timestamp: (date: Date) => date });
  base = all;
  return all;
}

function register(to: Environment, signature: string, by: Readonly<Record<string, Implementation>>): void {
  const [, receiver = "", name = ""] = /^(?:(.+)\.)?(\w+)\(/.exec(signature) ?? [];
  const whole = receiver ? `${receiver}.${name}` : name;
  const implementation = Object.hasOwn(by, whole) ? by[whole] : undefined;
  if (!implementation) return;
  const isSpace = NAMESPACES.split("|").includes(receiver);
  const own = isSpace ? ownName(whole) : `${receiver && `${receiver}.`}${ownName(name)}`;
  const written = `${own}${signature.slice(signature.indexOf("("))}`
    .replace(/\btimestamp(?=[.),]|$)/g, "google.protobuf.Timestamp")
    .replace(/\bduration(?=[.),]|$)/g, "google.protobuf.Duration");
  to.registerFunction(written, implementation as (...args: unknown[]) => unknown);
}

/** As the service writes timestamps: `2024-06-24T15:30:00Z`. */
const dateText = (date: Date) => date.toISOString().replace(/\.000Z$/, "Z");

const TEXTS =
  /[bB]?[rR][bB]?(?:"[^"]*"|'[^']*')|"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/;
const NAME = /(?<![\w.)\]])(?:conn|endpoint|req|res|time|vars|actions)\b(?:\s*\.\s*[A-Za-z_]\w*)*/;
const PARTS = new RegExp(
  [
    TEXTS.source,
    `(?<has>\\bhas\\(\\s*(?<asked>${NAME.source})\\s*\\))`,
    `(?<variable>${NAME.source})(?<call>\\s*\\()?`,
    `(?<![\\w.])(?<space>${NAMESPACES})\\s*\\.\\s*(?<member>\\w+)(?=\\s*\\()`,
    `\\b(?<own>${[...OWN].join("|")})(?=\\s*\\()`,
  ].join("|"),
  "g",
);

/** The names of an expression, as the library knows them. */
function flatten(text: string, values: Values, used: Set<string>): string {
  /** The longest known name that it begins with, as one name, and the fields of its value. */
  const variable = (chain: string, isCall: boolean) => {
    const parts = chain.split(/\s*\.\s*/);
    const fields = isCall ? parts.splice(-1) : [];
    const documented = variableNames();
    const prefixes = parts.map((_, index) => parts.slice(0, parts.length - index).join("."));
    const name =
      prefixes.find((each) => documented.has(each) || Object.hasOwn(values, each)) ?? parts.join(".");
    const known = name.split(".").length;
    used.add(name);
    const method = fields.map(ownName);
    return { flat: flatName(name), fields: [...parts.slice(known), ...method] };
  };
  return text.replace(PARTS, (whole, ...rest) => {
    const groups: Record<string, string | undefined> = rest.at(-1);
    if (groups["has"]) {
      const { flat, fields } = variable(groups["asked"] ?? "", false);
      return fields.length > 0 ? `has(${[flat, ...fields].join(".")})` : `has(given.${flat})`;
    }
    if (groups["variable"]) {
      const { flat, fields } = variable(groups["variable"], groups["call"] !== undefined);
      return [flat, ...fields].join(".") + (groups["call"] ?? "");
    }
    if (groups["space"]) return ownName(`${groups["space"]}.${groups["member"]}`);
    return groups["own"] ? ownName(groups["own"]) : whole;
  });
}

const flatName = (name: string) => `v_${name.replaceAll(".", "__")}`;

/** Evaluates expressions of one request. */
export class Expressions {
  private readonly environment: Environment;

  /** @param own Functions that depend on the request, by their signature. */
  constructor(own: Readonly<Record<string, Implementation>>) {
    this.environment = environment().clone();
    for (const [signature, implementation] of Object.entries(own))
      register(this.environment, signature, { [signature.replace(/\(.*/, "")]: implementation });
  }

  /** @throws NotSimulated if the value depends on something that only the service knows. */
  evaluate(text: string, values: Values): unknown {
    const used = new Set<string>();
    const flat = flatten(text, values, used);
    const context: Record<string, unknown> = {};
    const given: Record<string, unknown> = {};
    context["given"] = given;
    for (const name of used) {
      const read = (isAsked: boolean) => () => {
        const value = variableValue(name, values);
        if (value !== undefined || isAsked) return value;
        throw new NotSimulated(`${name}, which this request lacks`);
      };
      Object.defineProperty(context, flatName(name), { get: read(false), enumerable: true });
      Object.defineProperty(given, flatName(name), { get: read(true), enumerable: true });
    }
    try {
      return this.environment.parse(flat)(context);
    } catch (error) {
      for (let cause = error; cause instanceof Error; cause = cause.cause)
        if (cause instanceof NotSimulated) throw cause;
      const summary = error instanceof Error && "summary" in error ? error.summary : error;
      const isSyntax = error instanceof Error && error.name === "ParseError";
      if (isSyntax) throw new NotSimulated(`the expression ${text}, which does not parse (${summary}),`);
      throw new NotSimulated(`the expression ${text}, which fails (${summary}) instead of giving a value,`);
    }
  }
}

function variableValue(name: string, values: Values): unknown {
  const read = Object.hasOwn(values, name) ? values[name] : undefined;
  if (read) return read();
  throw new NotSimulated(`the variable ${name}, which the request does not give,`);
}
