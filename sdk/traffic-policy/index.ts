export type {
  Application,
  ConnectionOptions,
  FetchOptions,
  ServedRequest,
  ServeOptions,
} from "./answer/options";
export { EndpointReply } from "./answer/reply";
export {
  ApplicationFailed,
  ConnectionClosed,
  RequestFailed,
  RequestNotSimulated,
  type TracedRule,
  traceText,
} from "./answer/trace";
export type { ActionType, PhaseName } from "./policy/catalogue";
export type {
  ActionConfig,
  PolicyAction,
  PolicyRule,
  RuleOptions,
  Rules,
  TrafficPolicy,
  ValueWrapper,
} from "./policy/rules";
export type { WebhookPlatform } from "./webhooks/platforms";
export type { SignedPlatform } from "./webhooks/schemes";
export { signWebhook, type WebhookToSign } from "./webhooks/signatures";
