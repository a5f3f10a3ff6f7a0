import * as pulumi from "@pulumi/pulumi";
import { CloudEndpoint, type TrafficPolicy } from "pulumi-endpoints";

const body = new pulumi.Config().get("greeting") ?? "hello";
const shop = new CloudEndpoint("shop", {
  url: "https://shop.example.com",
  description: "front door",
  trafficPolicy: {
    on_http_request: [{ actions: [{ type: "custom-response", config: { status_code: 200, body } }] }],
  } satisfies TrafficPolicy,
});

export const url = shop.publicUrl;
export const endpointId = shop.id;
