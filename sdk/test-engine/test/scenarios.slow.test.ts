import { testOnEngine } from "./runScenario";
import { moves, scenarios } from "./scenarios";

/* `scenarios.test.ts` runs the other scenario. */
for (const [name, scenario] of Object.entries(scenarios)) if (name !== moves) testOnEngine(name, scenario);
