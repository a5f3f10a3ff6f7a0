import {
  flatName,
  flattened,
  type Implementation,
  type Node,
  policyEnvironment,
} from "../../../provider/policy/cel";
import { examined } from "../../../provider/policy/examination";
import { implementations } from "./functions";
import { NotSimulated } from "./trace";

/**
 * The values of variables by their whole names: `req.url.path`. They are read only when an expression needs them. One that is
 * `undefined` is absent from this request; one that is missing is not known on this machine.
 */
export type Values = Readonly<Record<string, () => unknown>>;

/** The functions that depend on the request, by name. Without a name from the check's types, which are not published. */
export type RequestFunctions = Readonly<Record<string, (...args: never[]) => unknown>>;

class Absent extends NotSimulated {}

let environment: ReturnType<typeof policyEnvironment> | undefined;
/** Of the expression that is being evaluated, which happens synchronously. */
let current: RequestFunctions = {};

function implementation(signature: string): Implementation {
  if (signature === "has(ast): bool") return has;
  const key = signature.split("(")[0] ?? "";
  const own = Object.hasOwn(implementations, key) ? implementations[key] : undefined;
  return (...args) => {
    const called = Object.hasOwn(current, key) ? current[key] : own;
    if (called) return called(...args);
    throw new NotSimulated(`${key}()`);
  };
}

/**
 * The value of an expression.
 *
 * @throws NotSimulated if it depends on something that only the service knows.
 */
export function evaluate(text: string, values: Values, functions: RequestFunctions, phase?: string): unknown {
  const { text: flat, uses, isOpen } = flattened(text);
  if (isOpen) throw new NotSimulated(`the expression ${text}, which the documentation does not cover,`);
  const context: Record<string, unknown> = {};
  const read = (name: string) => () => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (!value) throw new NotSimulated(`the variable ${name}, which the request does not give,`);
    return value() ?? absent(name);
  };
  const missing = phase && uses.find(({ phases }) => phases && !phases.includes(phase));
  if (missing) throw new NotSimulated(`${missing.name} in ${phase}`);
  for (const { name } of uses)
    Object.defineProperty(context, flatName(name), { get: read(name), configurable: true });
  current = functions;
  try {
    environment ??= policyEnvironment(implementation);
    return environment.parse(flat)(context);
  } catch (error) {
    for (let cause = error; cause instanceof Error; cause = cause.cause)
      if (cause instanceof NotSimulated) throw cause;
    const [finding] = examined(text).findings;
    if (finding) throw new NotSimulated(`the expression ${text}, which ${finding.reason},`);
    const summary = error instanceof Error && "summary" in error ? error.summary : error;
    const isMissing = error instanceof Error && "code" in error && error.code === "no_such_key";
    const hint = isMissing ? "; guard it with 'name' in … &&" : "";
    throw new NotSimulated(
      `the expression ${text}, which fails (${summary}${hint}) instead of giving a value,`,
    );
  }
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
