import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../../sdk/testing";
import { writes } from "../../requests";
import { bothProviders, type Options, type Props } from "../bothProviders";
import { thrown } from "../service";
import { conflict, countCreates, isCreate, isList, marked, start, url } from "./creates";

const theirs = { type: "cloud" as const, url, description: "theirs" };

test.each([401, 403, 404])(
  "a create that the service refuses with %i is neither repeated nor followed by a look at the list",
  async (status) => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { status, body: "" });
    await expect(core.create({ url })).rejects.toThrow(`status ${status}`);
    expect(emulator.requests).toHaveLength(1);
  },
);

describe("a create that the service refuses names the endpoint that has the URL", () => {
  test.each<[string, ScriptedReply]>([
    ["18017 and 400", conflict],
    ["18009 and 409", { status: 409, body: { error_code: "ERR_NGROK_18009", msg: "exists" } }],
    ["422 without a code", { status: 422, body: "" }],
    ["409 of a gateway", { status: 409, body: "<html>" }],
  ])("with three causes after %s", async (_, refusal) => {
    const { core, emulator } = await start();
    const { id } = emulator.seed(theirs);
    emulator.intercept(isCreate, refusal, 9);
    const { message } = await thrown(core.create({ url, description: "x" }));
    expect(message).toContain(`${url} is served by ${id}, a cloud endpoint, created at `);
    expect(message).toMatch(
      new RegExp(
        `created at [^ ,]+\\. If you renamed or moved this resource, give it aliases.*\\. If another resource of this program.*--target.*--replace.*deleteBeforeReplace.*\\. If it is somebody else's, choose another url; if a killed run left it behind, set adopt: "${id}"`,
      ),
    );
    expect(countCreates(emulator.requests)).toBe(1);
  });

  test("without the advice to adopt it, or a wait, if it is an agent's", async () => {
    const { core, emulator, waits } = await start();
    const { id } = emulator.seed({ type: "ephemeral", url });
    emulator.intercept(isCreate, conflict, 9);
    const { message } = await thrown(core.create({ url }));
    expect(message).toMatch(
      new RegExp(`is served by ${id}, an endpoint of type ephemeral.*stop the agent or edge that serves it`),
    );
    expect(message).not.toContain("set adopt");
    expect(waits).toEqual([]);
  });

  test("also if a filtered list shows only a member of a pool", async () => {
    const { core, emulator } = await start({ "endpoints:listFilter": "on" });
    emulator.behave({ filters: "incomplete" });
    emulator.seed({ ...theirs, pooling_enabled: true });
    const { id } = emulator.seed(theirs);
    emulator.intercept(isCreate, conflict, 9);
    const { message } = await thrown(core.create({ url, poolingEnabled: true }));
    expect(message).toContain(`${url} is served by ${id}, a cloud endpoint`);
  });
});

