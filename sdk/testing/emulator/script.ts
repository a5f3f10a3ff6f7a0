import type { RecordedRequest } from "../../test-engine/index";
import { type Operation, operationOf } from "./routes";

/**
 * How the connection ends after half of a body: a regular close (`end`), a reset (`reset`), or silence (`stall`). The
 * `Content-Length` is that of the whole body.
 */
export type Cut = "end" | "reset" | "stall";

export type ReplyHeaders = Record<string, string | null>;

/**
 * The reply that the client gets, and whether the request takes effect. One of:
 *
 * - `status`, with `headers` and `body`: this reply.
 * - `afterCommit: true` without a `status`: the real reply. `headers` and `body` replace parts of it. A `body` can be a
 *   function of the real one.
 * - `reset: true`: a reset of the connection, without a reply.
 * - `hang: true`: silence, until the emulator is closed.
 *
 * With `cut` the connection ends after half of the body. It applies to the first two forms, if they have a body.
 */
export type ScriptedReply = {
  /** A delay of the reply, in milliseconds. It does not delay the effect of `afterCommit`. Default: 0. */
  delayMs?: number;
  /**
   * True: the service handles the request, and then the client gets the reply. A request that the service refuses has no
   * effect, and the client still gets this reply. Default: false, the request has no effect.
   */
  afterCommit?: boolean;
  /**
   * The request takes effect this many milliseconds later, by the emulator's clock. Do not combine it with
   * `afterCommit` or with the real reply.
   */
  lateMs?: number;
  /** Called when the request has arrived, before its effect. */
  before?: (request: RecordedRequest) => void;
  /** Called before the reply is sent and, with `afterCommit`, after the effect. */
  after?: (request: RecordedRequest) => void;
} & (ReplyWithAnswer | { reset: true } | { hang: true });

/** The forms in which the client gets a status. */
export type ReplyWithAnswer = {
  /** Headers to set. `null` leaves out a header that is sent by default. */
  headers?: ReplyHeaders;
  /**
   * Text is sent unchanged, an object as JSON with its content type. A function returns either; it gets the real body, or
   * an empty object if there is none. Default: the real body, or none if `status` is given.
   */
  body?: string | object | ((real: Record<string, unknown>, request: RecordedRequest) => string | object);
  /** Ends the connection after half of the body. Default: the whole body is sent. */
  cut?: Cut;
} & ({ status: number } | { status?: never; afterCommit: true });

/** The scripted reply to a request, or that of a drawn fault. */
export interface Handling {
  reply: ScriptedReply;
  /** Called after the service has handled the request. `committed`: whether it took effect. */
  onEffect?: (committed: boolean) => void;
}

/** Selects requests: an operation, or a function that returns true for them. */
export type Match = Operation | ((request: RecordedRequest) => boolean);

export function matches(match: Match, request: RecordedRequest): boolean {
  return typeof match === "function" ? match(request) : match === operationOf(request);
}

/** A scripted reply, for the next `left` requests that match. */
export interface Script {
  match: Match;
  reply: ScriptedReply;
  left: number;
}

/** The oldest script that matches applies. */
export function takeScript(scripts: readonly Script[], request: RecordedRequest): Handling | undefined {
  const script = scripts.find(({ match, left }) => left > 0 && matches(match, request));
  if (script) script.left -= 1;
  return script && { reply: script.reply };
}
