import { describe, expect, test } from "vitest";
import { ApiError, ConnectionError, ReplyError } from "../../../provider/api/apiErrors";
import { type Attempt, parseRetryAfter, waitBeforeRetry } from "../../../provider/api/retry";

const request = { method: "GET", path: "/endpoints" };
const api = (status: number, code?: string, retryAfter?: number) =>
  new ApiError(
    request,
    { status, code, message: undefined, operationId: undefined, retryAfter },
    { keyIsConfigured: false },
  );
const lost = new ConnectionError(request, new Error("ECONNRESET"), { origin: "http://x", wentOut: true });
const refused = new ConnectionError(request, new Error("ECONNREFUSED"), {
  origin: "http://x",
  wentOut: false,
});
const attempt = (change: Partial<Attempt>): Attempt => ({
  method: "GET",
  error: lost,
  sent: 1,
  elapsed: 0,
  window: 60_000,
  retryFor: 120_000,
  random: 0.5,
  ...change,
});

describe("a passing fault", () => {
  test.each(["GET", "PATCH", "DELETE"])("repeats a %s", (method) => {
    for (const error of [lost, ...[408, 429, 500, 502, 503, 504].map((status) => api(status))]) {
      expect(waitBeforeRetry(attempt({ method, error }))).toBeGreaterThan(0);
    }
  });

  test("doubles the wait each time up to 15 seconds, and half of the wait is random", () => {
    const waits = [1, 2, 3, 4, 20].map((sent) => waitBeforeRetry(attempt({ sent, random: 1 })));
    expect(waits).toEqual([250, 500, 1000, 2000, 15_000]);
    expect(waitBeforeRetry(attempt({ sent: 20, random: 0 }))).toBe(7_500);
  });

  test("ends the attempts after `retryForSeconds`", () => {
    expect(waitBeforeRetry(attempt({ elapsed: 119_999 }))).toBeUndefined();
    expect(waitBeforeRetry(attempt({ error: api(503, undefined, 90_000) }))).toBe(90_000);
    expect(waitBeforeRetry(attempt({ error: api(503, undefined, 130_000) }))).toBeUndefined();
  });
});

test.each([400, 401, 403, 404, 409, 501])("a refusal with status %d is not repeated", (status) => {
  expect(waitBeforeRetry(attempt({ error: api(status) }))).toBeUndefined();
});

test("a reply that breaks the contract is not repeated", () => {
  expect(waitBeforeRetry(attempt({ error: new ReplyError(request, 200, "no JSON") }))).toBeUndefined();
});

describe("a create", () => {
  test("is never repeated if it may have had an effect", () => {
    for (const error of [lost, api(500), api(502), api(503), api(504), api(408), api(429)]) {
      expect(waitBeforeRetry(attempt({ method: "POST", error }))).toBeUndefined();
    }
  });

  test("is repeated for `retryForSeconds` if it was never sent", () => {
    expect(waitBeforeRetry(attempt({ method: "POST", error: refused }))).toBeGreaterThan(0);
    expect(waitBeforeRetry(attempt({ method: "POST", error: refused, elapsed: 119_999 }))).toBeUndefined();
  });

  test("is repeated after a 429 with the service's code, which had no effect", () => {
    expect(waitBeforeRetry(attempt({ method: "POST", error: api(429, "ERR_NGROK_226") }))).toBe(60_000);
  });
});

test.each([
  ["7", 7_000],
  ["0", 0],
  ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
  ["Wed, 31 Dec 2025 23:00:00 GMT", 0],
  ["9".repeat(400), Number.POSITIVE_INFINITY],
])("Retry-After %j is a wait of %d ms", (header, wait) => {
  expect(parseRetryAfter(header, Date.parse("2026-01-01T00:00:00Z"))).toBe(wait);
});

test.each(["-5", "+5", "1.5", "1e309", "0x10", "Infinity", "12 apples", "soon", " ", undefined])(
  "Retry-After %j is ignored",
  (header) => expect(parseRetryAfter(header, Date.now())).toBeUndefined(),
);
