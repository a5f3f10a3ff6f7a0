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
export { CliStack, findPulumiCli } from "./cli";
export * from "./emulator";
export { type EndpointMocks, type EndpointMocksOptions, endpointMocks } from "./mocks";
export { TestStack, type TestStackOptions } from "./testStack";
export * from "./types";
