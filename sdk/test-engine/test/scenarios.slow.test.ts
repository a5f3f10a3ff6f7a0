import { playAll } from "./play";
import { scenarios } from "./scenarios";

playAll(scenarios);
