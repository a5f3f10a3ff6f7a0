import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { MARK_FIELD } from "../../provider/api/mark";
import { Emulator, type FaultKind, faultKinds } from "../../sdk/testing";
import { seedMarked, stateOf, sweep, type World, writesTo } from "../sdk/commands/sweepRun";

/*
 * Random accounts, rivals, faults and kills of a sweep. It never deletes anything but what killed runs left behind, and in the
 * end it has deleted all of that. A longer run: FAULT_RUNS=500 npx vitest run test/faults/sweep.test.ts
 */
const runs = Number(process.env["FAULT_RUNS"] ?? 24);
const given = process.env["FAULT_SEED"];
const seeds = given === undefined ? [20_260_101, Date.now() % 2 ** 30] : [Number(given)];

const one = fc.constantFrom;
const pooled = { url: "https://pool.example.com", pooling_enabled: true };
const metadata = one(undefined, '{"team":"shop"}', "text", `{"${MARK_FIELD}":"text"}`);

/** The endpoints of an account, by kind. Only those of the first kind may be deleted. */
const left = fc.record({
  kind: one("left"),
  of: one("shop/prod", "shop/dev", "shop/old"),
  apart: one(-59, 0, 59),
});
const endpoint = fc.oneof(
  { weight: 4, arbitrary: left },
  fc.record({
    kind: one("managed"),
    of: one("shop/prod", "shop/dev", "shop/old"),
    by: one("shop/prod", "shop/dev", "web/known"),
    entry: one({}, { external: true }, { delete: true }, { type: "other:x:Y" }),
  }),
  fc.record({ kind: one("unmarked"), metadata }),
  fc.record({ kind: one("foreign"), mark: one("platform", "platform/prod2", "Platform/prod", "") }),
  fc.record({ kind: one("young"), age: fc.integer({ min: -30, max: 3_590 }) }),
  fc.record({ kind: one("copied"), apart: one(-7_000, -62, 62, 3_600) }),
  fc.record({ kind: one("an agent's"), type: one("ephemeral" as const) }),
);

/** What others do to a leftover: at a page of the list, after the second look at the stacks, or when an endpoint is read by id. */
const rival = fc.record({
  at: one("list", "look", "read"),
  after: fc.nat({ max: 4 }),
  which: fc.nat({ max: 7 }),
  does: one("takes it over", "removes its mark", "moves it", "deletes it", "copies its mark", "begins a run"),
});

/** Without agents that come and go: the last check counts all endpoints. */
const always = faultKinds.filter((kind) => kind !== "item-moved");
const kinds: FaultKind[] = [...always, "list-lag", "no-date", "other-endpoint", "gateway-404"];
const stories = fc.record({
  account: fc.array(endpoint, { minLength: 1, maxLength: 8, size: "max" }),
  isPool: fc.boolean(),
  /** A stack that a mark names, and that is not given. */
  unread: one(...Array<undefined>(9), "shop/other", "web/known"),
  rivals: fc.array(rival, { maxLength: 3, size: "max" }),
  faults: fc.record({ seed: fc.nat(), probability: one(0, 0.1, 0.3) }),
  listLag: one(0, 3_000),
  pageSize: one(1, 3, 100),
  filters: one("works", "ignored", "incomplete"),
  /** The number of requests after which the sweep is killed. */
  killed: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 1, max: 15 })),
});
type Story = typeof stories extends fc.Arbitrary<infer T> ? T : never;

const totals: Record<string, number> = {};
const add = (name: string, by = 1) => {
  totals[name] = (totals[name] ?? 0) + by;
};
afterAll(() => console.log(`seeds ${seeds.join(", ")}: ${JSON.stringify(totals)}`));

