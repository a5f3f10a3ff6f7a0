import type { RecordedRequest } from "../types";
import type { Behaviour } from "./behaviour";
import type { Random } from "./random";
import { type Operation, operationOf } from "./routes";
import type { Store } from "./store";

/**
 * How a body ends after its first half: the connection is closed in order (`end`), reset (`reset`), or left open
 * with nothing more to come (`stall`). The head has promised the whole body.
 */
export type Cut = "end" | "reset" | "stall";

export type Headers = Record<string, string | null>;

/**
 * What the client sees in place of the answer, and whether the request takes effect. One of:
 *
 * - `status` with `headers` and `body`: that answer.
 * - no `status`, and `afterCommit: true`: the real answer, with `headers` over its own and `body` in place of its own.
 *   Such a `body` can be made of the real one.
 * - `reset: true`: the connection is reset without an answer.
 * - `hang: true`: the connection stays open and nothing is ever sent, until the emulator closes.
 *
 * With `cut`, an answer of the first two forms ends early: its head, which has the whole body's length, and the first
 * half of the body are sent. An answer without a body is not cut.
 */
export type ScriptedReply = {
  /** Waits before anything is sent and after the effect where there is one, in milliseconds. Default: 0. */
  delayMs?: number;
  /**
   * True: the request first does what it would do without a script, and only then does the client see this. Where it
   * would be refused, it does nothing, and the client still sees this. Default: false, the request does nothing.
   */
  afterCommit?: boolean;
  /**
   * The request takes effect this many milliseconds later by the emulator's clock, before any later request and before the
   * state is read. In place of `afterCommit`, for replies other than the real one.
   */
  lateMs?: number;
  /** How the service behaves for this request: `{ listLag: 4000 }` makes one list an old one. */
  behaviour?: Partial<Behaviour>;
  /** Called when the request is there, before it takes any effect. */
  before?: (request: RecordedRequest) => void;
  /** Called after its effect, if it had one at once, and before anything is sent. */
  after?: (request: RecordedRequest) => void;
} & (AnsweringReply | { reset: true } | { hang: true });

/** A reply in which the client gets an answer. */
export type AnsweringReply = {
  /** `null` leaves out a header that is otherwise sent. */
  headers?: Headers;
  /**
   * Text is sent as it is, an object as JSON with its content type. A function gets the real body, empty where there is
   * none, and returns one of these. Default: an empty body, or the real one.
   */
  body?: string | object | ((real: Record<string, unknown>, request: RecordedRequest) => string | object);
  /** Default: the answer is whole. */
  cut?: Cut;
} & ({ status: number } | { status?: never; afterCommit: true });

/** How one request is handled. */
export interface Plan {
  reply: ScriptedReply;
  /** Replaces the query that was sent. */
  query?: URLSearchParams;
  /** Called after the service has handled the request, with whether it took effect. */
  onEffect?: (committed: boolean) => void;
}

/** A request, and what a fault may take into account. */
export interface Target {
  record: RecordedRequest;
  query: URLSearchParams;
  /** The endpoints of the account that was asked. */
  store: Store;
  pageSize: number;
  operationId: string;
  random: Random;
  /** Queries of pages that have been given as their own next page. */
  repeated: Set<string>;
  /** The ids of what rivals created. */
  rivals: string[];
}

/** Undefined where the fault does not apply to the request. Whether it does must not depend on chance. */
export type Kind = (target: Target) => (() => Plan) | undefined;

/** Selects requests: those of an operation, or those for which the function returns true. */
export type Match = Operation | ((request: RecordedRequest) => boolean);

export function matches(match: Match, request: RecordedRequest): boolean {
  return typeof match === "function" ? match(request) : match === operationOf(request);
}

/** Scripts in the order in which they were added: the first that matches and is not used up takes the request. */
export class Scripts {
  private readonly scripts: { match: Match; reply: ScriptedReply; left: number }[] = [];

  add(match: Match, reply: ScriptedReply, times: number): void {
    this.scripts.push({ match, reply, left: times });
  }

  take(request: RecordedRequest): Plan | undefined {
    const script = this.scripts.find(({ match, left }) => left > 0 && matches(match, request));
    if (script) script.left -= 1;
    return script && { reply: script.reply };
  }
}
