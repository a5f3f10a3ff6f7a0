import { describe, expect, test } from "vitest";
import type { EndpointsApi } from "../../../provider/api/endpoints";
import { CLOUD, EVERYTHING, isOneOf, OLDEST_LISTING } from "../../../provider/api/list";
import { findEndpoint, findEndpoints } from "../../../provider/endpoint/lookup";
import type { Behaviour } from "../../../sdk/testing/emulator";
import { methods } from "../../requests";
import { service, thrown } from "../service";
import { agents, count, isList, refresh, seeded } from "./refresh";

const ON = { "endpoints:listFilter": "on" };

describe("the shared list", () => {
  test("serves no item once this process has sent a write, also while a page was in flight", async () => {
    const { core, api, emulator } = await service();
    const [{ id, outs }] = seeded(emulator, 1);
    emulator.intercept(isList, { afterCommit: true, delayMs: 300 });
    const early = api.list.item(id);
    await expect.poll(() => emulator.requests.length).toBe(1);
    await core.update(id, outs, { url: outs.url, description: "x" });
    expect(await early).toBeUndefined();
    expect((await core.read(id, outs)).props).toMatchObject({ description: "x" });
    expect(methods(emulator)).toEqual(["GET", "PATCH", "GET"]);
  });

  test("is read again once it is too old", async () => {
    const { core, api, emulator } = await service();
    const [{ id, outs }] = seeded(emulator, 1);
    await core.read(id, outs);
    emulator.edit(id, { description: "by hand" });
    await api.http.clock.sleep(OLDEST_LISTING - 1000);
    expect((await core.read(id, outs)).props).not.toHaveProperty("description");
    await api.http.clock.sleep(2000);
    expect((await core.read(id, outs)).props).toMatchObject({ description: "by hand" });
  });

  test("leaves an output at its stored value if the item omits it", async () => {
    const { core, emulator } = await service();
    const url = "https://shop.example.com";
    const edge = { id: "edghts_1", uri: "" };
    const { id } = emulator.seed({ type: "cloud", url, edge });
    const { props } = await core.read(id, { type: "cloud", url, edge });
    expect(props).toMatchObject({ edge });
    expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints"]);
  });

  test("is followed by a read by id if an item omits an input, so a cleared input is found", async () => {
    const { core, emulator } = await service();
    const url = "https://shop.example.com";
    const { id } = emulator.seed({ type: "cloud", url });
    const { props } = await core.read(id, { type: "cloud", url, description: "front door" });
    expect(props).not.toHaveProperty("description");
    expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints", `/endpoints/${id}`]);
  });

  test("is not used for `get`, because only a read by id returns all fields", async () => {
    const { core, emulator } = await service();
    const edge = { id: "edghts_1", uri: "" };
    const { id } = emulator.seed({ type: "cloud", url: "https://shop.example.com", edge });
    expect((await core.read(id, { __provider: "code" })).props).toMatchObject({ edge });
    expect(emulator.requests.map(({ path }) => path)).toEqual([`/endpoints/${id}`]);
  });

  test("as a whole is shared by callers that accept its age, and never filtered", async () => {
    const { api, emulator, clock } = await service({ settings: ON });
    seeded(emulator, 250);
    agents(emulator, 1);
    const first = api.list.whole(clock.now());
    await Promise.all([first.toEnd(), api.list.whole(clock.now()).toEnd()]);
    expect(api.list.whole(first.began)).toBe(first);
    expect([...first.endpoints.values()].map(({ type }) => type)).toContain("ephemeral");
    expect(emulator.requests.map(({ query }) => query["filter"])).toEqual([undefined, undefined, undefined]);
    expect(api.list.whole(first.began + 1)).not.toBe(first);
  });
});

/** An account with 20 cloud endpoints, and 300 newer ones of agents. */
async function account(filters: Behaviour["filters"], listFilter: "on" | "off" = "on") {
  const parts = await service({ filters, settings: { "endpoints:listFilter": listFilter } });
  const { emulator } = parts;
  const cloud = seeded(emulator, 20);
  for (let index = 0; index < 300; index++) {
    const url = `https://agent-${index}.example.app`;
    emulator.seed({ type: "ephemeral", url, region: "eu", name: `agent-${index}` });
  }
  const cost = async (work: (api: EndpointsApi) => Promise<unknown>) => {
    const before = emulator.requests.length;
    await work(parts.newProcess().api);
    return emulator.requests.length - before;
  };
  return { ...parts, cloud, cost };
}

