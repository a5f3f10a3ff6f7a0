import fc from "fast-check";
import { expect, test } from "vitest";
import { stories } from "./events";
import { faultsOf, modes } from "./story";

/*
 * Random stories of steps and faults. A failure prints the shortest story that fails, and its seed, which repeats it:
 * npm run test:faults -- --seed …
 *
 * `npm run test:slow` plays a few of each mode, from fixed seeds, because a change must not fail by chance. `npm run test:faults`
 * plays those of one mode: new ones, or those of a seed.
 */
const { FAULT_RUNS: runs, FAULT_SEED: seed, FAULT_POOLS: pools } = process.env;
const isLong = runs !== undefined || seed !== undefined;
// Several at once, because a story mostly waits for connections that hang.
const next = Array.from({ length: 4 }, (_, index) => (isLong ? Date.now() % 2 ** 30 : 20_260_101) + index);
const seeds = seed === undefined ? next : [Number(seed)];
const cases = (isLong ? [{ pools: pools === "1" }] : modes).flatMap((mode) =>
  seeds.map((seed) => ({ ...mode, seed })),
);
const numRuns = isLong ? Math.ceil(Number(runs ?? 100) / cases.length) : 1;

test.concurrent.each(cases)(
  "no endpoint is lost, created twice, dropped from the state or wrongly adopted (pools: $pools, seed $seed)",
  { timeout: 3_600_000 },
  async ({ seed, ...mode }) => {
    const story = fc.asyncProperty(stories, async (story) => {
      expect(await faultsOf(story, mode)).toEqual({});
    });
    await fc.assert(story, { seed, numRuns });
  },
);
