import { describe } from "vitest";
import { dynamicOptions, dynamicScenarios } from "./dynamicScenarios";
import { otherOptions, otherScenarios } from "./otherScenarios";
import { onKit } from "./play";
import { pluginOptions, pluginScenarios } from "./pluginScenarios";

/** These few scenarios run most of the engine's code. scenarios.slow.test.ts plays all scenarios, also on the CLI. */
describe("with dynamic resources, the test kit's engine equals the recorded CLI", () => {
  onKit("dynamic", dynamicScenarios, dynamicOptions, [
    "replacement that deletes first, with dependents",
    "a partial creation",
  ]);
});

describe("with a plugin, the test kit's engine equals the recorded CLI", () => {
  onKit("plugin", pluginScenarios, pluginOptions, ["aliases by name, parent and URN"]);
});

describe("with other packages, the test kit's engine equals the recorded CLI", () => {
  onKit("other", otherScenarios, otherOptions, ["outputs of other stacks"]);
});
