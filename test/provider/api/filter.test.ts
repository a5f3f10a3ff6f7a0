import { describe, expect, test } from "vitest";
import type { EndpointsApi } from "../../../provider/api/endpoints";
import { isOneOf, onUrls } from "../../../provider/api/filter";
import { findEndpoint, findEndpoints } from "../../../provider/endpoint/lookup";
import { type Behaviour, gatewayReply } from "../../../sdk/testing/emulator";
import { service } from "../service";

type Mode = Behaviour["filters"] | keyof typeof replies;

/** Replies to a request for a filtered list. */
const replies = {
  "a page of HTML": gatewayReply("html", 200),
  "a 404 of a gateway": gatewayReply("html", 404),
  "a 501": gatewayReply("html", 501),
  "a 500": gatewayReply("coded", 500),
  "a 504 of a gateway": gatewayReply("html", 504),
  "no answer": { reset: true as const },
};

/** An account with 300 endpoints of agents and 20 cloud endpoints, which are newer. */
async function account(mode: Mode, options: Parameters<typeof service>[0] = {}) {
  const { emulator, newProcess, waits } = await service({
    ...(mode in replies ? {} : { filters: mode as Behaviour["filters"] }),
    // Each failing request is sent once.
    settings: { "endpoints:retryForSeconds": "0.001" },
    ...options,
  });
  for (let index = 0; index < 300; index++)
    emulator.seed({
      type: "ephemeral",
      url: `https://agent-${index}.example.app`,
      region: "eu",
      name: `agent-${index}`,
    });
  const cloud = Array.from({ length: 20 }, (_, index) => emulator.seed({ type: "cloud", url: urlOf(index) }));
  if (mode in replies)
    emulator.intercept(({ query }) => "filter" in query, replies[mode as keyof typeof replies], 99);
  const cost = async (work: (api: EndpointsApi) => Promise<unknown>) => {
    const before = emulator.requests.length;
    await work(newProcess().api);
    return emulator.requests.length - before;
  };
  return { emulator, cloud, cost, newProcess, waits };
}

const urlOf = (index: number) => `https://shop-${index}.example.com`;

/** The requests for four pages without a filter, after one or two that show that filters do not work. */
const unfiltered = (mode: Mode) => 4 + (mode in replies ? 2 : 1);

const FILTERS: Mode[] = ["works", "refused", "ignored", "incomplete", "agent"];

describe.each([...FILTERS, ...(Object.keys(replies) as Mode[])])("with a filter (%s)", (mode) => {
  test("a refresh finds all endpoints of the stack, and reads only cloud endpoints if the filter works", async () => {
    const { cloud, cost } = await account(mode);
    const requests = await cost(async (api) => {
      const read = async (id: string) => {
        const live = await api.list.listed(id);
        return live ?? (await api.get(id));
      };
      const found = await Promise.all(cloud.map(({ id }) => read(id)));
      expect(found.map(({ id }) => id)).toEqual(cloud.map(({ id }) => id));
    });
    expect(requests).toBeLessThanOrEqual({ works: 1, incomplete: 11 }[mode as "works"] ?? unfiltered(mode));
  });

  test("sequential look-ups by URL take one request each, or one list for all", async () => {
    const { cloud, cost } = await account(mode);
    const requests = await cost(async (api) => {
      for (const index of [0, 7, 19])
        expect((await findEndpoint(api, { url: `${urlOf(index)}/` }, { fresh: false })).id).toBe(
          cloud[index]?.id,
        );
    });
    const most = { works: 3, agent: 3, incomplete: 3 + 4 }[mode as "works"] ?? unfiltered(mode);
    expect(requests).toBeLessThanOrEqual(most);
  });

  test("a look-up of an unknown URL fails with similar URLs in the message", async () => {
    const { cost } = await account(mode);
    for (const fresh of [false, true]) {
      const requests = await cost((api) =>
        expect(findEndpoint(api, { url: "https://shop.example.com" }, { fresh })).rejects.toThrow(
          /no endpoint of the 320 .*Near it: https:\/\/shop-\d+\.example\.com/,
        ),
      );
      // A fresh look-up shares no page with an earlier one.
      expect(requests).toBe(unfiltered(mode) + (fresh && mode in replies ? 1 : 0));
    }
  });

  test("several conditions of a data source make one filter", async () => {
    const { cost } = await account(mode);
    const requests = await cost((api) =>
      findEndpoints(api, { name: "agent-7", region: "eu" }, { fresh: false }),
    );
    expect(requests).toBe({ works: 1, agent: 1, incomplete: 1 }[mode as "works"] ?? unfiltered(mode));
  });

  test("a hundred parallel data sources share the test whether filters work", async () => {
    const { cost } = await account(mode);
    const requests = await cost((api) =>
      Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          findEndpoints(api, { name: `agent-${index}` }, { fresh: true }),
        ),
      ),
    );
    expect(requests).toBeLessThanOrEqual(
      { works: 100, agent: 100, incomplete: 100 }[mode as "works"] ?? 2 * unfiltered(mode),
    );
  });

  test.skipIf(mode === "incomplete")(
    "data sources return the same endpoints as without a filter",
    async () => {
      const { newProcess, cloud } = await account(mode);
      const named = async (args: object) =>
        (await findEndpoints(newProcess().api, args, { fresh: false })).map(({ name, id }) => name ?? id);
      expect(await named({ types: ["cloud"] })).toEqual(cloud.map(({ id }) => id).reverse());
      expect(await named({ name: "agent-7", region: "eu" })).toEqual(["agent-7"]);
      expect(await named({ name: 'agent-7" || true || "' })).toEqual([]);
      expect(
        await named({ types: ["cloud", "ephemeral"], urlPattern: "https://agent-9.example.app" }),
      ).toEqual(["agent-9"]);
      expect(await named({ types: ["ephemeral"], name: "agent-7" })).toEqual(["agent-7"]);
      expect(await named({ types: [] })).toEqual([]);
    },
  );

  test("an adoption by URL finds the endpoint, and never creates a second one", async () => {
    const { newProcess, emulator, cloud } = await account(mode);
    const adopted = await newProcess()
      .core.create({ url: urlOf(19), adopt: true, description: "ours" })
      .catch((error: Error) => error);
    if (mode === "incomplete" && adopted instanceof Error) expect(adopted.message).toContain(cloud[19]?.id);
    else expect(adopted).toMatchObject({ id: cloud[19]?.id });
    expect(emulator.endpoints).toHaveLength(320);
  });
});

