import { describe, expect, test } from "vitest";
import { findPulumiCli } from "../../sdk/testing";
import { playAsStack } from "./stacks";
import { subjects } from "./subjects";

const cli = await findPulumiCli();
const fit = Object.values(subjects)
  .flat()
  .filter(({ stacks }) => stacks);

describe.each(["dynamic", "plugin"] as const)("as a stack with the %s provider", (kind) => {
  for (const scene of fit) {
    let onKit: unknown;

    test(`${scene.name}, on the test kit's engine`, async () => {
      onKit = await playAsStack(scene, kind, "kit");
    });

    test.skipIf(!cli)(`${scene.name}, on the Pulumi CLI, with the same final state`, async () => {
      expect(await playAsStack(scene, kind, "cli")).toEqual(onKit);
    });
  }
});
