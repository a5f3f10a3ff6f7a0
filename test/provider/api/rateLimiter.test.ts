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

describe("a turn", () => {
  test.each<[string, Partial<Traffic>, number | undefined]>([
    ["comes at once within the budget", { inFlight: 1, ended: [9_500] }, 0],
    ["waits for the oldest of the window to leave it", { ended: [9_100, 9_500, 9_900] }, 100],
    ["does not count what has left the window", { ended: [9_000, 9_500, 9_900] }, 0],
    ["counts what is in flight, though it was sent long ago", { inFlight: 1, ended: [9_500, 9_900] }, 500],
    ["waits for an end where all are in flight", { inFlight: 3 }, undefined],
    ["waits for an end where there are no more connections", { inFlight: 5, ended: [9_500] }, undefined],
    ["waits as long as the service asked, whatever the budget", { heldUntil: 70_000 }, 60_000],
  ])("%s", (_, change, wait) => {
    expect(waitForTurn(limits, traffic(change))).toBe(wait);
  });
});

/** A clock that is moved on to the next sleeper whenever all else has come to rest. */
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

/** Sends requests that take so long each, as many at once as an engine does. */
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
    "keep to %d in any %d ms, and waste none of it (%d requests of %d ms)",
    async (requests, window, count, takes) => {
      const { clock, run } = simulated();
      const limiter = new RateLimiter({ requests, window, atOnce: 8 }, clock, () => {});
      const sent: number[] = [];
      const took = await run(send(limiter, clock, count, takes, (_, at) => sent.push(at)));
      for (const at of sent) {
        // Whenever in its time the service counted a request: at its start or at its end.
        const within = sent.filter((other) => other > at - window && other <= at);
        expect(within.length).toBeLessThanOrEqual(requests);
      }
      const least = Math.max((Math.ceil(count / requests) - 1) * window, (count / 8) * takes);
      expect(took).toBeLessThanOrEqual(least * 1.05 + 2 * takes * Math.ceil(count / requests));
    },
  );

  test("are never more under way than there are connections, and leave none of those idle", async () => {
    const { clock, run } = simulated();
    const limiter = new RateLimiter({ requests: 100, window: 60_000, atOnce: 3 }, clock, () => {});
    const sent: number[] = [];
    await run(send(limiter, clock, 9, 10, (_, at) => sent.push(at)));
    expect(sent).toEqual([0, 0, 0, 10, 10, 10, 20, 20, 20]);
  });

  test("go in the order in which they came", async () => {
    const { clock, run } = simulated();
    const limiter = new RateLimiter({ requests: 2, window: 1000, atOnce: 8 }, clock, () => {});
    const order: number[] = [];
    await run(send(limiter, clock, 9, 10, (index) => order.push(index)));
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("all wait where the service asks for it, and the user learns why", async () => {
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
    expect(waits).toEqual([{ milliseconds: 45_000, waiting: 1, asked: true }]);
  });

  test("wait for the budget without a word where it is short", async () => {
    const { clock, run } = simulated();
    const waits: LongWait[] = [];
    const limiter = new RateLimiter({ requests: 1, window: 9_000, atOnce: 8 }, clock, (wait) =>
      waits.push(wait),
    );
    await run(send(limiter, clock, 3, 10, () => {}));
    expect(waits).toEqual([]);
  });
});
