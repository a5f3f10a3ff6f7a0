import { describe, expect, test } from "vitest";
import { findEndpoint, findEndpoints } from "../../../provider/dataSources/lookup";
import { accountFingerprint } from "../../../provider/endpoint/state";
import type { EndpointsApi } from "../../../provider/service/endpoints";
import { ALL_ENDPOINTS, CLOUD_ENDPOINTS, isOneOf } from "../../../provider/service/list";
import type { RecordedRequest } from "../../../sdk/testing";
import type { Behaviour, Emulator } from "../../../sdk/testing/emulator";
import { methods, paths } from "../../requests";
import { service, thrown, wholeList } from "../emulated";

const url = "https://shop.example.com";
const any = () => true;
const isList = ({ method, path }: RecordedRequest) => method === "GET" && path === "/endpoints";

interface Seeded {
  id: string;
  outs: {
    type: string;
    url: string;
    createdAt: string;
    updatedAt: string;
    __accountFingerprint: string;
    __version: string;
  };
}

/** Seeds old cloud endpoints, and returns their states. */
function seeded(emulator: Emulator, endpoints: number) {
  const createdAt = "2025-01-01T00:00:00Z";
  const seed = (i: number) => {
    const url = `https://e${i}.example.com`;
    const { id, updated_at: updatedAt = "" } = emulator.seed({ type: "cloud", url, created_at: createdAt });
    const __accountFingerprint = accountFingerprint(emulator);
    return {
      id,
      outs: { type: "cloud", url, createdAt, updatedAt, __accountFingerprint, __version: "0.1.0" },
    };
  };
  // The type promises a first item, and every caller asks for at least one id.
  return Array.from({ length: endpoints }, (_, i) => seed(i)) as [Seeded, ...Seeded[]];
}

function agents(emulator: Emulator, endpoints: number) {
  const seed = (_: unknown, i: number) => {
    const name = `agent-${i}`;
    return emulator.seed({ type: "ephemeral", url: `https://${name}.example.app`, region: "eu", name });
  };
  return Array.from({ length: endpoints }, seed);
}

type Core = Awaited<ReturnType<typeof service>>["core"];
/** Reads the endpoints in parallel, as a refresh does. Returns the ids of the existing endpoints. */
const refresh = async (core: Core, states: Seeded[]) =>
  (await Promise.all(states.map(({ id, outs }) => core.read(id, outs)))).flatMap(({ id }) => id || []);

describe("the whole list", () => {
  test("is read to its end, newest first, with 100 items a page, also behind a path prefix", async () => {
    const { api, emulator } = await service({ basePath: "/gateway/v2" });
    const ids = agents(emulator, 201).map(({ id }) => id);
    const { endpoints } = await wholeList(api);
    expect(endpoints.map((endpoint) => endpoint.id)).toEqual(ids.reverse());
    expect(emulator.requests).toHaveLength(3);
  });

  const odd = [{ id: "ep_1", type: "hologram", port: null }, { id: "ep_2", port: "high" }, "x"];
  /* The pages of the list (`@` is the service's base URL), and the read ids or the error. */
  // biome-ignore format: one line for each list
  test.each<[string, pages: [items: unknown[], next: string | null][], read: string[] | RegExp]>([
    ["with items of unknown types and invalid ones", [[odd, null]], ["ep_1", "skipped ep_2", "skipped -"]],
    ["with a next page on another host", [[[{ id: "ep_1" }], "https://evil.example/endpoints?before_id=ep_1"], [[{ id: "ep_0" }], null]], ["ep_1", "ep_0"]],
    ["with pages whose items have no ids", [[[{}], "@/endpoints?before_id=a"], [[{}], "@/endpoints?before_id=b"], [[{ id: "ep_1" }], null]], ["ep_1", "skipped -", "skipped -"]],
    ["with an endpoint on two pages", [[[{ id: "ep_1" }], "@/endpoints?before_id=a"], [[{ id: "ep_1" }], null]], ["ep_1"]],
    ["with pages that repeat", [[[], "@/endpoints?before_id=a"], [[], "@/endpoints?before_id=a"]], /the pages of the list never end/],
    ["with a next page that is no URI", [[[], "https://["]], /next_page_uri is no URI/],
  ])("%s is read to its end, or fails", async (_, pages, read) => {
    const { api, emulator } = await service();
    for (const [endpoints, next] of pages) {
      const body = { endpoints, next_page_uri: next?.replace("@", emulator.baseUrl) ?? null };
      emulator.intercept(any, { status: 200, body });
    }
    if (read instanceof RegExp) await expect(wholeList(api)).rejects.toThrow(read);
    else {
      const { endpoints, skipped } = await wholeList(api);
      const names = skipped.map(({ id = "-" }) => `skipped ${id}`);
      expect([...endpoints.map(({ id }) => id), ...names]).toEqual(read);
    }
    expect(emulator.requests).toHaveLength(pages.length);
  });
});

