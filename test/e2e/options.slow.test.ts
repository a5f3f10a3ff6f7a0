import { expect, test } from "vitest";
import { edit, failure, onBothDrivers, type Start } from "./setup";

/** Each resource has one option. Most have another description or rule in the second round. */
const HEAD = `
const at = (name, description) => ({ url: "https://" + name + ".example.com", description });
const rule = (name) => ({ on_http_request: [{ name, actions: [{ type: "deny" }] }] });`;

type Round = "one" | "two";

const pluginOnly = (round: Round) => `
new CloudEndpoint("replaceOnChanges", at("replaced", "${round}"), { replaceOnChanges: ["description"] });
new CloudEndpoint("replaceOnChanges-inside", { ...at("inside"), trafficPolicy: rule("${round}") },
  { replaceOnChanges: ["trafficPolicy.on_http_request[*].name"] });
new CloudEndpoint("replaceOnChanges-elsewhere", { ...at("elsewhere", "${round}"), trafficPolicy: rule("same") },
  { replaceOnChanges: ["trafficPolicy", "metadata"] });
`;

const supportedByKit = (round: Round) => `${HEAD}
new CloudEndpoint("protect", at("protect"), { protect: true });
new CloudEndpoint("ignoreChanges", at("ignored", "${round}"), { ignoreChanges: ["description"] });
const secret = new CloudEndpoint("additionalSecretOutputs", at("secret"), { additionalSecretOutputs: ["publicUrl"] });
new CloudEndpoint("aliases-${round}", at("aliases"), { aliases: [{ name: "aliases-one" }] });
${round === "one" ? `new CloudEndpoint("retainOnDelete", at("retained"), { retainOnDelete: true });` : ""}
module.exports = { isSecret: pulumi.isSecret(secret.publicUrl) };
`;

const cliOnly = (round: Round) => `
const hook = new pulumi.ResourceHook("hook", ({ name }) => pulumi.log.info("the hook of " + name + " ran"));
const description = "by the transform";
new CloudEndpoint("hooks", at("hooks", "${round}"), { hooks: { afterUpdate: [hook] } });
new CloudEndpoint("transforms", at("transform", "${round}"), {
  transforms: [({ props, opts }) => ({ props: { ...props, description }, opts })],
});
new CloudEndpoint("transformations", at("transformation", "${round}"), {
  transformations: [({ props, opts }) => ({ props: { ...props, description }, opts })],
});
const trigger = new CloudEndpoint("replacementTrigger", at("trigger"), { replacementTrigger: "${round}" });
new CloudEndpoint("replaceWith", at("with"), { replaceWith: [trigger] });
new CloudEndpoint("hideDiffs", at("hidden", "${round}"), { hideDiffs: ["description"] });
new CloudEndpoint("customTimeouts", at("timeouts", "${round}"), { customTimeouts: { create: "1m" } });
${
  round === "one"
    ? `const whole = new CloudEndpoint("whole", at("whole"));
new CloudEndpoint("deletedWith", at("part"), { deletedWith: whole });`
    : ""
}`;

const optionsWork = (start: Start, driver: string) =>
  test.each(["dynamic", "plugin"])("work with the %s provider", async (provider) => {
    const isPlugin = provider === "plugin";
    const program = (round: Round) =>
      supportedByKit(round) + (isPlugin ? pluginOnly(round) : "") + (driver === "cli" ? cliOnly(round) : "");
    const stack = await start(program("one"), { env: { ENDPOINTS_PROVIDER: provider } });
    const first = await stack.up();
    expect(first.outputs).toEqual({ isSecret: true });
    expect(
      first.diagnostics.filter(({ severity }) => severity === "warning").map(({ message }) => message),
    ).toEqual(
      driver === "cli"
        ? [expect.stringMatching(/^customTimeouts: .*no effect.*endpoints:retryForSeconds/)]
        : [],
    );

    edit(stack, program("two"));
    const preview = await stack.preview({ diff: true });
    const up = await stack.up();
    const names = (op: string) => up.steps.filter((step) => step.op === op).map(({ name }) => name);
    const ofCli = (...options: string[]) => (driver === "cli" ? options : []);
    const ofPlugin = (...options: string[]) => (isPlugin ? options : []);
    expect(names("update").sort()).toEqual([
      ...ofCli("customTimeouts", "hideDiffs", "hooks"),
      ...ofPlugin("replaceOnChanges-elsewhere"),
    ]);
    expect(names("replace").sort()).toEqual([
      ...ofPlugin("replaceOnChanges", "replaceOnChanges-inside"),
      ...ofCli("replaceWith", "replacementTrigger"),
    ]);
    expect(names("delete").sort()).toEqual([...ofCli("deletedWith"), "retainOnDelete", ...ofCli("whole")]);

    const live = new Map(
      stack.emulator.endpoints.map(({ url, description }) => [url?.slice(8, -12), description]),
    );
    expect([...live.keys()].sort()).toEqual(
      [
        ...["aliases", "ignored", "protect", "retained", "secret"],
        ...ofPlugin("elsewhere", "inside", "replaced"),
        ...ofCli("hidden", "hooks", "part", "timeouts", "transform", "transformation", "trigger", "with"),
      ].sort(),
    );
    expect(live.get("ignored")).toBe("one");
    if (driver === "cli") {
      expect(live.get("transform")).toBe("by the transform");
      expect(live.get("transformation")).toBe("by the transform");
      expect(preview.text).toMatch(/hidden\b/);
      expect(up.diagnostics.map(({ message }) => message)).toContain("the hook of hooks ran");
    }
    edit(stack, supportedByKit("two").replace(/.*"protect".*/, ""));
    expect((await failure(stack.preview())).text).toMatch(/protect/);
  });

// The CLI supports more options, so its program differs.
onBothDrivers("resource options", optionsWork, { isCompared: false });
