import * as pulumi from "@pulumi/pulumi";
import { setMockOptions } from "@pulumi/pulumi/runtime/settings";
import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import {
  type AnyEndpoint,
  CloudEndpoint,
  type GetEndpointsArgs,
  getEndpoint,
  getEndpointOutput,
  getEndpoints,
  getEndpointsOutput,
  readJson,
} from "../../sdk";
import { Emulator } from "../../sdk/testing";
import { thrown } from "../provider/emulated";
import { until } from "../until";
import { onUnhandled, resolved } from "./program";

let emulator: Emulator;

beforeEach(async () => {
  emulator = await Emulator.start({ pageSize: 30 });
  vi.stubEnv("ENDPOINTS_BASE_URL", emulator.baseUrl);
  vi.stubEnv("ENDPOINTS_API_KEY", emulator.apiKey);
  vi.stubEnv("ENDPOINTS_RETRY_FOR_SECONDS", "5");
  await mockRun();
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await emulator.close();
});

/** Begins a run with an engine that only registers resources. It hides that it is a mock, because mocks answer data sources. */
async function mockRun(): Promise<void> {
  await pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => {
      const { id } = emulator.seed({ type: "cloud", url: String(inputs["url"]) });
      return { id: id ?? name, state: inputs };
    },
    call: () => ({}),
  });
  const hidesMocks = { has: (target: object, key: PropertyKey) => key !== "mocks" && key in target };
  setMockOptions(new Proxy(pulumi.runtime.getMonitor() ?? {}, hidesMocks));
}

const listRequests = () => emulator.requests.filter(({ path }) => path === "/endpoints").length;

/** Adds 90 endpoints of all types, the newest last. Returns their ids. */
function seedMany(): string[] {
  return Array.from({ length: 90 }, (_, i) => {
    const type = (["ephemeral", "edge", "cloud"] as const)[i % 3] ?? "cloud";
    const url = `https://e${i}.${i % 2 ? "a" : "b"}.example.com`;
    const more = { region: i % 5 ? "us" : "eu", metadata: JSON.stringify({ i, kind: type }) };
    return emulator.seed(
      type === "edge" ? { type, public_url: url, ...more } : { type, url, name: `agent-${i % 7}`, ...more },
    ).id;
  });
}

