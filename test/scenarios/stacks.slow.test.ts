import { describe, expect, test } from "vitest";
import { findPulumiCli } from "../../sdk/testing";
import { allScenarios } from "./allScenarios";
import { runAsStack } from "./stackRunner";

const cli = await findPulumiCli();
const fit = Object.values(allScenarios)
  .flat()
  .filter(({ stacks }) => stacks);

describe.each(["dynamic", "plugin"] as const)("as a stack with the %s provider", (kind) => {
  for (const scenario of fit) {
    let onKit: unknown;

    test(`${scenario.name}, on the test kit's engine`, async () => {
      onKit = await runAsStack(scenario, kind, "kit");
    });

    test.skipIf(!cli)(`${scenario.name}, on the Pulumi CLI, with the same final state`, async () => {
      expect(await runAsStack(scenario, kind, "cli")).toEqual(onKit);
    });
  }
});
