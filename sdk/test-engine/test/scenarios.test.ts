import { testOnEngine } from "./runScenario";
import { moves, scenarios } from "./scenarios";

/* This scenario runs most of the engine's code. `scenarios.slow.test.ts` runs the others, and `scenarios.cli.test.ts` all on the CLI. */
for (const [name, scenario] of Object.entries(scenarios)) if (name === moves) testOnEngine(name, scenario);
