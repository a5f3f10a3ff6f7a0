import * as pulumi from "@pulumi/pulumi";
import { CloudEndpoint, mergeTrafficPolicy, WebhookVerification } from "pulumi-endpoints";

/*
 * Calendly signs its webhooks with a key of your choice. Create it here and use it on both sides:
 *
 *   pulumi config set --secret signingKey "$(openssl rand -hex 32)"
 */
const config = new pulumi.Config();
const signingKey = config.requireSecret("signingKey");

const calendly = new WebhookVerification("calendly", {
  platform: "calendly",
  secret: signingKey,
  agent: { url: "https://calendly.internal", upstream: config.getNumber("port") ?? 8080 },
});

/** The public address. It verifies requests before they reach the internal address, which the agent opens. */
const hooks = new CloudEndpoint("hooks", {
  url: "https://hooks.example.com",
  trafficPolicy: mergeTrafficPolicy(
    {
      on_http_request: [
        { actions: [{ type: "forward-internal", config: { url: "https://calendly.internal" } }] },
      ],
    },
    calendly,
  ),
});

/** The body of `POST https://api.calendly.com/webhook_subscriptions`. Add your organization and user. */
export const subscription = pulumi.secret({
  url: hooks.publicUrl,
  events: ["invitee.created", "invitee.canceled"],
  scope: "user",
  signing_key: signingKey,
});

/**
 * The agent's configuration, without its token: `pulumi stack output agentConfig --show-secrets > calendly.yml`, then
 * `NGROK_AUTHTOKEN=… ngrok start --all --config calendly.yml`.
 */
export const agentConfig = calendly.agentConfig;
export const secretSource = calendly.secretSource;
