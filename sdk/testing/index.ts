export { Agent, type AgentOptions, type AgentRecord } from "./agent/agent";
export type { SignedPlatform } from "./agent/schemes";
export { signWebhook, type Verdict, type WebhookToSign } from "./agent/signatures";
export { CliStack, findPulumiCli } from "./cli";
export * from "./emulator";
export { type EndpointMocks, type EndpointMocksOptions, endpointMocks } from "./mocks";
export { type RunSnapshot, snapshotOf } from "./snapshot";
export { TestStack, type TestStackOptions } from "./testStack";
export * from "./types";
