import fc from "fast-check";
import { expect, test } from "vitest";
import { randomRuns } from "./arbitraries";
import { modes, violationsOf } from "./randomRun";

/*
 * Random runs of events and faults. A failure prints the shortest random run that fails. Its seed repeats it:
 * npm run test:faults -- --seed …
 *
 * `npm run test:slow` has fixed seeds, because a change must not fail by chance. `npm run test:faults` runs one mode, with new
 * seeds or a given seed.
 */
const { FAULT_RUNS: runs, FAULT_SEED: seed, FAULT_POOLS: pools } = process.env;
const isLong = runs !== undefined || seed !== undefined;
// Several at the same time, because a random run mostly waits for connections that hang.
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
    const randomRun = fc.asyncProperty(randomRuns, async (randomRun) => {
      expect(await violationsOf(randomRun, mode)).toEqual({});
    });
    await fc.assert(randomRun, { seed, numRuns });
  },
);
