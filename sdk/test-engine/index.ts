/*
 * What other code may use of this package. Loading it loads no driver: the engine and the driver of the CLI are loaded with the first
 * stack.
 */

export { ignoreChanges } from "./ignoreChanges";
export { completeMocks } from "./packageMocks";
export { pluginFolders, projectFile } from "./projectFile";
export { plain } from "./properties";
export { isWithin, parsePath, valueAt } from "./propertyPath";
export {
  assertPulumi,
  type EngineRun,
  type EngineStep,
  findOnPath,
  findPulumiCli,
  NEEDS_LOGIN,
  PulumiFailed,
  type PulumiResult,
  pulumi,
} from "./pulumi";
export { PulumiStack } from "./pulumiStack";
export { parseState } from "./stackState";
export * from "./types";
