import { describe, expect, test } from "vitest";
import { ApiError, ReplyError } from "../../../provider/api/apiErrors";
import { VERSION } from "../../../provider/api/version";
import { CANARY_KEY, service, thrown, wholeList } from "../service";

const url = "https://shop.example.com";
const any = () => true;

test("create, read, update and delete each send one request with the version and the user agent", async () => {
  const { api, emulator } = await service();
  const { id } = await api.create({ url, description: "front door" });
  expect(await api.get(id)).toMatchObject({
    id,
    url,
    publicUrl: url,
    proto: "https",
    hostport: "shop.example.com:443",
  });
  expect(await api.update(id, { description: "" })).not.toHaveProperty("description");
  await api.delete(id);

  expect(emulator.requests.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
    "POST /endpoints 201",
    `GET /endpoints/${id} 200`,
    `PATCH /endpoints/${id} 200`,
    `DELETE /endpoints/${id} 204`,
  ]);
  for (const { headers } of emulator.requests) {
    expect(headers).toMatchObject({ "service-version": "2", "user-agent": `pulumi-endpoints/${VERSION}` });
  }
});

test("all pages of a list use the base URL's path prefix and the configured version header", async () => {
  const { api } = await service({
    basePath: "/gateway/v2",
    versionHeader: "X-Version",
    settings: { "endpoints:versionHeader": "X-Version" },
  });
  for (let i = 0; i < 101; i++) await api.create({ url: `https://e${i}.example.com` });
  expect((await wholeList(api)).endpoints).toHaveLength(101);
});

describe("the list", () => {
  test("is read to its end, newest first, with 100 items a page", async () => {
    const { api, emulator } = await service();
    const ids = Array.from(
      { length: 250 },
      (_, i) => emulator.seed({ type: "ephemeral", url: `https://e${i}.x.example` }).id,
    );
    const { endpoints } = await wholeList(api);
    expect(endpoints.map((endpoint) => endpoint.id)).toEqual(ids.reverse());
    expect(emulator.requests).toHaveLength(3);
  });

  test("keeps its valid items, and reports an invalid one with the reason", async () => {
    const { api, emulator } = await service();
    const good = { id: "ep_1", type: "hologram", colour: "red", port: null };
    const body = { endpoints: [good, { id: "ep_2", port: "high" }, "nonsense"], next_page_uri: null };
    emulator.intercept(any, { status: 200, body });
    const { endpoints, skipped } = await wholeList(api);
    expect(endpoints).toEqual([{ id: "ep_1", type: "hologram", colour: "red" }]);
    expect(skipped).toEqual([
      { id: "ep_2", reason: expect.stringContaining("port") },
      { id: undefined, reason: expect.any(String) },
    ]);
  });

  test("is read to its end if its links name another host, which does not get the key", async () => {
    const { api, emulator } = await service();
    const other = await service();
    const last = emulator.seed({ type: "cloud", url: "https://last.example.com" });
    const first = emulator.seed({ type: "cloud", url: "https://first.example.com" });
    const next = `${other.emulator.baseUrl}/endpoints?before_id=${first.id}`;
    emulator.intercept(any, { status: 200, body: { endpoints: [first], next_page_uri: next } });
    const { endpoints } = await wholeList(api);
    expect(endpoints.map(({ id }) => id)).toEqual([first.id, last.id]);
    expect(emulator.requests.map(({ query }) => query["before_id"])).toEqual([undefined, first.id]);
    expect(other.emulator.requests).toEqual([]);
  });

  test("continues after pages whose items have no ids", async () => {
    const { api, emulator } = await service();
    const page = (index: number, item: object) => {
      const next = index < 3 ? `${emulator.baseUrl}/endpoints?before_id=ep_${index}` : null;
      emulator.intercept(any, { status: 200, body: { endpoints: [item], next_page_uri: next } });
    };
    page(1, {});
    page(2, {});
    page(3, { id: "ep_1", type: "cloud" });
    const { endpoints, skipped } = await wholeList(api);
    expect(endpoints.map(({ id }) => id)).toEqual(["ep_1"]);
    expect(skipped).toHaveLength(2);
  });

  test("fails if its pages repeat", async () => {
    const { api, emulator } = await service();
    const next = `${emulator.baseUrl}/endpoints?before_id=ep_1`;
    emulator.intercept(any, { status: 200, body: { endpoints: [], next_page_uri: next } }, 1000);
    await expect(wholeList(api)).rejects.toThrow(/the pages of the list never end/);
    expect(emulator.requests).toHaveLength(2);
  });
});

test("both spellings of a field are read, and an id in place of a reference", async () => {
  const { api, emulator } = await service();
  emulator.intercept(any, {
    status: 200,
    body: { id: "ep_1", upstream_protocol: "http2", principal_id: "usr_1" },
  });
  expect(await api.get("ep_1")).toMatchObject({ upstreamProto: "http2", principalId: { id: "usr_1" } });
});

describe("an update", () => {
  const replies = {
    "an empty 204": { status: 204 },
    "a 202 with a text": { status: 202, body: "Accepted" },
    "an empty object": { status: 200, body: {} },
  };

  test.each(Object.entries(replies))(
    "that is answered with %s returns the endpoint as a read by id shows it",
    async (_, reply) => {
      const { api, emulator } = await service();
      const { id } = await api.create({ url, metadata: '{"a":[1,{"b":2}]}' });
      emulator.intercept("update", { ...reply, afterCommit: true });
      const change = { url, metadata: '{"a":[1,{"b":3}]}', description: "", bindings: ["public"] };
      expect(await api.update(id, change)).toMatchObject({ id, url, metadata: change.metadata });
      expect(emulator.requests.map(({ method }) => method)).toEqual(["POST", "PATCH", "GET"]);
    },
  );

  test.each(Object.entries(replies))(
    "that is answered with %s, and changed nothing, fails with that reply",
    async (_, reply) => {
      const { api, emulator } = await service();
      const { id } = await api.create({ url });
      emulator.intercept("update", reply);
      expect(await thrown(api.update(id, { description: "front door" }))).toMatchObject({
        name: "ReplyError",
        status: reply.status,
      });
    },
  );
});

