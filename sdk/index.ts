export type { Ref } from "../provider/schema";
export { CloudEndpoint, type CloudEndpointArgs, type CloudEndpointOutputs } from "./cloudEndpoint";
export {
  type GetEndpointArgs,
  type GetEndpointsArgs,
  type GetEndpointsResult,
  getEndpoint,
  getEndpointOutput,
  getEndpoints,
  getEndpointsOutput,
} from "./endpoints";
export {
  type AnyEndpoint,
  type CloudEndpointInfo,
  type EdgeEndpoint,
  type EphemeralEndpoint,
  type JsonValue,
  readJson,
} from "./endpointTypes";
export { Provider, type ProviderArgs } from "./provider";
export { mergeTrafficPolicy } from "./trafficPolicy";
export { mergeAgentConfigs } from "./webhookAgentConfigs";
export { type WebhookPlatform, type WebhookPlatformInfo, webhookPlatforms } from "./webhookPlatforms";
export { WebhookVerification, type WebhookVerificationArgs } from "./webhookVerification";
