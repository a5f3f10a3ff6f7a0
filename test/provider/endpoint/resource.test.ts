import { describe, expect, test } from "vitest";
import { findEndpoint } from "../../../provider/endpoint/lookup";
import { UrlRegistry } from "../../../provider/endpoint/urlRegistry";
import { paths } from "../../requests";
import { service, thrown } from "../service";

const url = "https://shop.example.com";
const policy = { on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] };
const any = () => true;

/** Checks and creates a resource, as the engine does. */
async function created(news: Record<string, unknown>, options: Parameters<typeof service>[0] = {}) {
  const parts = await service(options);
  const { inputs } = await parts.core.check({}, news);
  return { ...parts, inputs, ...(await parts.core.create(inputs)) };
}

describe("create", () => {
  test("sends `poolingEnabled: false` if the program gives it", async () => {
    const { emulator } = await created({ url, poolingEnabled: false });
    expect(emulator.requests[0]?.body).toEqual({ type: "cloud", url, pooling_enabled: false });
  });
});

describe("read", () => {
  test.each([
    ["description", { description: "by hand" }, { description: "by hand" }],
    ["metadata", { metadata: '{"by": "hand"}' }, { metadata: { by: "hand" } }],
    ["trafficPolicy", { traffic_policy: '{"a":[]}' }, { trafficPolicy: { a: [] } }],
    ["bindings", { bindings: ["internal"] }, { bindings: ["internal"] }],
    ["poolingEnabled", { pooling_enabled: true }, { poolingEnabled: true }],
    ["url", { url: "https://other.example.com" }, { url: "https://other.example.com" }],
  ])("returns the drifted %s, and an update sends only that", async (_, change, drift) => {
    const more = { trafficPolicy: policy, description: "a", bindings: ["public"], poolingEnabled: false };
    const { core, id, outs, inputs, emulator } = await created({ url, ...more });
    emulator.edit(id, change);
    const found = await core.read(id, outs);
    expect(found.inputs).toEqual({ ...inputs, ...drift });
    expect(core.diff("ep_1", found.props, inputs).changes).toBe(true);

    await core.update(id, found.props, inputs);
    const body = emulator.requests.at(-1)?.body;
    expect(Object.keys(body as object)).toEqual(["id", expect.stringMatching(/^[a-z_]+$/)]);
    expect(core.diff("ep_1", (await core.read(id, found.props)).props, inputs).changes).toBe(false);
  });

  test("returns a description that the program did not give, and no field that the service chose", async () => {
    const { core, id, outs, emulator } = await created({ url });
    emulator.edit(id, { description: "by hand" });
    const found = await core.read(id, outs);
    expect(found.inputs).toEqual({ url, description: "by hand" });
  });

  test("keeps the program's order of bindings", async () => {
    const { core, id, outs, inputs, emulator } = await created({ url, bindings: ["public", "internal"] });
    emulator.edit(id, { bindings: ["internal", "public"] });
    expect((await core.read(id, outs)).inputs).toEqual(inputs);
  });

  test.each([401, 403, 500])(
    "fails after a %d, which does not prove that the endpoint is gone",
    async (status) => {
      const settings = { "endpoints:retryForSeconds": "0.001" };
      const { core, id, outs, emulator } = await created({ url }, { settings });
      emulator.intercept(any, { status, body: "" }, 10);
      expect((await thrown(core.read(id, outs))).cause).toMatchObject({ status });
    },
  );

  test("fails for `get` with an unknown id", async () => {
    const { core } = await service();
    await expect(core.read("ep_nobody", { __provider: "code" })).rejects.toThrow(/no endpoint ep_nobody/);
  });

  test("keeps no service choices for `get`, because the stack does not manage the endpoint", async () => {
    const { core, emulator } = await service();
    const { id } = emulator.seed({ type: "cloud", url });
    const { props } = await core.read(id, { __provider: "code" });
    expect((await core.read(id, props)).props).not.toHaveProperty("__chosen");
  });
});

