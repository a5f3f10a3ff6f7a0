import { ApiError, ConnectionError, hasServiceCode } from "./apiErrors";

/** The shortest wait after a 429, in milliseconds, so that a `Retry-After` of zero does not cause endless requests. */
const MIN_HOLD = 1_000;

/** How long a request is repeated after a problem of the setup, in milliseconds: a node of the service may be changing its certificate. */
const SETUP_RETRY_LIMIT = 5_000;

const FIRST_WAIT = 250;
const MAX_WAIT = 15_000;

/** The facts of a retry decision. Times in milliseconds. */
export interface Attempt {
  method: string;
  error: unknown;
  /** How often the request has been sent, at least 1. */
  sent: number;
  /** The time since the first attempt, without waits of the rate limiter. */
  elapsed: number;
  /** The length of the rate limit's window, which is the wait after a 429 without `Retry-After`. */
  window: number;
  /** The time limit for all attempts (`retryForSeconds`). */
  retryFor: number;
  /** From 0 to 1. */
  random: number;
}

/** How long to wait before the request is repeated; undefined if it must not be repeated. */
export function waitBeforeRetry(attempt: Attempt): number | undefined {
  const { method, error, elapsed, window } = attempt;
  const isSetupProblem = error instanceof ConnectionError && error.isSetupProblem;
  const retryFor = isSetupProblem ? Math.min(attempt.retryFor, SETUP_RETRY_LIMIT) : attempt.retryFor;
  const { status, retryAfter } = error instanceof ApiError ? error : {};

  if (method === "POST" && !hadNoEffect(error)) return undefined;

  // Permanent: the service refused the request, or its reply breaks the contract.
  if (!(error instanceof ConnectionError) && !isTransient(status)) return undefined;

  // Others share the account's limit, so a 429 is no failure. A limit of zero means one attempt.
  if (status === 429 && retryFor > 0) return Math.max(retryAfter ?? window, MIN_HOLD);

  // The `Retry-After` of the service is a lower bound for the wait.
  const wait = Math.max(backOff(attempt), retryAfter ?? 0);
  return elapsed + wait > retryFor ? undefined : wait;
}

/** The wait after a temporary failure, which grows each time. */
function backOff({ sent, random }: Attempt): number {
  // Half of the wait is random, so that requests that failed together are not repeated together.
  const ceiling = Math.min(MAX_WAIT, FIRST_WAIT * 2 ** (sent - 1));
  return ceiling / 2 + (ceiling / 2) * random;
}

/** Parses a `Retry-After` in seconds or as a date, to milliseconds from now. Undefined if it is neither. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  // `Date.parse` reads "-5" and "1.5" as days of the year 2001.
  if (!/^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2}/i.test(header.trim())) return undefined;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * Whether a create may be repeated: it was never sent, or the service's own reply means that it had no effect. A proxy's 429
 * does not mean that.
 */
function hadNoEffect(error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.maybeSent;
  return error instanceof ApiError && error.status === 429 && hasServiceCode(error);
}

const isTransient = (status: number | undefined) =>
  [408, 429, 500, 502, 503, 504].some((temporary) => temporary === status);
