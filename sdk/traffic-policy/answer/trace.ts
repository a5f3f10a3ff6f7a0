/* The trace of a request (what its policies did), and the errors of a request without a reply. */

/** A rule of a policy that a request reached. Secrets of actions are masked. */
export interface TracedRule {
  /** The URL of the endpoint. */
  endpoint: string;
  phase: string;
  /** The number of the rule in its phase, from 0. */
  rule: number;
  name?: string;
  /** `not reached` if an earlier action ended the phase or the run; `undecided` if an expression has no value here. */
  outcome: "matched" | "not matched" | "not reached" | "undecided";
  /** The evaluated expressions, up to the first that is not true. `value` is undefined if the evaluation failed. */
  expressions: { expression: string; value: unknown }[];
  /** The actions in order, each with what it did. */
  actions: { type: string; result: string }[];
}

/**
 * An object of which expressions can read only a part.
 *
 * @param unknown What is not simulated for a name, or for the list of all names (undefined). False for a known name.
 */
export function partlyKnown<T extends object>(
  object: T,
  unknown: (name: string | undefined) => string | false,
): T {
  const failIf = (what: string | false) => (what ? notSimulated(what) : undefined);
  return new Proxy(object, {
    getOwnPropertyDescriptor(target, name) {
      failIf(unknown(String(name)));
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    ownKeys(target) {
      failIf(unknown(undefined));
      return Reflect.ownKeys(target);
    },
  });
}

/** The error of a request without a reply. `message` has the reason. */
export class RequestFailed extends Error {
  /** What the policies did before the failure. */
  trace: readonly TracedRule[] = [];
}

/** The error if a policy closed the connection, so that the client gets no reply. */
export class ConnectionClosed extends RequestFailed {
  override readonly name = "ConnectionClosed";
}

/** The error if the reply depends on something that only the service knows, or that the test did not give. */
export class RequestNotSimulated extends RequestFailed {
  override readonly name = "RequestNotSimulated";
  /** The endpoint, and the part of its policy that failed. Missing if no policy ran. */
  place?: string;

  constructor(what: string) {
    super(`${what} is not simulated; only the service knows the result`);
  }
}

/** Fails the request, because the documentation does not say what happens, or because something needed is not known here. */
export function notSimulated(what: string): never {
  throw new RequestNotSimulated(what);
}

/** The error if the application behind an endpoint gave no valid reply. */
export class ApplicationFailed extends RequestFailed {
  override readonly name = "ApplicationFailed";
}

/**
 * A trace as lines for people to read.
 *
 * ```ts
 * console.log(traceText(reply.trace));
 * ```
 */
export function traceText(trace: readonly TracedRule[]): string {
  return trace
    .flatMap(({ endpoint, phase, rule: index, name, outcome, expressions, actions: list }) => [
      `${endpoint} ${phase}[${index}]${name === undefined ? "" : ` ${name}`}: ${outcome}`,
      ...expressions.map(({ expression, value = "no value" }) => `    ${expression} → ${value}`),
      ...(outcome === "matched" ? list.map(({ type, result }) => `    ${type}: ${result}`) : []),
      ...(outcome === "not reached" ? [`    ${list.map(({ type }) => type).join(", ")}`] : []),
    ])
    .map((line) => `${line}\n`)
    .join("");
}
