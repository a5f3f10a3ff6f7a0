import { describe } from "vitest";
import { dynamicOptions, dynamicScenarios } from "./dynamicScenarios";
import { onKit } from "./play";
import { pluginOptions, pluginScenarios } from "./pluginScenarios";

/** A few that have most of the engine run. All of them, and the CLI's, are in scenarios.all.test.ts. */
describe("with dynamic resources, the test kit's engine does what the CLI did", () => {
  onKit("dynamic", dynamicScenarios, dynamicOptions, [
    "replacement, old before new, with dependents",
    "a creation that is not ready",
  ]);
});

describe("with a plugin, the test kit's engine does what the CLI did", () => {
  onKit("plugin", pluginScenarios, pluginOptions, ["import in the place of another one"]);
});
