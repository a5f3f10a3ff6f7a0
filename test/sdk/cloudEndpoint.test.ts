import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { CloudEndpoint, type CloudEndpointArgs } from "../../sdk";
import { mockEngine, resolved } from "./program";

let registered: { type: string; inputs: Record<string, unknown> }[] = [];

beforeEach(async () => {
  registered = [];
  await mockEngine(({ type, inputs }) => registered.push({ type, inputs }));
});

describe("compatibility with existing states", () => {
  test("the type and the provider string never change, to the byte", async () => {
    await resolved(new CloudEndpoint("shop", { url: "https://shop.example.com" }).id);
    expect(registered).toEqual([
      {
        type: "pulumi-nodejs:dynamic/endpoints:CloudEndpoint",
        inputs: {
          url: "https://shop.example.com",
          __provider: 'exports.handler = () => require("pulumi-endpoints/provider");',
        },
      },
    ]);
  });
});

test("the metadata output is secret as a whole if any value in it is secret", async () => {
  const secret = new CloudEndpoint("secret", {
    url: "https://a.example.com",
    metadata: { key: pulumi.secret("x") },
  });
  const plain = new CloudEndpoint("plain", { url: "https://b.example.com", metadata: { key: "x" } });
  await Promise.all([resolved(secret.id), resolved(plain.id)]);
  expect(await pulumi.isSecret(secret.metadata)).toBe(true);
  expect(await pulumi.isSecret(plain.metadata)).toBe(false);
});

test("the outputs trafficPolicy and metadata are text even if the inputs are objects", async () => {
  const outputs = async (name: string, args: object) => {
    const endpoint = new CloudEndpoint(name, { url: `https://${name}.example.com`, ...args });
    return [await resolved(endpoint.trafficPolicy), await resolved(endpoint.metadata)];
  };
  const trafficPolicy = { on_tcp_connect: [], on_http_request: [] };
  const texts = ['{"on_http_request":[],"on_tcp_connect":[]}', '{"team":"shop"}'];
  expect(await outputs("data", { trafficPolicy, metadata: { team: "shop" } })).toEqual(texts);
  expect(await outputs("text", { trafficPolicy: "a: []", metadata: "plain" })).toEqual(['{"a":[]}', "plain"]);
  expect(await outputs("none", {})).toEqual([undefined, undefined]);
});

test("all checks share one parse of a policy that is given as text", async () => {
  const { Composer }: typeof import("yaml") = createRequire(import.meta.url)("yaml");
  const compose = vi.spyOn(Composer.prototype, "compose");
  const text = "on_http_request: [{ expressions: [\"'x-a' in req.headers\"], actions: [{ type: deny }] }]";
  const trafficPolicy = pulumi.output(text);
  await resolved(new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy }).id);
  expect(compose).toHaveBeenCalledOnce();
  vi.restoreAllMocks();
});

test("get reads by id and sends no inputs", async () => {
  const theirs = CloudEndpoint.get("theirs", "ep_theirs");
  expect(await resolved(theirs.id)).toBe("ep_theirs");
  expect(Object.keys(registered[0]?.inputs ?? {})).toEqual(["__provider"]);
  expect(CloudEndpoint.isInstance(theirs)).toBe(true);
  expect(CloudEndpoint.isInstance({})).toBe(false);
});

test("the constructor throws and advises an installation if the program's folder cannot load the package", () => {
  vi.spyOn(process, "cwd").mockReturnValue(tmpdir());
  expect(() => new CloudEndpoint("shop", { url: "https://shop.example.com" })).toThrow(
    /cannot be found from .*Add it to the dependencies in the program's own package\.json/,
  );
  vi.restoreAllMocks();
});

