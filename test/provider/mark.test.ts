import { describe, expect, test } from "vitest";
import { MARK_FIELD, ownerOf, withMark, withoutMark } from "../../provider/api/mark";
import type { RecordedRequest } from "../../sdk/testing";
import { bothProviders } from "./bothProviders";
import { service, thrown } from "./service";

const url = "https://shop.example.com";
const URN = "urn:pulumi:prod::shop::endpoints:index:CloudEndpoint::front";
const settings = { "endpoints:mark": "platform-team/prod" };
const owner = { namespace: "platform-team/prod", project: "shop", stack: "prod", resource: "front" };
const isCreate = ({ method }: RecordedRequest) => method === "POST";
const isList = ({ method, path }: RecordedRequest) => method === "GET" && path === "/endpoints";
const metadataOf = (body: unknown) =>
  JSON.parse(String((body as { metadata?: string }).metadata)) as Record<string, unknown>;

const start = (more: Record<string, string> = {}) =>
  service({ settings: { ...settings, "endpoints:timeoutSeconds": "0.2", ...more } });

/** A leftover of an earlier run: its endpoint carries our mark, and no state has it. */
const leftover = (metadata: object = {}) => ({
  type: "cloud" as const,
  url,
  metadata: JSON.stringify({ ...metadata, [MARK_FIELD]: { ...owner, nonce: "0011" } }),
});

test.each([
  ["a resource of the stack", URN, "front"],
  [
    "a component's child",
    "urn:pulumi:prod::shop::my:Shop$endpoints:index:CloudEndpoint::front",
    "my:Shop::front",
  ],
  [
    "a component's component's child, whatever serves it",
    "urn:pulumi:prod::shop::my:Shop$my:Door$pulumi-nodejs:dynamic/endpoints:CloudEndpoint::a::b",
    "my:Shop$my:Door::a::b",
  ],
])("the owner of %s comes from its URN", (_, urn, resource) => {
  expect(ownerOf("platform-team/prod", urn)).toEqual({ ...owner, resource });
});

test.each([
  ["none", undefined],
  ["an object", { team: "shop" }],
])("a mark goes into %s and comes out again", (_, metadata) => {
  const mark = { ...owner, nonce: "0011" };
  const text = withMark(metadata, mark);
  expect(withoutMark(text)).toEqual({ metadata: metadata && JSON.stringify(metadata), mark });
});

test.each([["text"], [[1, 2]], [{ long: "ä".repeat(2_000) }]])("%j cannot hold a mark", (metadata) => {
  expect(withMark(metadata, { ...owner, nonce: "0011" })).toBeUndefined();
});

test.each([
  ["text"],
  ["{"],
  [`"${MARK_FIELD}"`],
  [`{"${MARK_FIELD}":1}`],
  [`{"${MARK_FIELD}":{"nonce":"1"}}`],
])("metadata that only looks marked stays as it is: %s", (metadata) => {
  expect(withoutMark(metadata)).toEqual({ metadata });
});

