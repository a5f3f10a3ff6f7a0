/*
 * The public API of this package. Loading it loads no driver: the engine and the CLI driver are loaded when the first stack is
 * created.
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
  PulumiFailed,
  type PulumiResult,
  pulumi,
} from "./pulumi";
export { PulumiStack } from "./pulumiStack";
export { parseState } from "./stackState";
export * from "./types";
