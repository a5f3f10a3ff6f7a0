import { z } from "zod";
import { HttpClient } from "../../provider/api/client";
import { type Clock, realClock } from "../../provider/api/clock";
import { EndpointsApi } from "../../provider/api/endpoints";
import { CloudEndpoints } from "../../provider/cloudEndpoint";
import { readSettings } from "../../provider/config";
import { findEndpoint } from "../../provider/lookup";
import { TYPES } from "../../provider/tokens";
import { survey } from "../../sdk/commands/drift/survey";
import { parseState } from "../../sdk/commands/managed";
import { Emulator } from "../../sdk/testing";
import { requestCounts } from "./cells";
import type { Claim } from "./claims";
import type { Read } from "./rawFile";
import { pageHead, requestsText, table } from "./text";

/*
 * What lists cost on accounts with many endpoints of agents, counted by the emulator. Only requests count, so a slow machine
 * gives the same figures as a fast one.
 */

const filterModes = ["works", "refused", "ignored"] as const;
type FilterMode = (typeof filterModes)[number];

/** An account: so many cloud endpoints, older than so many of agents. */
const accounts = {
  small: { cloud: 50, agents: 20_000 },
  middle: { cloud: 1_000, agents: 50_000 },
  large: { cloud: 2_500, agents: 97_500 },
} as const;
type AccountName = keyof typeof accounts;

type Requests = z.output<typeof requestCounts>;

/** Requests at most, with a filter that works and with one that is refused or ignored. */
interface Bound {
  text: string;
  holds(requests: Requests): boolean;
}

interface Case {
  name: string;
  account: AccountName;
  modes: readonly FilterMode[];
  run(bench: Bench): Promise<void>;
  filtered: Bound;
  whole: Bound;
}

const total = ({ list, get, post, patch, delete: gone }: Requests) => list + get + post + patch + gone;
const atMost = (most: number): Bound => ({
  text: `at most ${most} requests`,
  holds: (requests) => total(requests) <= most,
});
const reads = (most: number, patches: number): Bound => ({
  text: `at most ${most} requests and ${patches} PATCH`,
  holds: (requests) => requests.list + requests.get <= most && requests.patch <= patches,
});
const onePage: Bound = {
  text: "one page for each look",
  holds: ({ list, get, post }) => post === 1 && list === 1 && get === 1,
};

/** A whole list, after one filtered list that shows that filters do not work. */
const whole = (account: AccountName) => {
  const { cloud, agents } = accounts[account];
  return 1 + Math.ceil((cloud + agents) / 100);
};
/** Twice the cheaper of reading singly and listing, and one filtered list. */
const asToday = (reads: number, account: AccountName) => 1 + 2 * Math.min(reads, whole(account) - 1);

const cases: Record<string, Case> = {
  refresh50: {
    name: "refresh of 50",
    account: "small",
    modes: filterModes,
    run: (bench) => bench.refresh(50),
    filtered: atMost(2),
    whole: atMost(asToday(50, "small")),
  },
  lookups: {
    name: "three `getEndpoint({ url })`, awaited one after the other",
    account: "small",
    modes: filterModes,
    run: async (bench) => {
      for (const index of [0, 20, 49]) await findEndpoint(bench.api, { url: bench.urlOf(index) }, false);
    },
    filtered: atMost(3),
    whole: atMost(whole("small")),
  },
  adoptPreview: {
    name: "preview of five `adopt: true`, each with a change",
    account: "small",
    modes: filterModes,
    run: (bench) => bench.adopt(5, false),
    filtered: atMost(5),
    whole: atMost(whole("small")),
  },
  adoptUp: {
    name: "`up` of five `adopt: true`, each with a change",
    account: "small",
    modes: filterModes,
    run: (bench) => bench.adopt(5, true),
    filtered: reads(5, 5),
    whole: reads(whole("small"), 5),
  },
  drift: {
    name: "`drift` of 50",
    account: "small",
    modes: filterModes,
    run: (bench) => bench.drift(50),
    filtered: atMost(2),
    whole: atMost(asToday(50, "small") + whole("small")),
  },
  lostCreate: {
    name: "a lost create that is found again",
    account: "small",
    modes: filterModes,
    run: (bench) => bench.lostCreate(),
    filtered: onePage,
    whole: onePage,
  },
  refresh1000: {
    name: "refresh of 1,000",
    account: "middle",
    modes: filterModes,
    run: (bench) => bench.refresh(1_000),
    filtered: {
      text: "at most 10 list requests and ten single reads",
      holds: ({ list, get }) => list <= 10 && get <= 10,
    },
    whole: atMost(asToday(1_000, "middle")),
  },
  nightRefresh: {
    name: "refresh of 50, the oldest of 2,500",
    account: "large",
    modes: ["works", "refused"],
    run: (bench) => bench.refresh(50),
    filtered: atMost(asToday(25, "large")),
    whole: atMost(asToday(50, "large")),
  },
  nightDrift: {
    name: "`drift` of 50, the oldest of 2,500",
    account: "large",
    modes: ["works", "refused"],
    run: (bench) => bench.drift(50),
    filtered: atMost(asToday(25, "large") + 25),
    whole: atMost(asToday(50, "large") + whole("large")),
  },
};