describe.each(bothProviders)("with %s", (_, start) => {
  const provider = () => start({ settings: { mark: "platform-team/prod" } });
  /** What the class hands over to the dynamic provider; the plugin knows the URN. */
  const __urn = "urn:pulumi:stack::project::endpoints:index:CloudEndpoint::shop";

  test("a create carries the mark, which no output and no difference shows", async () => {
    const { check, create, read, diff, emulator } = await provider();
    const { inputs } = await check({}, { url, metadata: { team: "shop" }, __urn });
    const { id, outs } = await create(inputs);
    expect(metadataOf(emulator.requests[0]?.body)).toEqual({
      team: "shop",
      [MARK_FIELD]: {
        namespace: "platform-team/prod",
        project: "project",
        stack: "stack",
        resource: "shop",
        nonce: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    });
    expect(outs["metadata"]).toBe('{"team":"shop"}');
    expect(await diff(id, outs, inputs)).toMatchObject({ changes: false });
    const found = await read(id, outs, inputs);
    expect(found.inputs).toEqual({ url, metadata: { team: "shop" } });
    expect(await diff(id, found.props ?? {}, inputs)).toMatchObject({ changes: false });
  });

  test("a mark alone is no metadata, and its absence is no drift", async () => {
    const { check, create, read, diff, emulator } = await provider();
    for (const [index, metadata] of [undefined, {}].entries()) {
      const news = { url: `https://n${index}.example.com`, ...(metadata && { metadata }), __urn };
      const { inputs } = await check({}, news);
      const { id, outs } = await create(inputs);
      expect(outs["metadata"]).toBeUndefined();
      expect(await diff(id, outs, inputs)).toMatchObject({ changes: false });
      emulator.edit(id, { metadata: undefined });
      const { props = {} } = await read(id, outs, inputs);
      expect(await diff(id, props, inputs)).toMatchObject({ changes: false });
    }
  });

  test("a change of the metadata sends the mark again, a change of something else leaves it alone", async () => {
    const { check, create, update, emulator } = await provider();
    const { inputs } = await check({}, { url, metadata: { a: 1 }, __urn });
    const { id, outs } = await create(inputs);
    const mark = metadataOf(emulator.endpoints[0])[MARK_FIELD];
    const described = await update(id, outs, { ...inputs, description: "x" });
    expect(emulator.requests.at(-1)?.body).toEqual({ id, description: "x" });
    await update(id, described.outs, { ...inputs, description: "x", metadata: { a: 2 } });
    expect(metadataOf(emulator.requests.at(-1)?.body)).toEqual({ a: 2, [MARK_FIELD]: mark });
  });

  test("turned off, a change of the metadata adds no mark, and keeps the one that is there", async () => {
    const marking = await provider();
    const { id, outs } = await marking.create({ url, metadata: { a: 1 }, __urn });
    const mark = metadataOf(marking.emulator.endpoints[0])[MARK_FIELD];
    const plain = await start({ emulator: marking.emulator });
    await plain.update(id, outs, { url, metadata: { a: 2 } });
    expect(metadataOf(marking.emulator.endpoints[0])).toEqual({ a: 2, [MARK_FIELD]: mark });

    const other = await plain.create({ url: "https://other.example.com", metadata: { a: 1 } });
    await plain.update(other.id, other.outs, { url: "https://other.example.com", metadata: { a: 2 } });
    expect(metadataOf(marking.emulator.requests.at(-1)?.body)).toEqual({ a: 2 });
  });
});

describe("with marks", () => {
  const news = { url, __urn: URN };
  const pooled = { ...news, poolingEnabled: true };

  test.each([
    ["alone", news],
    ["in a pool", pooled],
  ])("a lost create %s is found, though a stranger has the same URL, content and time", async (_, inputs) => {
    const { core, emulator } = await start();
    emulator.behave({ urlTaken: "allowed" });
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    const rival = () =>
      emulator.seed({ type: "cloud", url, pooling_enabled: inputs === pooled }) !== undefined;
    emulator.intercept((request) => isList(request) && rival(), { afterCommit: true });
    const { id } = await core.create(inputs);
    const ours = emulator.endpoints.find((endpoint) => endpoint.id === id);
    expect(metadataOf(ours)[MARK_FIELD]).toMatchObject(owner);
    expect(emulator.requests.filter(isCreate)).toHaveLength(1);
  });

  test("a create in a pool that was lost without effect is sent again", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { reset: true });
    await core.create(pooled);
    expect(emulator.endpoints).toHaveLength(1);
  });

  test.each([
    ["a URL that is refused", news, {}],
    ["a pool", pooled, { pooling_enabled: true }],
  ])(
    "a leftover on %s is taken over, however old, and made what the program wants",
    async (_, inputs, more) => {
      const { core, emulator, said } = await start();
      const { id } = emulator.seed({ ...leftover(), ...more, created_at: "2020-01-01T00:00:00Z" });
      const made = await core.create({ ...inputs, description: "x" });
      expect(made).toMatchObject({ id, outs: { description: "x" } });
      expect(emulator.endpoints).toHaveLength(1);
      expect(said).toEqual([
        `${url}: takes over ${id}, which an earlier run of this stack created (endpoints:mark)`,
      ]);
      await expect(core.delete(id, made.outs)).rejects.toThrow(/taken over by its own replacement/);
    },
  );

  test("one list serves all creates in a pool of a run", async () => {
    const { core, emulator } = await start();
    const all = Array.from({ length: 20 }, (_, index) => ({
      url: `https://n${index}.example.com`,
      poolingEnabled: true,
      __urn: `${URN}${index}`,
    }));
    await Promise.all(all.map((inputs) => core.create(inputs)));
    expect(emulator.requests.filter(isList)).toHaveLength(1);
  });

  test("what carries our mark and a state of this run has is nobody's leftover", async () => {
    const { core, emulator } = await start();
    const { id } = emulator.seed({ ...leftover(), pooling_enabled: true });
    core.diff(id, { url }, news);
    expect((await core.create(pooled)).id).not.toBe(id);
  });

  test("several leftovers are named, and none is taken", async () => {
    const { core, emulator } = await start();
    const ids = [0, 1].map(() => emulator.seed({ ...leftover(), pooling_enabled: true }).id);
    const { message } = await thrown(core.create(pooled));
    for (const id of ids) expect(message).toContain(id);
    expect(message).toMatch(/carry the mark of this resource.*Set adopt/);
    expect(emulator.requests.some(isCreate)).toBe(false);
  });

  test("somebody else's mark is named, and not taken", async () => {
    const { core, emulator } = await start({ "endpoints:recoverWithin": "1h" });
    const theirs = { ...owner, stack: "dev", nonce: "0011" };
    emulator.seed({
      ...leftover(),
      description: "theirs",
      metadata: JSON.stringify({ [MARK_FIELD]: theirs }),
    });
    const { message } = await thrown(core.create({ ...news, description: "ours" }));
    expect(message).toContain("created for front of the stack shop/dev (platform-team/prod)");
  });

  test("an adopted endpoint gets the mark at once in place of another resource's, so that it is not taken back", async () => {
    const { core, emulator, newProcess, said } = await start();
    const elsewhere = URN.replace("prod", "dev");
    const { id } = await core.create({ url, __urn: elsewhere });
    const prod = newProcess().core;
    const { inputs } = await prod.check({}, { url, adopt: true, __urn: URN });
    expect(said).toEqual([`${url}: adopts ${id}, and changes its mark`]);
    expect((await prod.create(inputs)).id).toBe(id);
    expect(metadataOf(emulator.endpoints[0])).toMatchObject({ [MARK_FIELD]: owner });
    const { message } = await thrown(newProcess().core.create({ url, description: "x", __urn: elsewhere }));
    expect(message).toContain("created for front of the stack shop/prod");
    expect(emulator.endpoints[0]?.description).toBeUndefined();
  });

  test("a mark that somebody else wrote is one line of a message and no command of a pipeline, whatever is in it", async () => {
    const { core, emulator } = await start();
    const stack = `x\n\u001b[2J\u202e##vso[task.complete]${"y".repeat(3_000)}`;
    emulator.seed({
      type: "cloud",
      url,
      metadata: JSON.stringify({ [MARK_FIELD]: { ...owner, stack, nonce: "0011" } }),
    });
    const { message } = await thrown(core.create({ url, __urn: URN }));
    expect(message).toMatch(/^[^\p{Cc}\p{Cf}]{1,1500}$/u);
    expect(message).not.toContain("##vso");
  });

  test("metadata that cannot hold a mark goes without, and that is reported", async () => {
    const { core, emulator, said } = await start();
    await core.create({ ...news, metadata: "text" });
    expect(emulator.requests[0]?.body).toMatchObject({ metadata: "text" });
    expect(said).toEqual([expect.stringMatching(/created without a mark/)]);
  });

  test("an adopted endpoint is marked by the next change of its metadata, not before", async () => {
    const { core, emulator } = await start();
    const { id } = emulator.seed({ type: "cloud", url, metadata: '{"a":1}' });
    const { outs } = await core.create({ ...news, metadata: { a: 1 }, adopt: true });
    expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
    await core.update(id, outs, { ...news, metadata: { a: 2 } });
    expect(metadataOf(emulator.endpoints[0])).toMatchObject({ a: 2, [MARK_FIELD]: owner });
  });
});