describe("many imports", () => {
  /** Imports 120 endpoints at once, as the engine does. */
  async function imported(fields: object) {
    const parts = await service();
    const seed = (_: unknown, i: number) =>
      parts.emulator.seed({ type: "cloud", url: `https://n${i}.example.com`, ...fields });
    const ids = Array.from({ length: 120 }, seed).map(({ id }) => id);
    const all = await Promise.all(ids.map((id) => parts.core.import(id, {})));
    return { ...parts, ids, all };
  }
  const described = { description: "by hand", metadata: '{"a":1}', traffic_policy: "{}" };

  test("share the pages of the list, and give what an import by id gives", async () => {
    const { emulator, newProcess, all, ids } = await imported(described);
    expect(paths(emulator)).toEqual(["GET /endpoints", "GET /endpoints"]);
    const { inputs, props } = await newProcess().core.import(ids[7] ?? "", {});
    expect(all[7]?.inputs).toEqual(inputs);
    expect(all[7]?.props).toEqual({ ...props, __entry: all[7]?.props["__entry"] });
  });

  test("need no list if the key may not list", async () => {
    const { core, emulator } = await service();
    const { id: one } = emulator.seed({ type: "cloud", url: "https://one.example.com", ...described });
    const { id: other } = emulator.seed({ type: "cloud", url: "https://other.example.com", ...described });
    for (let index = 0; index < 3; index++) emulator.intercept("list", { status: 403 });
    for (const id of [one, other])
      expect((await core.import(id, {})).inputs).toMatchObject({ description: "by hand" });
    expect(paths(emulator).filter((path) => path !== "GET /endpoints")).toEqual(
      [one, other].map((id) => `GET /endpoints/${id}`),
    );
  });

  test("read each endpoint by id that has no description", async () => {
    const { emulator, all } = await imported({ ...described, description: undefined });
    expect(emulator.requests.filter(({ path }) => path !== "/endpoints")).toHaveLength(120);
    expect(all[7]?.inputs).not.toHaveProperty("description");
  });

  test.each(["description", "metadata", "traffic_policy", "url", "bindings", "pooling_enabled"])(
    "read an endpoint by id if its item lacks the field %s",
    async (field) => {
      const { core, emulator } = await service();
      const seeded = [0, 1, 2].map((i) =>
        emulator.seed({ type: "cloud", url: `https://n${i}.example.com`, ...described }),
      );
      const last = seeded.at(-1);
      const items = emulator.endpoints.map((one) =>
        Object.fromEntries(Object.entries(one).filter(([name]) => name !== field || one.id !== last?.id)),
      );
      emulator.intercept("list", { status: 200, body: { endpoints: items, next_page_uri: null } }, 9);
      const all = await Promise.all(seeded.map(({ id }) => core.import(id, {})));
      expect(all[2]?.inputs).toEqual({ ...all[1]?.inputs, url: last?.url });
      expect(paths(emulator)).toEqual(["GET /endpoints", `GET /endpoints/${last?.id}`]);
    },
  );

  test("read by id after a write, which outdates the list", async () => {
    const { emulator, core, ids } = await imported(described);
    const [first, other] = [emulator.seed({ type: "cloud", url }), ids[1] ?? ""];
    await core.update(first.id, { url }, { url, description: "b" });
    emulator.seed({ type: "cloud", url: "https://late.example.com", ...described, id: "ep_late" });
    expect((await core.import("ep_late", {})).inputs).toMatchObject({ description: "by hand" });
    expect(paths(emulator).at(-1)).toBe("GET /endpoints/ep_late");
    await expect(core.import(other, {})).rejects.toThrow(/already/);
  });
});

type Service = Awaited<ReturnType<typeof service>>;
test.each<[string, (service: Service, text: string) => Promise<unknown>]>([
  ["import", ({ core }, id) => core.import(id, {})],
  ["read", ({ core }, id) => core.read(id, { __provider: "code" })],
  ["update", ({ core }, id) => core.update(id, { url }, { url, description: "a" })],
  ["delete", ({ core }, id) => core.delete(id, { url })],
  ["getEndpoint by id", ({ api }, id) => findEndpoint(api, { id }, { fresh: false })],
  ["getEndpoint by URL", ({ api }, host) => findEndpoint(api, { url: `https://${host}` }, { fresh: false })],
  [
    "create",
    ({ core, emulator }, host) => {
      const { url } = emulator.seed({ type: "cloud", url: `https://${host.replace(/\W+/g, "-")}` });
      return core.create({ url });
    },
  ],
  [
    "adoption by two resources",
    async (_, adopt) => {
      const urls = new UrlRegistry();
      const conflicts = ["a", "b"].map((name) =>
        urls.register(undefined, adopt, { owner: name, name, pooled: false }),
      );
      throw new Error(conflicts[1]);
    },
  ],
])("%s prints neither a long text whole nor a line break", async (_, work) => {
  for (const long of ["a".repeat(10_000), `${"a".repeat(200)}\n::error::b`]) {
    const { message } = await thrown(work(await service(), long));
    expect(message.length).toBeLessThan(4_000);
    expect(message).not.toContain("\n");
  }
});

test("diff reports a change if the outputs lack the provider string", async () => {
  const { core, outs } = await created({ url });
  const code = { __provider: "code" };
  expect(core.diff("ep_1", outs, { url, ...code }).changes).toBe(true);
  expect(core.diff("ep_1", { ...outs, ...code }, { url, ...code }).changes).toBe(false);
});
