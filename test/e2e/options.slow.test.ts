import { expect, test } from "vitest";
import type { RunResult, StepOp } from "../../sdk/testing";
import { edit, failure, onBothDrivers, onCli } from "./setup";

/** Each endpoint has one option, on both providers if they support it. Most change in the second round. */
const program = (round: 1 | 2, more = "") => `
const { Provider } = require("pulumi-endpoints");
const provider = new Provider("account");
const one = (name, args, options) => new CloudEndpoint(name, { url: "https://" + name + ".example.com", ...args }, options);
const both = (name, args, options) =>
  [one(name, args, options), one(name + "-plugin", args, { ...options, provider })];
const rule = (name) => ({ on_http_request: [{ name, actions: [{ type: "deny" }] }] });
both("ignored", { description: "${round}", trafficPolicy: { a: ${round}, list: [{ z: ${round} }] } },
  { ignoreChanges: ["description", "trafficPolicy.list[0].z"] });
new CloudEndpoint("first", { url: "${round === 1 ? "https" : "tls"}://first.example.com" }, { deleteBeforeReplace: false });
const secrets = both("secret", {}, { additionalSecretOutputs: ["publicUrl"] });
one("inside", { trafficPolicy: rule("${round}") }, { provider, replaceOnChanges: ["trafficPolicy.on_http_request[*].name"] });
one("elsewhere", { description: "${round}" }, { provider, replaceOnChanges: ["trafficPolicy", "metadata"] });
${round === 1 ? `both("retained", {}, { retainOnDelete: true });` : ""}
module.exports = { areSecret: pulumi.all(secrets.map(({ publicUrl }) => pulumi.isSecret(publicUrl))) };
${more}`;

const PROTECTED = `both("protected", {}, { protect: true });`;

/** What the test kit's engine does not support. */
const cliOnly = `
const transform = ({ props, opts }) => ({ props: { ...props, description: "by the transform" }, opts });
new CloudEndpoint("transforms", { url: "https://transforms.example.com" }, { transforms: [transform] });
new CloudEndpoint("timeouts", { url: "https://timeouts.example.com" }, { customTimeouts: { create: "1m" } });`;

const namesOf = ({ steps }: RunResult, op: StepOp) =>
  steps
    .filter((step) => step.op === op)
    .map(({ name }) => name)
    .sort();

onBothDrivers("resource options", (start) => {
  test("work with both providers", async () => {
    const stack = await start(program(1, PROTECTED));
    expect((await stack.up()).outputs).toEqual({ areSecret: [true, true] });
    const first = stack.emulator.endpoints.find(({ url }) => url === "https://first.example.com");
    edit(stack, program(2, PROTECTED));
    const up = await stack.up();
    expect(namesOf(up, "update")).toEqual(["elsewhere", "ignored", "ignored-plugin"]);
    expect(namesOf(up, "replace")).toEqual(["first", "inside"]);
    const created = up.requests.findIndex(({ body }) => Object(body).url === "tls://first.example.com");
    const deleted = up.requests.findIndex(({ path }) => path === `/endpoints/${first?.id}`);
    expect(created).toBeLessThan(deleted);
    expect(up.requests[deleted]).toMatchObject({ method: "DELETE" });
    expect(namesOf(up, "delete")).toEqual(["retained", "retained-plugin"]);
    const live = stack.emulator.endpoints;
    expect(live.filter(({ url }) => url?.includes("retained"))).toHaveLength(2);
    const ignored = { description: "1", traffic_policy: '{"a":2,"list":[{"z":1}]}' };
    expect(live.filter(({ url }) => url?.includes("ignored"))).toMatchObject([ignored, ignored]);

    edit(stack, program(2));
    expect((await failure(stack.preview())).text).toMatch(/protect/);
  });
});

onCli("resource options that the test kit's engine lacks", (start) => {
  test("work, but for customTimeouts, which warns", async () => {
    const stack = await start(cliOnly);
    const { diagnostics } = await stack.up();
    const warnings = diagnostics.filter(({ severity }) => severity === "warning");
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/customTimeouts has no effect; endpoints:retryForSeconds/),
    ]);
    expect(stack.emulator.endpoints.map(({ description }) => description)).toContain("by the transform");
  });
});
