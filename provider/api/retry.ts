import { ApiError, ConnectionError, EndpointsError, isOfService, ReplyError } from "./apiErrors";

/** A wait that the service may ask for, at most; beyond it the attempt ends at once. In milliseconds. */
export const LONGEST_RETRY_AFTER = 600_000;

/** A 429 that asks for less would be asked again at once, for ever. */
const SHORTEST_HOLD = 1_000;

const FIRST_WAIT = 250;
const LONGEST_WAIT = 15_000;

/** All that the decision depends on; pure, so that it can be tried without waiting. Times in milliseconds. */
export interface Attempt {
  method: string;
  error: unknown;
  /** How many times the request has been sent, at least 1. */
  sent: number;
  /** Since the first was sent, without the waits for a turn. */
  elapsed: number;
  /** Length of the rate limit's window: the wait after a 429 that names no time. */
  window: number;
  /** How long to go on, `retryForSeconds`. */
  retryFor: number;
  /** What the reply's `Retry-After` asks for; undefined without one. */
  retryAfter: number | undefined;
  /** From 0 to 1. */
  random: number;
}

/** How long to wait before the request is sent again; undefined where it is not. */
export function waitBeforeRetry(attempt: Attempt): number | undefined {
  const { method, error, sent, elapsed, window, retryFor, retryAfter, random } = attempt;
  const status = error instanceof ApiError ? error.status : undefined;

  if (method === "POST" && !didNothing(error)) return undefined;

  // Not a fault that passes: the service understood, and refused; or this is no failure of a request at all.
  if (!(error instanceof EndpointsError) || error instanceof ReplyError) return undefined;
  if (!(error instanceof ConnectionError) && !passing(status)) return undefined;

  // The account's limit is shared, so a 429 is no failure, however often it comes, up to the longest wait.
  if (status === 429) return waitFor(retryAfter ?? window);

  // A service that asks for no wait at all is not asked again at once.
  const own = backOff({ sent, elapsed, retryFor, random });
  const wait = own === undefined ? undefined : Math.max(own, retryAfter ?? 0);
  return wait === undefined || elapsed + wait > retryFor ? undefined : wait;
}

/** The wait after a fault that passes, longer each time; undefined when the time for it is over. */
export function backOff({
  sent,
  elapsed,
  retryFor,
  random,
}: Pick<Attempt, "sent" | "elapsed" | "retryFor" | "random">): number | undefined {
  // Half of the wait is fixed and half is random, so that many requests that failed together do not return together.
  const ceiling = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (sent - 1));
  const wait = ceiling / 2 + (ceiling / 2) * random;
  return elapsed + wait > retryFor ? undefined : wait;
}

/** `Retry-After` as seconds or as a date, in milliseconds from now; undefined where it is neither. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  // Date.parse takes "-5" and "1.5" for days of the year 2001.
  if (!/^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2}/i.test(header.trim())) return undefined;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function waitFor(asked: number): number | undefined {
  return asked > LONGEST_RETRY_AFTER ? undefined : Math.max(asked, SHORTEST_HOLD);
}

/**
 * What a create is repeated after: it never went out, or the service's own reply means that it did nothing. A proxy's 429
 * does not.
 */
function didNothing(error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.wentOut;
  return error instanceof ApiError && error.status === 429 && isOfService(error);
}

function passing(status: number | undefined): boolean {
  return (
    status === 408 || status === 429 || status === 500 || status === 502 || status === 503 || status === 504
  );
}