describe("an encoded reply", () => {
  test.each(["gzip", "x-gzip", "br", "deflate"])(
    "in %s is read, and a create is sent once",
    async (encoding) => {
      const { api, emulator } = await service();
      emulator.intercept(any, { afterCommit: true, headers: { "content-encoding": encoding } }, 2);
      const { id } = await api.create({ url });
      expect(await api.get(id)).toMatchObject({ url });
      expect(
        emulator.requests.map(({ method, headers }) => `${method} ${headers["accept-encoding"]}`),
      ).toEqual(["POST identity", "GET identity"]);
    },
  );

  test("of a refusal has its code", async () => {
    const { api, emulator } = await service();
    emulator.intercept(any, { afterCommit: true, headers: { "content-encoding": "gzip" } });
    expect(await thrown(api.get("ep_1"))).toMatchObject({
      status: 404,
      code: expect.stringMatching(/NGROK/),
    });
  });

  test.each([
    ["becomes too long", { "content-encoding": "gzip" }, `"${"x".repeat(20 << 20)}"`, /16 MiB/],
    ["has an unknown encoding", { "content-encoding": "snappy" }, "\u0001", /not JSON/],
  ])("that %s fails, and a create is sent once", async (_, headers, body, reason) => {
    const { api, emulator } = await service();
    emulator.intercept(any, { status: 200, headers, body });
    const error = await thrown(api.create({ url }));
    expect(error).toBeInstanceOf(ReplyError);
    expect(error.message).toMatch(reason);
    expect(emulator.requests).toHaveLength(1);
  });
});

describe("a failure", () => {
  test("has the request, the status, the service's code, message and operation, and the next step, in one line", async () => {
    const { api } = await service();
    await api.create({ url });
    const error = await thrown(api.create({ url }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ method: "POST", path: "/endpoints", status: 400, code: "ERR_NGROK_18017" });
    expect(error).toMatchObject({ operationId: expect.stringMatching(/^op_/) });
    expect(error.message).toMatch(
      /^POST \/endpoints: status 400, ERR_NGROK_18017 .+ \(operation op_\w+\)\. .*choose another url/,
    );
    expect(error.message).not.toContain("\n");
  });

  test("for a refused key in the configuration recommends `pulumi refresh --run-program`", async () => {
    const { api } = await service({ settings: { "endpoints:apiKey": "wrong_key" } });
    const error = await thrown(api.get("ep_1"));
    expect(error.message).toMatch(/key was refused.*endpoints:apiKey.*pulumi refresh --run-program/);
    expect(error.message).not.toContain("wrong_key");
  });

  test.each([
    [
      "an HTML page",
      { status: 200, headers: { "content-type": "text/html" }, body: "<html>CANARY</html>" },
      ReplyError,
    ],
    ["JSON without an id", { status: 200, body: { type: "cloud" } }, ReplyError],
    ["JSON null", { status: 200, body: "null" }, ReplyError],
    ["another endpoint", { status: 200, body: { id: "ep_2", type: "cloud" } }, ReplyError],
    ["a redirect", { status: 302, headers: { location: "https://evil.example" }, body: "" }, ApiError],
    ["a proxy's error", { status: 403, body: "<html>CANARY</html>" }, ApiError],
  ])("after %s has a type and a next step, and quotes nothing", async (_, reply, type) => {
    const { api, emulator } = await service();
    emulator.intercept(any, reply);
    const error = await thrown(api.get("ep_1"));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toMatch(/\. (Check|The API key|endpoints:baseUrl)/);
    expect(error.message).not.toMatch(/CANARY|\n/);
    expect(emulator.requests).toHaveLength(1);
  });

  test("after a deletion that is answered with 200 leaves open whether the endpoint is gone", async () => {
    const { api, emulator } = await service();
    const { id } = await api.create({ url });
    emulator.intercept("delete", { status: 200, body: {} });
    await expect(api.delete(id)).rejects.toThrow(/must be answered with 204/);
    expect(emulator.endpoints).toHaveLength(1);
  });

  test("after a reply of more than 16 MiB comes before the whole reply is read", async () => {
    const { api, emulator } = await service();
    emulator.intercept(any, { status: 200, body: `"${"x".repeat(20 << 20)}"` });
    expect(await thrown(api.get("ep_1"))).toMatchObject({
      name: "ReplyError",
      message: expect.stringContaining("16 MiB"),
    });
  });

  test("never contains the key", async () => {
    const { api, emulator } = await service({ settings: { "endpoints:retryForSeconds": "1" } });
    emulator.intercept(any, {
      status: 418,
      body: { error_code: "ERR_NGROK_1", msg: `short and\nstout ${CANARY_KEY}` },
    });
    const error = await thrown(api.get("ep_1"));
    expect(error.message).toContain("[key]");
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(CANARY_KEY);
    expect(error.message).toContain("short and stout");
  });
});

test("a short key is removed from a refusal too", async () => {
  const { api, emulator } = await service({ apiKey: "short-key" });
  emulator.intercept(any, { status: 418, body: { error_code: "ERR_NGROK_1", msg: "stout short-key" } });
  await expect(api.get("ep_1")).rejects.toThrow(/stout \[key\]/);
});
