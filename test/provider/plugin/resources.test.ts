import * as grpc from "@grpc/grpc-js";
import { ListRequest, ParameterizeRequest } from "@pulumi/pulumi/proto/provider_pb";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../provider/api/json";
import { UNKNOWN } from "../../../provider/endpoint/documents";
import { methods } from "../../requests";
import { thrown } from "../service";
import { created, full, plugin, rules, secret, URN, url } from "./pluginClient";

describe("secrets", () => {
  const marked = { ...full, trafficPolicy: rules(secret(404)), url: secret(url) };

  test("are sent in plain, and returned as secrets; documents are secret as a whole", async () => {
    const { client, emulator } = await plugin();
    const { inputs } = await client.check({}, marked);
    expect(inputs).toEqual({ ...full, trafficPolicy: secret(rules(404)), url: secret(url) });
    const { outs, id } = await client.create(inputs);
    expect(emulator.requests[0]?.body).toMatchObject({ url, description: "front door" });
    // `markedSecrets.test.ts` has the fields that are secret.
    const found = await client.read(id, outs, inputs);
    expect(found).toEqual({ id, props: outs, inputs });
    expect(await client.diff(id, outs, inputs)).toMatchObject({ changes: false });
    expect((await client.update(id, outs, { ...inputs, description: "x" })).outs).toMatchObject({
      trafficPolicy: secret(canonicalJson(rules(404))),
    });
  });

  test("that only the engine has marked in the state hide the service's texts, and stay marked", async () => {
    const { client, id, outs, inputs, emulator } = await created(full);
    const state = { ...outs, description: secret("CANARY-1") };
    const found = await client.read(id, state, inputs);
    expect(found.props).toMatchObject({ description: secret("front door") });
    emulator.intercept(({ method }) => method !== "GET", { status: 418, body: { msg: "CANARY-1" } });
    await expect(client.delete(id, state)).rejects.toThrow(/status 418 \(the service's text is left out/);
  });

  test("of an import are marked, without a note, because its inputs become code", async () => {
    const { client, emulator } = await plugin();
    const { id } = emulator.seed({ type: "cloud", url, metadata: '{"password":"CANARY-1"}' });
    const { props, inputs } = await client.read(id);
    expect(props).toMatchObject({ metadata: secret('{"password":"CANARY-1"}') });
    expect(inputs).toEqual({
      url,
      bindings: ["public"],
      poolingEnabled: false,
      metadata: secret({ password: "CANARY-1" }),
    });
  });
});

test("a reference to another resource becomes its id, and an asset is refused", async () => {
  const { client } = await plugin();
  const signature = "4dabf18193072939515e22adb298388d";
  const kind = "5cf8f73096256a8f31e491e813e4eb8e";
  const reference = (id: object) => ({ [signature]: kind, urn: "urn:x", ...id });
  const metadata = { made: reference({ id: "ep_1" }), open: reference({ id: "" }), component: reference({}) };
  expect((await client.check({}, { url, metadata })).inputs).toEqual({
    url,
    metadata: { made: "ep_1", open: UNKNOWN, component: "urn:x" },
  });
  const asset = { [signature]: "c44067f5952c0a294b673a41bacd8c17", text: "x" };
  const { failures } = await client.check({}, { url, metadata: { asset } });
  const reason = expect.stringMatching(/metadata contains at asset a value that JSON cannot hold/);
  expect(failures).toEqual([{ property: "", reason }]);
});

test("an unknown value of any type is accepted", async () => {
  const { client } = await plugin();
  const news = {
    url,
    poolingEnabled: "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    bindings: "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    trafficPolicy: { on_http_request: "dd056dcd-154b-4c76-9bd3-c8f88648b5ff" },
  };
  expect(await client.check({}, news)).toEqual({
    inputs: { url, poolingEnabled: UNKNOWN, bindings: UNKNOWN, trafficPolicy: { on_http_request: UNKNOWN } },
    failures: [],
  });
});

test("a policy with a secret causes the warnings that do not depend on the secret", async () => {
  const { client, logged } = await plugin();
  const actions = (type: unknown) => [{ type }, { type: "deny", config: { stauts: 1 } }];
  const trafficPolicy = (type: unknown) => ({ on_http_request: [{ actions: actions(type) }] });
  const warnings = async (policy: unknown, urn: string) => {
    const before = logged.length;
    await client.check({}, { url: `https://${urn}.example.com`, trafficPolicy: policy }, `${URN}-${urn}`);
    return logged.slice(before).map(({ message }) => message.split(" ", 1)[0]);
  };
  const inConfig = "trafficPolicy.on_http_request[0].actions[1].config.stauts";
  expect(await warnings(trafficPolicy("dney"), "a")).toEqual([
    "trafficPolicy.on_http_request[0].actions[0].type",
    inConfig,
  ]);
  expect(await warnings(trafficPolicy(secret("dney")), "b")).toEqual([inConfig]);
  expect(await warnings(secret(trafficPolicy("dney")), "c")).toEqual([]);
});

describe("a misspelt header", () => {
  const answer = (body: unknown) => ({ type: "custom-response", config: { body } });
  const asks = (name: string) => `'a' in req.headers['${name}']`;
  const policy = (expression: unknown) => ({
    on_http_request: [{ expressions: [expression], actions: [answer("x")] }],
  });

  test("causes one warning for each resource, without a request", async () => {
    const { client, emulator, logged } = await plugin();
    const news = { url, trafficPolicy: policy(asks("X-Team")) };
    for (let check = 0; check < 2; check++) expect((await client.check({}, news)).failures).toEqual([]);
    const other = { url: "https://b.example.com", trafficPolicy: JSON.stringify(policy(asks("X-Team"))) };
    await client.check({}, other, `${URN}-b`);
    const message = (place: string) =>
      `trafficPolicy.on_http_request[0].expressions[0] (${place}) looks for X-Team with req.headers, which never matches: write x-team`;
    expect(logged).toEqual([
      { severity: 2, message: message("character 20"), urn: URN },
      { severity: 2, message: message("line 1, column 57"), urn: `${URN}-b` },
    ]);
    expect(emulator.requests).toEqual([]);
  });

  test("causes no warning if the expression is secret, or if the class has warned", async () => {
    const { client, logged } = await plugin();
    await client.check({}, { url, trafficPolicy: policy(secret(asks("X-CANARY"))) });
    await client.check({}, { url, trafficPolicy: policy(asks("X-Team")), __problem: "" }, `${URN}-b`);
    expect(logged).toEqual([]);
  });
});

test("an error is one line, with a status that does not suggest a corrupt state", async () => {
  const { client, emulator } = await plugin();
  emulator.intercept(() => true, { status: 403, body: { msg: "no\nway", error_code: "ERR_NGROK_1" } });
  const error = await thrown(client.create({ url }));
  expect(error).toMatchObject({ code: grpc.status.FAILED_PRECONDITION });
  expect(error.message).toMatch(
    /^cannot create https:\/\/shop\.example\.com: POST \/endpoints: status 403, .*$/,
  );
});

test("warnings of a resource arrive in order", async () => {
  const { client, logged } = await plugin();
  const rule = { actions: [{ type: "deny" }], a: 1, b: 2, c: 3 };
  await client.check({}, { url, trafficPolicy: { on_http_request: [rule] } });
  expect(logged.map(({ message }) => message.split(" ", 1)[0])).toEqual(
    ["a", "b", "c"].map((key) => `trafficPolicy.on_http_request[0].${key}`),
  );
});

test("after a cancel, a request in flight is completed, and no further one is sent", async () => {
  const { client, emulator } = await plugin({ environment: { ENDPOINTS_REQUESTS_PER_WINDOW: "1" } });
  emulator.intercept(() => true, { afterCommit: true, delayMs: 500 });
  const flying = client.create({ url });
  await expect.poll(() => emulator.requests.length).toBe(1);
  const waiting = thrown(client.create({ url: "https://other.example.com" }));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await client.cancel();
  expect((await waiting).message).toBe(
    "cannot create https://other.example.com: POST /endpoints: not sent, since the run was cancelled",
  );
  expect((await flying).id).toMatch(/^ep_/);
  await expect(client.read((await flying).id, {}, { url })).rejects.toThrow(/the run was cancelled/);
  expect(methods(emulator)).toEqual(["POST"]);
});

test("an unknown type fails with the known one, and an unsupported method is unimplemented", async () => {
  const { client } = await plugin();
  const other = URN.replace("CloudEndpoint", "Tunnel");
  await expect(client.check({}, { url }, other)).rejects.toThrow(
    /has no endpoints:index:Tunnel; it has endpoints:index:CloudEndpoint/,
  );
  const component = URN.replace("CloudEndpoint", "WebhookVerification");
  await expect(client.check({}, { platform: "github" }, component)).rejects.toThrow(
    /has no endpoints:index:WebhookVerification; it has endpoints:index:CloudEndpoint/,
  );
  const parameterized = new Promise((resolve) => {
    client.raw.parameterize(new ParameterizeRequest(), (error) => resolve(error?.code));
  });
  const listed = new Promise((resolve) => {
    client.raw.list(new ListRequest()).once("error", (error) => resolve("code" in error && error.code));
  });
  expect(await Promise.all([parameterized, listed])).toEqual([
    grpc.status.UNIMPLEMENTED,
    grpc.status.UNIMPLEMENTED,
  ]);
});
