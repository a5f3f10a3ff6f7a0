import { describe, expect, test } from "vitest";
import { Emulator } from "../../../sdk/testing/emulator";
import { plugin, secret } from "./pluginClient";

const url = "https://shop.example.com";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Which key a create sends. */
async function keyUsed(options: {
  args?: Record<string, unknown>;
  stack?: Record<string, string>;
  environment?: Record<string, string>;
  name?: string;
}) {
  const emulator = await Emulator.start({ apiKey: "the_right_one" });
  const { client } = await plugin({
    emulator,
    name: options.name ?? "mine",
    args: { baseUrl: emulator.baseUrl, ...options.args },
    environment: { ...options.environment, PULUMI_CONFIG: JSON.stringify(options.stack ?? {}) },
  });
  return client.create({ url }).then(
    () => "the right key",
    () => "another key",
  );
}

const right = "the_right_one";
const copied = { apiKey: secret("old") };
const stack = { apiKey: right };
const others = { stack: { apiKey: "s" }, environment: { ENDPOINTS_API_KEY: "e" } };
test.each<[string, Parameters<typeof keyUsed>[0]]>([
  ["an argument has precedence over all others", { ...others, args: { apiKey: secret(right) } }],
  ["the stack's configuration has precedence over the environment", { ...others, stack }],
  ["the environment's key is used if there is no other", { environment: { ENDPOINTS_API_KEY: right } }],
  [
    "the stack's configuration has precedence over the default provider's copy in the state",
    { name: "default", args: copied, stack },
  ],
  [
    "the stack's configuration has precedence over the copy of a default provider with a version",
    { name: "default_0_1_0", args: copied, stack },
  ],
  [
    "a provider of the program is not a default one, whatever its name",
    { ...others, name: "default-b", args: { apiKey: secret(right) } },
  ],
  [
    "the default provider's copy is used if the stack has no key",
    { name: "default", args: { apiKey: secret(right) } },
  ],
])("%s", async (_, options) => {
  expect(await keyUsed(options)).toBe("the right key");
});

describe("the check of a configuration", () => {
  test("reports all invalid settings at once, without their values", async () => {
    const { client } = await plugin({ configure: false });
    const { failures } = await client.checkConfig({
      apiKey: "CANARY CANARY",
      baseUrl: "https://user:CANARY@api.example.com",
      retryForSeconds: -1,
      listFilter: "perhaps",
    });
    expect(failures).toEqual([
      { property: "", reason: expect.stringMatching(/the API key contains spaces/) },
      { property: "", reason: expect.stringMatching(/the base URL contains credentials/) },
      { property: "", reason: expect.stringMatching(/retryForSeconds/) },
      { property: "", reason: expect.stringMatching(/listFilter/) },
    ]);
    expect(JSON.stringify(failures)).not.toContain("CANARY");
  });

  test("returns the key as a secret, and all other settings unchanged", async () => {
    const { client } = await plugin({ configure: false });
    const news = { apiKey: "key", baseUrl: "https://api.example.com/", version: "0.1.0", other: "x" };
    expect(await client.checkConfig(news)).toEqual({
      inputs: { ...news, apiKey: secret("key") },
      failures: [],
    });
  });

  test("accepts unknown values", async () => {
    const { client } = await plugin({ configure: false });
    const { inputs, failures } = await client.checkConfig({ apiKey: UNKNOWN, baseUrl: UNKNOWN });
    expect(failures).toEqual([]);
    expect(inputs).toEqual({ apiKey: secret(UNKNOWN), baseUrl: UNKNOWN });
  });
});

test("a change of the configuration replaces nothing", async () => {
  const { client } = await plugin({ configure: false });
  const olds = { apiKey: "a", baseUrl: "https://a.example.com" };
  expect(await client.diffConfig(olds, olds)).toMatchObject({ changes: false, detailed: {} });
  expect(await client.diffConfig(olds, { apiKey: "b", windowSeconds: "1" })).toMatchObject({
    changes: true,
    replaces: [],
    detailed: {
      apiKey: "UPDATE of inputs",
      baseUrl: "DELETE of inputs",
      windowSeconds: "ADD of inputs",
    },
  });
});

test("with unknown settings, a check, a diff and a preview succeed without a request", async () => {
  const { client, emulator } = await plugin({ args: { apiKey: UNKNOWN } });
  expect(await client.check({}, { url: `${url}/`, adopt: true })).toEqual({
    inputs: { url, adopt: true },
    failures: [],
  });
  expect((await client.check({}, { url: "nowhere" })).failures).toHaveLength(1);
  expect(await client.diff("ep_1", { url, type: "cloud" }, { url })).toMatchObject({ changes: false });
  expect((await client.create({ url }, { preview: true })).outs).toMatchObject({ publicUrl: url });
  expect(emulator.requests).toEqual([]);
});

test("a plugin without settings fails at the first operation that needs them", async () => {
  const { client } = await plugin({ args: {} });
  await expect(client.create({ url })).rejects.toThrow(/there is no API key: set ENDPOINTS_API_KEY/);
});

test("a configuration without a stack is refused, because no mark would tell its endpoints apart", async () => {
  await expect(plugin({ name: "" })).rejects.toThrow(/needs a stack: run `pulumi up`/);
});

test("the plugin declares that it accepts secrets, resources and previews", async () => {
  const { client } = await plugin({ configure: false });
  expect(await client.handshake("127.0.0.1:1")).toMatchObject({ acceptSecrets: true, acceptResources: true });
  expect(await client.configure({})).toMatchObject({
    acceptsecrets: true,
    acceptresources: true,
    supportspreview: true,
  });
});

describe("settings that are missing", () => {
  test("of a default provider are reported by the first endpoint, because a component needs no account", async () => {
    const { client } = await plugin({ configure: false });
    expect((await client.checkConfig({}, "default_0_1_0")).failures).toEqual([]);
    await client.configure({}, "default_0_1_0");
    const { failures } = await client.check({}, { url });
    expect(failures.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^there is no API key: set ENDPOINTS_API_KEY/),
      expect.stringMatching(/^there is no base URL of the service: set ENDPOINTS_BASE_URL/),
    ]);
  });

  test("of an explicit provider, and settings that are wrong, are reported by the provider", async () => {
    const { client } = await plugin({ configure: false });
    expect((await client.checkConfig({}, "theirs")).failures).toHaveLength(2);
    const { failures } = await client.checkConfig({ baseUrl: "api.example.com" }, "default");
    expect(failures.map(({ reason }) => reason)).toEqual([expect.stringMatching(/base ?URL/i)]);
  });
});
