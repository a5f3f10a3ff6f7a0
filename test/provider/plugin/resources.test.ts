import * as grpc from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../provider/data/index";
import { UNKNOWN } from "../../../provider/pulumi/sentinels";
import { methods } from "../../requests";
import { thrown } from "../emulated";
import { created, full, type Props, plugin, pluginClient, rules, secret, URN, url } from "./pluginClient";

describe("secrets", () => {
  test("within a document make it secret as a whole", async () => {
    const { client } = await plugin();
    const { inputs } = await client.check({}, { ...full, trafficPolicy: rules(secret(404)) });
    expect(inputs).toEqual({ ...full, trafficPolicy: secret(rules(404)) });
    const { outs } = await client.create(inputs);
    expect(outs["trafficPolicy"]).toEqual(secret(canonicalJson(rules(404))));
  });

  test("that only the engine has marked in the state hide the service's texts and stay marked", async () => {
    const { client, id, outs, inputs, emulator } = await created(full);
    const state = { ...outs, description: secret("CANARY-1") };
    const { props } = await client.read(id, state, inputs);
    expect(props).toMatchObject({ description: secret("front door") });
    emulator.intercept(({ method }) => method !== "GET", { status: 418, body: { msg: "CANARY-1" } });
    await expect(client.delete(id, state)).rejects.toThrow(/status 418 \(the service's text is left out/);
  });
});

const signature = "4dabf18193072939515e22adb298388d";
const reference = (id: object) => ({ [signature]: "5cf8f73096256a8f31e491e813e4eb8e", urn: "urn:x", ...id });
const asset = { [signature]: "c44067f5952c0a294b673a41bacd8c17", text: "x" };
const aBoolean = "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7";
const aList = "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2";
// biome-ignore format: one line for each value
test.each<[string, object, object | RegExp]>([
  ["a reference to another resource becomes its id", { metadata: reference({ id: "ep_1" }) }, { metadata: "ep_1" }],
  ["a reference to a component becomes its URN", { metadata: reference({}) }, { metadata: "urn:x" }],
  ["a reference within a document is refused", { metadata: { a: secret(reference({ id: "ep_1" })) } }, /^metadata contains at a an asset, an archive or a resource, which is no plain data/],
  ["an asset is refused", { metadata: { asset } }, /^metadata contains at asset an asset, an archive or a resource, which is no plain data/],
  ["an asset in place of a policy is refused", { trafficPolicy: asset }, /^trafficPolicy contains an asset, an archive or a resource, which is no plain data/],
  ["an unknown value of any type is accepted", { poolingEnabled: aBoolean, bindings: aList, trafficPolicy: { on_http_request: aList } }, { poolingEnabled: UNKNOWN, bindings: UNKNOWN, trafficPolicy: { on_http_request: UNKNOWN } }],
])("%s", async (_, news, expected) => {
  const { client } = await plugin();
  const { inputs, failures } = await client.check({}, { url, ...news });
  if (expected instanceof RegExp) expect(failures).toEqual([{ property: "", reason: expect.stringMatching(expected) }]);
  else expect([inputs, failures]).toEqual([{ url, ...expected }, []]);
});

// biome-ignore format: one line for each resource
test.each<[string, Record<string, unknown>, RegExp?]>([
  ["conflict if both have the same url", { url }, /^the url is also that of shop; /],
  ["do not conflict while the endpoint that they adopt is unknown", { url: UNKNOWN, adopt: UNKNOWN }],
  ["do not conflict while it is unknown whether they are pooled", { url, poolingEnabled: aBoolean }],
])("two resources %s", async (_, news, reason) => {
  const { client } = await plugin();
  expect((await client.check({}, news)).failures).toEqual([]);
  const { failures } = await pluginClient(client.raw, `${URN}-b`).check({}, news);
  expect(failures).toEqual(reason ? [{ property: "", reason: expect.stringMatching(reason) }] : []);
});

const onPublicService = { apiKey: secret("key"), baseUrl: "https://api.ngrok.com" };
const MISSING = "trafficPolicy is missing, and the public service refuses to create";
const MISSPELT = "bindings has a name that the public service does not know; did you mean public?";

// biome-ignore format: one line for each warning
test.each<[string, args: Props | undefined, olds: Props, news: Props[], warnings: string[]]>([
  ["of a misspelt binding, but not of an unknown one", undefined, { url }, ["publik", "publik", "edge-of-the-world", "kubernetes", UNKNOWN].map((name) => ({ bindings: [name] })), [MISSPELT]],
  ["of a create on the public service without a policy", onPublicService, {}, [{}, {}], [MISSING]],
  ["not of a policy that is given or unknown", onPublicService, {}, [{ on_http_request: [{ actions: [{ type: "deny" }] }] }, UNKNOWN].map((trafficPolicy) => ({ trafficPolicy })), []],
  ["not of a policy that an endpoint lacks already", onPublicService, { url }, [{ description: "new" }], []],
  ["of a missing policy on another service", { ...onPublicService, baseUrl: "https://api.example.com" }, {}, [{}], ["trafficPolicy is missing, and the service may refuse"]],
  ["of nothing that the class has checked", onPublicService, {}, [{ bindings: ["publik"], __problem: "" }], []],
])("a resource is warned %s", async (_, args, olds, news, warnings) => {
  const { client, logged } = await plugin(args && { args });
  for (const each of news) expect((await client.check(olds, { url, ...each })).failures).toEqual([]);
  expect(logged).toEqual(warnings.map((text) => ({ severity: 2, message: expect.stringContaining(text), urn: URN })));
});

describe("warnings of a policy", () => {
  const typed = (type: unknown) => ({
    on_http_request: [{ actions: [{ type }, { type: "deny", config: { stauts: 1 } }] }],
  });
  const asks = (expression: unknown) => ({
    on_http_request: [{ expressions: [expression], actions: [{ type: "custom-response" }] }],
  });
  const header = "'a' in req.headers['X-Team']";
  const status = "trafficPolicy.on_http_request[0].actions[1].config.stauts";
  const looks = (place: string) =>
    `trafficPolicy.on_http_request[0].expressions[0] (${place}) looks for X-Team with req.headers, which never matches: write x-team`;

  // biome-ignore format: one line for each policy
  test.each<[string, policy: unknown, warnings: string[], problem?: string]>([
    ["arrive once and in order", { on_http_request: [{ actions: [{ type: "deny" }], a: 1, b: 2, c: 3 }] }, ["a", "b", "c"].map((key) => `trafficPolicy.on_http_request[0].${key} `)],
    ["leave out a secret part", typed(secret("dney")), [status]],
    ["give line and column in an expression of text", JSON.stringify(asks(header)), [looks("line 1, column 57")]],
    ["leave out a secret expression", asks(secret(header)), []],
    ["are left to the class, if it has warned", asks(header), [], ""],
  ])("%s", async (_, trafficPolicy, warnings, __problem) => {
    const { client, emulator, logged } = await plugin();
    const news = { url, trafficPolicy, ...(__problem === "" && { __problem }) };
    for (let check = 0; check < 2; check++) expect((await client.check({}, news)).failures).toEqual([]);
    expect(logged).toEqual(
      warnings.map((text) => ({ severity: 2, message: expect.stringContaining(text), urn: URN })),
    );
    expect(emulator.requests).toEqual([]);
    // Another resource with the same mistake is warned of, too.
    await pluginClient(client.raw, `${URN}-b`).check({}, { ...news, url: "https://b.example.com" });
    expect(logged).toHaveLength(2 * warnings.length);
  });
});

test("an error is one line, with a status that does not suggest a corrupt state", async () => {
  const { client, emulator } = await plugin();
  emulator.intercept(() => true, { status: 403, body: { msg: "no\nway", error_code: "ERR_NGROK_1" } });
  expect(await thrown(client.create({ url }))).toMatchObject({
    cause: { code: grpc.status.FAILED_PRECONDITION },
    message: expect.stringMatching(
      /^cannot create https:\/\/shop\.example\.com: POST \/endpoints: status 403, .*$/,
    ),
  });
});

test("after a cancel, a request in flight is completed, and no further one is sent", async () => {
  const { client, emulator } = await plugin({ environment: { ENDPOINTS_REQUESTS_PER_WINDOW: "1" } });
  let cancel = () => {};
  const cancelled = new Promise<void>((resolve) => (cancel = resolve));
  emulator.intercept(() => true, { afterCommit: true, delayMs: 100, after: () => cancel() });
  const flying = client.create({ url });
  const waiting = thrown(client.create({ url: "https://other.example.com" }));
  await cancelled;
  await client.cancel();
  expect((await waiting).message).toBe(
    "cannot create https://other.example.com: POST /endpoints: not sent, since the run was cancelled",
  );
  const { id } = await flying;
  await expect(client.read(id, {}, { url })).rejects.toThrow(/the run was cancelled/);
  expect(methods(emulator)).toEqual(["POST"]);
});

test("after a cancel, a client that is made later sends nothing, either", async () => {
  const { client, emulator } = await plugin();
  await client.cancel();
  await expect(client.create({ url })).rejects.toThrow(/the run was cancelled/);
  expect(emulator.requests).toEqual([]);
});

test("an unknown type fails, and the error names the known type", async () => {
  const { client } = await plugin();
  for (const type of ["Tunnel", "WebhookVerification"])
    await expect(
      pluginClient(client.raw, URN.replace("CloudEndpoint", type)).check({}, { url }),
    ).rejects.toThrow(`has no endpoints:index:${type}; it has endpoints:index:CloudEndpoint`);
});
