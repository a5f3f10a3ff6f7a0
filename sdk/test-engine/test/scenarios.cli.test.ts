import { testOnCli } from "./runScenario";
import { scenarios } from "./scenarios";

for (const [name, scenario] of Object.entries(scenarios)) testOnCli(name, scenario);
