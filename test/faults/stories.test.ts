import fc from "fast-check";
import { expect, test } from "vitest";
import { stories } from "./events";
import { faultsOf } from "./judge";
import { play } from "./story";

/* Forty random stories from a fixed seed, for `npm test`. `faults.test.ts` plays more, and new ones. */

const modes = [false, true].flatMap((marks) => [false, true].map((pools) => ({ marks, pools })));

test.concurrent.each(modes)(
  "in ten stories no endpoint is lost, created twice, dropped from the state or wrongly adopted (marks: $marks, pools: $pools)",
  async (mode) => {
    const story = fc.asyncProperty(stories, async (story) => {
      expect(faultsOf(await play(story, mode))).toEqual({});
    });
    await fc.assert(story, { seed: 20_260_101, numRuns: 10 });
  },
);
