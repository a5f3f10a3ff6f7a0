import { playOnKit } from "./play";
import { moves } from "./scenarios";

/* This scenario runs most of the engine's code. scenarios.slow.test.ts plays all of them, also on the CLI. */
playOnKit(...moves);
