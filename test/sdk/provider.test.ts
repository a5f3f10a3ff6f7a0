import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CloudEndpoint, Provider } from "../../sdk";
import { aliasesOf, optionMistakes } from "../../sdk/provider";
import { mockEngine, resolved } from "./program";

const folder = mkdtempSync(join(tmpdir(), "provider-"));
let registered: string[] = [];

beforeEach(async () => {
  mkdirSync(folder, { recursive: true });
  registered = [];
  vi.stubEnv("PULUMI_HOME", join(folder, "home"));
  vi.stubEnv("PATH", folder);
  vi.spyOn(pulumi.runtime, "getRootDirectory").mockReturnValue(folder);
  await mockEngine(({ type }) => registered.push(type));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  pulumi.runtime.setAllConfig({});
  rmSync(folder, { recursive: true });
});

const endpoint = (name: string, options?: pulumi.CustomResourceOptions) =>
  new CloudEndpoint(name, { url: `https://${name}.example.com` }, options);
const writeProject = (text: string) =>
  writeFileSync(join(folder, "Pulumi.yaml"), `name: p\nruntime: nodejs\n${text}`);

test("the stack's configuration takes precedence over the environment, and an explicit provider over both", async () => {
  vi.stubEnv("ENDPOINTS_PROVIDER", "plugin");
  await resolved(endpoint("a").id);
  pulumi.runtime.setConfig("endpoints:provider", "dynamic");
  await resolved(endpoint("b").id);
  const theirs = new Provider("theirs", { apiKey: "k" });
  await resolved(endpoint("c", { provider: theirs }).id);
  const parent = new pulumi.ComponentResource("a:b:C", "parent", {}, { providers: [theirs] });
  await resolved(endpoint("d", { parent }).id);
  expect(registered.filter((type) => type.includes("CloudEndpoint"))).toEqual([
    "endpoints:index:CloudEndpoint",
    "pulumi-nodejs:dynamic/endpoints:CloudEndpoint",
    "endpoints:index:CloudEndpoint",
    "endpoints:index:CloudEndpoint",
  ]);
});

test.each(["default", "default_0_1_0"])("a provider with the engine's own name %s is refused", (name) =>
  expect(() => new Provider(name, { apiKey: "k" })).toThrow(/Pulumi's own providers have the name/),
);

test("options that need the plugin fail on a dynamic endpoint, and the errors name only what the project lacks", async () => {
  const options = { import: "ep_1", replaceOnChanges: ["trafficPolicy"] };
  const problems = (plugin: string) => [
    `the option import needs the plugin: ${plugin}run \`pulumi config set endpoints:provider plugin\`; or take the endpoint over with the input adopt`,
    `the option replaceOnChanges needs the plugin: ${plugin}run \`pulumi config set endpoints:provider plugin\`; or remove the option`,
  ];
  writeProject("");
  expect(optionMistakes("dynamic", options)).toEqual(
    problems("name it in Pulumi.yaml (docs/plugin.md) and "),
  );
  writeProject("plugins:\n  providers:\n    - name: endpoints\n      path: x\n");
  expect(optionMistakes("dynamic", options)).toEqual(problems(""));
  expect(optionMistakes("dynamic", { replaceOnChanges: [] })).toEqual([]);
  expect(optionMistakes("plugin", options)).toEqual([]);

  let sent: unknown;
  await mockEngine(({ inputs }) => {
    sent = inputs.__problem;
  });
  await resolved(endpoint("a", options).id);
  // The check reports them together with all other mistakes.
  expect(sent).toBe(problems("").join("\n"));
});

test("a provider marks its key as a secret even if the program does not", async () => {
  let sent: unknown;
  await mockEngine(({ inputs }) => {
    sent = inputs.apiKey;
  });
  await resolved(new Provider("theirs", { apiKey: "CANARY" }).id);
  // The key of Pulumi's secrets.
  expect(JSON.stringify(sent)).toMatch(/1b47061264138c4ac30d75fd1eb44270.*CANARY/);
});

test("each alias without a type gets a copy with the other provider's type", () => {
  const type = "endpoints:index:CloudEndpoint";
  const urn = "urn:pulumi:s::p::a:b:C::old";
  expect(
    aliasesOf("dynamic", [{ name: "old" }, { type: "a:b:C" }, urn, pulumi.output({ name: "later" })]),
  ).toEqual([{ type }, { name: "old", type }]);
});

test("a missing plugin is an error that shows the lines for Pulumi.yaml", () => {
  pulumi.runtime.setConfig("endpoints:provider", "plugin");
  writeProject("plugins:\n  providers:\n    - name: other\n      path: x\npackages:\n  another: x\n");
  const lines =
    /finds no plugin [\s\S]*Pulumi\.yaml:\nplugins:\n {2}providers:\n {4}- name: endpoints\n {6}path: \S*provider\/plugin$/;
  expect(() => endpoint("a")).toThrow(lines);
  // Otherwise the engine's own message about the registration could come first.
  expect(() => new Provider("theirs")).toThrow(lines);
  expect(registered).toEqual([]);
});

// biome-ignore format: one line for each place
test.each<[place: string, addPlugin: () => void]>([
  ["the project's plugins", () => writeProject("plugins:\n  providers:\n    - name: endpoints\n      path: x\n")],
  ["the PATH", () => writeFileSync(join(folder, "pulumi-resource-endpoints"), "")],
  ["Pulumi's own folder", () => mkdirSync(join(folder, "home/plugins/resource-endpoints-v0.1.0"), { recursive: true })],
  ["a debugger", () => vi.stubEnv("PULUMI_DEBUG_PROVIDERS", "other:1,endpoints:4711")],
])("the plugin is accepted from %s", async (_, addPlugin) => {
  pulumi.runtime.setConfig("endpoints:provider", "plugin");
  writeProject("");
  addPlugin();
  await resolved(endpoint("a").id);
  expect(registered).toContain("endpoints:index:CloudEndpoint");
});
