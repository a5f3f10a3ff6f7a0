export { Binding, type Ref } from "../provider/service/contract";
export { CloudEndpoint, type CloudEndpointArgs, type CloudEndpointOutputs } from "./cloudEndpoint";
export {
  type AnyEndpoint,
  type CloudEndpointInfo,
  type EdgeEndpoint,
  type EphemeralEndpoint,
  type GetEndpointArgs,
  type GetEndpointsArgs,
  type GetEndpointsResult,
  getEndpoint,
  getEndpointOutput,
  getEndpoints,
  getEndpointsOutput,
  type JsonValue,
  readJson,
} from "./dataSources";
export {
  type ActionConfig,
  type PolicyAction,
  type PolicyRule,
  type RuleOptions,
  rules,
  type TrafficPolicy,
  type UnlistedAction,
  unlistedAction,
} from "./policyRules";
export { Provider, type ProviderArgs } from "./provider";
export { mergeAgentConfigs, mergeTrafficPolicy } from "./webhooks/merge";
export { type WebhookPlatform, type WebhookPlatformInfo, webhookPlatforms } from "./webhooks/platforms";
export { WebhookVerification, type WebhookVerificationArgs } from "./webhooks/webhookVerification";
