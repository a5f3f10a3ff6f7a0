/** A program that uses the types of every entry point. It is compiled, not run. */
export const TYPED_PROGRAM = `
import * as pulumi from "@pulumi/pulumi";
import { CloudEndpoint, getEndpoint, getEndpointOutput, Provider, readJson, type TrafficPolicy, WebhookVerification } from "pulumi-endpoints";
import { create } from "pulumi-endpoints/provider";
import { Emulator, TestStack } from "pulumi-endpoints/testing";

const provider = new Provider("theirs", { apiKey: pulumi.secret("key") });
const policy: TrafficPolicy = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy: policy }, { provider });
export const other = new CloudEndpoint("other", {
  url: shop.url,
  bindings: [shop.type.apply(() => "public")],
  metadata: { team: pulumi.output("x") },
});
export const hooks = new WebhookVerification("hooks", { platform: "github", secret: pulumi.secret("x"), agent: { upstream: 8080 } });
export const url = getEndpoint({ id: "ep_1" }).then((endpoint) => endpoint.url);
export const parsed = getEndpointOutput({ url: shop.url }).apply(({ metadata }) => readJson(metadata));
export const all = [create, Emulator, TestStack];
export async function closing() {
  await using stack = await TestStack.create({ program: "." });
  await using emulator = await Emulator.start();
  emulator.connect({ config: "" });
  return [stack, emulator];
}
`;
