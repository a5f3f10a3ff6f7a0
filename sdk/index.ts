import "../provider/data/nodeVersion";

export { Binding, EndpointType, PolicyWarnings, type Ref } from "../provider/service/contract";
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
  type Rules,
  rules,
  type TrafficPolicy,
} from "./policyRules";
export { Provider, type ProviderArgs } from "./provider";
export { type UnlistedAction, unlistedAction } from "./traffic-policy/policy/index";
export { type WebhookPlatformInfo, webhookPlatforms } from "./traffic-policy/webhooks/index";
export {
  mergeAgentConfigs,
  mergeAgentConfigsOutput,
  mergeTrafficPolicy,
  mergeTrafficPolicyOutput,
} from "./webhooks/merge";
export { AccountPlan, AgentConfigVersion } from "./webhooks/webhookArgs";
export { WebhookPlatform } from "./webhooks/webhookPlatform";
export { WebhookVerification, type WebhookVerificationArgs } from "./webhooks/webhookVerification";
