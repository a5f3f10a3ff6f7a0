import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { kindsOn } from "../../faults/serviceFaults";
import { service } from "../world";
import { agents, count, refresh, seeded, settings } from "./refresh";

describe("a refresh", () => {
  test("takes at most twice the requests of the cheaper way, plus one, plus those that prove a deletion, for any account", async () => {
    const totals = { reads: 0, requests: 0 };
    await fc.assert(
      fc.asyncProperty(traces, async (trace) => {
        const { requests, reads, leastByPages, toProve, lost, revived } = await play(trace);
        expect(requests).toBeLessThanOrEqual(2 * Math.min(reads, leastByPages) + 1 + toProve);
        expect({ lost, revived }).toEqual({ lost: [], revived: [] });
        totals.reads += reads;
        totals.requests += requests;
      }),
      { numRuns: 75 },
    );
    // Otherwise, the reads by id alone would satisfy the bound.
    expect(totals.requests).toBeLessThan(totals.reads);
  });
});

/** An account, the reads of a stack's endpoints in it, and others' changes during the reads. */
interface Trace {
  /** Runs of endpoints with one owner, oldest first. */
  account: ["ours" | "theirs", number][];
  pageSize: number;
  parallel: number;
  newestFirst: boolean;
  /** How many of our endpoints somebody deleted before the refresh. */
  goneBefore: number;
  /** Numbers of replies. After each, somebody deletes another of our endpoints. */
  vanishing: number[];
  /** Pages that overlap, and items that move between pages. */
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
  emulator.disturb({ seed, probability, kinds: kindsOn(emulator, ["page-overlap", "item-moved"]) });
  const before = emulator.endpoints.length;

  const read = [...states, ...goneBefore];
  const found = await refresh(core, trace.newestFirst ? read.reverse() : read, trace.parallel);
  const stayed = states.filter(({ id }) => !vanished.includes(id));
  const { pages, singles } = count(emulator.requests);
  const notThere = emulator.requests.filter(({ status }) => status === 404).length;
  return {
    requests: pages + singles,
    reads: read.length,
    /** The requests if all pages are read, and then each missing endpoint by its id. */
    leastByPages:
      Math.max(pages, Math.ceil(Math.min(before, emulator.endpoints.length) / trace.pageSize)) + notThere,
    /** One look at the list proves all earlier deletions. A later deletion takes another look, and another read by id. */
    toProve: notThere === 0 ? 0 : 1 + vanished.length * (1 + Math.ceil(before / trace.pageSize)),
    lost: stayed.filter(({ id }) => !found.includes(id)),
    revived: goneBefore.filter(({ id }) => found.includes(id)),
  };
}
