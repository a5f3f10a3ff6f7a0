export { Account, type AccountEndpoint, type AgentEndpoint } from "./answer/account";
export type {
  Application,
  ConnectionOptions,
  FetchOptions,
  ServedRequest,
  ServeOptions,
} from "./answer/options";
export { EndpointReply, type ReceivedReply } from "./answer/reply";
export {
  ApplicationFailed,
  ConnectionClosed,
  RequestFailed,
  RequestNotSimulated,
  type TracedRule,
  traceText,
} from "./answer/trace";
export type { JsonObject } from "./data/json";
export { UserError } from "./data/userError";
export type { ActionType, PhaseName } from "./policy/catalogue";
export { parsePolicy, type Warning, warningsOf } from "./policy/files";
export { mergeTrafficPolicy } from "./policy/merge";
export {
  type ActionConfig,
  type PlainValues,
  type PolicyAction,
  type PolicyRule,
  type RuleOptions,
  type Rules,
  rules,
  type TrafficPolicy,
  type UnlistedAction,
  unlistedAction,
  type ValueWrapper,
} from "./policy/rules";
export type { PolicyTarget } from "./policy/warnings";
export { type WebhookPlatform, type WebhookPlatformInfo, webhookPlatforms } from "./webhooks/platforms";
export type { SignedPlatform } from "./webhooks/schemes";
export {
  type ReceivedWebhook,
  signWebhook,
  type Verdict,
  verifyWebhook,
  type WebhookToSign,
} from "./webhooks/signatures";
