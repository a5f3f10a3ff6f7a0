/* The drivers. This module is loaded when the first stack is created. */

export { CliDriver } from "./cliDriver";
export { TestEngine } from "./engine/testEngine";
