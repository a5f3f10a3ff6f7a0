import { describe, expect, test } from "vitest";
import { MARK_FIELD } from "../../../provider/api/mark";
import { bothProviders, type DrivenProvider } from "../bothProviders";
import { URN as OWN, plugin } from "../plugin/pluginClient";
import { thrown } from "../service";
import { countCreates, metadataOf, URN, url } from "./creates";

const CREATED = "2020-01-01T00:00:00Z";
const THEIRS = { namespace: "platform-team/prod", urn: URN, nonce: "0011", time: CREATED };
const FROM = "shop/prod (platform-team/prod)";

/** Adds an endpoint with another stack's mark. */
const seed = ({ emulator }: Pick<DrivenProvider, "emulator">, mark: object = {}) =>
  emulator.seed({
    type: "cloud",
    url,
    created_at: CREATED,
    metadata: JSON.stringify({ a: 1, [MARK_FIELD]: { ...THEIRS, ...mark } }),
  }).id;

const ours = { url, metadata: { a: 1 }, __urn: OWN };
const writes = ({ emulator }: DrivenProvider) => emulator.requests.filter(({ method }) => method !== "GET");

describe.each(bothProviders)("with %s", (_, start) => {
  describe.each([
    ["with marks", { mark: "our-team" }],
    ["without marks", {}],
  ])("an adoption of another stack's endpoint %s", (_, settings) => {
    test.each(["its URL", "its id"])("by %s is refused by the check and by the create", async (by) => {
      const provider = await start({ settings });
      const id = seed(provider);
      const news = { ...ours, adopt: by === "its id" ? id : true };
      const { failures } = await provider.check({}, news);
      const { message } = await thrown((await provider.restart()).create(news));
      for (const refusal of [failures[0]?.reason, message]) {
        expect(refusal).toContain(`${id} carries the mark of front of the stack ${FROM}`);
        expect(refusal).toContain(`adoptFrom: "${FROM}"`);
        expect(refusal).toMatch(/If this stack was renamed/);
      }
      expect(writes(provider)).toEqual([]);
    });

    test("is refused if `adoptFrom` names a third stack", async () => {
      const provider = await start({ settings });
      seed(provider);
      const { failures } = await provider.check({}, { ...ours, adopt: true, adoptFrom: "shop/dev (other)" });
      expect(failures[0]?.reason).toContain(`adoptFrom: "${FROM}"`);
    });

    test("is done with `adoptFrom`, and the old mark goes at once", async () => {
      const provider = await start({ settings });
      const id = seed(provider);
      const news = { ...ours, adopt: true, adoptFrom: FROM };
      const { inputs, failures } = await provider.check({}, news);
      expect(failures).toEqual([]);
      expect(provider.logged().at(-1)).toBe(`${url}: adopts ${id}, and changes its mark`);
      const { outs } = await provider.create({ ...inputs, __urn: OWN });
      expect(writes(provider)).toHaveLength(1);
      const { a, [MARK_FIELD]: mark } = metadataOf(provider.emulator.endpoints[0]);
      expect(a).toBe(1);
      if ("mark" in settings) expect(mark).toMatchObject({ namespace: "our-team", urn: OWN });
      else expect(mark).toBeUndefined();

      // The request is no field: neither a refresh nor its removal is a change.
      const later = await provider.restart();
      const read = await later.read(id, outs, inputs);
      expect(read.inputs).toMatchObject({ adoptFrom: FROM });
      const { adopt: _, adoptFrom: __, ...kept } = inputs;
      for (const state of [outs, read.props ?? {}])
        expect(await later.diff(id, state, kept)).toMatchObject({ changes: false });
      expect((await later.check(inputs, kept)).failures).toEqual([]);
      expect((await later.check(inputs, { ...kept, adoptFrom: FROM })).failures).toEqual([]);
    });

    test("is done if somebody copied the mark: it does not fit the endpoint's creation", async () => {
      const provider = await start({ settings });
      const id = seed(provider, { time: "2020-01-01T00:02:00Z" });
      expect((await provider.check({}, { ...ours, adopt: true })).failures).toEqual([]);
      expect((await provider.create({ ...ours, adopt: true })).id).toBe(id);
    });

    test("is refused if the time of the mark is unknown", async () => {
      const provider = await start({ settings });
      seed(provider, { time: "unknown" });
      expect((await provider.check({}, { ...ours, adopt: true })).failures).toHaveLength(1);
    });

    test("is named by a create that meets its URL, with the input to give", async () => {
      const provider = await start({ settings });
      const id = seed(provider);
      const { message } = await thrown(provider.create(ours));
      expect(message).toContain(`set adopt: "${id}" and adoptFrom: "${FROM}"`);
      expect(countCreates(provider.emulator.requests)).toBe(1);
    });
  });

  test("a stack without marks removes a mark that leaves no metadata", async () => {
    const provider = await start();
    const { id } = provider.emulator.seed({
      type: "cloud",
      url,
      created_at: CREATED,
      metadata: JSON.stringify({ [MARK_FIELD]: THEIRS }),
    });
    await provider.create({ url, adopt: id, adoptFrom: FROM, __urn: OWN });
    expect(writes(provider).map(({ body }) => body)).toEqual([{ id, metadata: "" }]);
  });

  test("the mark of the same stack is no obstacle to another of its resources", async () => {
    const provider = await start({ settings: { mark: "our-team" } });
    const id = seed(provider, { namespace: "our-team", urn: OWN.replace("shop", "old") });
    expect((await provider.check({}, { ...ours, adopt: true })).failures).toEqual([]);
    expect(provider.logged().at(-1)).toBe(`${url}: adopts ${id}, and changes its mark`);
    expect((await provider.create({ ...ours, adopt: true })).id).toBe(id);
  });

  test("a stack that was renamed adopts with its old name", async () => {
    const provider = await start({ settings: { mark: "our-team" } });
    const id = seed(provider, { namespace: "our-team", urn: OWN.replace("stack", "old") });
    const { failures } = await provider.check({}, { ...ours, adopt: id });
    const [, from] = /adoptFrom: "([^"]+)"/.exec(failures[0]?.reason ?? "") ?? [];
    expect(from).toBe("project/old (our-team)");
    expect((await provider.create({ ...ours, adopt: id, adoptFrom: from })).id).toBe(id);
  });

  test("`adoptFrom` that is empty, or alone in a new resource, is a mistake", async () => {
    const provider = await start();
    const reasons = async (news: object) =>
      (await provider.check({}, { url, ...news })).failures.map(({ reason }) => reason);
    expect(await reasons({ adoptFrom: FROM })).toEqual([expect.stringMatching(/^adoptFrom needs adopt/)]);
    expect(await reasons({ adoptFrom: FROM, adopt: false })).toHaveLength(1);
    expect(await reasons({ adoptFrom: "", adopt: true })).toEqual([
      expect.stringMatching(/^adoptFrom must name the stack/),
    ]);
  });
});

describe("an import with the plugin", () => {
  const args = ({ baseUrl, apiKey }: DrivenProvider["emulator"], mark: string) => ({ baseUrl, apiKey, mark });

  test("of another stack's endpoint is done, because it names the id, and a warning names the owner", async () => {
    const { client, emulator, logged } = await plugin({ configure: false });
    await client.configure(args(emulator, "our-team"));
    const id = seed({ emulator });
    expect((await client.read(id)).id).toBe(id);
    expect(logged.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        new RegExp(`^${id} carries the mark of front of the stack shop/prod .*pulumi state delete`),
      ),
    ]);
  });

  test("of an endpoint with this stack's mark causes no warning", async () => {
    const { client, emulator, logged } = await plugin({ configure: false });
    await client.configure(args(emulator, "our-team"));
    await client.read(seed({ emulator }, { namespace: "our-team", urn: OWN }));
    expect(logged).toEqual([]);
  });
});
