import { testAll } from "./runScenario";
import { scenarios } from "./scenarios";

testAll(scenarios);