const lookUp = (api: EndpointsApi, index: number, fresh = false) =>
  findEndpoint(api, { url: `https://e${index}.example.com/` }, { fresh });

/** The number of pages of the whole list. */
const WHOLE = 4;
/** What the service does with filters, and the requests: of a refresh, of three look-ups, and of a data source. */
type Row = [Behaviour["filters"], "on" | "off", refresh: number, lookUps: number, named: number];
const rows: Row[] = [
  ["works", "on", 1, 3, 1],
  ["works", "off", WHOLE, WHOLE, WHOLE],
  ["refused", "on", 1 + WHOLE, 1 + WHOLE, 1 + WHOLE],
  ["ignored", "on", WHOLE, 3 * WHOLE, WHOLE],
  // The look-ups that a filter answers with nothing share the whole list. A refresh reads by id what a filter omits.
  ["incomplete", "on", 1 + 10, 3 + WHOLE, 1],
];

test("a URL pattern without a star finds an edge, which only has a public URL", async () => {
  const { emulator, newProcess } = await account("works");
  const { id } = emulator.seed({ type: "edge", url: undefined, public_url: "https://edge.example.com" });
  const filter = { types: ["edge"], urlPattern: "https://edge.example.com" };
  const found = await findEndpoints(newProcess().api, filter, { fresh: true });
  expect(found.map((live) => live.id)).toEqual([id]);
});

describe.each(rows)("with a filter that %s, and `listFilter` %s", (filters, setting, ...requests) => {
  test("reads find every endpoint, with the expected requests", async () => {
    const { cloud, cost, logged } = await account(filters, setting);
    const found: (string | undefined)[] = [];
    const refreshed = await cost(async (api) => {
      const read = async ({ id }: { id: string }) => (await api.list.item(id)) ?? (await api.get(id));
      found.push(...(await Promise.all(cloud.map(read))).map(({ id }) => id));
    });
    const lookUps = await cost(async (api) => {
      for (const index of [0, 8, 19]) found.push((await lookUp(api, index)).id);
    });
    const ids = cloud.map(({ id }) => id);
    expect(found).toEqual([...ids, ids[0], ids[8], ids[19]]);
    const named = await cost((api) =>
      findEndpoints(api, { name: "agent-7", region: "eu" }, { fresh: false }),
    );
    expect([refreshed, lookUps, named]).toEqual(requests);
    const warning =
      /the service refuses filters of its list \(status 400\).*set endpoints:listFilter .* to off/;
    const warnings = filters === "refused" ? Array(3).fill(expect.stringMatching(warning)) : [];
    expect(logged).toEqual(warnings);
  });

  test("an unknown URL is looked for in the whole list, which names a similar one", async () => {
    const { newProcess } = await account(filters, setting);
    const { api } = newProcess();
    await expect(findEndpoint(api, { url: "https://e1.exmple.com" }, { fresh: true })).rejects.toThrow(
      /no endpoint of the 320 .*did you mean https:\/\/e1\.example\.com\?/,
    );
  });

  test("an adoption by URL finds the endpoint, and never creates a second one", async () => {
    const { newProcess, emulator, cloud } = await account(filters, setting);
    for (const [index, { id, outs }] of cloud.entries()) {
      const inputs = { url: outs.url, adopt: true, description: `${index}` };
      const adopted = await newProcess()
        .core.create(inputs)
        .catch((error: Error) => error);
      if (adopted instanceof Error)
        // The service refuses the create, so nothing is doubled. What a filter omits cannot be named.
        expect([filters, adopted.message]).toEqual(["incomplete", expect.stringMatching(/18017/)]);
      else expect(adopted.id).toBe(id);
    }
    expect(emulator.endpoints).toHaveLength(320);
  });

  test.skipIf(filters === "incomplete")("data sources return what matches, and nothing else", async () => {
    const { newProcess, cloud } = await account(filters, setting);
    const { api } = newProcess();
    const named = async (args: object) =>
      (await findEndpoints(api, args, { fresh: false })).map(({ name, id }) => name ?? id);
    expect(await named({ types: ["cloud"] })).toEqual(cloud.map(({ id }) => id).reverse());
    expect(await named({ name: "agent-7", region: "eu" })).toEqual(["agent-7"]);
    expect(await named({ name: 'agent-7" || true || "' })).toEqual([]);
    expect(await named({ types: ["ephemeral"], urlPattern: "https://agent-9.example.app" })).toEqual([
      "agent-9",
    ]);
    expect(await named({ types: [] })).toEqual([]);
  });
});

