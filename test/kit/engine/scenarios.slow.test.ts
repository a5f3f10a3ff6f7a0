import { testAll } from "./runScenarios";
import { scenarios } from "./scenarios";

testAll(scenarios);
