import { expect, test } from "vitest";
import { recordedStates } from "./states/recorded";
import { hasSeveral, isTakenOn } from "./states/takeOn";

/* Every state that a released version wrote is taken on: here the largest of each provider, in `states.slow.test.ts` the others. */

const several = recordedStates.filter(({ name }) => hasSeveral(name));

test("states of both providers are recorded", () => {
  expect(new Set(several.map(({ name }) => name))).toEqual(new Set(["dynamic", "plugin"]));
});

for (const recorded of several) isTakenOn(recorded);