test("the warning of an unreadable item does not show the account's key", async () => {
  const { api, emulator, logged } = await service();
  const body = { endpoints: [{ id: `of ${emulator.apiKey}`, url: 1 }], next_page_uri: null };
  emulator.intercept(any, { status: 200, body });
  expect(await api.list.select(ALL_ENDPOINTS, "fresh")).toEqual([]);
  expect(logged).toEqual([expect.stringMatching(/cannot be read and are left out \(1\): of \[key\] \(/)]);
});

describe("a refresh", () => {
  /* The endpoints of an account, oldest first, on pages of 10, the number of those that are gone, and the requests. */
  // biome-ignore format: one line for each account
  test.each<[string, account: ["ours" | "theirs", number][], gone: number, pages: number, reads: number]>([
    ["all are on its pages", [["ours", 40]], 0, 4, 0],
    ["one is behind many of others", [["ours", 1], ["theirs", 100]], 0, 1, 1],
    ["half are behind some of others", [["ours", 20], ["theirs", 50], ["ours", 20]], 0, 9, 0],
    ["one of them is gone", [["ours", 40]], 1, 4, 2],
  ])("takes at most twice the requests of the cheaper way if %s", async (_, account, gone, pages, reads) => {
    const { core, emulator } = await service({ pageSize: 10, settings: { requestsPerWindow: "1000" } });
    const states = account.flatMap(([owner, count]) => {
      if (owner === "ours") return seeded(emulator, count);
      agents(emulator, count);
      return [];
    });
    for (const { id } of states.slice(0, gone)) emulator.remove(id);
    expect(await refresh(core, states)).toEqual(states.slice(gone).map(({ id }) => id));
    const lists = emulator.requests.filter(isList).length;
    expect([lists, emulator.requests.length - lists]).toEqual([pages, reads]);
  });

  const edge = { id: "edghts_1", uri: "" };

  // biome-ignore format: one line for each state
  test.each<[string, seed: object, state: object, requests: string[], edge: object | undefined]>([
    ["leaves an output at its stored value if the item omits it", { edge }, { edge }, ["GET /endpoints"], edge],
    ["reads by id if the item omits an input, which may be cleared", {}, { description: "x" }, ["GET /endpoints", "GET /endpoints/ep_1"], undefined],
    ["of a program's `get` reads by id, since a list item omits fields", { edge }, { url: undefined, type: undefined, updatedAt: undefined, __version: undefined, __provider: "code" }, ["GET /endpoints/ep_1"], edge],
  ])("%s", async (_, seed, state, requests, stored) => {
    const { core, emulator } = await service();
    const { updated_at: updatedAt } = emulator.seed({ type: "cloud", id: "ep_1", url, ...seed });
    const given = Object.entries({ type: "cloud", url, updatedAt, __version: "0.1.0", ...state }).filter(([, value]) => value !== undefined);
    const { props } = await core.read("ep_1", Object.fromEntries(given));
    expect([props?.["edge"], props?.["description"]]).toEqual([stored, undefined]);
    expect(paths(emulator)).toEqual(requests);
  });

  test("uses no item of a list that began before this process's last write", async () => {
    const { core, emulator } = await service();
    const [{ id, outs }] = seeded(emulator, 1);
    await core.read(id, outs);
    await core.update(id, outs, { url: outs.url, description: "x" });
    expect((await core.read(id, outs)).props).toMatchObject({ description: "x" });
    expect(methods(emulator)).toEqual(["GET", "PATCH", "GET"]);
    expect(paths(emulator).at(-1)).toBe("GET /endpoints");
  });

  test("reads the list again after a minute", async () => {
    const { core, api, emulator } = await service();
    const [{ id, outs }] = seeded(emulator, 1);
    await core.read(id, outs);
    emulator.edit(id, { description: "by hand" });
    await api.http.clock.sleep(59_000);
    expect((await core.read(id, outs)).props).not.toHaveProperty("description");
    await api.http.clock.sleep(2000);
    expect((await core.read(id, outs)).props).toMatchObject({ description: "by hand" });
  });
});

/** An account with 6 cloud endpoints, and 30 newer endpoints of agents, on four pages. */
async function account(filters: Behaviour["filters"], listFilter: "on" | "off" = "on") {
  const parts = await service({ filters, pageSize: 10, settings: { listFilter: listFilter } });
  const { emulator } = parts;
  const cloud = seeded(emulator, CLOUDS);
  agents(emulator, 30);
  const cost = async (work: (api: EndpointsApi) => Promise<unknown>) => {
    const before = emulator.requests.length;
    await work(parts.newProcess().api);
    return emulator.requests.length - before;
  };
  return { ...parts, cloud, cost };
}
const CLOUDS = 6;
/** The number of pages of the whole list. */
const WHOLE = 4;

const withoutFilter = ({ query }: { query: object }) => !("filter" in query);

/** The service's behaviour with filters, and the requests of a refresh, of three look-ups, and of a data source. */
type Row = [Behaviour["filters"], "on" | "off", refresh: number, lookUps: number, named: number];

describe.each<Row>([
  ["works", "on", 1, 3, 1],
  ["works", "off", WHOLE, WHOLE, WHOLE],
  ["refused", "on", 1 + WHOLE, 1 + WHOLE, 1 + WHOLE],
  ["ignored", "on", WHOLE, 3 * WHOLE, WHOLE],
  // Look-ups without a result of the filter share the whole list. A refresh reads endpoints that a filter omits by id.
  ["incomplete", "on", 1 + CLOUDS / 2, 3 + WHOLE, 1],
])("with a filter that %s, and `listFilter` %s", (filters, setting, ...requests) => {
  test("reads find every endpoint, with the expected requests", async () => {
    const { cloud, cost, logged } = await account(filters, setting);
    const found: (string | undefined)[] = [];
    const refreshed = await cost(async (api) => {
      const read = async ({ id }: { id: string }) => (await api.list.findInList(id)) ?? (await api.get(id));
      found.push(...(await Promise.all(cloud.map(read))).map(({ id }) => id));
    });
    const lookUps = await cost(async (api) => {
      for (const index of [0, 2, 5])
        found.push(
          (await findEndpoint(api, { url: `https://e${index}.example.com/` }, { freshness: "recent" })).id,
        );
    });
    const named = await cost(async (api) => {
      const data = await findEndpoints(api, { name: "agent-7", region: "eu" }, "recent");
      // A data source does not notice endpoints that a filter omits.
      expect(data.map(({ name }) => name)).toEqual(
        filters === "incomplete" ? expect.anything() : ["agent-7"],
      );
    });
    const ids = cloud.map(({ id }) => id);
    expect(found).toEqual([...ids, ids[0], ids[2], ids[5]]);
    expect([refreshed, lookUps, named]).toEqual(requests);
    const warning =
      /the service refuses filters of its list \(status 400\).*set endpoints:listFilter .* to off/;
    expect(logged).toEqual(filters === "refused" ? Array(3).fill(expect.stringMatching(warning)) : []);
  });
});

describe("a filter", () => {
  test("finds types and the public URL of an edge, and quotes the searched text", async () => {
    const { api, emulator, cloud } = await account("works");
    const edge = emulator.seed({ type: "edge", url: undefined, public_url: "https://edge.example.com" });
    const idsOf = async (args: object) => (await findEndpoints(api, args, "fresh")).map(({ id }) => id);
    expect(await idsOf({ types: ["cloud"] })).toEqual(cloud.map(({ id }) => id).reverse());
    expect(await idsOf({ types: ["edge"], urlPattern: "https://edge.example.com" })).toEqual([edge.id]);
    expect(await idsOf({ name: 'agent-7" || true || "' })).toEqual([]);
    expect(await idsOf({ types: [] })).toEqual([]);
  });

  test.each([401, 500])("is not refused by a status %i, which fails the list", async (status) => {
    const { emulator, newProcess, logged } = await account("works");
    emulator.intercept((request) => !withoutFilter(request), { status, body: "" }, 99);
    const { api } = newProcess({ ENDPOINTS_RETRY_FOR_SECONDS: "0.001" });
    expect(await thrown(api.list.select(CLOUD_ENDPOINTS, "fresh"))).toMatchObject({ status });
    expect(logged).toEqual([]);
    expect(emulator.requests.filter(withoutFilter)).toEqual([]);
  });

  test("is not sent for a text that an expression cannot hold", () =>
    expect(isOneOf("name", ["\ud800"])).toBeUndefined());
});

describe("a list that cannot be read", () => {
  test("is replaced by reads by id if the key may not list", async () => {
    const { core, emulator } = await service();
    emulator.intercept(isList, { status: 403, body: "" }, 100);
    const states = seeded(emulator, 20);
    expect(await refresh(core, states)).toHaveLength(20);
    expect(emulator.requests.filter(isList)).toHaveLength(1);
  });

  test("because of a refused key fails each waiting read with its own id, and the next read lists again", async () => {
    const { core, emulator } = await service();
    const states = seeded(emulator, 3);
    emulator.intercept(isList, { status: 401, body: "" });
    const errors = await Promise.all(states.map(({ id, outs }) => thrown(core.read(id, outs))));
    expect(errors.map(({ message }) => message.match(/cannot read ep_\w+/g))).toEqual(
      states.map(({ id }) => [`cannot read ${id}`]),
    );
    expect(await refresh(core, states)).toHaveLength(3);
    expect(emulator.requests).toHaveLength(2);
  });
});