/** The same with a client that repeats its requests for two minutes. */
async function patient(mode: Mode) {
  const { newProcess, ...rest } = await account(mode, { settings: {} });
  return { ...rest, ...newProcess() };
}

test("a failing filtered list is repeated for less than five seconds, and the whole list as long as any request", async () => {
  const { emulator, cloud, api, waits: sleeps } = await patient("a 500");
  emulator.intercept(({ path, query }) => path === "/endpoints" && !("filter" in query), { status: 503 }, 8);
  const { id } = await findEndpoint(api, { url: urlOf(3) }, { fresh: false });
  expect(id).toBe(cloud[3]?.id);
  const firstWhole = emulator.requests.findIndex(({ query }) => !("filter" in query));
  expect(firstWhole).toBeGreaterThan(1);
  expect(sum(sleeps.slice(0, firstWhole - 1))).toBeLessThan(5_000);
  expect(sum(sleeps)).toBeGreaterThan(20_000);
});

describe.each([
  [
    "a data source",
    (api: EndpointsApi, { url }: { url: string }) => findEndpoint(api, { url }, { fresh: false }),
  ],
  ["a refresh", (api: EndpointsApi, { id }: { id: string }) => api.list.listed(id)],
  ["an adoption", (api: EndpointsApi) => api.list.cloud({ current: false })],
])("after an outage of the whole service, the lists of %s are filtered", (_, read) => {
  const [first, second] = [3, 7];

  test("if a repeated request succeeded", async () => {
    const { emulator, cloud, api, waits: sleeps } = await patient("works");
    emulator.intercept(() => true, { reset: true }, 12);
    await read(api, { id: cloud[first]?.id ?? "", url: urlOf(first) });
    expect(sum(sleeps)).toBeGreaterThan(5_000);
    await api.list.onUrl(urlOf(second), { fresh: true });
    // One page without a filter shows that the service answers again.
    const answered = emulator.requests.slice(12);
    expect(answered.filter(({ query }) => !("filter" in query))).toHaveLength(1);
  });

  test("if all repetitions failed", async () => {
    const { emulator, cloud, api } = await patient("works");
    let isDown = true;
    emulator.intercept(() => isDown, { status: 503, body: "" }, 999);
    await Promise.allSettled([read(api, { id: cloud[first]?.id ?? "", url: urlOf(first) })]);
    isDown = false;
    const before = emulator.requests.length;
    await api.list.onUrl(urlOf(second), { fresh: true });
    expect(emulator.requests.slice(before).filter(({ query }) => !("filter" in query))).toEqual([]);
  });
});

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

test("an expression quotes its texts, and there is none for a text that it cannot hold", () => {
  expect(isOneOf("name", ['a" || "b'])).toBe('obj.name == "a\\" || \\"b"');
  expect(isOneOf("type", ["cloud", "edge"])).toBe('obj.type in ["cloud", "edge"]');
  expect(isOneOf("name", ["\ud800"])).toBeUndefined();
  expect(isOneOf("name", [])).toBeUndefined();
});

test("many URLs are split into expressions of less than 2,100 characters", () => {
  const urls = Array.from({ length: 100 }, (_, index) => `https://${"long-".repeat(10)}${index}.example.com`);
  const parts = onUrls(urls);
  for (const { expression = "" } of parts) expect(expression.length).toBeLessThan(2_100);
  expect(parts.length).toBeLessThan(25);
  for (const url of urls)
    expect(parts.filter(({ expression }) => expression?.includes(`"${url}"`))).toHaveLength(1);
});
