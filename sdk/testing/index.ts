export {
  CliStack,
  type Command,
  type ConfigValue,
  commandOptions,
  type Diagnostic,
  type ExportedResource,
  type ExportedState,
  findPulumiCli,
  type ImportOptions,
  type ImportResult,
  type RecordedRequest,
  RunFailed,
  type RunOptions,
  type RunResult,
  type Stack,
  type StackOptions,
  type Step,
  type StepOp,
} from "../test-engine/index";
export * from "./emulator";
export { type EndpointMocks, type EndpointMocksOptions, endpointMocks } from "./mocks";
export {
  type ConnectionOptions,
  EndpointReply,
  type FetchOptions,
  type ServedRequest,
  type ServeOptions,
} from "./runner/account";
export type { Application } from "./runner/http";
export type { SignedPlatform } from "./runner/schemes";
export { signWebhook, type WebhookToSign } from "./runner/signatures";
export {
  ApplicationFailed,
  ConnectionClosed,
  RequestFailed,
  RequestNotSimulated,
  type TracedRule,
  traceText,
} from "./runner/trace";
export { TestStack, type TestStackOptions } from "./testStack";