test("a type of agents is found by both of its names in filters", async () => {
  const { api } = await account("agent");
  expect(await findEndpoints(api, { types: ["ephemeral"], name: "agent-7" }, { fresh: false })).toHaveLength(
    1,
  );
});

test("a hundred parallel data sources warn once of a refused filter, and share the whole list", async () => {
  const { api, emulator, logged } = await account("refused");
  const names = Array.from({ length: 100 }, (_, index) => `agent-${index}`);
  await Promise.all(names.map((name) => findEndpoints(api, { name }, { fresh: true })));
  expect(logged).toHaveLength(1);
  expect(emulator.requests.filter(({ query }) => !("filter" in query))).toHaveLength(WHOLE);
});

test.each([401, 403, 500])("a filtered list that fails with %i is no refused filter", async (status) => {
  const { emulator, newProcess, logged } = await account("works");
  emulator.intercept(({ query }) => "filter" in query, { status, body: "" }, 99);
  const { api } = newProcess({ ENDPOINTS_RETRY_FOR_SECONDS: "0.001" });
  expect(await thrown(api.list.select(CLOUD, { fresh: true }))).toMatchObject({ status });
  expect(logged).toEqual([]);
  expect(emulator.requests.filter(({ query }) => !("filter" in query))).toEqual([]);
});

test("a selection is shared for a minute, if no write of this process came in between", async () => {
  const { api, emulator, clock } = await account("works", "off");
  const select = () => api.list.select(EVERYTHING, { fresh: false });
  await select();
  await clock.sleep(59_000);
  await select();
  expect(emulator.requests).toHaveLength(WHOLE);
  await clock.sleep(2_000);
  await select();
  expect(emulator.requests).toHaveLength(2 * WHOLE);
  await clock.sleep(1);
  api.list.outdate();
  await clock.sleep(1);
  await select();
  expect(emulator.requests).toHaveLength(3 * WHOLE);
});

test.each([
  ["works", 40],
  ["refused", 1 + 4],
] as const)(
  "forty adoptions by URL that change their endpoints share the list or use a filter: the filter %s",
  async (filters, lists) => {
    const { core, emulator } = await service({ filters, settings: ON });
    seeded(emulator, 400);
    for (let index = 0; index < 40; index++)
      await core.create({ url: `https://e${index}.example.com`, adopt: true, description: "ours" });
    expect(emulator.endpoints.filter(({ description }) => description === "ours")).toHaveLength(40);
    expect(emulator.requests.filter(isList).length).toBe(lists);
  },
);

describe("a list that cannot be read", () => {
  test("is replaced by reads by id if the key may not list", async () => {
    const { core, emulator } = await service();
    emulator.intercept(isList, { status: 403, body: "" }, 100);
    const states = seeded(emulator, 20);
    expect(await refresh(core, states)).toHaveLength(20);
    expect(count(emulator.requests)).toEqual({ pages: 1, singles: 20 });
  });

  test("to its end fails an adoption, because the endpoint may be on a later page", async () => {
    const { core, emulator } = await service({ pageSize: 1 });
    const states = seeded(emulator, 2);
    emulator.intercept(({ query }) => "before_id" in query, { status: 403, body: "" }, 2);
    // The list of the read fails, and so does that of the adoption.
    await core.read(states[0].id, states[0].outs);
    const error = await thrown(core.create({ url: "https://e0.example.com", adopt: true }));
    expect(error.cause).toMatchObject({ status: 403 });
    expect(emulator.endpoints).toHaveLength(2);
  });

  test("because the key is refused fails each waiting read with its own id, and the next read asks again", async () => {
    const { core, emulator } = await service();
    const states = seeded(emulator, 3);
    emulator.intercept(isList, { status: 401, body: "" });
    const errors = await Promise.all(states.map(({ id, outs }) => thrown(core.read(id, outs))));
    expect(errors.map(({ message }) => message.match(/cannot read ep_\w+/g))).toEqual(
      states.map(({ id }) => [`cannot read ${id}`]),
    );
    expect(emulator.requests).toHaveLength(1);
    expect(await refresh(core, states)).toHaveLength(3);
    expect(emulator.requests).toHaveLength(2);
  });
});

test("an expression quotes its texts, and there is none for a text that it cannot hold", () => {
  expect(isOneOf("name", ['a" || "b'])).toBe('obj.name == "a\\" || \\"b"');
  expect(isOneOf("type", ["cloud", "edge"])).toBe('obj.type in ["cloud", "edge"]');
  expect(isOneOf("name", ["\ud800"])).toBeUndefined();
  expect(isOneOf("name", [])).toBeUndefined();
});
