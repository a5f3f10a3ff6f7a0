import { describe, expect, test } from "vitest";
import { ApiError, ReplyError, remedyFor } from "../../../provider/service/apiErrors";
import { VERSION } from "../../../provider/service/version";
import type { ScriptedReply } from "../../../sdk/testing/emulator";
import { service, thrown } from "../emulated";

const url = "https://shop.example.com";
const any = () => true;
const TOO_LONG = `"${"x".repeat(17 << 20)}"`;

test("create, read, update and delete each send one request with the version, the user agent and the base URL's prefix", async () => {
  const { api, emulator } = await service({
    basePath: "/gateway/v2",
    versionHeader: "X-Version",
    settings: { versionHeader: "X-Version" },
  });
  const { id } = await api.create({ url, description: "front door" });
  expect(await api.get(id)).toMatchObject({ id, url, publicUrl: url, hostport: "shop.example.com:443" });
  expect(await api.update(id, { description: "" })).not.toHaveProperty("description");
  await api.delete(id);

  expect(emulator.requests.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
    "POST /endpoints 201",
    `GET /endpoints/${id} 200`,
    `PATCH /endpoints/${id} 200`,
    `DELETE /endpoints/${id} 204`,
  ]);
  for (const { headers } of emulator.requests)
    expect(headers).toMatchObject({
      "x-version": "2",
      "user-agent": `pulumi-endpoints/${VERSION}`,
      "accept-encoding": "identity",
      "cache-control": "no-cache",
    });
});

const ok = (body: object | string) => ({ status: 200, body });

test.each<[string, ScriptedReply, object]>([
  [
    "with the other spelling of a field",
    ok({ id: "ep_1", upstream_protocol: "h2" }),
    { upstreamProto: "h2" },
  ],
  ["with an id for a reference", ok({ id: "ep_1", principal_id: "u" }), { principalId: { id: "u" } }],
])("a reply %s is read", async (_, reply, expected) => {
  const { api, emulator } = await service();
  emulator.seed({ type: "cloud", id: "ep_1", url });
  emulator.intercept(any, reply);
  expect(await api.get("ep_1")).toMatchObject(expected);
});

describe("the error for a read", () => {
  const checkAddress = /\. Check that endpoints:baseUrl/;
  const proxy = { status: 403, body: "<html>CANARY</html>" };
  const refusal = { status: 418, body: { error_code: "ERR_NGROK_1", msg: "stout and\na-key-of-16-chars" } };

  test.each<[string, ScriptedReply, typeof ApiError | typeof ReplyError, RegExp]>([
    ["an HTML page", ok("<html>CANARY</html>"), ReplyError, checkAddress],
    ["JSON without an id", ok({ type: "cloud" }), ReplyError, checkAddress],
    ["another endpoint", ok({ id: "ep_2", type: "cloud" }), ReplyError, /another endpoint\. Check/],
    ["a proxy's error", proxy, ApiError, /status 403\. The API key lacks the permission/],
    ["more than 16 MiB", ok(TOO_LONG), ReplyError, /longer than 16 MiB/],
    ["a refusal with our key", refusal, ApiError, /stout and \[key\]/],
  ])("after %s is one line with a next step, and quotes no foreign text", async (_, reply, type, words) => {
    const { api, emulator } = await service({ apiKey: "a-key-of-16-chars" });
    emulator.intercept(any, reply);
    const error = await thrown(api.get("ep_1"));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toMatch(words);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/CANARY|a-key-of/);
    expect(error.message).not.toContain("\n");
    expect(emulator.requests).toHaveLength(1);
  });
});

test("a refusal has the request, the status, the service's code, message and operation, and the next step", async () => {
  const { api } = await service();
  await api.create({ url });
  const error = await thrown(api.create({ url }));
  expect(error).toMatchObject({ method: "POST", path: "/endpoints", status: 400, code: "ERR_NGROK_18017" });
  expect(error).toMatchObject({ operationId: expect.stringMatching(/^op_/) });
  expect(error.message).toMatch(
    /^POST \/endpoints: status 400, ERR_NGROK_18017 .+ \(operation op_\w+\)\. .*choose another url\. See "A URL that is taken"/,
  );
});

test("a refused key in the configuration recommends `pulumi refresh --run-program`", async () => {
  const { api } = await service({ settings: { apiKey: "wrong_key" } });
  const { message } = await thrown(api.get("ep_1"));
  expect(message).toMatch(/key was refused.*endpoints:apiKey.*pulumi refresh --run-program/);
  expect(message).not.toContain("wrong_key");
});

describe("the remedy", () => {
  const remedy = (status: number, number: number) =>
    remedyFor({ status, code: `ERR_NGROK_${number}` }, { keySource: "environment", isOfEndpoint: true });
  const page = (number: number) => new RegExp(`^See https://ngrok.com/docs/errors/err_ngrok_${number}\\.$`);

  /* The service documents the status of only a few codes, so the remedy must not depend on it. */
  test.each<[number, RegExp]>([
    [218, /set endpoints:versionHeader/],
    [2235, page(2235)],
    [18005, /to replace the endpoint/],
    [18006, /reserve its domain.*See "Both in one program" in docs\/comparison\.md/],
    [18017, /choose another url\. See "A URL/],
  ])("for the code %i is the same with any status", (number, expected) => {
    const remedies = new Set([400, 401, 402, 403, 409, 422].map((status) => remedy(status, number)));
    expect([...remedies]).toEqual([expect.stringMatching(expected)]);
  });
});

test("a reply with a duplicate key is refused", async () => {
  const { api, emulator } = await service();
  emulator.intercept("create", {
    status: 201,
    body: `{"id":"ep_1","id":"ep_2","type":"cloud","url":"${url}"}`,
  });
  await expect(api.create({ url })).rejects.toThrow(/the reply is not JSON/);
});
