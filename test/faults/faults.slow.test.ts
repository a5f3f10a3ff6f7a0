import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { type Story, stories } from "./events";
import { faultsOf } from "./judge";
import { play } from "./story";

/*
 * Random stories of steps and faults. A failure prints the shortest story that fails, and its seed, which repeats it:
 * npm run test:faults -- --seed …
 */
const runs = Number(process.env["FAULT_RUNS"] ?? 16);
const given = process.env["FAULT_SEED"];
const fresh = Date.now() % 2 ** 30;
// A long run plays several stories in parallel, because a story mostly waits for connections that hang.
const parts = given === undefined && runs >= 100 ? 4 : 1;
// A short run has a fixed seed only, because a change must not fail by chance. A long one looks for new stories, too.
const isShort = process.env["FAULT_RUNS"] === undefined && given === undefined;
const seeds = given !== undefined ? [Number(given)] : isShort ? [20_260_101] : [20_260_101, fresh];
const chosen = { marks: process.env["FAULT_MARKS"] === "1", pools: process.env["FAULT_POOLS"] === "1" };
const all = [false, true].flatMap((marks) => [false, true].map((pools) => ({ marks, pools })));
// A short run has all modes, and a long one only the chosen mode.
const modes = isShort ? all : [chosen];
const cases = modes.flatMap((mode) =>
  seeds.flatMap((seed) => Array.from({ length: parts }, (_, part) => ({ ...mode, seed: seed + part }))),
);

const totals: Record<string, number> = {};
const add = (name: string, by: number) => {
  totals[name] = (totals[name] ?? 0) + by;
};
afterAll(() => console.log(`seeds ${seeds.join(", ")}: ${JSON.stringify({ ...chosen, ...totals })}`));

test.concurrent.each(cases)(
  "no endpoint is lost, created twice, dropped from the state or wrongly adopted (marks: $marks, pools: $pools, seed $seed)",
  { timeout: 3_600_000 },
  async ({ seed, ...mode }) => {
    const story = fc.asyncProperty(stories, async (story: Story) => {
      const ending = await play(story, mode);
      add("stories", 1);
      for (const [name, found] of Object.entries(ending))
        add(name, Array.isArray(found) ? found.length : Number(found));
      expect(faultsOf(ending)).toEqual({});
    });
    await fc.assert(story, { seed, numRuns: Math.ceil(runs / cases.length) });
  },
);