describe("getEndpoints", () => {
  test("returns the newest endpoints first, and overlapping calls share one listing", async () => {
    const ids = seedMany().reverse();
    const first = Array.from({ length: 20 }, () => getEndpoints());
    const output = resolved(getEndpointsOutput({ types: ["edge"] }));
    await new Promise((resolve) => setImmediate(resolve));
    const later = getEndpoints({ types: ["cloud"] });
    for (const { ids: found } of await Promise.all(first)) expect(found).toEqual(ids);
    expect((await later).endpoints).toHaveLength(30);
    expect((await output).endpoints).toHaveLength(30);
    expect(listRequests()).toBe(3);
  });

  // biome-ignore format: one line for each filter
  test.each<[GetEndpointsArgs, names: string[] | number]>([
    [{ urlPattern: undefined, metadata: undefined }, 91],
    [{ types: ["ephemeral", "edge"], region: "us", urlPattern: "HTTPS://*.a.example.com/", name: "agent-3", binding: "public", metadata: (metadata) => (metadata as { i: number }).i > 20 }, ["ephemeral 87"]],
    [{ metadata: '{"kind": "edge", "i": 1}' }, ["edge 1"]],
    [{ metadata: { kind: "edge", i: 1 } }, ["edge 1"]],
    [{ urlPattern: "https://e2*.b.*" }, 6],
    [{ urlPattern: "https://e2*.b.example.com:443/" }, 6],
    [{ urlPattern: "HTTPS://e2.b.example.com:443/" }, ["cloud 2"]],
    [{ urlPattern: "https://\\*.b.example.com:443/" }, ["cloud 90"]],
    [{ types: ["cloud"], urlPattern: "https://\\*.B.example.com" }, ["cloud 90"]],
    [{ urlPattern: "*://\\*.b.*" }, ["cloud 90"]],
  ])("returns the endpoints that match every filter of %j", async (args, expected) => {
    seedMany();
    emulator.seed({ type: "cloud", url: "https://*.b.example.com", metadata: '{"i":90}' });
    const { endpoints, ids } = await getEndpoints(args);
    expect(ids).toEqual(endpoints.map(({ id }) => id));
    const names = endpoints.map(({ type, metadata }) => `${type} ${(readJson(metadata) as { i: number }).i}`);
    expect(typeof expected === "number" ? names.length : names).toEqual(expected);
  });

  test.each([
    [
      { url: "https://a" },
      /getEndpoints: url is no argument of this function; the arguments are types, region/,
    ],
    [{ type: "cloud" }, /did you mean types\?/],
    [{ bindings: "public", regoin: "eu" }, /did you mean binding\?; regoin .* did you mean region\?/],
    [
      { metadata: { at: [new Date()] } },
      /getEndpoints: metadata contains at at\[0\] a Date, which is no plain data/,
    ],
    [{ types: "cloud" }, /types must be a list, as in \["cloud"\]/],
  ])("refuses what is no filter, instead of returning everything: %j", async (args, reason) => {
    const plain: object = args;
    await expect(getEndpoints(plain)).rejects.toThrow(reason);
    expect(emulator.requests).toEqual([]);
  });

  test("includes every endpoint that exists at the call, even if an earlier call is still listing", async () => {
    seedMany();
    emulator.intercept(({ query }) => "before_id" in query, { status: 503, body: "", delayMs: 60 });
    const older = getEndpoints();
    await until(() => emulator.requests.length > 1);
    const shop = new CloudEndpoint("shop", { url: "https://shop.example.com" });
    const inApply = resolved(shop.id.apply(async (id) => (await getEndpoints()).ids.includes(id)));
    const depending = resolved(getEndpointsOutput({ types: ["cloud"] }, { dependsOn: [shop] }));
    expect(await inApply).toBe(true);
    expect((await depending).ids).toContain(await resolved(shop.id));
    expect((await older).endpoints).toHaveLength(90);
  });

  test("reuses the list for a minute; getEndpointsOutput reads it again", async () => {
    await getEndpoints();
    const { id } = emulator.seed({ type: "edge" });
    expect((await getEndpoints()).ids).toEqual([]);
    expect(listRequests()).toBe(1);
    expect((await resolved(getEndpointsOutput())).ids).toEqual([id]);
    expect(listRequests()).toBe(2);
  });
});

