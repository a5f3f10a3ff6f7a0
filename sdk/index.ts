export type { Ref } from "../provider/api/contract";
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
} from "./endpoints";
export { type RuleOptions, rules, unlistedAction } from "./policyRules";
export type { ActionConfig, PolicyAction, PolicyRule, TrafficPolicy, UnlistedAction } from "./policyTypes";
export { Provider, type ProviderArgs } from "./provider";
export { mergeTrafficPolicy } from "./trafficPolicy";
export { mergeAgentConfigs } from "./webhooks/agentConfig";
export { type WebhookPlatform, type WebhookPlatformInfo, webhookPlatforms } from "./webhooks/platforms";
export { WebhookVerification, type WebhookVerificationArgs } from "./webhooks/webhookVerification";
