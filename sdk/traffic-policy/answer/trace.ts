/* What the policies did with a request. */

/** A rule that a request met. Values never contain the secrets of actions. */
export interface TracedRule {
  /** The URL of the endpoint. */
  endpoint: string;
  phase: string;
  /** The number of the rule in its phase, from 0. */
  rule: number;
  name?: string;
  /** `not reached` if an earlier action ended the phase or the run; `undecided` if an expression has no value here. */
  outcome: "matched" | "not matched" | "not reached" | "undecided";
  /** The expressions that were evaluated: all up to the first that is not true. One without a value has `undefined`. */
  expressions: { expression: string; value: unknown }[];
  /** The actions in order, each with what it did. */
  actions: { type: string; result: string }[];
}

/**
 * An object of which expressions can read only a part.
 *
 * @param open What is refused under a name, or as the list of all names. False for a name that is known.
 */
export function partlyKnown<T extends object>(
  object: T,
  open: (name: string | undefined) => string | false,
): T {
  const refuseIf = (what: string | false) => (what ? notSimulated(what) : undefined);
  return new Proxy(object, {
    getOwnPropertyDescriptor(target, name) {
      refuseIf(open(String(name)));
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    ownKeys(target) {
      refuseIf(open(undefined));
      return Reflect.ownKeys(target);
    },
  });
}

/** A request without a reply. `message` has the reason, `trace` what happened up to then. */
export class RequestFailed extends Error {
  /** What happened up to then. */
  trace: readonly TracedRule[] = [];
}

/** A policy closed the connection, so that the client gets no reply. */
export class ConnectionClosed extends RequestFailed {
  override readonly name = "ConnectionClosed";
}

/** The reply depends on something that only the service knows, or that the test did not give. */
export class RequestNotSimulated extends RequestFailed {
  override readonly name = "RequestNotSimulated";
  /** The endpoint, and what of its policy needs it. Missing before a policy runs. */
  place?: string;

  constructor(what: string) {
    super(`${what} is not simulated; only the service knows the result`);
  }
}

/** Ends the request, because the documentation does not fix its result, or because the runner lacks what it needs. */
export function notSimulated(what: string): never {
  throw new RequestNotSimulated(what);
}

/** The application behind an endpoint gave no reply that a client could get. */
export class ApplicationFailed extends RequestFailed {
  override readonly name = "ApplicationFailed";
}

/**
 * A trace as lines, for people.
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
