import { describe, expect, test } from "vitest";
import { bothProviders, type DrivenProvider, type Options, type Props } from "../bothProviders";
import { thrown } from "../service";
import { metadataOf } from "./creates";

const at = (name: string) => `https://${name}.example.com`;
const url = at("shop");
const urnOf = (name: string) => `urn:pulumi:dev::shop::endpoints:index:CloudEndpoint::${name}`;

const writes = ({ emulator }: DrivenProvider) =>
  emulator.requests.filter(({ method }) => method !== "GET").map(({ method }) => method);
const live = ({ emulator }: DrivenProvider) => emulator.endpoints.map((endpoint) => endpoint.url).sort();

interface Entry {
  id: string;
  outs: Props;
}

describe.each(bothProviders)("%s", (_, start) => {
  /** An endpoint that an earlier run created, and a new process of the provider. */
  async function fromEarlierRun(options?: Options) {
    const first = await start(options);
    const { id, outs } = await first.create({ url, __urn: urnOf("o") });
    return { first, id, outs, run: await first.restart() };
  }

  /** The same with another entry for the endpoint, which a second run adopted. */
  async function withTwoEntries() {
    const { id, outs, run } = await fromEarlierRun();
    return { id, outs, others: (await run.create({ url, adopt: true })).outs, run: await run.restart() };
  }

  describe("deletes an entry without its endpoint", () => {
    test("after another resource has adopted that in the same run: a rename without an alias", async () => {
      for (const adopt of [true, "id"]) {
        const { id, outs, run } = await fromEarlierRun();
        const renamed = await run.create({ url, adopt: adopt === true ? true : id });
        expect(renamed.id).toBe(id);
        await run.delete(id, outs);
        expect(run.logged()).toContain(
          `${id} belongs to another resource of this stack, so it was not deleted`,
        );
        expect(live(run)).toEqual([url]);
        await (await run.restart()).delete(renamed.id, renamed.outs);
        expect(live(run)).toEqual([]);
      }
    });

    test.each(["diff", "read", "update"] as const)(
      "if the process has met another entry with it by a %s, and the last of several deletions deletes it",
      async (how) => {
        const { id, outs, others, run } = await withTwoEntries();
        await run[how](id, others, { url, ...(how === "update" && { description: "x" }) });
        await run.delete(id, outs);
        expect(live(run)).toEqual([url]);
        await run.delete(id, others);
        expect(live(run)).toEqual([]);
        expect(writes(run).filter((method) => method === "DELETE")).toHaveLength(1);
      },
    );

    test("if another process of the run has written a new number into its mark, and reads one list for that", async () => {
      const settings = { mark: "team/dev" };
      const first = await start({ settings });
      const olds: Entry[] = [];
      for (const name of ["a", "b", "c"])
        olds.push(await first.create({ url: at(name), __urn: urnOf(name) }));
      const adopting = await first.restart();
      for (const name of ["a", "b"])
        await adopting.create({ url: at(name), adopt: true, __urn: urnOf(`new-${name}`) });
      const run = await first.restart();
      const before = run.emulator.requests.length;
      for (const { id, outs } of olds) await run.delete(id, outs);
      expect(live(run)).toEqual([at("a"), at("b")]);
      expect(run.emulator.requests.slice(before).map(({ method }) => method)).toEqual(["GET", "DELETE"]);
    });
  });

  test("looks for newer marks again once the engine has asked for another resource", async () => {
    const first = await start({ settings: { mark: "team/dev" } });
    const [a, b, c] = await Promise.all(
      ["a", "b", "c"].map((name) => first.create({ url: at(name), __urn: urnOf(name) })),
    );
    if (!a || !b || !c) throw new Error("three were created");
    const run = await first.restart();
    await run.delete(a.id, a.outs);
    await (await first.restart()).create({ url: at("b"), adopt: true, __urn: urnOf("new-b") });
    await run.diff(c.id, c.outs, { url: at("c") });
    await run.delete(b.id, b.outs);
    expect(live(run)).toEqual([at("b"), at("c")]);
  });

  describe("deletes the endpoint", () => {
    test("of a forced replacement, which the same process has read", async () => {
      const { id, outs, run } = await fromEarlierRun();
      await run.read(id, outs, { url });
      await run.delete(id, outs);
      const second = await run.create({ url });
      expect(second.id).not.toBe(id);
      expect(run.emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([second.id]);
    });

    test("of an entry whose token a refresh, an update and a move between the providers have kept", async () => {
      const { first, id, outs, run: refreshing } = await fromEarlierRun();
      const { props = {} } = await refreshing.read(id, outs, { url });
      const moved = await (await first.restart()).update(id, props, { url: at("moved") });
      expect(moved.outs).toMatchObject({ __entry: outs["__entry"] });
      const run = await first.restart();
      await run.diff(id, moved.outs, { url: at("moved") });
      await run.delete(id, moved.outs);
      expect(live(run)).toEqual([]);
    });

    test.each(["another resource's mark is missing", "the mark is that of the state"])(
      "with marks, if %s",
      async (which) => {
        const { id, outs, run } = await fromEarlierRun({ settings: { mark: "team/dev" } });
        if (/missing/.test(which)) run.emulator.edit(id, { metadata: undefined });
        await run.delete(id, outs);
        expect(live(run)).toEqual([]);
      },
    );
  });

  test("keeps the token of a partial create", async () => {
    const first = await start();
    const invalid = (real: object) => ({ ...real, bindings: 1 });
    first.emulator.intercept("create", { afterCommit: true, body: invalid });
    first.emulator.intercept("read", { status: 500, body: "" }, 9);
    const error = await thrown(first.create({ url }));
    const partial = "partialCreate" in error ? error.partialCreate : error;
    expect(partial).toMatchObject({ properties: { __entry: expect.stringMatching(/^[0-9a-f]{16}$/) } });
  });

  test("does not see a token as a difference, and gives an entry one with its next write", async () => {
    const provider = await start();
    const { id, outs } = await provider.create({ url });
    const { __entry, ...without } = outs;
    expect(__entry).toEqual(expect.any(String));
    expect(await provider.diff(id, without, { url })).toMatchObject({ changes: false });
    const written = await provider.update(id, without, { url, description: "x" });
    expect(written.outs).toMatchObject({ __entry: expect.stringMatching(/^[0-9a-f]{16}$/) });
  });

  test("does not delete an endpoint that another resource failed to take over in the same run", async () => {
    const { id, outs, run } = await fromEarlierRun();
    run.emulator.intercept("update", { status: 422, body: "" }, 9);
    await thrown(run.create({ url, description: "x", adopt: true }));
    await expect(run.delete(id, outs)).rejects.toThrow(
      /was not deleted: another resource of this stack adopts it/,
    );
    expect(live(run)).toEqual([url]);
  });

  test("refuses to adopt an endpoint that a diff has shown to be another resource's, but not after a read", async () => {
    const { first, id, outs, run: read } = await fromEarlierRun();
    await read.read(id, outs, { url });
    expect((await read.create({ url, adopt: true })).id).toBe(id);
    const run = await first.restart();
    await run.diff(id, outs, { url });
    await expect(run.create({ url, adopt: id })).rejects.toThrow(/already belongs to another resource/);
  });

  test("names aliases first if a create meets the endpoint of a renamed resource", async () => {
    const { run } = await fromEarlierRun();
    const { message } = await thrown(run.create({ url }));
    expect(message).toContain(
      'If you renamed or moved this resource, give it aliases: [{ name: "its old name" }], and the endpoint stays',
    );
    expect(message.indexOf("aliases")).toBeLessThan(message.indexOf("set adopt"));
  });

  const entry = ({ id, outs }: Entry = { id: "", outs: {} }) => [id, outs] as const;

  /** A process with a diff for each resource that moves. `to` has the new names. */
  async function moving(moves: [from: string, to: string][]) {
    const first = await start();
    const entries: Entry[] = [];
    for (const [from] of moves) entries.push(await first.create({ url: at(from) }));
    const run = await first.restart();
    const before = run.emulator.requests.length;
    const news = moves.map(([, to]) => ({ url: at(to) }));
    const of = (index: number) => [...entry(entries[index]), news[index] ?? {}] as const;
    const diff = (index: number) => run.diff(...of(index));
    const update = (index: number) => run.update(...of(index));
    const sent = () => run.emulator.requests.slice(before).filter(({ method }) => method !== "GET");
    return { run, entries, diff, update, sent };
  }

  describe("moves URLs between resources in one run", () => {
    test("if a list grows at its front, in any order", async () => {
      for (const order of [
        [0, 1, 2],
        [2, 1, 0],
        [1, 2, 0],
      ]) {
        const { run, diff, update, sent } = await moving([
          ["y", "x"],
          ["z", "y"],
        ]);
        for (const index of [0, 1]) await diff(index);
        await Promise.all(order.map((index) => (index === 2 ? run.create({ url: at("z") }) : update(index))));
        expect(live(run)).toEqual([at("x"), at("y"), at("z")]);
        expect(sent().length).toBeLessThanOrEqual(5);
      }
    });

    test("also if the engine asks for one update after the other, in the wrong order", async () => {
      const { run, entries, diff, update, sent } = await moving([
        ["a", "b"],
        ["b", "c"],
        ["c", "d"],
      ]);
      for (const index of [0, 1, 2]) await diff(index);
      for (const index of [0, 1, 2]) {
        const { outs } = await update(index);
        expect(outs).toMatchObject({ url: live(run)[index], __entry: entries[index]?.outs["__entry"] });
      }
      expect(live(run)).toEqual([at("b"), at("c"), at("d")]);
      const moved = sent().filter(({ status }) => status === 200);
      expect(moved).toHaveLength(3);
      for (const [index, { id }] of entries.entries())
        expect(
          new Set(run.logged().filter((line) => line.includes(`is still held by ${id}: waits`))).size,
        ).toBe(index === 0 ? 0 : 1);
    });

    test("also if the engine asks for the other resource late", async () => {
      const { run, diff, update } = await moving([["y", "x"]]);
      const waiting = run.create({ url: at("y") });
      await run.clock.sleep(500);
      await diff(0);
      await Promise.all([waiting, update(0)]);
      expect(live(run)).toEqual([at("x"), at("y")]);
    });

    test("also if the other resource is replaced, after its deletion", async () => {
      const { id, outs, run } = await fromEarlierRun();
      await run.diff(id, outs, { url: "tls://shop.example.com" });
      const waiting = run.create({ url });
      await run.clock.sleep(500);
      await run.delete(id, outs);
      await waiting;
      expect(live(run)).toEqual([url]);
    });

    test("but fails at once if two wait for each other, and works if one of them is replaced", async () => {
      const swap = [
        ["a", "b"],
        ["b", "a"],
      ] satisfies [string, string][];
      const { run, entries, diff, update, sent } = await moving(swap);
      for (const index of [0, 1]) await diff(index);
      const began = run.clock.now();
      for (const failed of await Promise.allSettled([update(0), update(1)])) {
        const { message } = (failed as PromiseRejectedResult).reason as Error;
        for (const { id } of entries) expect(message).toContain(id);
        expect(message).toMatch(/pulumi up --replace/);
      }
      expect(run.clock.now() - began).toBeLessThan(2_500);
      expect(sent().every(({ status }) => status === 400)).toBe(true);

      const replacing = await moving(swap);
      await replacing.run.delete(...entry(replacing.entries[0]));
      const created = replacing.run.create({ url: at("b") });
      await replacing.diff(1);
      await Promise.all([created, replacing.update(1)]);
      expect(live(replacing.run)).toEqual([at("a"), at("b")]);
      expect(live(run)).toEqual([at("a"), at("b")]);
    });

    test("and sends an update again that another resource started in vain", async () => {
      const { run, diff, update } = await moving([["y", "x"]]);
      await diff(0);
      run.emulator.intercept("update", { status: 403, body: "" });
      await expect(run.create({ url: at("y") })).rejects.toThrow(/cannot update ep_\w+: .*403/);
      await update(0);
      expect(live(run)).toEqual([at("x")]);
    });
  });

  test("fails if two resources of the program have one endpoint, before either is changed", async () => {
    const { id, outs, others, run } = await withTwoEntries();
    await run.diff(id, outs, { url });
    await expect(run.diff(id, others, { url: at("other") })).rejects.toThrow(
      /belongs to two resources of this stack.*pulumi state delete/,
    );
  });

  test("checks a resource with `adopt` again before its own replacement", async () => {
    const first = await start();
    const { inputs } = await first.check({}, { url, adopt: true });
    const { id, outs } = await first.create(inputs);
    const run = await first.restart();
    await run.diff(id, outs, { ...inputs, description: "x" });
    expect((await run.check({}, { ...inputs, description: "x" })).failures).toEqual([]);
    await run.delete(id, outs);
    expect((await run.create({ ...inputs, adopt: id })).id).not.toBe(id);
  });

  test("does not take a copied mark for another resource's", async () => {
    const first = await start({ settings: { mark: "team/dev" } });
    await first.create({ url: at("x"), __urn: urnOf("x") });
    const { id, outs } = await first.create({ url: at("y"), __urn: urnOf("y") });
    const metadata = first.emulator.endpoints.find((one) => one.url === at("x"))?.metadata;
    first.emulator.edit(id, { metadata });
    await (await first.restart()).delete(id, outs);
    expect(live(first)).toEqual([at("x")]);
  });

  test("advises a refresh if another resource's live URL is no longer that of its program", async () => {
    const { id, outs, run } = await fromEarlierRun();
    run.emulator.edit(id, { url: at("moved") });
    await run.diff(id, outs, { url });
    await expect(run.create({ url: at("moved") })).rejects.toThrow(/run `pulumi up --refresh`/);
  });

  test("goes on if another process has moved the other endpoint in the meantime", async () => {
    const { id, run } = await fromEarlierRun();
    const creating = run.create({ url });
    void run.clock.sleep(400).then(() => run.emulator.edit(id, { url: at("moved") }));
    expect((await creating).id).not.toBe(id);
  });

  test("an update to a URL that a removed resource has names that deletion, and never `adopt`", async () => {
    const first = await start();
    const removed = await first.create({ url: at("removed") });
    const other = await first.create({ url: at("other") });
    const run = await first.restart();
    const { message } = await thrown(run.update(other.id, other.outs, { url: at("removed") }));
    expect(message).toContain(removed.id);
    expect(message).toMatch(
      /If another resource .* was removed from the program, run `pulumi up --target` with its URN first/,
    );
    expect(message).not.toContain("adopt");
  });

  test("says that a killed run may have left an endpoint only if it is younger than an hour and has this content", async () => {
    const run = await start();
    for (const [minutes, description, expected] of [
      [5, "x", true],
      [61, "x", false],
      [5, "y", false],
    ] as const) {
      const created_at = new Date(run.clock.now() - minutes * 60_000).toISOString();
      const { id } = run.emulator.seed({ type: "cloud", url, description: "x", created_at });
      const { message } = await thrown(run.create({ url, description }));
      expect(/a killed run left it behind/.test(message)).toBe(expected);
      expect(message).toMatch(/another stack, program or person may manage it/);
      run.emulator.remove(id);
    }
  });

  test("refuses the reserved metadata key of marks, at the check", async () => {
    const provider = await start();
    for (const metadata of [{ "pulumi-endpoints": 1 }, '{"pulumi-endpoints":{"nonce":"1"}}']) {
      const { failures } = await provider.check({}, { url, metadata });
      expect(failures.map(({ reason }) => reason)).toEqual([
        expect.stringMatching(/metadata must not have the key pulumi-endpoints, which is reserved/),
      ]);
    }
  });

  test("an adoption's mark has the endpoint's creation time and a new number", async () => {
    const { first, run } = await fromEarlierRun({ settings: { mark: "team/dev" } });
    const markOf = () =>
      metadataOf(first.emulator.endpoints[0])["pulumi-endpoints"] as Record<string, unknown>;
    const before = markOf();
    await run.create({ url, adopt: true, __urn: urnOf("o") });
    expect(markOf()).toMatchObject({ urn: before["urn"], time: first.emulator.endpoints[0]?.created_at });
    expect(markOf()["nonce"]).not.toBe(before["nonce"]);
  });
});
