import * as pulumi from "@pulumi/pulumi";
import { CloudEndpoint, getEndpointsOutput, Provider } from "pulumi-endpoints";

const config = new pulumi.Config();

/** The partner's account. What is not given here (the base URL, the budget) is as in the stack's configuration. */
const partner = new Provider("partner", {
  apiKey: config.requireSecret("partnerApiKey"),
  baseUrl: config.get("partnerBaseUrl"),
});

const policy = { on_http_request: [{ actions: [{ type: "custom-response", config: { body: "hello" } }] }] };

/** On the account of the stack's own settings. */
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy: policy });

/** The same on the partner's: the one difference is the option. */
const mirror = new CloudEndpoint(
  "mirror",
  { url: "https://shop.partner.example.com", trafficPolicy: policy },
  { provider: partner },
);

export const urls = [shop.publicUrl, mirror.publicUrl];

/** Everything that the partner's account serves, once the mirror is there. */
export const partnerServes = getEndpointsOutput({}, { provider: partner, dependsOn: mirror }).apply(
  ({ endpoints }) => endpoints.map(({ publicUrl }) => publicUrl),
);
