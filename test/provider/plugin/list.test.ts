import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { describe, expect, test } from "vitest";
import type { Emulator } from "../../../sdk/testing/emulator";
import { thrown } from "../service";
import { type PluginClient, plugin } from "./pluginClient";

/** Seeds cloud endpoints. Returns their ids, newest first. */
function seed(emulator: Emulator, count: number, first = 0): string[] {
  const urls = Array.from({ length: count }, (_, index) => `https://shop-${first + index}.example.com`);
  return urls.map((url) => emulator.seed({ type: "cloud", url }).id).reverse();
}

/** All pages of a listing. `between` runs before each further page. */
async function pages(
  client: PluginClient,
  options: { query?: Record<string, unknown>; limit?: number; pageSize?: number },
  between: (page: number) => unknown = () => {},
): Promise<string[][]> {
  const all: string[][] = [];
  for (let token = ""; ; ) {
    const page = await client.list(options.query, { ...options, token });
    all.push(page.ids);
    if (page.token === "") return all;
    token = page.token;
    await between(all.length);
  }
}

const requestsOf = (emulator: Emulator) => emulator.requests.map(({ method, path }) => `${method} ${path}`);

describe("a list", () => {
  test("has the account's cloud endpoints, newest first, each with its URL as its name", async () => {
    const { client, emulator } = await plugin();
    const [newest, oldest] = seed(emulator, 2);
    emulator.seed({ type: "ephemeral" });
    emulator.seed({ type: "edge" });
    expect(await client.list()).toEqual({
      ids: [newest, oldest],
      names: ["https://shop-1.example.com", "https://shop-0.example.com"],
      token: "",
      computed: false,
    });
    expect(requestsOf(emulator)).toEqual(["GET /endpoints"]);
  });

  test("has the endpoints that satisfy the filters of getEndpoints", async () => {
    const { client, emulator } = await plugin();
    const [, shop] = seed(emulator, 2);
    const { id } = emulator.seed({
      type: "cloud",
      url: "https://api.example.org",
      metadata: '{"team":"api"}',
    });
    emulator.seed({ type: "ephemeral", metadata: '{"team":"api"}' });
    const ids = async (query: Record<string, unknown>) => (await client.list(query)).ids;
    expect(await ids({ urlPattern: "https://shop-0*" })).toEqual([shop]);
    expect(await ids({ metadata: { team: "api" }, region: null })).toEqual([id]);
    expect(await ids({ binding: "internal" })).toEqual([]);
  });

  test("begins with the first page, for one request", async () => {
    const { client, emulator } = await plugin();
    const ids = seed(emulator, 250);
    const { ids: first, token } = await client.list();
    expect(first).toEqual(ids.slice(0, 100));
    expect(token).not.toBe("");
    expect(emulator.requests).toHaveLength(1);
  });

  test("is read once, however many pages it has", async () => {
    const { client, emulator } = await plugin();
    const ids = seed(emulator, 250);
    const all = await pages(client, { pageSize: 30 });
    expect(all.flat()).toEqual(ids);
    expect(all.map(({ length }) => length)).toEqual([30, 30, 30, 30, 30, 30, 30, 30, 10]);
    expect(emulator.requests).toHaveLength(3);
  });

  test("with a limit ends there, whether or not the caller reduces the limit from page to page", async () => {
    const { client, emulator } = await plugin();
    const ids = seed(emulator, 250);
    expect((await client.list({}, { limit: 5 })).token).toBe("");
    expect((await pages(client, { limit: 150 })).map(({ length }) => length)).toEqual([100, 50]);
    const { token } = await client.list({}, { limit: 150 });
    expect(await client.list({}, { limit: 50, token })).toMatchObject({
      ids: ids.slice(100, 150),
      token: "",
    });
  });

  test("fills its pages although most endpoints do not satisfy a filter", async () => {
    const { client, emulator } = await plugin();
    const ids = seed(emulator, 250).filter((_, index) => index % 50 === 0);
    const chosen = ids.map((id) => emulator.endpoints.find((one) => one.id === id)?.url);
    for (const url of chosen) expect((await client.list({ urlPattern: url })).names).toEqual([url]);
    expect(
      await pages(client, { query: { urlPattern: "https://shop-*9.example.com" }, pageSize: 20 }),
    ).toMatchObject([{ length: 20 }, { length: 5 }]);
  });

  test("of a service without filters is whole", async () => {
    const { client, emulator } = await plugin({ filters: "ignored" });
    const ids = seed(emulator, 150);
    emulator.seed({ type: "ephemeral" });
    expect((await pages(client, { pageSize: 60 })).flat()).toEqual(ids);
  });

  test("with a filter that is not known yet is unknown", async () => {
    const { client, emulator } = await plugin();
    expect(await client.list({ region: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" })).toMatchObject({
      ids: [],
      computed: true,
    });
    expect(emulator.requests).toEqual([]);
  });

  test("omits an unreadable endpoint, and warns once", async () => {
    const { client, emulator, logged } = await plugin();
    const ids = seed(emulator, 3);
    const endpoints = [{ id: "ep_0", type: "cloud", port: "high" }, ...emulator.endpoints];
    emulator.intercept(() => true, { status: 200, body: { endpoints, next_page_uri: null } });
    expect((await pages(client, { pageSize: 1 })).flat()).toEqual(ids);
    expect(logged).toMatchObject([{ message: expect.stringMatching(/ep_0.*cannot be read/) }]);
  });
});

describe("while the account changes, a list", () => {
  test("shows no endpoint twice and leaves none out that exists the whole time", async () => {
    const { client, emulator } = await plugin();
    const ids = seed(emulator, 230);
    const shown = await pages(client, { pageSize: 50 }, async (page) => {
      seed(emulator, 3, 1000 * page);
      // The last one shown, and one that is not shown yet.
      for (const at of [50 * page - 1, 50 * page + 10]) {
        const id = ids[at];
        if (id !== undefined) await client.delete(id, {});
      }
    });
    const listed = shown.flat();
    expect(new Set(listed).size).toBe(listed.length);
    const stayed = ids.filter((id) => emulator.endpoints.some((one) => one.id === id));
    expect(listed).toEqual(expect.arrayContaining(stayed));
    expect(listed.every((id) => ids.includes(id))).toBe(true);
  });

  test.each([
    { last: "still exists", isGone: false },
    { last: "is gone", isGone: true },
  ])("goes on in another process, if the last endpoint $last", async ({ isGone }) => {
    const { client, emulator } = await plugin();
    const ids = seed(emulator, 20);
    const first = await client.list({}, { pageSize: 5 });
    seed(emulator, 2, 100);
    if (isGone) await client.delete(ids[4] ?? "", {});
    const other = await plugin({ emulator });
    const rest = await other.client.list({}, { token: first.token });
    expect(rest.ids).toEqual(ids.slice(5));
  });
});

describe("a list fails", () => {
  test("in another process if all endpoints that it would go on after are gone", async () => {
    const { client, emulator } = await plugin();
    const ids = seed(emulator, 20);
    const { token } = await client.list({}, { pageSize: 5 });
    for (const id of ids.slice(0, 5)) await client.delete(id, {});
    const other = await plugin({ emulator });
    expect((await thrown(other.client.list({}, { token }))).message).toBe(
      "the endpoints before this page are gone; list again without a continuation token",
    );
    expect((await client.list({}, { token })).ids).toEqual(ids.slice(5));
  });

  test.each([
    [
      { urlPatern: "https://*" },
      "urlPatern is no filter of a list of cloud endpoints; did you mean urlPattern?",
    ],
    [
      { types: ["edge"] },
      "types is no filter of a list of cloud endpoints; the filters are region, urlPattern, name, binding, metadata",
    ],
    [{ region: 7 }, /^the filter region is invalid: /],
  ])("for the query %j", async (query, message) => {
    const { client, emulator } = await plugin();
    expect((await thrown(client.list(query))).message).toMatch(message);
    expect(emulator.requests).toEqual([]);
  });

  test.each(["next", "e30", Buffer.from('{"id":"ep_1"}').toString("base64url")])(
    "for the continuation token %s",
    async (token) => {
      const { client, emulator } = await plugin();
      expect((await thrown(client.list({}, { token }))).message).toBe(
        "the continuation token is not of this list; list again without one",
      );
      expect(emulator.requests).toEqual([]);
    },
  );

  test("for a type that the package does not have", async () => {
    const { client } = await plugin();
    const request = new pb.ListRequest().setToken("endpoints:index:Edge");
    expect((await thrown(client.listRaw(request))).message).toContain("There is no endpoints:index:Edge");
  });

  test("with the service's refusal", async () => {
    const { client } = await plugin({ configure: false });
    await client.configure({ apiKey: "wrong", baseUrl: "http://127.0.0.1:1", retryForSeconds: 0.1 });
    expect((await thrown(client.list())).message).toMatch(/^GET \/endpoints: /);
  });
});