export const listRow = z.object({
  case: z.string(),
  filters: z.enum(filterModes),
  requests: requestCounts,
});
export type ListRow = z.output<typeof listRow>;

/** Measures what has not been measured yet. */
export async function* measureLists(
  isMeasured: (row: Pick<ListRow, "case" | "filters">) => boolean,
): AsyncGenerator<ListRow> {
  for (const account of Object.keys(accounts) as AccountName[]) {
    const todo = Object.entries(cases).flatMap(([id, one]) =>
      one.account === account
        ? one.modes
            .filter((filters) => !isMeasured({ case: id, filters }))
            .map((filters) => ({ id, filters }))
        : [],
    );
    if (todo.length === 0) continue;
    const bench = await Bench.start(account);
    try {
      for (const { id, filters } of todo) {
        await bench.begin(filters);
        await cases[id]?.run(bench);
        yield { case: id, filters, requests: bench.counts() };
      }
    } finally {
      await bench.close();
    }
  }
}

/** A process of the provider on one of the accounts. */
class Bench {
  private before = 0;
  private open: HttpClient[] = [];
  private process: ReturnType<Bench["newProcess"]>;
  private filters: FilterMode = "works";

  private constructor(
    private readonly emulator: Emulator,
    private readonly clock: Clock & { shift(milliseconds: number): void },
    private readonly ids: readonly string[],
  ) {
    this.process = this.newProcess();
  }

  static async start(name: AccountName): Promise<Bench> {
    const clock = shiftedClock();
    const emulator = await Emulator.start({ now: () => new Date(clock.now()) });
    const created_at = new Date(clock.now() - 3_600_000).toISOString();
    const { cloud, agents } = accounts[name];
    const seeded = Array.from({ length: cloud }, (_, index) =>
      emulator.seed({ type: "cloud", url: urlOf(index), description: "created", created_at }),
    );
    for (let index = 0; index < agents; index++) emulator.seed({ type: "ephemeral", created_at });
    return new Bench(
      emulator,
      clock,
      seeded.map(({ id }) => id),
    );
  }

  get api(): EndpointsApi {
    return this.process.api;
  }

  urlOf = urlOf;

  /** Begins a new process, whose requests count from here. */
  async begin(filters: FilterMode): Promise<void> {
    await this.end();
    this.filters = filters;
    this.emulator.behave({ filters });
    this.process = this.newProcess();
    this.before = this.emulator.requests.length;
  }

  counts(): Requests {
    const requests = this.emulator.requests.slice(this.before);
    const count = (method: string, isList = false) =>
      requests.filter((one) => one.method === method && (one.path === "/endpoints") === isList).length;
    return {
      list: count("GET", true),
      get: count("GET"),
      post: count("POST", true),
      patch: count("PATCH"),
      delete: count("DELETE"),
    };
  }

  /** As Pulumi does it: every endpoint by itself, all at the same time. */
  async refresh(count: number): Promise<void> {
    const { core } = this.process;
    await Promise.all(this.ids.slice(0, count).map((id, index) => core.read(id, stored(index))));
  }

  /** The check of each resource and, if it is an `up`, its create. */
  async adopt(count: number, isUp: boolean): Promise<void> {
    const { core } = this.process;
    const phase = isUp ? "up" : "preview";
    await Promise.all(
      this.ids.slice(0, count).map(async (_, index) => {
        const news = { url: urlOf(index), adopt: true, description: `${phase}, filters: ${this.filters}` };
        const { inputs } = await core.check({}, news);
        if (isUp) await core.create(inputs);
      }),
    );
  }

