export { Agent, type AgentOptions, type AgentRecord } from "./agent/agent";
export type { SignedPlatform } from "./agent/schemes";
export { signWebhook, type Verdict, type WebhookToSign } from "./agent/signatures";
export { CliStack, findPulumiCli } from "./cli";
export * from "./emulator";
export { type EndpointMocks, type EndpointMocksOptions, endpointMocks } from "./mocks";
export { type RunSnapshot, snapshotOf } from "./snapshot";
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
