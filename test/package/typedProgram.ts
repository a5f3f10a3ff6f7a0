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

/** A library that exports what public functions return, without types of its own. */
export const LIBRARY = `
import * as pulumi from "@pulumi/pulumi";
import * as endpoints from "pulumi-endpoints";
import { type ActionConfig, CloudEndpoint, mergeTrafficPolicy, type PolicyRule, rules, type TrafficPolicy, unlistedAction, WebhookVerification } from "pulumi-endpoints";
import * as provider from "pulumi-endpoints/provider";
import * as testing from "pulumi-endpoints/testing";

export const answer = (body: string) => rules.answer({ status_code: 200, body });
export const ofOutputs = rules.forwardTo(pulumi.output("https://app.internal"), { name: pulumi.output("x") });
export const list = [rules.deny({ status_code: 404 }), rules.verify("github", pulumi.secret("x")), rules.answer({ status_code: 200 })];
export const policy = { on_http_request: list, on_http_response: [{ actions: [unlistedAction("new")] }] };
export const { deny, verify, answer: answers } = rules;
declare const typed: { config: ActionConfig<"rate-limit">; policy: TrafficPolicy; rule: PolicyRule };
export const { config, policy: typedPolicy, rule } = typed;
export const all = { ...endpoints };
export { rules };
export const provided = { ...provider };
export const tested = { ...testing };
export class Site extends pulumi.ComponentResource {
  readonly endpoint = new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy: policy });
  readonly hooks = new WebhookVerification("hooks", { platform: "github", secret: "shared" });
  readonly merged = mergeTrafficPolicy(policy, this.hooks);
  readonly found = endpoints.getEndpointsOutput({ types: ["cloud"] });
  readonly first = this.found.endpoints.apply(([first]) => first);
  readonly platforms = endpoints.webhookPlatforms;
  readonly rules = rules;
  readonly stack = testing.TestStack.create({ program: "." });
  readonly emulator = testing.Emulator.start();
  readonly signed = testing.signWebhook;
}
`;