describe.each(["dynamic", "plugin"])("with the %s provider, a misspelt header's name", (provider) => {
  beforeEach(() => pulumi.runtime.setConfig("endpoints:provider", provider));
  afterEach(() => {
    pulumi.runtime.setAllConfig({});
    vi.restoreAllMocks();
  });

  const asking = (expression: pulumi.Input<string>) => ({
    on_http_request: [{ expressions: [expression], actions: [{ type: "deny" }] }],
  });
  const misspelt = "req.headers['X-GitHub-Event'][0] == 'push'";

  test.each<[string, pulumi.Input<object | string>, places: string[]]>([
    ["in an output gets one warning, from the class", asking(pulumi.output(misspelt)), ["character 13"]],
    ["in text gets one, too", pulumi.output(JSON.stringify(asking(misspelt))), ["line 1, column 50"]],
    ["that is secret gets none", asking(pulumi.secret(misspelt)), []],
  ])("%s", async (_, trafficPolicy, places) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    await resolved(new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy }).id);
    expect(warn.mock.calls.flat()).toEqual(
      places.map(
        (place) =>
          `warning: [runtime] shop: trafficPolicy.on_http_request[0].expressions[0] (${place}) looks for X-GitHub-Event with req.headers, which never matches: write x-github-event`,
      ),
    );
    // With this input, the plugin's check leaves the warning to the class.
    expect(registered[0]?.inputs["__problem"]).toBe(provider === "plugin" ? "" : undefined);
  });
});

describe.each(["dynamic", "plugin"])("with the %s provider, a CloudEndpoint is warned", (provider) => {
  const PUBLIC = "https://api.ngrok.com";
  const MISSING =
    "trafficPolicy is missing, and the public service refuses to create a cloud endpoint without one; give one with an action that answers, such as forward-internal, custom-response or deny";
  const lacks = (place: string, word: string) =>
    `${place} has ${word} in it, as programs write for a value that is missing or is no text; check the values that the text is built from`;
  const MISSPELT = "bindings has a name that the public service does not know; did you mean public?";
  const TIMEOUTS =
    "the option customTimeouts has no effect; endpoints:retryForSeconds bounds how long requests are repeated";
  const DELETED_WITH =
    "the option deletedWith leaves the endpoint live, because Pulumi skips its deletion; remove the option";
  const deny = { on_http_request: [{ actions: [{ type: "deny" }] }] };
  afterEach(() => {
    pulumi.runtime.setAllConfig({});
    vi.restoreAllMocks();
  });

  // biome-ignore format: one line for each warning
  test.each<[string, args: object, option: "" | "deletedWith" | "customTimeouts", warnings: string[], baseUrl?: string]>([
    ["of a misspelt binding", { trafficPolicy: deny, bindings: [pulumi.output("publik")] }, "", [MISSPELT]],
    ["not of a secret binding, or of none", { trafficPolicy: deny, bindings: [pulumi.secret("publik"), 7] }, "", []],
    ["of a value that is missing in a text", { trafficPolicy: deny, description: pulumi.output("owner undefined"), metadata: { a: ["https://null.x", `of ${{}}`] } }, "", [lacks("description", "undefined"), lacks("metadata.a[0]", "null"), lacks("metadata.a[1]", "[object Object]")]],
    ["of a missing policy on the public service", { trafficPolicy: pulumi.output(undefined) }, "", [MISSING], PUBLIC],
    ["of a missing policy elsewhere", {}, "", [MISSING.replace("the public service refuses", "the service may refuse")]],
    ["not of a policy on the public service", { trafficPolicy: pulumi.secret(deny) }, "", [], PUBLIC],
    ["not of a missing policy if it adopts", { adopt: "ep_1" }, "", [], PUBLIC],
    ["of deletedWith", { trafficPolicy: deny }, "deletedWith", [DELETED_WITH]],
    ["of customTimeouts", { trafficPolicy: deny }, "customTimeouts", [TIMEOUTS]],
  ])("%s", async (_, args, option, warnings, baseUrl = "https://api.example.com") => {
    pulumi.runtime.setAllConfig({ "endpoints:provider": provider, "endpoints:baseUrl": baseUrl });
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const given = { deletedWith: new pulumi.ComponentResource("a:b:C", "site"), customTimeouts: { create: "1m" } };
    const options = option ? { [option]: given[option] } : {};
    await resolved(new CloudEndpoint("shop", { url: "https://shop.example.com", ...args }, options).id);
    expect(warn.mock.calls.flat()).toEqual(warnings.map((text) => `warning: [runtime] shop: ${text}`));
  });
});

test("the types require the URL, accept outputs at any depth, and give outputs", () => {
  type Deep = { trafficPolicy: { a: pulumi.Output<string> }; url: string };
  expectTypeOf<Deep>().toExtend<CloudEndpointArgs>();
  expectTypeOf<{ description: string }>().not.toExtend<CloudEndpointArgs>();
  expectTypeOf<CloudEndpoint["region"]>().toEqualTypeOf<pulumi.Output<string | undefined>>();
});