  /** A refresh of the stack in a process of its own, then the list of the account. */
  async drift(count: number): Promise<void> {
    const resources = this.ids.slice(0, count).map((id, index) => {
      const name = `e${index}`;
      const urn = `urn:pulumi:prod::shop::${TYPES.dynamic}::${name}`;
      const inputs = { url: urlOf(index) };
      return { urn, type: TYPES.dynamic, custom: true, id, inputs, outputs: stored(index) };
    });
    const stack = {
      name: "prod",
      config: async () => (key: string) => this.settings[key],
      state: async () => parseState({ deployment: { resources } }),
      lastUpdateFailed: async () => false,
      refreshPreview: async () => {
        await this.refresh(count);
        const steps = resources.map(({ urn, id }) => ({ op: "same", urn, id }));
        return { ok: true, steps, diagnostics: [] };
      },
      preview: never,
      repairPreview: never,
      repair: never,
    };
    const { accounts } = await survey([stack], { log: () => {}, stopped: new AbortController().signal });
    const failed = accounts.flatMap(({ notChecked }) => notChecked);
    if (failed[0]) throw new Error(`the account was not listed: ${failed[0].reason}`);
  }

  /** Early in a second, so that whole seconds show which create it was. */
  async lostCreate(): Promise<void> {
    this.clock.shift((1_200 - (this.clock.now() % 1_000)) % 1_000);
    this.emulator.intercept("create", { afterCommit: true, reset: true });
    await this.process.core.create({ url: `https://new-${this.filters}.example.com` });
  }

  async close(): Promise<void> {
    await this.end();
    await this.emulator.close();
  }

  private async end(): Promise<void> {
    for (const http of this.open.splice(0)) await http.close();
  }

  private get settings(): Record<string, string> {
    return {
      "endpoints:apiKey": this.emulator.apiKey,
      "endpoints:baseUrl": this.emulator.baseUrl,
      "endpoints:requestsPerWindow": "1000000",
    };
  }

  private newProcess() {
    const settings = readSettings((key) => this.settings[key], {});
    const log = { info: () => {}, warn: () => {} };
    const http = new HttpClient(settings, { clock: this.clock, log });
    this.open.push(http);
    const api = new EndpointsApi(http);
    return { api, core: new CloudEndpoints({ connect: () => ({ api, settings }), log }) };
  }
}

const urlOf = (index: number) => `https://shop-${index}.example.com`;

/** The outputs in a state that is up to date. */
const stored = (index: number) => ({ url: urlOf(index), type: "cloud", description: "created" });

const never = async (): Promise<never> => {
  throw new Error("a survey changes nothing");
};

/** A clock whose waits take no time. */
function shiftedClock(): Clock & { shift(milliseconds: number): void } {
  let late = 0;
  const shift = (milliseconds: number) => {
    late += milliseconds;
  };
  return { ...realClock, now: () => realClock.now() + late, sleep: async (time) => shift(time), shift };
}

/** What a case may cost, compared with what it does. */
export function listClaims(rows: readonly ListRow[]): Claim[] {
  return Object.entries(cases).flatMap(([id, { name, account, modes, filtered, whole }]) => {
    const claim = (works: boolean): Claim => {
      const some = modes.filter((mode) => (mode === "works") === works);
      const bound = works ? filtered : whole;
      const found = rows.filter((row) => row.case === id && some.includes(row.filters));
      const agents = accounts[account].agents.toLocaleString("en");
      return {
        what: `${name} beside ${agents} endpoints of agents, ${works ? "with" : "without"} filters: ${bound.text}`,
        holds: found.length < some.length ? undefined : found.every(({ requests }) => bound.holds(requests)),
        figures: found.map(({ requests }) => requestsText(requests)).join("; ") || "not measured",
      };
    };
    return [claim(true), claim(false)];
  });
}

const HOW = `The emulator counts the requests of one process. The cloud endpoints are older than those of agents, so an unfiltered list shows them
last. \`refused\`: the service answers 400 to a filter; \`ignored\`: it gives the whole list. A refresh reads every endpoint of the stack, and \`drift\` also
lists the account.
`;

export function listsPage({ lines, ...head }: Read<ListRow>): string {
  const rows = Object.entries(cases).map(([id, { name, account, modes }]) => {
    const { cloud, agents } = accounts[account];
    const of = (filters: FilterMode) => {
      const row = lines.find((line) => line.case === id && line.filters === filters);
      return row ? requestsText(row.requests) : modes.includes(filters) ? "not measured" : "–";
    };
    return [name, cloud.toLocaleString("en"), agents.toLocaleString("en"), ...filterModes.map(of)];
  });
  const checks = listClaims(lines).map(({ what, holds, figures }) => [
    what,
    holds === undefined ? "unknown" : holds ? "yes" : "**no**",
    figures,
  ]);
  return [
    pageHead("Requests on accounts with many endpoints of agents", head, "npm run bench -- --lists"),
    HOW,
    table(["", "cloud endpoints", "of agents", "filters work", "refused", "ignored"], rows),
    "## Claims",
    table(["claim", "holds", "measured"], checks),
    "",
  ].join("\n\n");
}
