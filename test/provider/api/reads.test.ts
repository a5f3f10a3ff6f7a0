import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OLDEST_LISTING } from "../../../provider/api/reads";
import type { JsonObject } from "../../../provider/schema";
import type { Emulator, RecordedRequest } from "../../../sdk/testing";
import { service, thrown } from "../service";

/** As many reads at once as the engine has on a machine of two cores. */
const PARALLEL = 8;

const settings = { "endpoints:requestsPerWindow": "1000000" };
const isList = ({ method, path }: RecordedRequest) => method === "GET" && path === "/endpoints";
const count = (requests: readonly RecordedRequest[]) => ({
  pages: requests.filter(isList).length,
  singles: requests.filter((request) => !isList(request)).length,
});

/** Reads the endpoints as a refresh does; gives the ids that were found. */
async function refresh(
  core: Awaited<ReturnType<typeof service>>["core"],
  states: { id: string; outs: JsonObject }[],
  parallel = PARALLEL,
): Promise<string[]> {
  const found: string[] = [];
  const queue = states.values();
  const worker = async () => {
    for (const { id, outs } of queue) found.push((await core.read(id, outs)).id);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return found.filter((id) => id !== "");
}

/** Cloud endpoints as an earlier run left them. */
function seeded(emulator: Emulator, endpoints: number, label = "e") {
  return Array.from({ length: endpoints }, (_, i) => {
    const url = `https://${label}${i}.example.com`;
    const { id } = emulator.seed({ type: "cloud", url });
    return { id, outs: { type: "cloud", url } };
  });
}

function agents(emulator: Emulator, endpoints: number) {
  for (let i = 0; i < endpoints; i++)
    emulator.seed({ type: "ephemeral", url: `https://agent${i}.example.app` });
}

describe("a refresh", () => {
  test("of a thousand endpoints lists ten pages, and reads at most ten of them singly", async () => {
    const { core, emulator } = await service({ settings });
    const states = seeded(emulator, 1000);
    // The engine asks in the order of creation, and the service lists the newest first: the worst order there is.
    expect(await refresh(core, states)).toHaveLength(1000);
    const { pages, singles } = count(emulator.requests);
    expect(pages).toBe(10);
    expect(singles).toBeLessThanOrEqual(10);
  });

  test("of five endpoints among 50,000 of agents costs at most twice five requests", async () => {
    const { core, emulator } = await service({ settings });
    const states = seeded(emulator, 5);
    agents(emulator, 50_000);
    expect(await refresh(core, states)).toHaveLength(5);
    expect(emulator.requests.length).toBeLessThanOrEqual(10);
  });

  test("of one endpoint asks once, where the account is small", async () => {
    const { core, emulator } = await service();
    expect(await refresh(core, seeded(emulator, 1))).toHaveLength(1);
    expect(emulator.requests).toHaveLength(1);
  });

  test("costs at most twice the cheaper way, plus one, whatever the account holds and others do meanwhile", async () => {
    const told = { reads: 0, requests: 0 };
    await fc.assert(
      fc.asyncProperty(traces, async (trace) => {
        const { requests, reads, leastByPages, lost, revived } = await play(trace);
        expect(requests).toBeLessThanOrEqual(2 * Math.min(reads, leastByPages) + 1);
        expect({ lost, revived }).toEqual({ lost: [], revived: [] });
        told.reads += reads;
        told.requests += requests;
      }),
      { numRuns: 150 },
    );
    // Else the bound would be that of reading singly, and the listing of no use.
    expect(told.requests).toBeLessThan(told.reads);
  });
});

/** An account, the reads of a stack's endpoints in it, and what others do while they run. */
interface Trace {
  /** Runs of endpoints with one owner, oldest first. */
  account: ["ours" | "theirs", number][];
  pageSize: number;
  parallel: number;
  newestFirst: boolean;
  /** How many of ours were gone before. */
  goneBefore: number;
  /** After so many answers, the next of ours goes. */
  vanishing: number[];
  /** Pages that come again in part, and others' endpoints that come and go between pages. */
  moving: { seed: number; probability: number };
}

const traces: fc.Arbitrary<Trace> = fc.record({
  account: fc.array(
    fc.tuple(fc.constantFrom("ours" as const, "theirs" as const), fc.integer({ min: 1, max: 40 })),
    {
      minLength: 1,
      maxLength: 8,
    },
  ),
  pageSize: fc.integer({ min: 2, max: 12 }),
  parallel: fc.integer({ min: 1, max: 16 }),
  newestFirst: fc.boolean(),
  goneBefore: fc.nat(5),
  vanishing: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 }),
  moving: fc.record({ seed: fc.nat(), probability: fc.constantFrom(0, 0.3, 0.9) }),
});

