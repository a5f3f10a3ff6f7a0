import "../../provider/data/nodeVersion";

export {
  type Diagnostic,
  type ExportedResource,
  type ExportedState,
  findPulumiCli,
} from "../pulumi-cli/index";
export {
  type Command,
  type ConfigValue,
  type RecordedRequest,
  RunFailed,
  type RunOptions,
  type RunResult,
  type Step,
  type StepOp,
} from "../test-engine/index";
export {
  type Application,
  ApplicationFailed,
  ConnectionClosed,
  type ConnectionOptions,
  EndpointReply,
  type FetchOptions,
  RequestFailed,
  RequestNotSimulated,
  type ServedRequest,
  type ServeOptions,
  type SignedPlatform,
  signWebhook,
  type TracedRule,
  traceText,
  type WebhookToSign,
} from "../traffic-policy/index";
export * from "./emulator";
export { type EndpointMocks, type EndpointMocksOptions, endpointMocks } from "./mocks";
export { TestStack, type TestStackOptions } from "./testStack";
