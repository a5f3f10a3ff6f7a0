import fc from "fast-check";
import { expect, test } from "vitest";
import { randomRuns, withoutHangs } from "./arbitraries";
import { modes, violationsOf } from "./randomRun";

/* Twenty random runs from fixed seeds. `faults.slow.test.ts` has other seeds, and connections that hang. */

test.concurrent.each(modes.map((mode, index) => ({ ...mode, seed: 20_260_201 + index })))(
  "in ten random runs no endpoint is lost, created twice, dropped from the state or wrongly adopted (pools: $pools)",
  async ({ seed, ...mode }) => {
    const randomRun = fc.asyncProperty(randomRuns, async (randomRun) => {
      expect(await violationsOf(withoutHangs(randomRun), mode)).toEqual({});
    });
    await fc.assert(randomRun, { seed, numRuns: 10, endOnFailure: true });
  },
);