describe("a create that the service refuses", () => {
  test.each([
    ["the list shows no endpoint on the URL", 0],
    ["the list cannot be read", 9],
  ])("without a code fails with a next step if %s", async (_, unreadable) => {
    const { core, emulator } = await start();
    emulator.intercept(isList, { status: 200, body: "" }, unreadable);
    emulator.intercept(isCreate, { status: 409, body: "" }, 9);
    const error = await thrown(core.create({ url }));
    expect(error.message).toMatch(/status 409.*[Rr]un the command again.*choose another url/);
  });

  test("fails with the refusal if the key may not list endpoints", async () => {
    const { core, emulator } = await start();
    emulator.seed(theirs);
    emulator.intercept(isList, { status: 403, body: "" });
    await expect(core.create({ url })).rejects.toThrow(/ERR_NGROK_180.*choose another url/);
  });

  test.each([18006, 18016, 18017])(
    "with %i is sent again for some seconds if nothing has the URL",
    async (code) => {
      const { core, emulator, waits } = await start();
      const refusal = { status: 400, body: { error_code: `ERR_NGROK_${code}`, msg: "not yet" } };
      emulator.intercept(isCreate, refusal, 3);
      await core.create({ url });
      expect([countCreates(emulator.requests), waits]).toEqual([4, [1_000, 2_000, 4_000]]);

      emulator.intercept(isCreate, refusal, 9);
      const { message } = await thrown(core.create({ url: "https://other.example.com" }));
      expect(message).toContain(`ERR_NGROK_${code}`);
      expect(countCreates(emulator.requests)).toBe(8);
    },
  );

  test.each(["deleted", "moved to another URL"])(
    "is sent again if the list still shows an endpoint that this run %s",
    async (how) => {
      const { core, emulator } = await start();
      const first = await core.create({ url });
      const shown = emulator.endpoints;
      if (how === "deleted") await core.delete(first.id, first.outs);
      else await core.update(first.id, first.outs, { url: "https://moved.example.com" });
      emulator.intercept(isCreate, conflict, 2);
      emulator.intercept(isList, { status: 200, body: { endpoints: shown, next_page_uri: null } }, 9);
      expect((await core.create({ url })).id).not.toBe(first.id);
    },
  );

  test("reads each other member of its pool once", async () => {
    const { core, emulator } = await start();
    for (let index = 0; index < 5; index++) emulator.seed({ ...theirs, pooling_enabled: true });
    emulator.intercept(isCreate, { status: 400, body: { error_code: "ERR_NGROK_18020", msg: "full" } }, 9);
    await thrown(core.create({ url, poolingEnabled: true }));
    expect(emulator.requests.filter(({ path }) => /ep_/.test(path))).toHaveLength(5);
  });

  test("shares a reading of the list with other refused creates", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { status: 400, body: { error_code: "ERR_NGROK_2201", msg: "x" } }, 99);
    const urls = Array.from({ length: 20 }, (_, index) => `https://n${index}.example.com`);
    await Promise.all(urls.map((each) => thrown(core.create({ url: each }))));
    expect(emulator.requests.filter(isList).length).toBeLessThanOrEqual(5);
  });
});

/** The endpoint on the URL, and what the resource that wants it does. */
interface Meeting {
  options?: Options;
  /** An endpoint of an earlier run of this stack (default), or one that is seeded. */
  holder?: object;
  /** What else happens in the run: while the create waits, or before it. */
  meanwhile?: (holder: Holder) => Promise<unknown>;
  before?: (holder: Holder) => Promise<unknown>;
  /** The error; undefined if the create succeeds. */
  fails?: RegExp;
  /** How long it waits, in seconds. */
  waits: [from: number, to: number];
}
type Holder = Awaited<ReturnType<typeof meet>>;

async function meet(start: (typeof bothProviders)[number][1], { options, holder }: Meeting) {
  const first = await start(options);
  const { id, outs }: { id: string; outs: Props } = holder
    ? { id: first.emulator.seed({ ...theirs, ...holder }).id, outs: {} }
    : await first.create({ url });
  return { id, outs, run: await first.restart() };
}

