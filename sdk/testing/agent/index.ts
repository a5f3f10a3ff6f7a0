export { Agent, type AgentOptions, type AgentRecord } from "./agent";
export type { SignedPlatform } from "./schemes";
export { signWebhook, type Verdict, type WebhookToSign } from "./signatures";
export type { AgentSource } from "./source";
