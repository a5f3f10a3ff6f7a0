import { describe, expect, test } from "vitest";
import { CANARY_KEY, service, thrown } from "./service";

const url = "https://shop.example.com";
const policy = { on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] };
const any = () => true;

/** What the engine does around a resource: check, then create or update with what the check returned. */
async function created(news: Record<string, unknown>, options: Parameters<typeof service>[0] = {}) {
  const parts = await service(options);
  const { inputs } = await parts.core.check({}, news);
  return { ...parts, inputs, ...(await parts.core.create(inputs)) };
}

describe("create", () => {
  test("sends pooling only when it is given, false too", async () => {
    const { emulator } = await created({ url, poolingEnabled: false });
    expect(emulator.requests[0]?.body).toEqual({ type: "cloud", url, pooling_enabled: false });
  });

  test("whose reply holds only what it is about asks for the rest", async () => {
    const { core, emulator } = await service();
    const { id } = emulator.seed({ type: "cloud", url });
    emulator.intercept(any, { status: 201, body: { id, url, type: "cloud", port: "high" } });
    expect(await core.create({ url })).toMatchObject({ id, outs: { publicUrl: url } });
    expect(emulator.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /endpoints",
      `GET /endpoints/${id}`,
    ]);
  });
});

describe("read", () => {
  test.each([
    ["description", { description: "by hand" }, { description: "by hand" }],
    ["metadata", { metadata: '{"by": "hand"}' }, { metadata: { by: "hand" } }],
    [
      "trafficPolicy",
      { traffic_policy: '{"on_http_request":[]}' },
      { trafficPolicy: { on_http_request: [] } },
    ],
    ["trafficPolicy", { traffic_policy: "on_http_request: [" }, { trafficPolicy: "on_http_request: [" }],
    ["bindings", { bindings: ["internal"] }, { bindings: ["internal"] }],
    ["poolingEnabled", { pooling_enabled: true }, { poolingEnabled: true }],
    ["url", { url: "https://other.example.com" }, { url: "https://other.example.com" }],
  ])("shows exactly the drifted %s", async (_, change, drift) => {
    const news = {
      url,
      trafficPolicy: policy,
      description: "a",
      bindings: ["public"],
      poolingEnabled: false,
    };
    const { core, id, outs, inputs, emulator } = await created(news);
    emulator.edit(id, change);
    const found = await core.read(id, outs);
    expect(found.inputs).toEqual({ ...inputs, ...drift });
    expect(core.diff("ep_1", found.props, inputs).changes).toBe(true);

    await core.update(id, found.props, inputs);
    const body = emulator.requests.at(-1)?.body;
    expect(Object.keys(body as object)).toEqual(["id", expect.stringMatching(/^[a-z_]+$/)]);
    expect(core.diff("ep_1", (await core.read(id, found.props)).props, inputs).changes).toBe(false);
  });

  test("leaves the service's own choices out of the inputs, and shows a description that nobody gave", async () => {
    const { core, id, outs, emulator } = await created({ url });
    emulator.edit(id, { description: "by hand" });
    const found = await core.read(id, outs);
    expect(found.inputs).toEqual({ url, description: "by hand" });
  });

  test("keeps the given order of bindings", async () => {
    const { core, id, outs, inputs, emulator } = await created({ url, bindings: ["public", "internal"] });
    emulator.edit(id, { bindings: ["internal", "public"] });
    expect((await core.read(id, outs)).inputs).toEqual(inputs);
  });

  test.each([401, 403, 500])("never takes a %d for gone", async (status) => {
    const { core, id, outs, emulator } = await created(
      { url },
      { settings: { "endpoints:retryForSeconds": "0.001" } },
    );
    emulator.intercept(any, { status, body: "" }, 10);
    expect((await thrown(core.read(id, outs))).cause).toMatchObject({ status });
  });

  test("fails for a get of what is not there", async () => {
    const { core } = await service();
    expect((await thrown(core.read("ep_nobody", { __provider: "code" }))).message).toMatch(
      /no endpoint ep_nobody/,
    );
  });

  test("for a get notes nothing of what the service chose, since nothing here manages it", async () => {
    const { core, emulator } = await service();
    const { id } = emulator.seed({ type: "cloud", url });
    const { props } = await core.read(id, { __provider: "code" });
    expect((await core.read(id, props)).props).not.toHaveProperty("__chosen");
  });
});

describe("update", () => {
  test("that only brings the state's note up to date makes no request", async () => {
    const { core, id, outs, emulator } = await created({ url });
    const news = { url, poolingEnabled: false };
    expect(core.diff("ep_1", outs, news)).toMatchObject({ changes: true, replaces: [] });
    const { outs: after } = await core.update(id, { ...outs, adopt: true }, news);
    expect(after).toEqual({ ...outs, __given: ["poolingEnabled"], __chosen: { bindings: ["public"] } });
    expect(core.diff("ep_1", after, news).changes).toBe(false);
    expect(emulator.requests).toHaveLength(1);
  });

  test("gives outputs that came without a provider theirs, without a request", async () => {
    const { core, outs } = await created({ url });
    expect(core.diff("ep_1", outs, { url, __provider: "code" }).changes).toBe(true);
    expect(core.diff("ep_1", { ...outs, __provider: "code" }, { url, __provider: "code" }).changes).toBe(
      false,
    );
  });
});

test("a check with mistakes makes no request, and one without asks for the settings", async () => {
  const { core, emulator } = await service();
  expect((await core.check({}, { url: "nonsense", adopt: true })).failures).toHaveLength(1);
  await core.check({}, { url });
  expect(emulator.requests).toEqual([]);
});

test("no state holds the key", async () => {
  const { outs, core, id } = await created({ url, trafficPolicy: policy });
  expect(JSON.stringify([outs, await core.read(id, outs)])).not.toContain(CANARY_KEY);
});
