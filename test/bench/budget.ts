import { z } from "zod";
import { type Clock, realClock } from "../../provider/api/clock";
import { EndpointsApi } from "../../provider/api/endpoints";
import { HttpClient } from "../../provider/api/http";
import type { JsonObject } from "../../provider/api/json";
import { CloudEndpoints } from "../../provider/cloudEndpoint";
import { readSettings } from "../../provider/config";
import { Emulator } from "../../sdk/testing";
import { atOnce } from "./atOnce";
import { operations } from "./cells";
import { changedCount, declaredEndpoints } from "./contestants/endpoints";

/*
 * What the account's budget makes of many endpoints: the provider's core against the emulator's rate limit, both by one
 * clock on which long waits take no time.
 */

const BUDGET = { requests: 120, windowSeconds: 60 };
const PARALLEL = 8;
/** How late each answer comes, in seconds. */
const LATENCY = 0.02;
const PAGE = 100;

export const budgetRow = z.object({
  operation: z.enum(operations),
  size: z.number(),
  /** Requests that the job takes at least, and those that were sent. */
  needed: z.number(),
  requests: z.number(),
  /** How many of them were refused with 429. */
  refused: z.number(),
  seconds: z.number(),
  /** The shortest time in which so many needed requests can be sent and answered. */
  least: z.number(),
});
export type BudgetRow = z.output<typeof budgetRow>;

/** Longer than an answer takes, so that when time jumps nothing is under way. In milliseconds. */
const SETTLE = 100;

/** Real time, as long as requests are on their way; a long wait is cut short, and the clock moved on to its end. */
function jumpingClock(): Clock {
  let ahead = 0;
  const now = () => realClock.now() + ahead;
  return {
    ...realClock,
    now,
    sleep: async (milliseconds) => {
      const until = now() + milliseconds;
      await realClock.sleep(Math.min(milliseconds, SETTLE));
      // Whoever waited longer has moved it on already.
      ahead += Math.max(0, until - now());
    },
  };
}

/** Takes so many endpoints through their life. Each operation begins with the whole budget, in a client of its own. */
export async function withinTheBudget(size: number): Promise<BudgetRow[]> {
  const clock = jumpingClock();
  const emulator = await Emulator.start({ now: () => new Date(clock.now()), rateLimit: BUDGET });
  emulator.disturb({ seed: 1, probability: 1, kinds: ["latency"] });
  const config: Record<string, string> = {
    "endpoints:apiKey": emulator.apiKey,
    "endpoints:baseUrl": emulator.baseUrl,
  };
  const rows: BudgetRow[] = [];
  const timed = async (
    operation: BudgetRow["operation"],
    needed: number,
    work: (core: CloudEndpoints) => Promise<void>,
  ) => {
    const settings = readSettings((key) => config[key], {});
    const http = new HttpClient(settings, { clock });
    const api = new EndpointsApi(http);
    const before = emulator.requests.length;
    const started = clock.now();
    await work(new CloudEndpoints({ connect: () => ({ api, settings }), log: { info() {}, warn() {} } }));
    const took = (clock.now() - started) / 1000;
    await http.close();
    const sent = emulator.requests.slice(before);
    const refused = sent.filter(({ status }) => status === 429).length;
    rows.push({
      operation,
      size,
      needed,
      requests: sent.length,
      refused,
      seconds: took,
      least: leastFor(operation, needed),
    });
    await clock.sleep(BUDGET.windowSeconds * 1000);
  };

  const made = new Map<string, { id: string; outs: JsonObject }>();
  const inputsOf = (changed: boolean) =>
    declaredEndpoints(size, changed).map(({ name, ...inputs }) => ({ name, inputs }));
  const known = (name: string) => made.get(name) ?? { id: "", outs: {} };

  await timed("create", size, (core) =>
    atOnce(PARALLEL, inputsOf(false), async ({ name, inputs }) => {
      made.set(name, await core.create(inputs));
    }),
  );
  await timed("refresh", Math.ceil(size / PAGE), (core) =>
    atOnce(PARALLEL, [...made], async ([name, { id, outs }]) => {
      const { props } = await core.read(id, outs);
      made.set(name, { id, outs: props });
    }),
  );
  await timed("update", changedCount(size), (core) =>
    atOnce(PARALLEL, inputsOf(true), async ({ name, inputs }) => {
      const { id, outs } = known(name);
      if (core.diff(id, outs, inputs).changes)
        made.set(name, { id, ...(await core.update(id, outs, inputs)) });
    }),
  );
  await timed("destroy", size, (core) =>
    atOnce(PARALLEL, [...made.values()], ({ id, outs }) => core.delete(id, outs)),
  );
  const left = emulator.endpoints.length;
  await emulator.close();
  if (left > 0) throw new Error(`${left} endpoints are left after all were deleted`);
  return rows;
}

/** Full windows for all but the last requests; those take as long as the service needs for them. */
function leastFor(operation: BudgetRow["operation"], needed: number): number {
  const windows = Math.ceil(needed / BUDGET.requests) - 1;
  const rest = needed - windows * BUDGET.requests;
  // Where the next page is, only the one before it tells.
  const atOnce = operation === "refresh" ? 1 : PARALLEL;
  return windows * BUDGET.windowSeconds + Math.ceil(rest / atOnce) * LATENCY;
}
