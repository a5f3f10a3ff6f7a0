import { expect, test } from "vitest";
import { UNKNOWN } from "../../../provider/pulumi/sentinels";
import { Emulator } from "../../../sdk/testing/emulator";
import { thrown } from "../emulated";
import { plugin, secret, url } from "./pluginClient";

const right = "the_right_one";
const stack = { apiKey: right };
const all = { stack: { apiKey: "s" }, environment: { ENDPOINTS_API_KEY: "e" } };
const copied = { args: { apiKey: secret("old") }, stack };

// biome-ignore format: one line for each provider
test.each<[string, string, { args?: object; stack?: object; environment?: Record<string, string> }]>([
  ["an argument has precedence over all others", "default-b", { ...all, args: { apiKey: secret(right) } }],
  ["the stack's configuration has precedence over the environment", "mine", { ...all, stack }],
  ["the environment's key is used if there is no other", "mine", { environment: { ENDPOINTS_API_KEY: right } }],
  ["the stack's configuration has precedence over the default provider's copy in the state", "default_0_1_0", copied],
  ["the default provider's copy is used if the stack has no key", "default", { args: { apiKey: secret(right) } }],
])("%s", async (_, name, { args, stack = {}, environment }) => {
  const emulator = await Emulator.start({ apiKey: right });
  const { client } = await plugin({
    emulator,
    name,
    args: { baseUrl: emulator.baseUrl, ...args },
    environment: { ...environment, PULUMI_CONFIG: JSON.stringify(stack) },
  });
  expect((await client.create({ url })).id).toMatch(/^ep_/);
});

test("a refused key of an explicit provider names the argument, and no setting of the stack", async () => {
  const emulator = await Emulator.start();
  const args = { baseUrl: emulator.baseUrl, apiKey: secret("not_the_right_one") };
  const { client } = await plugin({ emulator, name: "theirs", args });
  const { message } = await thrown(client.create({ url }));
  expect(message).toMatch(/The API key was refused: correct the argument apiKey of the resource's provider/);
  expect(message).not.toMatch(/pulumi config|ENDPOINTS_API_KEY/);
});

const wrong = {
  apiKey: "CANARY CANARY",
  baseUrl: "https://user:CANARY@a.example",
  retryForSeconds: -1,
  listFilter: "perhaps",
};
const given = { apiKey: "key", baseUrl: "https://api.example.com/", version: "0.1.0", other: "x" };
// biome-ignore format: one line for each configuration
test.each<[string, string, object, failures: RegExp[]]>([
  ["reports all invalid settings at once, without their values", "theirs", wrong, [/the API key contains spaces/, /the base URL contains credentials/, /retryForSeconds/, /listFilter/]],
  ["accepts text that a generated SDK has written as JSON", "theirs", { ...given, policyWarnings: '"error"' }, []],
  ["of an explicit provider reports missing settings", "theirs", {}, [/no API key/, /no base URL/]],
  ["of an explicit provider names its own argument", "theirs", { ...given, retryForSeconds: -1 }, [/^retryForSeconds is not a number [^;]*: correct the argument retryForSeconds of this provider$/]],
  ["of a default provider reports none, because a component needs no account", "default_0_1_0", {}, []],
])("the check of a configuration %s, and returns the key as a secret", async (_, name, args, reasons) => {
  const { client } = await plugin({ configure: false });
  const { inputs, failures } = await client.checkConfig({ ...args }, name);
  expect(failures).toEqual(reasons.map((reason) => ({ property: "", reason: expect.stringMatching(reason) })));
  expect(JSON.stringify(failures)).not.toContain("CANARY");
  expect(inputs).toEqual({ ...args, ...("apiKey" in args && { apiKey: secret(args.apiKey) }) });
});

test("a change of the configuration replaces nothing", async () => {
  const { client } = await plugin({ configure: false });
  const olds = { apiKey: "a", baseUrl: "https://a.example.com" };
  expect(await client.diffConfig(olds, olds)).toMatchObject({ changes: false, detailed: {} });
  expect(await client.diffConfig(olds, { apiKey: "b", windowSeconds: "1" })).toMatchObject({
    changes: true,
    replaces: [],
    detailed: { apiKey: "UPDATE of inputs", baseUrl: "DELETE of inputs", windowSeconds: "ADD of inputs" },
  });
});

test("with unknown settings, a check, a diff and a preview succeed without a request", async () => {
  const { client, emulator } = await plugin({ args: { apiKey: UNKNOWN } });
  const checked = await client.check({}, { url: `${url}/`, adopt: "ep_1" });
  expect(checked).toEqual({ inputs: { url, adopt: "ep_1" }, failures: [] });
  expect((await client.check({}, { url: "nowhere" })).failures).toHaveLength(1);
  expect(await client.diff("ep_1", { url, type: "cloud", __version: "0.1.0" }, { url })).toMatchObject({
    changes: false,
  });
  expect((await client.create({ url }, { preview: true })).outs).toMatchObject({ publicUrl: url });
  expect(emulator.requests).toEqual([]);
});

test("endpoints:adopt is the stack's own, and not the copy among a default provider's arguments in the state", async () => {
  const { client, emulator, logged } = await plugin({ configure: false });
  await client.configure({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl, adopt: "ep_1" });
  await client.diff("ep_1", { url: "https://shop.example.com" }, { url: "https://shop.example.com" });
  expect(logged).toEqual([]);
});
