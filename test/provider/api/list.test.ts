import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../provider/api/json";
import { OLDEST_LISTING } from "../../../provider/api/list";
import { service, thrown } from "../service";
import { count, isList, refresh, seeded } from "./refresh";

describe("the shared list", () => {
  const stored = (url: string, more: JsonObject = {}) => ({ type: "cloud", url, ...more });

  test("is read again after a write of this process", async () => {
    const { core, emulator } = await service();
    const [{ id, outs }, other = { id, outs }] = seeded(emulator, 2);
    await core.read(id, outs);
    emulator.edit(id, { description: "by hand" });
    await core.update(other.id, other.outs, { url: other.outs.url, description: "x" });
    const { props } = await core.read(id, outs);
    expect(props).toMatchObject({ description: "by hand" });
  });

  test("is read again if this process wrote while a page was in flight", async () => {
    const { core, emulator } = await service();
    const [{ id, outs }] = seeded(emulator, 1);
    emulator.intercept(isList, { afterCommit: true, delayMs: 300 });
    const early = core.read(id, outs);
    await expect.poll(() => emulator.requests.length).toBe(1);
    await core.update(id, outs, { url: outs.url, description: "x" });
    expect((await core.read(id, outs)).props).toMatchObject({ description: "x" });
    await early;
  });

  test("is read again once it is too old", async () => {
    const { core, api, emulator } = await service();
    const [{ id, outs }] = seeded(emulator, 1);
    await core.read(id, outs);
    emulator.edit(id, { description: "by hand" });
    await api.http.clock.sleep(OLDEST_LISTING - 1000);
    expect((await core.read(id, outs)).props).not.toHaveProperty("description");
    await api.http.clock.sleep(2000);
    expect((await core.read(id, outs)).props).toMatchObject({ description: "by hand" });
  });

  test("leaves an output at its stored value if the item omits it", async () => {
    const { core, emulator } = await service();
    const url = "https://shop.example.com";
    const edge = { id: "edghts_1", uri: "" };
    const { id } = emulator.seed({ type: "cloud", url, edge });
    const { props } = await core.read(id, stored(url, { edge }));
    expect(props).toMatchObject({ edge });
    expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints"]);
  });

  test("is followed by a read by id if an item omits an input, so a cleared input is found", async () => {
    const { core, emulator } = await service();
    const url = "https://shop.example.com";
    const { id } = emulator.seed({ type: "cloud", url });
    const { props } = await core.read(id, stored(url, { description: "front door" }));
    expect(props).not.toHaveProperty("description");
    expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints", `/endpoints/${id}`]);
  });

  test("is not used for `get`, because only a read by id returns all fields", async () => {
    const { core, emulator } = await service();
    const edge = { id: "edghts_1", uri: "" };
    const { id } = emulator.seed({ type: "cloud", url: "https://shop.example.com", edge });
    expect((await core.read(id, { __provider: "code" })).props).toMatchObject({ edge });
    expect(emulator.requests.map(({ path }) => path)).toEqual([`/endpoints/${id}`]);
  });

  test("serves all adoptions by URL of a preview", async () => {
    const { core, emulator, logged } = await service();
    seeded(emulator, 250);
    const urls = Array.from({ length: 250 }, (_, i) => `https://e${i}.example.com`);
    await Promise.all(urls.map((url) => core.check({}, { url, adopt: true })));
    expect(logged.filter((message) => message.includes("as it is"))).toHaveLength(250);
    // The first request is a look-up; the list serves all others.
    expect(emulator.requests).toHaveLength(4);
  });
});

test.each([
  ["works", 40],
  ["refused", 1 + 4],
] as const)(
  "forty adoptions by URL that change their endpoints share the list or use a filter: the filter %s",
  async (filters, lists) => {
    const { core, emulator } = await service({ filters });
    seeded(emulator, 400);
    for (let index = 0; index < 40; index++)
      await core.create({ url: `https://e${index}.example.com`, adopt: true, description: "ours" });
    expect(emulator.endpoints.filter(({ description }) => description === "ours")).toHaveLength(40);
    expect(emulator.requests.filter(isList).length).toBe(lists);
  },
);

describe("a list that cannot be read", () => {
  test("is replaced by reads by id if the key may not list", async () => {
    const { core, emulator } = await service();
    emulator.intercept(isList, { status: 403, body: "" }, 100);
    const states = seeded(emulator, 20);
    expect(await refresh(core, states)).toHaveLength(20);
    expect(count(emulator.requests)).toEqual({ pages: 2, singles: 20 });
  });

  test("to its end fails an adoption, because the endpoint may be on a later page", async () => {
    const { core, emulator } = await service({ pageSize: 1, filters: "refused" });
    const states = seeded(emulator, 2);
    emulator.intercept(({ query }) => "before_id" in query, { status: 403, body: "" }, 2);
    // The list of the read fails, and so does that of the adoption.
    await core.read(states[0].id, states[0].outs);
    const error = await thrown(core.create({ url: "https://e0.example.com", adopt: true }));
    expect(error.cause).toMatchObject({ status: 403 });
    expect(emulator.endpoints).toHaveLength(2);
  });

  test("because the key is refused fails each waiting read with its own id, and the next read asks again", async () => {
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
