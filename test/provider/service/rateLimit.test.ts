import { describe, expect, test } from "vitest";
import { ApiError, ConnectionError, ReplyError } from "../../../provider/service/apiErrors";
import { RateLimiter } from "../../../provider/service/rateLimiter";
import { type Attempt, parseRetryAfter, waitBeforeRetry } from "../../../provider/service/retry";
import { tooLong } from "../../messages";
import { service, thrown } from "../emulated";
import { virtualClock } from "../virtualClock";

/* The rate of requests, and their repetitions. */

describe("many requests, eight at a time", () => {
  /** Sends requests that take `takes` milliseconds each, and returns their times. */
  async function send({
    requests,
    window,
    count,
    takes,
  }: Record<"requests" | "window" | "count" | "takes", number>) {
    const clock = virtualClock();
    const began = clock.now();
    const sent: { index: number; at: number }[] = [];
    const limiter = new RateLimiter({ requests, window, concurrent: 8 }, clock, () => {});
    const queue = Array(count).keys();
    const worker = async () => {
      for (const index of queue) {
        await limiter.acquire();
        sent.push({ index, at: clock.now() - began });
        await clock.sleep(takes);
        limiter.release();
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    return { sent, took: clock.now() - began };
  }

  test.each([
    { requests: 120, window: 60_000, count: 200, takes: 50 },
    { requests: 3, window: 1_000, count: 20, takes: 700 },
  ])("use a budget in order and fully, and never exceed it: %j", async (given) => {
    const { requests, window, count, takes } = given;
    const { sent, took } = await send(given);
    expect(sent.map(({ index }) => index)).toEqual([...Array(count).keys()]);
    for (const { at } of sent) {
      // The service may count a request at any time between its start and its end.
      const within = sent.filter((other) => other.at > at - window && other.at <= at);
      expect(within.length).toBeLessThanOrEqual(requests);
    }
    const least = Math.max((Math.ceil(count / requests) - 1) * window, (count / 8) * takes);
    expect(took).toBeLessThanOrEqual(least * 1.05 + 2 * takes * Math.ceil(count / requests));
  });
});

test("a shorter hold does not end a longer one", async () => {
  const clock = virtualClock();
  const began = clock.now();
  const limiter = new RateLimiter({ requests: 9, window: 1_000, concurrent: 9 }, clock, () => {});
  limiter.hold(60_000);
  limiter.hold(1_000);
  await limiter.acquire();
  expect(clock.now() - began).toBeGreaterThanOrEqual(60_000);
});

const request = { method: "GET", path: "/endpoints" };
const refused = (status: number, code?: string, retryAfter?: number) =>
  new ApiError(request, { status, code, retryAfter }, { keySource: "environment" });
const asksFor = (wait: number) => [refused(503, undefined, wait)];
const connection = (maybeSent: boolean) =>
  new ConnectionError(request, new Error("ECONNRESET"), { origin: "http://x", maybeSent });

describe("after", () => {
  const passing = [connection(true), ...[408, 429, 500, 502, 503, 504].map((status) => refused(status))];
  const permanent = [
    ...[400, 401, 403, 404, 409, 501].map((status) => refused(status)),
    new ReplyError(request, 200, "no JSON"),
  ];
  const other = { method: "GET", sent: 1, elapsed: 0, window: 60_000, retryFor: 120_000, random: 0.5 };
  const late = { elapsed: 119_999 };
  const create = { method: "POST" };

  test.each<[string, errors: Error[], Partial<Attempt>, wait: number | "any" | undefined]>([
    ["a passing fault, a GET is repeated", passing, {}, "any"],
    ["a passing fault, a create is not, since it may have had an effect", passing, create, undefined],
    ["a permanent fault, nothing is repeated", permanent, {}, undefined],
    ["no connection, a create is repeated", [connection(false)], { method: "POST" }, "any"],
    ["the service's own 429, a create is repeated", [refused(429, "ERR_NGROK_226")], create, 60_000],
    ["`retryForSeconds`, nothing is repeated", [connection(true), connection(false)], late, undefined],
    ["a Retry-After, the wait is as long", asksFor(90_000), {}, 90_000],
    ["a Retry-After longer than `retryForSeconds`, there is none", asksFor(130_000), {}, undefined],
    ["four attempts, the wait has doubled thrice", [connection(true)], { random: 1, sent: 4 }, 2000],
    ["many attempts, the wait is 15 s", [connection(true)], { random: 1, sent: 20 }, 15_000],
  ])("%s", (_, errors, change, wait) => {
    const waits = errors.map((error) => waitBeforeRetry({ ...other, error, ...change }));
    expect(waits).toEqual(errors.map(() => (wait === "any" ? expect.any(Number) : wait)));
  });
});

test.each<[string | undefined, number | undefined]>([
  ["0", 0],
  ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
  ["9".repeat(400), Number.POSITIVE_INFINITY],
  ["1e309", undefined],
  ["12 apples", undefined],
])("Retry-After %j is a wait of %s ms", (header, wait) => {
  expect(parseRetryAfter(header, Date.parse("2026-01-01T00:00:00Z"))).toBe(wait);
});

describe("a 429", () => {
  const any = () => true;
  const url = "https://shop.example.com";
  const limited = { status: 429, body: { error_code: "ERR_NGROK_226", msg: "rate" } };

  test.each([
    ["for the seconds of its Retry-After", { "retry-after": "7" }, 7],
    ["for a full window without a Retry-After", undefined, 60],
  ])("holds all requests %s", async (_, headers, seconds) => {
    const { api, emulator, waits } = await service();
    emulator.intercept(any, { ...limited, ...(headers && { headers }) });
    await Promise.all([api.create({ url }), api.create({ url: "https://other.example.com" })]);
    expect(emulator.endpoints).toHaveLength(2);
    expect(Math.round((waits[0] ?? 0) / 1000)).toBe(seconds);
  });

  test("is repeated for up to ten minutes, for all waiting requests together", async () => {
    const { api, emulator, clock } = await service();
    emulator.intercept(any, limited, 9);
    await api.create({ url });
    emulator.intercept(any, limited, 999);
    const began = clock.now();
    const errors = await Promise.all(Array.from({ length: 20 }, () => thrown(api.get("ep_1"))));
    for (const { message } of errors) expect(message).toMatch(/429.*wait a minute/);
    expect(clock.now() - began).toBeLessThan(11 * 60_000);
  });

  test("that asks for more than ten minutes fails at once, with the wait in the message", async () => {
    const { api, emulator, waits } = await service();
    emulator.intercept(any, { ...limited, headers: { "retry-after": "3600" } });
    expect((await thrown(api.get("ep_1"))).message).toMatch(/429.*used up: wait 3600 s/);
    expect(waits).toEqual([]);
  });

  test.each([
    ["a long wait", {}, 2, 60],
    ["ten seconds of short waits", { "retry-after": "1" }, 30, "1[01]"],
  ])(
    "causes %s, which is logged once, also after a long wait for the budget",
    async (_, headers, times, s) => {
      const { api, emulator, logged } = await service({ settings: { requestsPerWindow: "40" } });
      const budget = expect.stringMatching(
        /^requests wait 60 s, to keep to the account's budget of 40 requests/,
      );
      await Promise.all(Array.from({ length: 41 }, () => thrown(api.get("ep_1"))));
      expect(logged).toEqual([budget]);
      emulator.intercept(any, { ...limited, headers }, times);
      await Promise.all(Array.from({ length: 2 }, () => thrown(api.get("ep_1"))));
      const message = `^requests wait ${s} s, because the service reports .*Others may use the account too`;
      expect(logged).toEqual([budget, expect.stringMatching(message)]);
      expect(logged[1]).toContain("A request fails after ten minutes of this");
      expect(tooLong(logged)).toEqual([]);
    },
  );
});

test("the budget causes a long wait that is logged once", async () => {
  const { api, logged } = await service({ settings: { requestsPerWindow: "3" } });
  await Promise.all(Array.from({ length: 8 }, () => thrown(api.get("ep_1"))));
  const message =
    /^requests wait 60 s, to keep to the account's budget of 3 requests in 60 s \(endpoints:requestsPerWindow/;
  expect(logged).toEqual([expect.stringMatching(message)]);
});
