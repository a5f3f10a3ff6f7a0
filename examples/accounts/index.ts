import * as pulumi from "@pulumi/pulumi";
import { CloudEndpoint, getEndpointsOutput, Provider } from "pulumi-endpoints";

const config = new pulumi.Config();

/** The partner's account. Omitted settings (base URL, rate limit) come from the stack's configuration. */
const partner = new Provider("partner", {
  apiKey: config.requireSecret("partnerApiKey"),
  baseUrl: config.get("partnerBaseUrl"),
});

const policy = { on_http_request: [{ actions: [{ type: "custom-response", config: { body: "hello" } }] }] };

/** An endpoint in the account of the stack's settings. */
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy: policy });

/** An endpoint in the partner's account. Only the option `provider` is different. */
const mirror = new CloudEndpoint(
  "mirror",
  { url: "https://shop.partner.example.com", trafficPolicy: policy },
  { provider: partner },
);

export const urls = [shop.publicUrl, mirror.publicUrl];

/** All endpoints of the partner's account, including the mirror. */
export const partnerServes = getEndpointsOutput({}, { provider: partner, dependsOn: mirror }).apply(
  ({ endpoints }) => endpoints.map(({ publicUrl }) => publicUrl),
);
