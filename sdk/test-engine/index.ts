/*
 * The public API of this package. Loading it loads no driver: the engine and the CLI driver are loaded when the first stack is
 * created.
 */

export { ignoreChanges } from "./ignoreChanges";
export { completeMocks } from "./packageMocks";
export { plain } from "./properties";
export { PulumiStack } from "./pulumiStack";
export * from "./types";