describe("getEndpoint", () => {
  test("shares no list with a later run in the same process", async () => {
    expect((await getEndpoints()).ids).toEqual([]);
    const { id } = emulator.seed({ type: "cloud", url: "https://shop.example.com" });
    await mockRun();
    expect((await getEndpoints()).ids).toEqual([id]);
  });

  test("finds an endpoint by any spelling of its URL, and an edge by its public URL", async () => {
    const cloud = emulator.seed({ type: "cloud", url: "https://shop.example.com" });
    const edge = emulator.seed({ type: "edge", public_url: "tls://edge.example.com" });
    expect((await getEndpoint({ url: "HTTPS://Shop.Example.com:443/" })).id).toBe(cloud.id);
    expect((await getEndpoint({ url: "tls://edge.example.com:443" })).id).toBe(edge.id);
  });

  test("throws an error that names the endpoint and getEndpoints() if nothing matches", async () => {
    seedMany();
    emulator.seed({ type: "cloud", url: "tls://shop.example.com" });
    const error = await thrown(getEndpoint({ id: "ep_2nobody" }));
    expect(pulumi.RunError.isInstance(error)).toBe(true);
    expect(error.message).toMatch(/no endpoint ep_2nobody in this account.*getEndpoints\(\)/);
    await expect(getEndpoint({ url: "https://shop.example.com" })).rejects.toThrow(
      "no endpoint of the 91 of this account serves https://shop.example.com; getEndpoints() lists them all",
    );
  });

  test("does not show the account's key in its error, also if the program gives it as the id", async () => {
    const error = await thrown(getEndpoint({ id: emulator.apiKey }));
    expect(error.message).toMatch(/^GET \/endpoints\/\[key\]: status 400/);
  });

  test("names no secret URL in its error", async () => {
    const failed: unknown[] = [];
    onUnhandled((error) => failed.push(error));
    getEndpointOutput({ url: pulumi.secret("https://hidden.example.com") });
    await expect
      .poll(() => failed)
      .toContainEqual(
        expect.objectContaining({
          message: "no endpoint of the 0 of this account serves [secret]; getEndpoints() lists them all",
        }),
      );
  });

  // biome-ignore format: one line for each call
  test.each<[object, string]>([
    [{}, "an id or a url, but has neither"],
    [{ id: "ep_1", name: "a" }, "getEndpoint: name is no argument"],
  ])("refuses the arguments %j", async (args, reason) => {
    await expect(getEndpoint(args as { id: string })).rejects.toThrow(reason);
    expect(emulator.requests).toEqual([]);
  });

  test.each(["https://pool.example.com", "https://*.example.com"])(
    "throws an error that lists the ids if several endpoints share the URL %s, with a pattern for just them",
    async (url) => {
      emulator.seed({ type: "cloud", url: "https://a.example.com" });
      const ids = [1, 2].map(() => emulator.seed({ type: "cloud", url }).id);
      const { message } = await thrown(getEndpoint({ url }));
      for (const id of ids) expect(message).toContain(id);
      const [, urlPattern = ""] = /urlPattern: (".*?")/.exec(message) ?? [];
      expect((await getEndpoints({ urlPattern: JSON.parse(urlPattern) })).ids.sort()).toEqual(ids.sort());
    },
  );
});

test("the user's mocks answer the data sources, and no request is sent", async () => {
  const call = vi.fn(() => ({ endpoints: [{ id: "ep_mocked", type: "cloud" }], id: "ep_mocked" }));
  await pulumi.runtime.setMocks({ newResource: ({ name }) => ({ id: name, state: {} }), call });
  expect((await getEndpoint({ id: "ep_1" })).id).toBe("ep_mocked");
  expect((await getEndpoints({ types: ["cloud"] })).ids).toEqual(["ep_mocked"]);
  expect(call.mock.calls).toMatchObject([
    [{ token: "endpoints:index:getEndpoint", inputs: { id: "ep_1" } }],
    [{ token: "endpoints:index:getEndpoints", inputs: { types: ["cloud"] } }],
  ]);
  expect(emulator.requests).toEqual([]);
});

test("the user's mocks can answer with a call's arguments, as on Pulumi's page on unit tests", async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => ({ id: `${name}_id`, state: inputs }),
    call: ({ inputs }) => inputs,
  });
  const shop = new CloudEndpoint("shop", { url: "https://shop.example.com" });
  const none = { endpoints: [], ids: [] };
  expect(await getEndpoints()).toEqual(none);
  expect(await getEndpoints({ types: ["cloud"] })).toEqual(none);
  expect(await resolved(getEndpointsOutput({ types: ["cloud"] }, { dependsOn: shop }))).toEqual(none);
  expect(await getEndpoint({ id: "ep_1" })).toEqual({ id: "ep_1" });
});

test("readJson reads JSON and YAML, applies a given parser, and never quotes invalid text", () => {
  expect(readJson('{"a": [1]}')).toEqual({ a: [1] });
  expect(readJson("on_http_request: []")).toEqual({ on_http_request: [] });
  expect(readJson(undefined)).toBeUndefined();
  expect(readJson("[1]", (value) => (value as number[]).length)).toBe(1);
  expect(() => readJson("CANARY, not data")).toThrow(/^this text must be a mapping(?!.*CANARY)/);
});

test("the field type narrows an endpoint's TypeScript type", () => {
  expectTypeOf<Extract<AnyEndpoint, { type: "cloud" }>["url"]>().toEqualTypeOf<string>();
  expectTypeOf<AnyEndpoint["url"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf(getEndpoint).parameter(0).not.toExtend<Record<string, never>>();
});
