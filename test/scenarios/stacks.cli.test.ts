import { describe, expect, test } from "vitest";
import { cli } from "../projects";
import { allScenarios } from "./allScenarios";
import { options } from "./options";
import { runAsStack } from "./stackRunner";

const fit = [
  ...Object.values(allScenarios)
    .flat()
    .filter(({ stacks }) => stacks),
  ...options,
];

describe.each(["dynamic", "plugin"] as const)("as a stack with the %s provider", (kind) => {
  for (const scenario of fit.filter(({ only = kind }) => only === kind)) {
    let onKit: unknown;

    test(`${scenario.name}, on the test kit's engine`, async () => {
      onKit = await runAsStack(scenario, kind, "kit");
    });

    test.skipIf(!cli)(`${scenario.name}, on the Pulumi CLI, with the same final state`, async () => {
      expect(await runAsStack(scenario, kind, "cli")).toEqual(onKit);
    });
  }
});