const moved = { url: "https://moved.example.com" };
const later = async ({ run }: Holder) => run.clock.sleep(1_000);
const meetings: [string, Meeting][] = [
  [
    "waits for one that this run moves, also if the engine asks for that late",
    {
      meanwhile: async (holder) => {
        await later(holder);
        await holder.run.update(holder.id, holder.outs, moved);
      },
      waits: [1, 2],
    },
  ],
  [
    "waits for one that this run deletes",
    {
      meanwhile: async (holder) => {
        await later(holder);
        await holder.run.delete(holder.id, holder.outs);
      },
      waits: [1, 2],
    },
  ],
  [
    "waits for one that another process of the run moves",
    {
      meanwhile: async (holder) => {
        await later(holder);
        holder.run.emulator.edit(holder.id, moved);
      },
      waits: [5, 6],
    },
  ],
  [
    "waits for longer than five seconds while the other's own request is repeated",
    {
      options: { settings: { retryForSeconds: "60" } },
      meanwhile: ({ run, id, outs }) => {
        run.emulator.intercept("update", { status: 503, body: "" }, 5);
        return run.update(id, outs, moved);
      },
      waits: [6, 60],
    },
  ],
  ["waits five seconds for one that nothing moves", { fails: /aliases.*--target.*set adopt/, waits: [5, 6] }],
  ["waits five seconds for a stranger without a mark", { holder: {}, fails: /set adopt/, waits: [5, 6] }],
  [
    "does not wait for one whose resource has no change",
    {
      before: ({ run, id, outs }) => run.diff(id, outs, { url }),
      fails: /belongs to another resource of this stack, which keeps this URL[^.]*\.$/,
      waits: [0, 1],
    },
  ],
  [
    "does not wait for one with a stranger's mark",
    {
      holder: marked({}),
      options: { settings: { mark: "team" } },
      fails: /created for 'front' of the stack shop\/prod.*set adopt/,
      waits: [0, 1],
    },
  ],
  [
    "does not wait for another type",
    {
      holder: { type: "edge", url: undefined, public_url: url },
      fails: /of type edge.*stop the agent/,
      waits: [0, 1],
    },
  ],
  [
    "waits five seconds for its own, which a forced replacement would delete later, and names deleteBeforeReplace",
    { before: ({ run }) => run.check({ url }, { url }), fails: /deleteBeforeReplace/, waits: [5, 6] },
  ],
];

describe.each(bothProviders)("with %s", (_, startProvider) => {
  test.each(meetings)("a create that meets an endpoint on its URL %s", async (_, meeting) => {
    const holder = await meet(startProvider, meeting);
    const { run, id } = holder;
    await meeting.before?.(holder);
    run.emulator.intercept("create", conflict);
    const began = run.clock.now();
    const creating = run.create({ url });
    const [created] = await Promise.allSettled([creating, meeting.meanwhile?.(holder)]);
    const waited = (run.clock.now() - began) / 1_000;
    if (created.status === "rejected") {
      expect(created.reason.message).toContain(`is served by ${id}`);
      expect(created.reason.message).toMatch(meeting.fails ?? /^$/);
    } else expect([created.value.id !== id, meeting.fails]).toEqual([true, undefined]);
    expect(waited).toBeGreaterThanOrEqual(meeting.waits[0]);
    expect(waited).toBeLessThanOrEqual(meeting.waits[1]);
  });

  /** Two resources of an earlier run that move. */
  async function moving(moves: [from: string, to: string][]) {
    const at = (name: string) => `https://${name}.example.com`;
    const first = await startProvider();
    const entries: [string, Props, Props][] = [];
    for (const [from, to] of moves) {
      const { id, outs } = await first.create({ url: at(from) });
      entries.push([id, outs, { url: at(to) }]);
    }
    const run = await first.restart();
    for (const entry of entries) await run.diff(...entry);
    const live = () => run.emulator.endpoints.map((endpoint) => endpoint.url?.slice(8, 9)).sort();
    return { run, live, updates: entries.map((entry) => () => run.update(...entry)), at };
  }

  test("a list that grows at its front moves its URLs in one run, in any order", async () => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ]) {
      const { run, live, updates, at } = await moving([
        ["y", "x"],
        ["z", "y"],
      ]);
      const all = [...updates, () => run.create({ url: at("z") })];
      await Promise.all(order.map((index) => all[index]?.()));
      expect(live()).toEqual(["x", "y", "z"]);
    }
  });

  test("a swap fails with the ways out, and changes nothing; an update is never told to adopt", async () => {
    const { run, live, updates } = await moving([
      ["a", "b"],
      ["b", "a"],
    ]);
    for (const each of await Promise.allSettled(updates.map((update) => update()))) {
      const { message } = (each as PromiseRejectedResult).reason as Error;
      expect(message).toMatch(
        /is served by ep_.*If another resource of this program has it.*--replace` if the two swap their URLs/,
      );
      expect(message).not.toMatch(/adopt|aliases/);
    }
    expect(live()).toEqual(["a", "b"]);
    expect(writes(run.emulator).filter(({ status }) => status === 200)).toEqual([]);
  });
});
