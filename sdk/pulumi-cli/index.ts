/* Runs the Pulumi CLI, and reads its states, its project files and the paths of its resource options. Knows neither endpoints nor tests. */

export { pluginFolders, projectFile } from "./projectFile";
export { containsSecret, isProps, isSecret, type Props, plain, propsFromState, secret } from "./properties";
export { formatPath, isWithin, type PropertyPath, parsePath, valueAt } from "./propertyPath";
export {
  assertPulumi,
  type Diagnostic,
  type EngineStep,
  findOnPath,
  findPulumiCli,
  PulumiFailed,
  type PulumiResult,
  pulumi,
} from "./pulumi";
export { type ExportedResource, type ExportedState, parseState } from "./stackState";
