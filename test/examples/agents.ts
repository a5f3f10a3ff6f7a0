import { expect } from "vitest";
import { Agent, type SignedPlatform, signWebhook } from "../../sdk/testing";
import { startApplication } from "../kit/runner/application";

/** The secret that the examples are given. */
export const WEBHOOK_SECRET = "CANARY-7f3c";

/** Starts an agent with an example's output `agentConfig`: only webhooks that the platform has signed reach the application. */
export async function expectVerified(platform: SignedPlatform, config: unknown): Promise<void> {
  const application = await startApplication();
  const agent = await Agent.start({ config: String(config), upstream: application.port });
  const body = "{}";
  const signed = { ...signWebhook(platform, { body, secret: WEBHOOK_SECRET }) };
  const statusOf = async (headers: Record<string, string>) =>
    (await fetch(agent.url, { method: "POST", body, headers })).status;
  expect([await statusOf(signed), await statusOf({})]).toEqual([201, 403]);
  await agent.close();
}
