import { testAll } from "./play";
import { scenarios } from "./scenarios";

testAll(scenarios);
