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
export type { Application, SignedPlatform } from "../traffic-policy/index";
export {
  ApplicationFailed,
  ConnectionClosed,
  type ConnectionOptions,
  EndpointReply,
  type FetchOptions,
  RequestFailed,
  RequestNotSimulated,
  type ServedRequest,
  type ServeOptions,
  signWebhook,
  type TracedRule,
  traceText,
  type WebhookToSign,
} from "../traffic-policy/index";
export * from "./emulator";
export { type EndpointMocks, type EndpointMocksOptions, endpointMocks } from "./mocks";
export { TestStack, type TestStackOptions } from "./testStack";
