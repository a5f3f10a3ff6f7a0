import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CloudEndpoint, Provider } from "../../sdk";
import { aliasesOf } from "../../sdk/provider";

const folder = mkdtempSync(join(tmpdir(), "provider-"));
let registered: string[] = [];

beforeEach(async () => {
  mkdirSync(folder, { recursive: true });
  registered = [];
  vi.stubEnv("PULUMI_HOME", join(folder, "home"));
  vi.stubEnv("PATH", folder);
  vi.spyOn(pulumi.runtime, "getRootDirectory").mockReturnValue(folder);
  await pulumi.runtime.setMocks({
    newResource: ({ type, name, inputs }) => {
      registered.push(type);
      return { id: `${name}-id`, state: inputs };
    },
    call: () => ({}),
  });
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  pulumi.runtime.setAllConfig({});
  rmSync(folder, { recursive: true });
});

const endpoint = (name: string, options?: pulumi.CustomResourceOptions) =>
  new CloudEndpoint(name, { url: `https://${name}.example.com` }, options);
const isThere = (resource: CloudEndpoint) => new Promise((resolve) => resource.id.apply(resolve));
const writeProject = (text: string) =>
  writeFileSync(join(folder, "Pulumi.yaml"), `name: p\nruntime: nodejs\n${text}`);

test("the stack's configuration wins over the environment, and an explicit provider over both", async () => {
  vi.stubEnv("ENDPOINTS_PROVIDER", "plugin");
  await isThere(endpoint("a"));
  pulumi.runtime.setConfig("endpoints:provider", "dynamic");
  await isThere(endpoint("b"));
  const theirs = new Provider("theirs", { apiKey: "k" });
  await isThere(endpoint("c", { provider: theirs }));
  const parent = new pulumi.ComponentResource("a:b:C", "parent", {}, { providers: [theirs] });
  await isThere(endpoint("d", { parent }));
  expect(registered.filter((type) => type.includes("CloudEndpoint"))).toEqual([
    "endpoints:index:CloudEndpoint",
    "pulumi-nodejs:dynamic/endpoints:CloudEndpoint",
    "endpoints:index:CloudEndpoint",
    "endpoints:index:CloudEndpoint",
  ]);
});

test("the key of an explicit provider is a secret, whatever it is given as", async () => {
  let seen: unknown;
  await pulumi.runtime.setMocks({
    newResource: ({ inputs, name }) => {
      seen = inputs.apiKey;
      return { id: name, state: inputs };
    },
    call: () => ({}),
  });
  const provider = new Provider("theirs", { apiKey: "CANARY" });
  await new Promise((resolve) => provider.id.apply(resolve));
  expect(JSON.stringify(seen)).toMatch(/1b47061264138c4ac30d75fd1eb44270.*CANARY/);
});

test("each former name and parent is looked for under the other type too; what names its type is left alone", () => {
  const type = "endpoints:index:CloudEndpoint";
  const urn = "urn:pulumi:s::p::a:b:C::old";
  expect(
    aliasesOf("dynamic", [{ name: "old" }, { type: "a:b:C" }, urn, pulumi.output({ name: "later" })]),
  ).toEqual([{ type }, { name: "old", type }]);
});

test.each([
  ["the project names none", "description: x\n"],
  [
    "the project names others",
    "plugins:\n  providers:\n    - name: other\n      path: x\npackages:\n  another: x\n",
  ],
])("the plugin is missed before the engine advises to download it, where %s", (_, project) => {
  pulumi.runtime.setConfig("endpoints:provider", "plugin");
  writeProject(project);
  expect(() => endpoint("a")).toThrow(
    /Pulumi\.yaml:\nplugins:\n {2}providers:\n {4}- name: endpoints\n {6}path: \S*provider\/plugin$/,
  );
  expect(() => endpoint("b", { provider: new Provider("theirs") })).toThrow(/finds no plugin/);
});

test.each<[where: string, put: () => void]>([
  [
    "the project's plugins",
    () => writeProject("plugins:\n  providers:\n    - name: endpoints\n      path: x\n"),
  ],
  ["the project's packages", () => writeProject("packages:\n  endpoints: ./x\n")],
  ["no project file, so that nothing is known", () => rmSync(join(folder, "Pulumi.yaml"))],
  ["the PATH", () => writeFileSync(join(folder, "pulumi-resource-endpoints"), "")],
  [
    "Pulumi's own folder",
    () => mkdirSync(join(folder, "home/plugins/resource-endpoints-v0.1.0"), { recursive: true }),
  ],
  ["a debugger", () => vi.stubEnv("PULUMI_DEBUG_PROVIDERS", "other:1,endpoints:4711")],
])("the plugin is found in %s", async (_, put) => {
  pulumi.runtime.setConfig("endpoints:provider", "plugin");
  writeProject("");
  put();
  await isThere(endpoint("a"));
  expect(registered).toContain("endpoints:index:CloudEndpoint");
});
