import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HttpClient } from "../../../provider/api/client";
import { EndpointsApi } from "../../../provider/api/endpoints";
import { CloudEndpoints } from "../../../provider/cloudEndpoint";
import { readSettings } from "../../../provider/config";
import { findEndpoint } from "../../../provider/lookup";
import { Emulator } from "../../../sdk/testing/emulator";

/* What docs/scale.md says of an account with many endpoints of agents, counted by the emulator. */

const AGENTS = 20_000;
const urlOf = (index: number) => `https://shop-${index}.example.com`;
const ids: string[] = [];
let emulator: Emulator;

beforeAll(async () => {
  emulator = await Emulator.start();
  const created_at = new Date(Date.now() - 3_600_000).toISOString();
  for (let index = 0; index < 50; index++)
    ids.push(emulator.seed({ type: "cloud", url: urlOf(index), created_at }).id);
  for (let index = 0; index < AGENTS; index++) emulator.seed({ type: "ephemeral", created_at });
});
afterAll(() => emulator.close());

/** The requests of a new process. */
async function cost(work: (api: EndpointsApi, core: CloudEndpoints) => Promise<unknown>): Promise<number> {
  const config: Record<string, string> = {
    "endpoints:apiKey": emulator.apiKey,
    "endpoints:baseUrl": emulator.baseUrl,
    "endpoints:requestsPerWindow": "1000000",
  };
  const settings = readSettings((key) => config[key], {});
  const api = new EndpointsApi(new HttpClient(settings));
  const log = { info: () => {}, warn: () => {} };
  const before = emulator.requests.length;
  await work(api, new CloudEndpoints({ connect: () => ({ api, settings }), log }));
  await api.http.close();
  return emulator.requests.length - before;
}

describe.each([
  ["works", 1, 3, 1],
  ["refused", 101, 202, 202],
  ["ignored", 101, 202, 202],
] as const)(
  "beside 20,000 endpoints of agents, with a filter that is %s,",
  (filters, refreshed, lookedUp, adopted) => {
    beforeAll(() => emulator.behave({ filters }));

    test("a refresh of 50 costs no more than single reads", async () => {
      const requests = await cost((api) =>
        Promise.all(ids.map(async (id) => (await api.list.listed(id)) ?? (await api.get(id)))),
      );
      expect(requests).toBe(refreshed);
    });

    test("three look-ups by URL in sequence cost three requests, or one list", async () => {
      const requests = await cost(async (api) => {
        for (const index of [0, 20, 49]) await findEndpoint(api, { url: urlOf(index) }, false);
      });
      expect(requests).toBe(lookedUp);
    });

    test("five adoptions by URL in one preview cost one request, or one list", async () => {
      const requests = await cost((_, core) =>
        Promise.all([1, 2, 3, 4, 5].map((index) => core.check({}, { url: urlOf(index), adopt: true }))),
      );
      expect(requests).toBe(adopted);
    });

    test("a create whose answer was lost is found on the first page, without a filter", async () => {
      emulator.intercept("create", { afterCommit: true, reset: true });
      // Close to a full second it may stay open whose it is. So the create is sent in the middle of one.
      await setTimeout((1_500 - (Date.now() % 1_000)) % 1_000);
      const requests = await cost(async (_, core) => {
        const { id } = await core.create({ url: `https://new-${filters}.example.com` });
        expect(id).toMatch(/^ep_/);
      });
      // The create, then one page and the endpoint by its id; again while the second of the create is not certain.
      expect(requests).toBeLessThanOrEqual(1 + 8 * 2);
    });
  },
);
