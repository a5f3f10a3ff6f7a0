import { testScenarios } from "./runScenario";
import { scenarios } from "./scenarios";

testScenarios(scenarios);
