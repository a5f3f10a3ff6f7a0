import { describe, expect, test } from "vitest";
import { MARK_FIELD } from "../../../provider/api/mark";
import { methods, writes } from "../../requests";
import { bothProviders, type DrivenProvider, type Options, type Props } from "../bothProviders";
import { URN as OWN, plugin } from "../plugin/pluginClient";
import { thrown } from "../service";
import { isList, marked, metadataOf, URN, url } from "./creates";

const at = (name: string) => `https://${name}.example.com`;
const urnOf = (name: string) => OWN.replace("shop", name);
const marks = { mark: "our-team" };

const live = ({ emulator }: DrivenProvider) => emulator.endpoints.map((endpoint) => endpoint.url).sort();
const markOf = ({ emulator }: DrivenProvider) => metadataOf(emulator.endpoints[0])[MARK_FIELD];

/** Another stack's mark, for an endpoint of a given age, and how messages name its owner. */
const THEIRS = { namespace: "platform-team/prod", urn: URN, nonce: "0011" };
const OWNER = "'front' of the stack shop/prod (platform-team/prod)";

describe.each(bothProviders)("%s", (_, start) => {
  /** An endpoint that an earlier run created, and a new process of the provider. */
  async function fromEarlierRun(options?: Options, news: Props = {}) {
    const first = await start(options);
    const { id, outs } = await first.create({ url, __urn: OWN, ...news });
    return { first, id, outs, run: await first.restart() };
  }

  describe("an entry", () => {
    /** The endpoint of an earlier run with another entry, which a second run adopted. */
    async function withTwoEntries() {
      const { first, id, outs, run } = await fromEarlierRun();
      return { id, outs, others: (await run.create({ url, adopt: true })).outs, run: await first.restart() };
    }

    test.each([true, "its id"])(
      "goes without its endpoint after another has adopted that (adopt: %s)",
      async (by) => {
        const { id, outs, run } = await fromEarlierRun();
        const renamed = await run.create({ url, adopt: by === true ? true : id });
        await run.delete(id, outs);
        expect(run.logged()).toContain(
          `${id} belongs to another resource of this stack, so it was not deleted`,
        );
        expect([renamed.id, live(run)]).toEqual([id, [url]]);
        await (await run.restart()).delete(renamed.id, renamed.outs);
        expect(live(run)).toEqual([]);
      },
    );

    test.each(["diff", "read", "update"] as const)(
      "goes without its endpoint if a %s has shown another with it, and the last of several deletes it",
      async (how) => {
        const { id, outs, others, run } = await withTwoEntries();
        await run[how](id, others, { url, ...(how === "update" && { description: "x" }) });
        await run.delete(id, outs);
        expect(live(run)).toEqual([url]);
        await run.delete(id, others);
        expect(live(run)).toEqual([]);
        expect(writes(run.emulator).filter(({ method }) => method === "DELETE")).toHaveLength(1);
      },
    );

    test("is the only one of the program with its endpoint, or nothing is changed", async () => {
      const { id, outs, others, run } = await withTwoEntries();
      await run.diff(id, outs, { url });
      await expect((async () => run.diff(id, others, { url: at("other") }))()).rejects.toThrow(
        /belongs to two resources of this stack.*pulumi state delete/,
      );
    });

    test.each<[string, (entry: Awaited<ReturnType<typeof fromEarlierRun>>) => Promise<Props>]>([
      ["was read", async ({ run, id, outs }) => (await run.read(id, outs, { url })).props ?? {}],
      ["was updated", async ({ run, id, outs }) => (await run.update(id, outs, { url: at("moved") })).outs],
      ["has no token", async ({ outs: { __entry, ...outs } }) => outs],
      [
        "got its token by an update",
        async ({ run, id, outs: { __entry, ...outs } }) =>
          (await run.update(id, outs, { url, description: "x" })).outs,
      ],
    ])("deletes its endpoint, also one that %s", async (_, before) => {
      const entry = await fromEarlierRun();
      const outs = await before(entry);
      await entry.run.diff(entry.id, outs, { url });
      await entry.run.delete(entry.id, outs);
      expect(live(entry.run)).toEqual([]);
    });

    test("keeps its token in a read and an update, and its lack is no difference", async () => {
      const { first, id, outs, run } = await fromEarlierRun();
      const { props = {} } = await run.read(id, outs, { url });
      const { __entry, ...without } = outs;
      for (const state of [props, (await run.update(id, props, { url, description: "x" })).outs])
        expect(state).toMatchObject({ __entry });
      const other = await first.restart();
      expect(await other.diff(id, without, { url })).toMatchObject({ changes: false });
    });

    test("of a forced replacement, which the same process has read, deletes its endpoint", async () => {
      const { id, outs, run } = await fromEarlierRun();
      await run.read(id, outs, { url });
      await run.delete(id, outs);
      const second = await run.create({ url });
      expect(run.emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([second.id]);
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
  });

  describe("an adoption", () => {
    test("of another resource's endpoint is refused after a diff without a change, but not after a read", async () => {
      const { first, id, outs, run: reading } = await fromEarlierRun();
      await reading.read(id, outs, { url });
      expect((await reading.create({ url, adopt: true })).id).toBe(id);
      const run = await first.restart();
      await run.diff(id, outs, { url });
      await expect(run.create({ url, adopt: id })).rejects.toThrow(/already belongs to another resource/);
    });

    test("is checked again before the resource's own replacement, which then creates anew", async () => {
      const first = await start();
      const { inputs } = await first.check({}, { url, adopt: true });
      const { id, outs } = await first.create(inputs);
      const run = await first.restart();
      await run.diff(id, outs, { ...inputs, description: "x" });
      expect((await run.check({}, { ...inputs, description: "x" })).failures).toEqual([]);
      await run.delete(id, outs);
      expect((await run.create({ ...inputs, adopt: id })).id).not.toBe(id);
    });

    test("of an id that this process found gone creates anew; in another process it says what to do", async () => {
      const { first, id, outs, run } = await fromEarlierRun();
      run.emulator.remove(id);
      const adopt = { url, adopt: id };
      await expect((await first.restart()).create(adopt)).rejects.toThrow(
        /There is no endpoint ep_\w+ to adopt\. If this resource had adopted it before, remove adopt/,
      );
      expect(await run.read(id, outs, adopt)).toMatchObject({ id: "" });
      expect((await run.check({}, adopt)).failures).toEqual([]);
      expect((await run.create(adopt)).id).not.toBe(id);
      expect(live(run)).toEqual([url]);
    });

    test("writes a mark with the endpoint's creation time and a new number", async () => {
      const { run } = await fromEarlierRun({ settings: marks });
      const before = markOf(run) as { urn: string; nonce: string };
      await run.create({ url, adopt: true, __urn: OWN });
      expect(markOf(run)).toMatchObject({ urn: before.urn, time: run.emulator.endpoints[0]?.created_at });
      expect(markOf(run)).not.toMatchObject({ nonce: before.nonce });
    });
  });

  describe.each([
    ["with marks", marks],
    ["without marks", {}],
  ])("in a stack %s, an adoption of another stack's endpoint", (_, settings) => {
    const news = { url, metadata: { a: 1 }, __urn: OWN };
    /** A provider, and an endpoint with another stack's mark. */
    async function theirs(mark: object = {}) {
      const provider = await start({ settings });
      const { id } = provider.emulator.seed({ type: "cloud", url, ...marked(mark, { a: 1 }) });
      return { provider, id };
    }

    test.each([
      ["is refused", {}],
      ["is refused also if the time of the mark is unknown", { time: "unknown" }],
    ])("by `adopt: true` %s, by the check and the create, without a request", async (_, mark) => {
      const { provider, id } = await theirs(mark);
      const adopt = { ...news, adopt: true };
      const { failures } = await provider.check({}, adopt);
      const { message } = await thrown((await provider.restart()).create(adopt));
      for (const refusal of [failures[0]?.reason, message])
        expect(refusal).toMatch(
          `The endpoint with this URL is ${id}, which carries the mark of ${OWNER}, and an endpoint can only belong to one stack. To take it over, remove it from that stack's state and program (\`pulumi state delete\`), and set adopt: "${id}".`,
        );
      expect(writes(provider.emulator)).toEqual([]);
    });

    test("by its id is announced with the owner, and replaces the mark", async () => {
      const { provider, id } = await theirs();
      const { inputs, failures } = await provider.check({}, { ...news, adopt: id });
      expect([failures, provider.logged().at(-1)]).toEqual([
        [],
        `${url}: adopts ${id}, which carries the mark of ${OWNER}, and changes its mark`,
      ]);
      const { outs } = await provider.create({ ...inputs, __urn: OWN });
      expect(writes(provider.emulator)).toHaveLength(1);
      expect(metadataOf(provider.emulator.endpoints[0])).toMatchObject({ a: 1 });
      if ("mark" in settings) expect(markOf(provider)).toMatchObject({ namespace: "our-team", urn: OWN });
      else expect(markOf(provider)).toBeUndefined();
      // Without `adopt`, nothing is a change.
      const { adopt: _, ...kept } = inputs;
      const later = await provider.restart();
      const { props = {} } = await later.read(id, outs, inputs);
      expect(await later.diff(id, props, kept)).toMatchObject({ changes: false });
      expect(later.logged().filter((line) => line.includes("took it over"))).toEqual([]);
    });

    test("is done by `adopt: true` if somebody copied the mark", async () => {
      const { provider, id } = await theirs({ time: "2020-01-01T00:02:00Z" });
      expect((await provider.check({}, { ...news, adopt: true })).failures).toEqual([]);
      expect((await provider.create({ ...news, adopt: true })).id).toBe(id);
    });
  });

  test("a stack without marks removes a mark that leaves no metadata", async () => {
    const provider = await start();
    const { id } = provider.emulator.seed({ type: "cloud", url, ...marked({}) });
    await provider.create({ url, adopt: id, __urn: OWN });
    expect(writes(provider.emulator).map(({ body }) => body)).toEqual([{ id, metadata: "" }]);
  });

  test("the mark of the same stack is no obstacle to another of its resources", async () => {
    const provider = await start({ settings: marks });
    const mark = { namespace: "our-team", urn: urnOf("old") };
    const { id } = provider.emulator.seed({ type: "cloud", url, ...marked(mark) });
    expect((await provider.check({}, { url, adopt: true, __urn: OWN })).failures).toEqual([]);
    expect(provider.logged().at(-1)).toBe(`${url}: adopts ${id} and changes its mark`);
    expect((await provider.create({ url, adopt: true, __urn: OWN })).id).toBe(id);
  });

  describe("an endpoint with another mark than the state's", () => {
    const WARNING = new RegExp(
      `which carries the mark of ${OWNER.replace(/[()]/g, "\\$&")}: another resource took it over, and both change it now\\..*pulumi state delete.*set adopt: "ep_\\w+"`,
    );
    const taken = (lines: string[]) => lines.filter((line) => WARNING.test(line));

    /** What has become of the mark of an endpoint that this stack has. */
    async function marking(mark: object | undefined, settings: object = marks) {
      const { first, id, outs, run } = await fromEarlierRun(
        { settings: { ...settings } },
        { metadata: { a: 1 } },
      );
      const time = first.emulator.endpoints[0]?.created_at;
      const { metadata } = marked({ ...THEIRS, time, ...mark }, { a: 1 });
      run.emulator.edit(id, { metadata: mark === undefined ? '{"a":1}' : metadata });
      return { first, id, outs, run, news: { url, metadata: { a: 1 }, __urn: OWN } };
    }

    test("is warned of once by reads, which keep the state's note", async () => {
      const { id, outs, run, news } = await marking({});
      for (let times = 0; times < 2; times++) {
        const { props = {} } = await run.read(id, outs, news);
        expect(props["__mark"]).toEqual(outs["__mark"]);
        expect(await run.diff(id, props, news)).toMatchObject({ changes: false });
      }
      expect(taken(run.logged())).toHaveLength(1);
    });

    test("is warned of by a read of a stack that has no marks", async () => {
      const { id, outs, run, news } = await marking({}, {});
      await run.read(id, outs, news);
      expect(taken(run.logged())).toHaveLength(1);
    });

    test.each([
      ["description", { description: "x" }, ["PATCH"]],
      ["metadata", { metadata: { a: 2 } }, ["GET", "PATCH"]],
    ])("keeps it in an update of the %s, which warns", async (_, change, requests) => {
      const { id, outs, run, news } = await marking({});
      const before = run.emulator.requests.length;
      const updated = await run.update(id, outs, { ...news, ...change });
      expect(methods(run.emulator).slice(before)).toEqual(requests);
      expect(markOf(run)).toMatchObject(THEIRS);
      expect(updated.outs["__mark"]).toEqual(outs["__mark"]);
      expect(taken(run.logged())).toHaveLength(1);
      await (await run.restart()).delete(id, updated.outs);
      expect(live(run)).toEqual([url]);
    });

    test.each<[string, object | undefined, boolean]>([
      ["another stack's", {}, true],
      ["another stack's with an unknown time", { time: "unknown" }, true],
      ["another resource's of this stack", { namespace: "our-team", urn: urnOf("other") }, true],
      ["this resource's, with another number", { namespace: "our-team", urn: OWN }, true],
      ["copied", { time: "2020-01-01T00:00:00Z" }, false],
      ["missing", undefined, false],
    ])("stays after the entry's deletion, with a warning, if it is %s", async (_, mark, stays) => {
      const { id, outs, run } = await marking(mark);
      await run.delete(id, outs);
      expect(live(run)).toEqual(stays ? [url] : []);
      const warned = run
        .logged()
        .filter((line) => line.startsWith(`This stack forgets ${id}, which carries`));
      expect(warned).toHaveLength(stays ? 1 : 0);
    });

    test("is our own after `stack rename`, and goes with the entry", async () => {
      const { first, id, outs } = await fromEarlierRun({ settings: marks });
      const renamed = await first.restart();
      const __urn = OWN.replace("stack", "renamed");
      const { props = {} } = await renamed.read(id, outs, { url, __urn });
      expect(renamed.logged()).toEqual([]);
      await renamed.delete(id, props);
      expect(live(renamed)).toEqual([]);
    });
  });

  test("deletions of removed resources share one list in search of new marks", async () => {
    const first = await start({ settings: marks });
    const olds: { id: string; outs: Props }[] = [];
    for (const name of ["a", "b", "c"]) olds.push(await first.create({ url: at(name), __urn: urnOf(name) }));
    const adopting = await first.restart();
    for (const name of ["a", "b"])
      await adopting.create({ url: at(name), adopt: true, __urn: urnOf(`new-${name}`) });
    const run = await first.restart();
    const before = run.emulator.requests.length;
    for (const { id, outs } of olds) await run.delete(id, outs);
    expect(live(run)).toEqual([at("a"), at("b")]);
    expect(methods(run.emulator).slice(before)).toEqual(["GET", "DELETE"]);
  });

  test("a run of deletions that lasts reads the list again every five minutes", async () => {
    const first = await start({ settings: marks });
    const [a, b] = [
      await first.create({ url: at("a"), __urn: urnOf("a") }),
      await first.create({ url: at("b"), __urn: urnOf("b") }),
    ];
    const run = await first.restart();
    await run.delete(a.id, a.outs);
    await run.clock.sleep(301_000);
    await (await first.restart()).create({ url: at("b"), adopt: true, __urn: urnOf("new-b") });
    await run.delete(b.id, b.outs);
    expect(live(run)).toEqual([at("b")]);
  });

  test.each(["read", "update", "delete"] as const)(
    "a %s sees another's mark also if the list omits metadata",
    async (how) => {
      const { first, id, outs } = await fromEarlierRun({ settings: marks });
      const { metadata } = marked({ ...THEIRS, time: first.emulator.endpoints[0]?.created_at });
      first.emulator.edit(id, { metadata });
      const run = await first.restart();
      const items = run.emulator.endpoints.map(({ metadata: _, ...item }) => item);
      run.emulator.intercept(isList, { status: 200, body: { endpoints: items } }, 9);
      if (how === "read") await run.read(id, outs, { url });
      if (how === "update") await run.update(id, outs, { url, metadata: { a: 1 }, __urn: OWN });
      if (how === "delete") await run.delete(id, outs);
      expect(run.logged().join()).toContain(OWNER);
      expect(markOf(run)).toMatchObject(THEIRS);
    },
  );

  test("refuses the reserved metadata key of marks, at the check", async () => {
    const provider = await start();
    for (const metadata of [{ [MARK_FIELD]: 1 }, `{"${MARK_FIELD}":{"nonce":"1"}}`])
      expect((await provider.check({}, { url, metadata })).failures.map(({ reason }) => reason)).toEqual([
        expect.stringMatching(/metadata must not have the key pulumi-endpoints, which is reserved/),
      ]);
  });
});

test.each([
  [
    "another stack's endpoint, because it names the id, warns of the owner",
    {},
    [`which carries the mark of ${OWNER}`],
  ],
  ["an endpoint with this stack's mark does not warn", { namespace: "our-team", urn: OWN }, []],
])("an import of %s", async (_, mark, warnings) => {
  const { client, emulator, logged } = await plugin({ configure: false });
  await client.configure({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey, ...marks });
  const { id } = emulator.seed({ type: "cloud", url, ...marked(mark) });
  expect((await client.read(id)).id).toBe(id);
  expect(logged.map(({ message }) => message)).toEqual(warnings.map((text) => expect.stringContaining(text)));
});
