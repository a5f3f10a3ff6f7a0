import { expect, test } from "vitest";
import { edit, onBothDrivers, onCli } from "./setup";

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

/** What the test kit's engine does not support. */
const cliOnly = `
const transform = ({ props, opts }) => ({ props: { ...props, description: "by the transform" }, opts });
new CloudEndpoint("transforms", { url: "https://transforms.example.com" }, { transforms: [transform] });
new CloudEndpoint("timeouts", { url: "https://timeouts.example.com" }, { customTimeouts: { create: "1m" } });`;

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
