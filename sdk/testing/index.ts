export {
  Agent,
  type AgentOptions,
  type AgentRecord,
  type SignedPlatform,
  signWebhook,
  type Verdict,
  type WebhookToSign,
} from "./agent";
export { CliStack, findPulumiCli } from "./cli";
export * from "./emulator";
export { TestStack, type TestStackOptions } from "./testStack";
export {
  type ConfigValue,
  type Diagnostic,
  type ExportedResource,
  type ExportedState,
  type ImportFile,
  type ImportOptions,
  type ImportResult,
  type ImportSpec,
  type RecordedRequest,
  RunFailed,
  type RunOptions,
  type RunResult,
  type Stack,
  type StackOptions,
  type Step,
  type StepOp,
} from "./types";
