import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { HttpClient } from "../../../provider/api/client";
import { type Clock, realClock } from "../../../provider/api/clock";
import { readSettings, TYPES } from "../../../provider/api/config";
import type { EndpointsApi } from "../../../provider/api/endpoints";
import { endpointsApi } from "../../../provider/endpoint/fields";
import { findEndpoint } from "../../../provider/endpoint/lookup";
import { CloudEndpoints } from "../../../provider/endpoint/resource";
import { survey } from "../../../sdk/commands/drift/survey";
import { parseState } from "../../../sdk/commands/userProject";
import { Emulator } from "../../../sdk/testing/emulator";

/* The tables of docs/scale.md: requests for lists if agents have many endpoints, which are newer and so come first. */

const urlOf = (index: number) => `https://shop-${index}.example.com`;
/** The outputs in an up-to-date state. */
const stored = (index: number) => ({ url: urlOf(index), type: "cloud" as const, description: "created" });
const log = { info: () => {}, warn: () => {} };

let late = 0;
/** A clock whose waits take no time. */
const clock: Clock = {
  ...realClock,
  now: () => realClock.now() + late,
  sleep: async (time) => {
    late += time;
  },
};
let emulator: Emulator;
let ids: string[];

/** A process of the provider. */
class Process {
  readonly api: EndpointsApi;
  readonly core: CloudEndpoints;
  readonly config: Record<string, string> = {
    "endpoints:apiKey": emulator.apiKey,
    "endpoints:baseUrl": emulator.baseUrl,
    "endpoints:requestsPerWindow": "1000000",
  };

  constructor() {
    const settings = readSettings((key) => this.config[key], {});
    const api = endpointsApi(new HttpClient(settings, { clock, log }));
    this.api = api;
    this.core = new CloudEndpoints({ connect: () => ({ api, settings }), log });
  }

  /** Reads every endpoint at the same time, as Pulumi does. */
  async refresh(count: number): Promise<void> {
    await Promise.all(ids.slice(0, count).map((id, index) => this.core.read(id, stored(index))));
  }

  async lookUp(indexes: number[]): Promise<void> {
    for (const index of indexes) await findEndpoint(this.api, { url: urlOf(index) }, { fresh: false });
  }

  /** The check of each resource and, in an `up`, its create. */
  async adopt(count: number, isUp: boolean, filters: string): Promise<void> {
    await Promise.all(
      ids.slice(0, count).map(async (_, index) => {
        const description = `${isUp ? "up" : "preview"}, filters: ${filters}`;
        const { inputs } = await this.core.check({}, { url: urlOf(index), adopt: true, description });
        if (isUp) await this.core.create(inputs);
      }),
    );
  }

  /** A refresh of the stack, then the list of the account by the command. */
  async drift(count: number): Promise<void> {
    const type = TYPES.dynamic;
    const resources = ids.slice(0, count).map((id, index) => {
      const urn = `urn:pulumi:prod::shop::${type}::e${index}`;
      return { urn, type, custom: true, id, inputs: { url: urlOf(index) }, outputs: stored(index) };
    });
    const never = () => Promise.reject(new Error("a survey changes nothing"));
    const stack = {
      name: "prod",
      project: "shop",
      config: async () => (key: string) => this.config[key],
      state: async () => parseState({ deployment: { resources } }),
      lastUpdateFailed: async () => false,
      refreshPreview: async () => {
        await new Process().refresh(count);
        return {
          ok: true,
          steps: resources.map(({ urn, id }) => ({ op: "same", urn, id })),
          diagnostics: [],
        };
      },
      ...{ preview: never, repairPreview: never, repair: never },
    };
    const { accounts } = await survey([stack], {
      log: () => {},
      stopped: new AbortController().signal,
      parallel: 1,
    });
    expect(accounts.flatMap(({ unchecked }) => unchecked)).toEqual([]);
  }

  async loseCreate(filters: string): Promise<void> {
    // Start early in a second, so that whole seconds identify the create.
    late += (1_200 - (clock.now() % 1_000)) % 1_000;
    emulator.intercept("create", { afterCommit: true, reset: true });
    const { id } = await this.core.create({ url: `https://new-${filters}.example.com` });
    expect(id).toMatch(/^ep_/);
  }
}

type Work = (process: Process, filters: string) => Promise<void>;
type Row = [what: string, work: Work, filtered: number, whole: number];

const FILTERS = ["works", "refused", "ignored"] as const;
const SMALL: Row[] = [
  ["a refresh of 50", (process) => process.refresh(50), 1, 101],
  ["three look-ups by URL in sequence", (process) => process.lookUp([0, 20, 49]), 3, 202],
  ["a preview of five adoptions by URL", (process, filters) => process.adopt(5, false, filters), 1, 202],
  [
    "an update of five adoptions by URL",
    (process, filters) => process.adopt(5, true, filters),
    1 + 5,
    202 + 5,
  ],
  ["a drift check of 50", (process) => process.drift(50), 2, 303],
  ["a lost create, its request included", (process, filters) => process.loseCreate(filters), 3, 3],
];
const MIDDLE: Row[] = [["a refresh of 1,000", (process) => process.refresh(1_000), 10, 511]];
const LARGE: Row[] = [
  ["a refresh of the oldest 50", (process) => process.refresh(50), 25, 101],
  ["a drift check of the oldest 50", (process) => process.drift(50), 50, 1_103],
];

describe.each([
  [50, 20_000, 100, SMALL, FILTERS],
  [1_000, 50_000, 100, MIDDLE, FILTERS.slice(0, 2)],
  // This takes as many pages as 2,500 and 97,500 endpoints with a hundred on each page.
  [250, 9_750, 10, LARGE, FILTERS.slice(0, 2)],
])(
  "on an account with %d cloud endpoints and %d of agents, with %d on each page",
  (cloud, agents, pageSize, rows, filterModes) => {
    beforeAll(async () => {
      emulator = await Emulator.start({ pageSize, now: () => new Date(clock.now()) });
      const created_at = new Date(clock.now() - 3_600_000).toISOString();
      ids = Array.from({ length: cloud }, (_, index) => emulator.seed({ ...stored(index), created_at }).id);
      for (let index = 0; index < agents; index++) emulator.seed({ type: "ephemeral", created_at });
    });
    afterAll(() => emulator.close());

    let process: Process;
    afterEach(() => process.api.http.close());

    describe.each(filterModes)("with a filter that is %s", (filters) => {
      test.each(rows)("%s takes no more requests than documented", async (_, work, filtered, whole) => {
        emulator.behave({ filters });
        process = new Process();
        const before = emulator.requests.length;
        await work(process, filters);
        const requests = emulator.requests.length - before;
        expect(requests).toBeLessThanOrEqual(filters === "works" ? filtered : whole);
      });
    });
  },
);
