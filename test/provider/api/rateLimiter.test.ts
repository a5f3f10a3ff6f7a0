import { describe, expect, test } from "vitest";
import type { Clock } from "../../../provider/api/clock";
import { type LongWait, RateLimiter, type Traffic, waitForTurn } from "../../../provider/api/rateLimiter";

const limits = { requests: 3, window: 1000, atOnce: 5 };
const traffic = (change: Partial<Traffic>): Traffic => ({
  now: 10_000,
  inFlight: 0,
  ended: [],
  heldUntil: 0,
  ...change,
});

describe("the wait for a turn", () => {
  test.each<[string, Partial<Traffic>, number | undefined]>([
    ["is zero within the budget", { inFlight: 1, ended: [9_500] }, 0],
    ["ends when the oldest request leaves the window", { ended: [9_100, 9_500, 9_900] }, 100],
    ["does not count requests that have left the window", { ended: [9_000, 9_500, 9_900] }, 0],
    ["counts requests in flight, however old", { inFlight: 1, ended: [9_500, 9_900] }, 500],
    ["lasts until a request ends if the whole budget is in flight", { inFlight: 3 }, undefined],
    ["lasts until a request ends if all connections are in use", { inFlight: 5, ended: [9_500] }, undefined],
    ["is as long as the service asked, whatever the budget", { heldUntil: 70_000 }, 60_000],
  ])("%s", (_, change, wait) => {
    expect(waitForTurn(limits, traffic(change))).toBe(wait);
  });
});

/** A clock that jumps to the end of the next sleep when nothing else can run. */
function simulated() {
  let now = 0;
  const sleepers: { at: number; wake: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    sleep: (milliseconds) =>
      new Promise((wake) => {
        sleepers.push({ at: now + milliseconds, wake });
      }),
    random: () => 0.5,
  };
  const run = async (until: Promise<unknown>) => {
    let done = false;
    void until.then(() => {
      done = true;
    });
    while (!done) {
      await new Promise((resolve) => setImmediate(resolve));
      sleepers.sort((a, b) => a.at - b.at);
      const next = done ? undefined : sleepers.shift();
      if (next) now = Math.max(now, next.at);
      next?.wake();
    }
    return now;
  };
  return { clock, run };
}

/** Sends requests that take `takes` milliseconds each, eight at a time. */
async function send(
  limiter: RateLimiter,
  clock: Clock,
  count: number,
  takes: number,
  onSent: (index: number, at: number) => void,
) {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next++;
      await limiter.turn();
      onSent(index, clock.now());
      await clock.sleep(takes);
      limiter.end();
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

describe("many requests", () => {
  test.each([
    [120, 60_000, 200, 50],
    [120, 60_000, 500, 20],
    [3, 1_000, 20, 700],
  ])(
    "use the budget of %d in any %d ms fully, and never exceed it (%d requests of %d ms)",
    async (requests, window, count, takes) => {
      const { clock, run } = simulated();
      const limiter = new RateLimiter({ requests, window, atOnce: 8 }, clock, () => {});
      const sent: number[] = [];
      const took = await run(send(limiter, clock, count, takes, (_, at) => sent.push(at)));
      for (const at of sent) {
        // The service may count a request at any time between its start and its end.
        const within = sent.filter((other) => other > at - window && other <= at);
        expect(within.length).toBeLessThanOrEqual(requests);
      }
      const least = Math.max((Math.ceil(count / requests) - 1) * window, (count / 8) * takes);
      expect(took).toBeLessThanOrEqual(least * 1.05 + 2 * takes * Math.ceil(count / requests));
    },
  );

  test("are sent in order", async () => {
    const { clock, run } = simulated();
    const limiter = new RateLimiter({ requests: 2, window: 1000, atOnce: 8 }, clock, () => {});
    const order: number[] = [];
    await run(send(limiter, clock, 9, 10, (index) => order.push(index)));
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("all wait for the longest time that the service asked for, and the wait is reported", async () => {
    const { clock, run } = simulated();
    const waits: LongWait[] = [];
    const limiter = new RateLimiter({ requests: 100, window: 60_000, atOnce: 8 }, clock, (wait) =>
      waits.push(wait),
    );
    limiter.hold(45_000);
    limiter.hold(1_000);
    const sent: number[] = [];
    await run(send(limiter, clock, 3, 10, (_, at) => sent.push(at)));
    expect(sent).toEqual([45_000, 45_000, 45_000]);
    expect(waits).toEqual([{ milliseconds: 45_000, asked: true }]);
  });

  test("wait for the budget without a report if the wait is short", async () => {
    const { clock, run } = simulated();
    const waits: LongWait[] = [];
    const limiter = new RateLimiter({ requests: 1, window: 9_000, atOnce: 8 }, clock, (wait) =>
      waits.push(wait),
    );
    await run(send(limiter, clock, 3, 10, () => {}));
    expect(waits).toEqual([]);
  });
});
