/*
 * What the test kit uses. Loading it loads no driver: the engine and the CLI driver are loaded when the first stack is
 * created.
 */

export { completeMocks } from "./packageMocks";
export { PulumiStack } from "./pulumiStack";
export * from "./types";
