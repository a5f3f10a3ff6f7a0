export { CliStack, findPulumiCli } from "./cli";
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
export * from "./types";
