import * as pulumi from "@pulumi/pulumi";
import { CloudEndpoint, mergeTrafficPolicy, WebhookVerification } from "pulumi-endpoints";

/*
 * Brex creates the secret, and its API returns it:
 *
 *   pulumi config set --secret brexToken …
 */
const config = new pulumi.Config();
const api = config.get("brexApi") ?? "https://platform.brexapis.com";

/** During a rotation, Brex signs with two secrets. The new one is ACTIVE. */
async function activeSecret(token: string): Promise<string> {
  const reply = await fetch(`${api}/v1/webhooks/secrets`, { headers: { authorization: `Bearer ${token}` } });
  if (!reply.ok) throw new pulumi.RunError(`cannot read the secrets of Brex: status ${reply.status}`);
  const secrets = (await reply.json()) as { secret: string; status: string }[];
  // If Brex has no secret yet, the component reports the empty secret, and where to get a secret.
  return secrets.find(({ status }) => status === "ACTIVE")?.secret ?? "";
}

const brex = new WebhookVerification("brex", {
  platform: "brex",
  secret: config.requireSecret("brexToken").apply(activeSecret),
  agent: { url: "https://brex.internal", upstream: config.getNumber("port") ?? 8080 },
});

/** The public address. It verifies requests before they reach the internal address, which the agent opens. */
const hooks = new CloudEndpoint("hooks", {
  url: "https://hooks.example.com",
  trafficPolicy: mergeTrafficPolicy(
    {
      on_http_request: [
        { actions: [{ type: "forward-internal", config: { url: "https://brex.internal" } }] },
      ],
    },
    brex,
  ),
});

/** The body of Brex's `POST /v1/webhooks`. */
export const registration = { url: hooks.publicUrl, event_types: ["USER_UPDATED"] };

/**
 * The agent's configuration, without its token: `pulumi stack output agentConfig --show-secrets > brex.yml`, then
 * `NGROK_AUTHTOKEN=… ngrok start --all --config brex.yml`.
 */
export const agentConfig = brex.agentConfig;
export const secretSource = brex.secretSource;
