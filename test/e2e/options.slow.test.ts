import { expect, test } from "vitest";
import { edit, failure, onBothDrivers, onCli, writes } from "./setup";

/* Options that need something of this package. `test/kit/engine` has what an engine does with the others. */

const program = (round: number) => `
const { Provider } = require("pulumi-endpoints");
const provider = new Provider("account");
const one = (name, args, options) => new CloudEndpoint(name, { url: "https://" + name + ".example.com", ...args }, options);
const secret = [one("secret", {}, { additionalSecretOutputs: ["publicUrl"] })];
secret.push(one("secret-plugin", {}, { provider, additionalSecretOutputs: ["publicUrl"] }));
const rule = { on_http_request: [{ name: "${round}", actions: [{ type: "deny" }] }] };
one("inside", { trafficPolicy: rule }, { provider, replaceOnChanges: ["trafficPolicy.on_http_request[*].name"] });
one("elsewhere", { description: "${round}" }, { provider, replaceOnChanges: ["trafficPolicy", "metadata"] });
module.exports = { areSecret: pulumi.all(secret.map(({ publicUrl }) => pulumi.isSecret(publicUrl))) };`;

onBothDrivers("resource options", (start) => {
  test("make outputs secret, and replace an endpoint only if the path that they name changes", async () => {
    const stack = await start(program(1));
    expect((await stack.up()).outputs).toEqual({ areSecret: [true, true] });
    edit(stack, program(2));
    const { steps } = await stack.up();
    const changed = steps.filter(({ op }) => op === "update" || op === "replace");
    expect(changed.map(({ name, op }) => `${op} ${name}`).sort()).toEqual([
      "replace inside",
      "update elsewhere",
    ]);
  });
});

const ignoring = (name: string, body: string) => `
const { Provider } = require("pulumi-endpoints");
const policy = { on_http_request: [{ name: "${name}", actions: [{ type: "custom-response", config: { body: "${body}" } }] }] };
const text = JSON.stringify(policy);
const yaml = "on_http_request: [{ name: ${name}, actions: [{ type: custom-response, config: { body: ${body} } }] }]";
const provider = new Provider("account");
const documents = { yaml, json: pulumi.output(text), secret: pulumi.secret(text), object: policy };
for (const [name, trafficPolicy] of Object.entries(documents))
  for (const options of [{}, { provider }]) {
    const label = name + Object.keys(options).length;
    const args = { url: "https://" + label + ".example.com", trafficPolicy, metadata: JSON.stringify({ "of.team": "${name}" }) };
    const ignoreChanges = ["trafficPolicy.on_http_request[*].name", 'metadata["of.team"]'];
    new CloudEndpoint(label, args, { ...options, ignoreChanges });
  }`;

onBothDrivers("ignoreChanges of a place in a document", (start) => {
  test("ignores it, and nothing else, also if the document is text", async () => {
    const stack = await start(ignoring("first", "old"));
    await stack.up();
    edit(stack, ignoring("second", "old"));
    expect((await stack.up()).requests.filter(({ method }) => method !== "GET")).toEqual([]);
    edit(stack, ignoring("second", "new"));
    await stack.up();
    const live = stack.emulator.endpoints.map(({ traffic_policy = "", metadata = "" }) => [
      JSON.parse(traffic_policy).on_http_request[0],
      JSON.parse(metadata),
    ]);
    const first = { name: "first", actions: [{ type: "custom-response", config: { body: "new" } }] };
    expect(live).toEqual(Array(8).fill([first, { "of.team": "first" }]));
  });
});

/** What the test kit's engine does not support. */
const cliOnly = `
const trafficPolicy = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const transform = ({ props, opts }) => ({ props: { ...props, description: "by the transform" }, opts });
new CloudEndpoint("transforms", { url: "https://transforms.example.com", trafficPolicy }, { transforms: [transform] });
const timeouts = new CloudEndpoint("timeouts", { url: "https://timeouts.example.com", trafficPolicy }, { customTimeouts: { create: "1m" } });
new CloudEndpoint("with", { url: "https://with.example.com", trafficPolicy }, { deletedWith: timeouts });`;

onCli("resource options that the test kit's engine lacks", (start) => {
  test("work, but for customTimeouts and deletedWith, which warn", async () => {
    const stack = await start(cliOnly);
    const { diagnostics } = await stack.up();
    const warnings = diagnostics.filter(({ severity }) => severity === "warning");
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^timeouts: .* customTimeouts has no effect; endpoints:retryForSeconds/),
      expect.stringMatching(/^with: the option deletedWith leaves the endpoint live/),
    ]);
    expect(stack.emulator.endpoints.map(({ description }) => description)).toContain("by the transform");
  });
});

const served = (provider: string) => `
const { Provider } = require("pulumi-endpoints");
const trafficPolicy = { on_http_request: [{ actions: [{ type: "deny" }] }] };
new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy }, { ${provider} });`;

onCli("a stack without Pulumi's default providers", (start) => {
  test("refuses an endpoint without an explicit provider, and creates it with one", async () => {
    const stack = await start(served(""), { config: { "pulumi:disable-default-providers": '["*"]' } });
    const { text, requests } = await failure(stack.up());
    expect(text).toContain("Default provider for 'pulumi-nodejs' disabled");
    expect(requests).toEqual([]);
    edit(stack, served('provider: new Provider("account")'));
    expect(writes(await stack.up()).map(({ method }) => method)).toEqual(["POST"]);
  });
});
