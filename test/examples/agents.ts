import { expect } from "vitest";
import { type Application, Emulator, type SignedPlatform, signWebhook } from "../../sdk/testing";

/** The secret that the examples are given. */
export const WEBHOOK_SECRET = "CANARY-7f3c";

/** Delivers a body to the internal endpoint of an agent with an example's output `agentConfig`. Returns the status. */
export async function deliverToAgent(
  config: unknown,
  body: string,
  headers: Record<string, string>,
  application?: Application,
): Promise<number> {
  await using emulator = await Emulator.start();
  const [agent] = emulator.connect({ config: String(config) }, application);
  const actions = [{ type: "forward-internal", config: { url: agent?.url } }];
  const traffic_policy = JSON.stringify({ on_http_request: [{ actions }] });
  const { url = "" } = emulator.seed({ type: "cloud", url: "https://front.example.com", traffic_policy });
  return (await emulator.fetch(url, { method: "POST", body, headers })).status;
}

/** Expects of an agent with an example's output `agentConfig` that only webhooks that the platform has signed reach the application. */
export async function expectVerified(platform: SignedPlatform, config: unknown): Promise<void> {
  const statusOf = (headers: Record<string, string>) =>
    deliverToAgent(config, "{}", headers, () => new Response(null, { status: 201 }));
  const signed = signWebhook(platform, { body: "{}", secret: WEBHOOK_SECRET });
  expect([await statusOf(signed), await statusOf({})]).toEqual([201, 403]);
}
