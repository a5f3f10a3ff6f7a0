/* What runs stacks. It is loaded with the first one. */

export { CliDriver } from "./cliDriver";
export { TestEngine } from "./engine/testEngine";
