import { describe, expect, test } from "vitest";
import { MARK_FIELD, ownerText, withMark, withoutMark } from "../../../provider/api/mark";
import { bothProviders } from "../bothProviders";
import { isCreate, metadataOf, owner, url } from "../endpoint/creates";

test.each([
  ["endpoints:index:CloudEndpoint::front", "front"],
  ["my:Shop$endpoints:index:CloudEndpoint::front", "my:Shop::front"],
  ["my:Shop$my:Door$pulumi-nodejs:dynamic/endpoints:CloudEndpoint::a::b", "my:Shop$my:Door::a::b"],
])("messages name the owner of %s", (end, named) => {
  const text = ownerText({ ...owner, urn: `urn:pulumi:prod::shop::${end}` });
  expect(text).toBe(`'${named}' of the stack shop/prod (platform-team/prod)`);
});

test.each([["text"], [[1, 2]], [{ long: "ä".repeat(2_000) }]])(
  "this metadata gets no mark: %j",
  (metadata) => {
    expect(withMark(metadata, { ...owner, nonce: "0011", time: "" })).toBeUndefined();
  },
);

test.each([
  ["text"],
  ["{"],
  [`"${MARK_FIELD}"`],
  [`{"${MARK_FIELD}":1}`],
  [`{"${MARK_FIELD}":{"nonce":"1"}}`],
])("metadata without a valid mark is not changed: %s", (metadata) => {
  expect(withoutMark(metadata)).toEqual({ metadata });
});

describe.each(bothProviders)("with %s", (_, start) => {
  const marking = () => start({ settings: { mark: "platform-team/prod" } });
  /** The resource's class sends it to the dynamic provider. The plugin gets it from the engine. */
  const __urn = "urn:pulumi:stack::project::endpoints:index:CloudEndpoint::shop";

  test("a create sends the mark, and outputs, inputs and diffs do not show it", async () => {
    const { check, create, read, diff, emulator } = await marking();
    const { inputs } = await check({}, { url, metadata: { team: "shop" }, __urn });
    const { id, outs } = await create(inputs);
    expect(metadataOf(emulator.requests.find(isCreate)?.body)).toEqual({
      team: "shop",
      [MARK_FIELD]: {
        namespace: "platform-team/prod",
        urn: __urn,
        nonce: expect.stringMatching(/^[0-9a-f]{16}$/),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    });
    expect(outs["metadata"]).toBe('{"team":"shop"}');
    expect(await diff(id, outs, inputs)).toMatchObject({ changes: false });
    const found = await read(id, outs, inputs);
    expect(found.inputs).toEqual({ url, metadata: { team: "shop" } });
    expect(await diff(id, found.props ?? {}, inputs)).toMatchObject({ changes: false });
  });

  test("an endpoint with only a mark has no metadata, and a removed mark is no drift", async () => {
    const { check, create, read, diff, emulator } = await marking();
    for (const [index, metadata] of [undefined, {}].entries()) {
      const news = { url: `https://n${index}.example.com`, ...(metadata && { metadata }), __urn };
      const { inputs } = await check({}, news);
      const { id, outs } = await create(inputs);
      // An empty object that was sent stands in for the metadata that the reply lacks.
      expect(outs["metadata"]).toBe(metadata && "{}");
      expect(await diff(id, outs, inputs)).toMatchObject({ changes: false });
      emulator.edit(id, { metadata: undefined });
      const { props = {} } = await read(id, outs, inputs);
      expect(await diff(id, props, inputs)).toMatchObject({ changes: false });
    }
  });

  test("without the setting, an update of the metadata keeps an existing mark and adds no new one", async () => {
    const first = await marking();
    const { id, outs } = await first.create({ url, metadata: { a: 1 }, __urn });
    const mark = metadataOf(first.emulator.endpoints[0])[MARK_FIELD];
    const plain = await start({ emulator: first.emulator, clock: first.clock });
    await plain.update(id, outs, { url, metadata: { a: 2 } });
    expect(metadataOf(first.emulator.endpoints[0])).toEqual({ a: 2, [MARK_FIELD]: mark });

    const other = await plain.create({ url: "https://other.example.com", metadata: { a: 1 } });
    await plain.update(other.id, other.outs, { url: "https://other.example.com", metadata: { a: 2 } });
    expect(metadataOf(first.emulator.requests.at(-1)?.body)).toEqual({ a: 2 });
  });
});
