import fc from "fast-check";
import { expect, test } from "vitest";
import { stories, withoutHangs } from "./events";
import { faultsOf, modes } from "./story";

/* Twenty random stories from fixed seeds, for `npm test`. `faults.slow.test.ts` plays others, with connections that hang. */

test.concurrent.each(modes.map((mode, index) => ({ ...mode, seed: 20_260_201 + index })))(
  "in ten stories no endpoint is lost, created twice, dropped from the state or wrongly adopted (pools: $pools)",
  async ({ seed, ...mode }) => {
    const story = fc.asyncProperty(stories, async (story) => {
      expect(await faultsOf(withoutHangs(story), mode)).toEqual({});
    });
    await fc.assert(story, { seed, numRuns: 10, endOnFailure: true });
  },
);