async function play(story: Story, emulator: Emulator): Promise<void> {
  const states = new Map<string, object[]>([
    ["shop/prod", []],
    ["shop/dev", []],
    ["web/known", []],
  ]);
  const left = new Set<string>();
  /** The number of deletions that had been sent when the endpoint was or became somebody's. None may follow. */
  const owned = new Map<string, number>();
  const deletions = (id: string) => writesTo(emulator).filter((write) => write.endsWith(`/${id}`)).length;
  const own = (id: string) => owned.set(id, deletions(id));
  for (const { kind, ...endpoint } of story.account) {
    const { by, entry, ...seed } = { by: "", entry: {}, ...endpoint };
    const id = seedMarked(emulator, { age: 3_700, ...(story.isPool && pooled), ...seed });
    if (kind === "left") left.add(id);
    else own(id);
    states.get(by)?.push({ id, ...entry });
  }
  if (story.unread) own(seedMarked(emulator, { of: story.unread }));

  const running = new Set<string>();
  const act = ({ which, does }: Story["rivals"][number]) => {
    const id = [...left][which % left.size] ?? "";
    const live = emulator.endpoints.find((one) => one.id === id);
    if (!live) return;
    add(`a rival ${does}`);
    const { url = "", metadata = "" } = live;
    if (does === "begins a run") running.add("shop/dev");
    if (does === "deletes it") emulator.remove(id);
    if (does === "moves it") emulator.edit(id, { url: `https://moved-${which}.example.com` });
    if (does === "copies its mark") own(emulator.seed({ type: "cloud", url, metadata }).id);
    if (does !== "takes it over" && does !== "removes its mark") return;
    // The operation is pending, then the mark changes, and then the state has the endpoint.
    running.add("shop/prod");
    states.get("shop/prod")?.push({ id });
    left.delete(id);
    own(id);
    const { [MARK_FIELD]: mark, ...rest } = JSON.parse(metadata) as Record<string, object>;
    const next = does === "takes it over" ? { ...rest, [MARK_FIELD]: { ...mark, nonce: "new" } } : rest;
    emulator.edit(id, { metadata: JSON.stringify(next) });
  };
  const counts = { list: 0, read: 0, look: 0, all: 0 };
  let isDisturbed = false;
  const isKilled = () => isDisturbed && ++counts.all > story.killed;
  emulator.intercept(isKilled, { reset: true }, Number.POSITIVE_INFINITY);
  for (const rival of story.rivals)
    emulator.intercept(
      ({ method, path }) =>
        isDisturbed &&
        method === "GET" &&
        rival.at === (path === "/endpoints" ? "list" : "read") &&
        counts[rival.at]++ >= rival.after,
      { afterCommit: true, before: () => act(rival) },
    );

  const world: World = {
    stacks: [...states].map(([key, has]) => ({
      key,
      isKnown: key === "web/known",
      state: () => stateOf([...has] as Record<string, unknown>[], running.has(key) ? [{}] : []),
    })),
  };
  world.running = (look) => {
    for (const rival of isDisturbed && look === 2 ? story.rivals : []) if (rival.at === "look") act(rival);
    return [];
  };
  const run = async (...args: string[]) => {
    const ended = await sweep(emulator, world, "--gone", "shop/old", ...args);
    add(ended.report.outcome);
    return ended;
  };
  const ids = (planned: { id: string }[]) => planned.map(({ id }) => id).sort();

  const { listLag, pageSize, filters } = story;
  emulator.behave({ listLag, pageSize, filters });
  const planned = await run();
  expect(ids(planned.report.planned)).toEqual(story.unread ? [] : [...left].sort());
  expect(planned.code).toBe(story.unread ? 1 : left.size > 0 ? 7 : 0);
  expect(writesTo(emulator)).toEqual([]);

  isDisturbed = true;
  emulator.disturb({ ...story.faults, kinds });
  await run("--yes");
  emulator.calm();
  isDisturbed = false;
  running.clear();
  emulator.behave({ listLag: 0 });
  const ended = await run("--yes");
  expect(ended.code, ended.stdout + ended.stderr).toBe(story.unread ? 1 : 0);

  add("deleted", writesTo(emulator).length);
  expect(writesTo(emulator).filter((write) => !write.startsWith("DELETE "))).toEqual([]);
  const there = new Set(emulator.endpoints.map(({ id }) => id));
  if (!story.unread) expect([...left].filter((id) => there.has(id))).toEqual([]);
  expect([...owned].filter(([id, before]) => !there.has(id) || deletions(id) > before)).toEqual([]);
}

test.each(seeds)(
  "nothing but what killed runs left behind is ever deleted, and all of that is (seed %i)",
  { timeout: 3_600_000 },
  async (seed) => {
    const property = fc.asyncProperty(stories, async (story) => {
      const emulator = await Emulator.start();
      try {
        await play(story, emulator);
      } finally {
        await emulator.close();
      }
    });
    await fc.assert(property, { seed, numRuns: Math.ceil(runs / seeds.length) });
  },
);
