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
  const endpoint = (name: string, args: object) =>
    new CloudEndpoint(name, { url: `https://${name}.example.com`, ...args });
  const data = endpoint("data", {
    trafficPolicy: { on_tcp_connect: [], on_http_request: [] },
    metadata: { team: "shop" },
  });
  const text = endpoint("text", { trafficPolicy: "on_tcp_connect: []", metadata: "plain" });
  const none = endpoint("none", {});
  for (const [{ trafficPolicy, metadata }, expected] of [
    [data, ['{"on_http_request":[],"on_tcp_connect":[]}', '{"team":"shop"}']],
    [text, ["on_tcp_connect: []", "plain"]],
    [none, [undefined, undefined]],
  ] as const)
    expect([await resolved(trafficPolicy), await resolved(metadata)]).toEqual(expected);
});

test("all checks share one parse of a policy that is given as text", async () => {
  const { Composer }: typeof import("yaml") = createRequire(import.meta.url)("yaml");
  const compose = vi.spyOn(Composer.prototype, "compose");
  const text = "on_http_request: [{ expressions: [\"'x-a' in req.headers\"], actions: [{ type: deny }] }]";
  for (const [name, trafficPolicy] of Object.entries({ a: text, b: pulumi.output(text) })) {
    compose.mockClear();
    await resolved(new CloudEndpoint(name, { url: `https://${name}.example.com`, trafficPolicy }).id);
    expect(compose).toHaveBeenCalledOnce();
  }
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
    /cannot be found from .*npm install pulumi-endpoints/,
  );
  vi.restoreAllMocks();
});

describe.each(["dynamic", "plugin"])(
  "with the %s provider, a policy that misspells a header's name",
  (provider) => {
    const policy = (name: pulumi.Input<string> = "X-GitHub-Event") => ({
      on_http_request: [
        {
          expressions: [pulumi.interpolate`req.headers['${name}'][0] == 'push'`],
          actions: [{ type: "deny" }],
        },
      ],
    });
    const warning = (place: string, position = "character 13") =>
      `warning: [runtime] ${place}.expressions[0] (${position}) looks for X-GitHub-Event with req.headers, which never matches: write x-github-event`;

    beforeEach(() => pulumi.runtime.setConfig("endpoints:provider", provider));
    afterEach(() => {
      pulumi.runtime.setAllConfig({});
      vi.restoreAllMocks();
    });

    async function warningsFor(name: string, trafficPolicy: CloudEndpointArgs["trafficPolicy"]) {
      const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
      const args = trafficPolicy === undefined ? {} : { trafficPolicy };
      await resolved(new CloudEndpoint(name, { url: `https://${name}.example.com`, ...args }).id);
      return warn.mock.calls.map(([text]) => String(text));
    }

    test("gets one warning, from the class, which names the resource", async () => {
      const text = JSON.stringify({
        on_http_request: [
          { expressions: ["req.headers['X-GitHub-Event'][0] == 'push'"], actions: [{ type: "deny" }] },
        ],
      });
      for (const [name, given] of Object.entries({ a: policy(), b: text, c: pulumi.output(text) })) {
        const position = given === text || name === "c" ? "line 1, column 50" : "character 13";
        expect(await warningsFor(name, given)).toEqual([
          warning(`${name}: trafficPolicy.on_http_request[0]`, position),
        ]);
        vi.restoreAllMocks();
      }
      // With this input, the plugin's check leaves the warning to the class.
      const alreadyWarned = provider === "plugin" ? "" : undefined;
      expect(registered.map(({ inputs }) => inputs["__problem"])).toEqual(Array(3).fill(alreadyWarned));
    });

    test("gets no warning if the expression is secret", async () =>
      expect(await warningsFor("shop", policy(pulumi.secret("X-CANARY")))).toEqual([]));
  },
);

test("the types require the URL, accept outputs at any depth, and give outputs", () => {
  expectTypeOf<CloudEndpointArgs["url"]>().toEqualTypeOf<pulumi.Input<string>>();
  expectTypeOf<{
    trafficPolicy: { a: pulumi.Output<string> };
    url: string;
  }>().toMatchTypeOf<CloudEndpointArgs>();
  expectTypeOf<{ trafficPolicy: number; url: string }>().not.toMatchTypeOf<CloudEndpointArgs>();
  expectTypeOf<{ description: string }>().not.toMatchTypeOf<CloudEndpointArgs>();
  expectTypeOf<CloudEndpoint["publicUrl"]>().toEqualTypeOf<pulumi.Output<string>>();
  expectTypeOf<CloudEndpoint["region"]>().toEqualTypeOf<pulumi.Output<string | undefined>>();
});
