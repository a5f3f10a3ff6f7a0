import type { RecordedRequest } from "../../test-engine/index";
import { base62, randomNumbers } from "./random";
import { type Handling, type Match, matches, type ScriptedReply } from "./script";
import { ServiceError } from "./serviceErrors";

export interface FaultInjectionOptions {
  /** The seed, 32 bits. The same seed and the same sequence of requests give the same faults. */
  seed: number;
  /** The probability that a matching request gets a fault, from 0 to 1. */
  probability: number;
  /** The kinds of faults. Those that apply to a request are equally likely. Default: `faultKinds`. */
  kinds?: readonly (FaultKind | Fault)[];
  /** The requests that can get faults. Default: all. */
  match?: Match;
  /** The maximum number of faults. Default: no limit. */
  most?: number;
}

/** A kind of fault of your own. */
export interface Fault {
  /** Its name in `emulator.faults`. */
  kind: string;
  /** The requests that can get it. Default: all. */
  match?: Match;
  /**
   * The reply, as in `intercept`.
   *
   * @param random Returns the next random number, from 0 up to 1.
   */
  reply: (random: () => number) => ScriptedReply;
}

/** A fault that `injectFaults` injected. */
export interface RecordedFault {
  kind: string;
  method: string;
  path: string;
  /** Whether the request took effect. */
  committed: boolean;
}

/** Draws a fault for a request. */
export type FaultSource = (request: RecordedRequest) => Handling | undefined;

/** @throws RangeError if the probability is not from 0 to 1. */
export function faultSource(options: FaultInjectionOptions, log: RecordedFault[]): FaultSource {
  const { seed, probability, match = () => true } = options;
  if (!(probability >= 0 && probability <= 1))
    throw new RangeError(`probability must be from 0 to 1, not ${probability}`);
  const kinds = (options.kinds ?? faultKinds).map(
    (kind): Fault => (typeof kind === "string" ? { kind, ...faults[kind] } : kind),
  );
  let { most: left = Number.POSITIVE_INFINITY } = options;
  const random = randomNumbers(seed);
  return (request) => {
    if (left <= 0 || !matches(match, request) || random() >= probability) return undefined;
    const applicable = kinds.filter((kind) => matches(kind.match ?? (() => true), request));
    const fault = oneOf(random, applicable);
    if (!fault) return undefined;
    left -= 1;
    const reply = fault.reply(random);
    const { method, path } = request;
    const recorded: RecordedFault = { kind: fault.kind, method, path, committed: false };
    log.push(recorded);
    const onEffect = (committed: boolean) => {
      recorded.committed = committed;
    };
    return { reply, onEffect };
  };
}

const faults = {
  "429": {
    reply: () => ({
      ...new ServiceError(226, 120, 60).answer(`op_${base62()}`),
      headers: { "Retry-After": "1" },
    }),
  },
  "5xx-before": { reply: serverError },
  "5xx-after": { reply: (random) => ({ ...serverError(random), afterCommit: true }) },
  "reset-before": { reply: () => ({ reset: true }) },
  "reset-after": { reply: () => ({ reset: true, afterCommit: true }) },
  "hang-before": { reply: () => ({ hang: true }) },
  "hang-after": { reply: () => ({ hang: true, afterCommit: true }) },
  // The reply to a DELETE has no body.
  truncated: {
    match: ({ method }) => method !== "DELETE",
    reply: () => ({ afterCommit: true, cut: "end" }),
  },
} satisfies Record<string, Omit<Fault, "kind">>;

/**
 * A kind of fault: of the network, or of an overloaded service. With `-before` in its name the request has no effect. With
 * `-after` it takes effect first, unless the service refuses it. docs/testing.md lists all kinds.
 */
export type FaultKind = keyof typeof faults;

/** The kinds of faults that the emulator has. `injectFaults` draws from them by default. */
export const faultKinds = Object.keys(faults) as FaultKind[];

const oneOf = <Item>(random: () => number, items: readonly Item[]): Item | undefined =>
  items[Math.floor(random() * items.length)];

function serverError(random: () => number) {
  const status = oneOf(random, [500, 502, 503, 504]) ?? 500;
  if (random() < 0.5) return gatewayReply("html", status);
  return new ServiceError(20000, "an injected fault").withStatus(status).answer(`op_${base62()}`);
}

const PAGE = "<html><head><title>Error</title></head><body><h1>Something is wrong</h1></body></html>";

/**
 * A gateway's own reply, for `intercept`: an HTML page, JSON without a code (`json`), or JSON with the gateway's own code
 * (`coded`). The request does not reach the service.
 *
 * @param status Default: 404.
 */
export function gatewayReply(form: "html" | "json" | "coded", status = 404) {
  const headers = { "Content-Type": "text/html; charset=utf-8" };
  if (form === "html") return { status, headers, body: PAGE };
  const msg = "the gateway has no route for this request";
  return { status, body: form === "json" ? { msg } : { error_code: `GW_${status}`, msg } };
}
