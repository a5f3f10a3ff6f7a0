import { describe, test } from "vitest";
import { allScenarios } from "./allScenarios";
import { runOnModel } from "./modelRunner";
import { schedulesOf } from "./schedules";

describe.each(["dynamic", "plugin"] as const)("with the %s provider", (kind) => {
  describe.each(Object.entries(allScenarios))("%s:", (_, scenarios) => {
    const ofKind = scenarios.filter(({ only = kind }) => only === kind);
    test.each(ofKind.map((scenario) => [scenario.name, scenario] as const))("%s", async (_, scenario) => {
      const all = schedulesOf(scenario);
      // The plugin has the same core, so the first and the last schedule are enough.
      const some = all.filter((_, index) => index % (all.length - 1 || 1) === 0);
      for (const schedule of kind === "plugin" ? some : all)
        await runOnModel(scenario, kind, schedule).catch((error: Error) => {
          error.message = `${scenario.place}, ${schedule.mode}, ${schedule.names?.join(", ")}: ${error.message}`;
          throw error;
        });
    });
  });
});
