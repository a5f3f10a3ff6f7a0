import { analyse } from "../policy/analysis";
import {
  flatName,
  flattenNames,
  type Implementation,
  type Node,
  namesOfExpressions,
  policyEnvironment,
} from "../policy/cel";
import { macros } from "../policy/vocabulary";
import { implementations } from "./functions";
import { notSimulated, RequestNotSimulated } from "./trace";

/**
 * The values of variables by their whole names: `req.url.path`. A value is computed only when an expression needs it. The value
 * `undefined` means that this request lacks the variable. A missing name means that the value is not known on this machine.
 */
export type Variables = Readonly<Record<string, () => unknown>>;

/** The functions that depend on the request, by name. Declared without `Implementation`, which is not published. */
export type RequestFunctions = Readonly<Record<string, (...args: never[]) => unknown>>;

/** The error of an expression that reads a variable that this request lacks. */
class AbsentVariable extends RequestNotSimulated {}

let environment: ReturnType<typeof policyEnvironment> | undefined;
/** The request's functions for the expression that is being evaluated. Evaluation is synchronous, so there is only one. */
let currentFunctions: RequestFunctions = {};

function implementation(signature: string): Implementation {
  if (signature === "has(ast): bool") return has;
  const key = signature.split("(")[0] ?? "";
  const own = Object.hasOwn(implementations, key) ? implementations[key] : undefined;
  return (...args) => {
    const called = Object.hasOwn(currentFunctions, key) ? currentFunctions[key] : own;
    return called ? called(...args) : notSimulated(`${key}()`);
  };
}

/** The values and functions with which an expression is evaluated. */
interface EvaluationContext {
  values: Variables;
  functions: RequestFunctions;
  phase?: string;
}

/**
 * Evaluates an expression.
 *
 * @throws RequestNotSimulated if its value depends on something that only the service knows.
 */
export function evaluate(text: string, { values, functions, phase }: EvaluationContext): unknown {
  const { text: flat, uses, isUndocumented } = flattenNames(text);
  if (isUndocumented) notSimulated(`the expression ${text}, which the documentation does not cover,`);
  // The library has more functions than the documentation.
  const documented = namesOfExpressions().functions;
  const other = uses.find(
    ({ name, isFunction }) => isFunction && !documented.has(name) && !macros.includes(name),
  );
  if (other) notSimulated(mistakeIn(text) ?? `${other.name}()`);
  const missing = phase && uses.find(({ phases }) => phases && !phases.includes(phase));
  if (missing) notSimulated(`${missing.name} in ${phase}`);
  const context: Record<string, unknown> = {};
  const read = (name: string) => () => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (!value) return notSimulated(`the variable ${name}, which the request does not give,`);
    return value() ?? absent(name);
  };
  for (const { name } of uses)
    Object.defineProperty(context, flatName(name), { get: read(name), configurable: true });
  currentFunctions = functions;
  environment ??= policyEnvironment(implementation);
  try {
    return environment.parse(flat)(context);
  } catch (error) {
    for (let cause = error; cause instanceof Error; cause = cause.cause)
      if (cause instanceof RequestNotSimulated) throw cause;
    const mistake = mistakeIn(text);
    if (mistake) notSimulated(mistake);
    const summary = error instanceof Error && "summary" in error ? error.summary : error;
    const isMissing = error instanceof Error && "code" in error && error.code === "no_such_key";
    const hint = isMissing ? "; guard it with 'name' in … &&" : "";
    return notSimulated(`the expression ${text}, which fails (${summary}${hint}) instead of giving a value,`);
  }
}

function mistakeIn(text: string): string | undefined {
  const [finding] = analyse(text).findings;
  return finding && `the expression ${text}, which ${finding.reason},`;
}

function absent(name: string): never {
  throw new AbsentVariable(`${name}, which this request lacks (guard it with has(${name}) &&),`);
}

interface Evaluator {
  run(node: Node, context: unknown): unknown;
}

/** The macro `has`. CEL's own does not accept a single name, and variables have flat names here. */
const has = ({ args: [field] }: { args: [Node] }) => ({
  typeCheck(
    checker: { check(node: Node, context: unknown): unknown; getType(name: string): unknown },
    _: unknown,
    context: unknown,
  ) {
    checker.check(field, context);
    return checker.getType("bool");
  },
  evaluate(evaluator: Evaluator, _: unknown, context: unknown) {
    try {
      return evaluator.run(field, context) !== undefined;
    } catch (error) {
      const isAbsent =
        error instanceof AbsentVariable ||
        (error instanceof Error && "code" in error && error.code === "no_such_key");
      if (isAbsent) return false;
      throw error;
    }
  },
});
