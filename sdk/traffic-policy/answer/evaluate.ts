import { analysed } from "../policy/analysis";
import {
  flatName,
  flattened,
  type Implementation,
  type Node,
  namesOfExpressions,
  policyEnvironment,
} from "../policy/cel";
import { macros } from "../policy/vocabulary";
import { implementations } from "./functions";
import type { TimeLimit } from "./timeLimit";
import { notSimulated, RequestNotSimulated } from "./trace";

/**
 * The values of variables by their whole names: `req.url.path`. They are read only when an expression needs them. One that is
 * `undefined` is absent from this request; one that is missing is not known on this machine.
 */
export type Variables = Readonly<Record<string, () => unknown>>;

/** The functions that depend on the request, by name. Without a name from the check's types, which are not published. */
export type RequestFunctions = Readonly<Record<string, (...args: never[]) => unknown>>;

class Absent extends RequestNotSimulated {}

let environment: ReturnType<typeof policyEnvironment> | undefined;
/** Of the expression that is being evaluated, which happens synchronously. */
let current: RequestFunctions = {};

function implementation(signature: string): Implementation {
  if (signature === "has(ast): bool") return has;
  const key = signature.split("(")[0] ?? "";
  const own = Object.hasOwn(implementations, key) ? implementations[key] : undefined;
  return (...args) => {
    const called = Object.hasOwn(current, key) ? current[key] : own;
    return called ? called(...args) : notSimulated(`${key}()`);
  };
}

/** What an expression depends on. */
interface EvaluationContext {
  values: Variables;
  functions: RequestFunctions;
  phase?: string;
  timeLimit: TimeLimit;
}

/**
 * The value of an expression.
 *
 * @throws RequestNotSimulated if it depends on something that only the service knows.
 */
export function evaluate(text: string, { values, functions, phase, timeLimit }: EvaluationContext): unknown {
  const { text: flat, uses, isOpen } = flattened(text);
  if (isOpen) notSimulated(`the expression ${text}, which the documentation does not cover,`);
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
  current = functions;
  // To load CEL's library takes longer than most requests, and is not the policy's work.
  environment ??= policyEnvironment(implementation);
  const cel = environment;
  const work = () => cel.parse(flat)(context);
  // All other functions need a time that is linear in their texts. On a busy machine, a limit could end even those.
  const repeats = uses.some(({ name }) => macros.includes(name) || name === "matches");
  try {
    return repeats ? timeLimit.spend(work) : work();
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
  const [finding] = analysed(text).findings;
  return finding && `the expression ${text}, which ${finding.reason},`;
}

function absent(name: string): never {
  throw new Absent(`${name}, which this request lacks (guard it with has(${name}) &&),`);
}

interface Evaluator {
  run(node: Node, context: unknown): unknown;
}

/** CEL's own refuses variables of one name. */
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
        error instanceof Absent ||
        (error instanceof Error && "code" in error && error.code === "no_such_key");
      if (isAbsent) return false;
      throw error;
    }
  },
});