async function play(trace: Trace) {
  let answers = 0;
  const vanished: string[] = [];
  const onAnswer = () => {
    answers += 1;
    for (const _ of trace.vanishing.filter((after) => after === answers)) {
      const next = states[(vanished.length * 7) % Math.max(1, states.length)];
      if (!next || vanished.includes(next.id)) continue;
      emulator.remove(next.id);
      vanished.push(next.id);
    }
  };
  const { core, emulator } = await service({ settings, pageSize: trace.pageSize, onAnswer });
  const goneBefore = seeded(emulator, trace.goneBefore, "gone");
  for (const { id } of goneBefore) emulator.remove(id);
  const states = trace.account.flatMap(([owner, size], run) => {
    if (owner === "ours") return seeded(emulator, size, `run${run}-`);
    agents(emulator, size);
    return [];
  });
  const { seed, probability } = trace.moving;
  emulator.disturb({ seed, probability, kinds: ["page-overlap", "item-moved"] });
  const before = emulator.endpoints.length;

  const asked = [...states, ...goneBefore];
  const found = await refresh(core, trace.newestFirst ? asked.reverse() : asked, trace.parallel);
  const stayed = states.filter(({ id }) => !vanished.includes(id));
  const { pages, singles } = count(emulator.requests);
  const notThere = emulator.requests.filter(({ status }) => status === 404).length;
  return {
    requests: pages + singles,
    reads: asked.length,
    /** Listing everything takes as many pages as it did, or as the account has; and what is gone is asked for by id. */
    leastByPages:
      Math.max(pages, Math.ceil(Math.min(before, emulator.endpoints.length) / trace.pageSize)) + notThere,
    lost: stayed.filter(({ id }) => !found.includes(id)),
    revived: goneBefore.filter(({ id }) => found.includes(id)),
  };
}

describe("what is listed", () => {
  const stored = (url: string, more: JsonObject = {}) => ({ type: "cloud", url, ...more });

  test("is not served once this process has written", async () => {
    const { core, emulator } = await service();
    const [one, other] = seeded(emulator, 2);
    await core.read(one?.id ?? "", one?.outs ?? {});
    emulator.edit(one?.id ?? "", { description: "by hand" });
    await core.update(other?.id ?? "", other?.outs ?? {}, {
      url: "https://e1.example.com",
      description: "x",
    });
    const { props } = await core.read(one?.id ?? "", one?.outs ?? {});
    expect(props).toMatchObject({ description: "by hand" });
  });

  test("is not served from a page that was on its way while this process wrote", async () => {
    const { core, emulator } = await service();
    const [one] = seeded(emulator, 1);
    const { id, outs } = one ?? { id: "", outs: {} };
    emulator.intercept(isList, { afterCommit: true, delayMs: 300 });
    const early = core.read(id, outs);
    await expect.poll(() => emulator.requests.length).toBe(1);
    await core.update(id, outs, { url: outs.url ?? "", description: "x" });
    expect((await core.read(id, outs)).props).toMatchObject({ description: "x" });
    await early;
  });

  test("is not served when it is too old", async () => {
    const { core, api, emulator } = await service();
    const [one] = seeded(emulator, 1);
    const { id, outs } = one ?? { id: "", outs: {} };
    await core.read(id, outs);
    emulator.edit(id, { description: "by hand" });
    await api.http.clock.sleep(OLDEST_LISTING - 1000);
    expect((await core.read(id, outs)).props).not.toHaveProperty("description");
    await api.http.clock.sleep(2000);
    expect((await core.read(id, outs)).props).toMatchObject({ description: "by hand" });
  });

  test("keeps the stored value of an output that a list item lacks", async () => {
    const { core, emulator } = await service();
    const url = "https://shop.example.com";
    const edge = { id: "edghts_1", uri: "" };
    const { id } = emulator.seed({ type: "cloud", url, edge });
    const { props } = await core.read(id, stored(url, { edge }));
    expect(props).toMatchObject({ edge });
    expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints"]);
  });

  test("does not hide that an input was cleared", async () => {
    const { core, emulator } = await service();
    const url = "https://shop.example.com";
    const { id } = emulator.seed({ type: "cloud", url });
    const { props } = await core.read(id, stored(url, { description: "front door" }));
    expect(props).not.toHaveProperty("description");
    expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints", `/endpoints/${id}`]);
  });

  test("is not asked for by a get, which wants all that the service shows by id", async () => {
    const { core, emulator } = await service();
    const edge = { id: "edghts_1", uri: "" };
    const { id } = emulator.seed({ type: "cloud", url: "https://shop.example.com", edge });
    expect((await core.read(id, { __provider: "code" })).props).toMatchObject({ edge });
    expect(emulator.requests.map(({ path }) => path)).toEqual([`/endpoints/${id}`]);
  });

  test("serves adoptions by URL too: those of one preview share a listing", async () => {
    const { core, emulator, said } = await service();
    seeded(emulator, 250);
    const urls = Array.from({ length: 250 }, (_, i) => `https://e${i}.example.com`);
    await Promise.all(urls.map((url) => core.check({}, { url, adopt: true })));
    expect(said.filter((message) => message.includes("as it is"))).toHaveLength(250);
    expect(emulator.requests).toHaveLength(3);
  });
});

describe("a list that cannot be had", () => {
  test("because the key may not list, leaves reading by id", async () => {
    const { core, emulator } = await service();
    emulator.intercept(isList, { status: 403, body: "" }, 100);
    const states = seeded(emulator, 20);
    expect(await refresh(core, states)).toHaveLength(20);
    expect(count(emulator.requests)).toEqual({ pages: 1, singles: 20 });
  });

  test("to its end is no account without endpoints, for an adoption", async () => {
    const { core, emulator } = await service({ pageSize: 1 });
    const states = seeded(emulator, 2);
    emulator.intercept(({ query }) => "before_id" in query, { status: 403, body: "" }, 2);
    // A read breaks the listing off; the adoption lists anew, and fails as well.
    await core.read(states[0]?.id ?? "", states[0]?.outs ?? {});
    const error = await thrown(core.create({ url: "https://e0.example.com", adopt: true }));
    expect(error).toMatchObject({ status: 403 });
    expect(emulator.endpoints).toHaveLength(2);
  });

  test("because the key is refused, fails each read that waited in its own words, and is tried again", async () => {
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
