import { describe, expect, it } from "vitest";
import { snakeCase } from "../../../provider/api/replySchemas";
import { managedInputs } from "../../../provider/endpoint/fields";
import { CHANGEABLE } from "../../../sdk/testing/emulator/serviceRules";
import { call, create, expectError, start, tryCreate } from "./requests";

const url = "https://a.example.com";

it("the emulator takes the fields that the provider sends, by a table of its own", () => {
  expect(Object.keys(CHANGEABLE).sort()).toEqual(managedInputs.map(snakeCase).sort());
});

describe("a created endpoint", () => {
  it("has every field that depends on its URL, and no field without a value", async () => {
    const emulator = await start({ now: () => new Date("2026-01-02T03:04:05.678Z") });
    const endpoint = await create(emulator, {
      type: "cloud",
      url: "HTTPS://Shop.Example.com:443",
      description: "",
      metadata: "m",
    });
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^ep_[0-9A-Za-z]{27}$/),
      type: "cloud",
      url: "https://shop.example.com",
      public_url: "https://shop.example.com",
      proto: "https",
      hostport: "shop.example.com:443",
      domain: {
        id: expect.stringMatching(/^rd_\w{27}$/),
        uri: `${emulator.baseUrl}/reserved_domains/${endpoint.domain?.id}`,
      },
      bindings: ["public"],
      pooling_enabled: false,
      created_at: "2026-01-02T03:04:05Z",
      updated_at: "2026-01-02T03:04:05Z",
      uri: `${emulator.baseUrl}/endpoints/${endpoint.id}`,
      metadata: "m",
    });
  });

  it.each([
    ["http://a.example.com:80", "http://a.example.com", "http://a.example.com", "a.example.com:80"],
    ["http://a.internal:8080", "http://a.internal:8080", "http://a.internal", "a.internal:8080"],
    ["tls://a.example.com", "tls://a.example.com", "tls://a.example.com", "a.example.com:443"],
    ["https://*.example.com", "https://*.example.com", "https://*.example.com", "*.example.com:443"],
    [
      "tcp://1.tcp.example.com:12345",
      "tcp://1.tcp.example.com:12345",
      "tcp://1.tcp.example.com",
      "1.tcp.example.com:12345",
    ],
  ])(
    "from %s has the url %s, the public_url %s and the hostport %s",
    async (written, url, publicUrl, hostport) => {
      const endpoint = await create(await start(), { url: written });
      expect([endpoint.url, endpoint.public_url, endpoint.hostport]).toEqual([url, publicUrl, hostport]);
      expect(endpoint.proto).toBe(written.split(":")[0]);
    },
  );

  it("shares its domain with the other endpoints of its host", async () => {
    const emulator = await start();
    const one = await create(emulator, { url: "https://shop.example.com" });
    const two = await create(emulator, { url: "http://shop.example.com" });
    const other = await create(emulator, { url: "https://other.example.com" });
    expect(two.domain).toEqual(one.domain);
    expect(other.domain?.id).not.toBe(one.domain?.id);
  });

  it("on an internal host has the binding internal, and no domain or TCP address", async () => {
    const endpoint = await create(await start(), { url: "https://api.internal" });
    expect(endpoint.bindings).toEqual(["internal"]);
    expect(endpoint).not.toHaveProperty("domain");
    expect(endpoint).not.toHaveProperty("tcp_addr");
  });

  it("with a tcp URL has a reserved address instead of a domain, and the given bindings and pooling", async () => {
    const given = { bindings: ["public", "internal"], pooling_enabled: true };
    const endpoint = await create(await start(), { url: "tcp://1.tcp.example.com:12345", ...given });
    expect(endpoint).toMatchObject({ ...given, tcp_addr: { id: expect.stringMatching(/^ra_/) } });
    expect(endpoint).not.toHaveProperty("domain");
  });
});

describe("a create is refused", () => {
  it.each([
    [18015, {}],
    [18015, { url: "" }],
    [248, { type: "edge", url }],
    [249, { url: "not a url" }],
    [18022, { url: "a.example.com" }],
    [18022, { url: "a.example.com:443" }],
    [18001, { url: "ftp://a.example.com" }],
    [18001, { url: "https://a.example.com/" }],
    [18001, { url: "https://a.example.com?q=1" }],
    [18001, { url: "https://user@a.example.com" }],
    [18001, { url: "https://a.*.example.com" }],
    [18001, { url: "https://a_b.example.com" }],
    [18001, { url: "https://a.example.com:65536" }],
    [18001, { url: "https://a.example.com:0" }],
    [18001, { url: "https://a.example.com:1:2" }],
    [18003, { url: "tcp://1.tcp.example.com" }],
    [18012, { url, description: "d".repeat(256) }],
    [18013, { url, metadata: "m".repeat(4097) }],
    [15005, { url, bindings: ["private"] }],
    [15006, { url, bindings: ["public", "public"] }],
    [214, { url, colour: "red" }],
    [214, { url, id: "ep_1" }],
    [215, { url: 1 }],
    [215, { url, description: null }],
    [215, { url, bindings: "public" }],
    [215, { url, bindings: [1] }],
    [215, { url, pooling_enabled: "true" }],
  ])("with code %i for %j, and nothing is created", async (code, body) => {
    const emulator = await start();
    expectError(await tryCreate(emulator, body), code, 400);
    expect(emulator.endpoints).toEqual([]);
  });

  it("if the description has more than 255 characters or the metadata more than 4096 (not bytes)", async () => {
    const texts = { description: `${"é".repeat(254)}😀`, metadata: `${"é".repeat(4095)}😀` };
    expect(await create(await start(), { url, ...texts })).toMatchObject(texts);
  });
});

describe("a traffic policy", () => {
  it.each([
    ["JSON", '{ "on_http_request": [],\n "a": 1 }'],
    ["YAML", "# first\non_http_request:\n  - actions: []\n"],
  ])("in %s is returned unchanged", async (_form, policy) => {
    const emulator = await start();
    const { id, traffic_policy } = await create(emulator, { url, traffic_policy: policy });
    expect(traffic_policy).toBe(policy);
    expect((await call(emulator, "GET", `/endpoints/${id}`)).body.traffic_policy).toBe(policy);
  });

  it.each([["{a: 1}"], ['{"a": 1'], ["- a\n- b"], ["[1]"], ["just words"], ["a: b: c"], ["   "]])(
    "is refused if it is %j",
    async (policy) => {
      expectError(await tryCreate(await start(), { url, traffic_policy: policy }), 2236, 400);
    },
  );

  it("is required with the option requirePolicy, on create and on update", async () => {
    const emulator = await start({ requirePolicy: true });
    expectError(await tryCreate(emulator, { url }), 18011, 400);
    expectError(await tryCreate(emulator, { url, traffic_policy: "" }), 18011, 400);
    const { id } = await create(emulator, { url, traffic_policy: "{}" });
    expectError(
      await call(emulator, "PATCH", `/endpoints/${id}`, { body: { traffic_policy: "" } }),
      18011,
      400,
    );
    expect((await call(emulator, "PATCH", `/endpoints/${id}`, { body: { description: "d" } })).status).toBe(
      200,
    );
  });
});
