import { describe, expect, it } from "vitest";
import type { FaultKind } from "../../../../sdk/testing";
import { call, idsOf, list, pagesOf, start } from "./requests";

/** As many cloud endpoints, newest first, and a disturbance of every request. */
async function disturbed(count: number, kind: FaultKind, options: { pageSize?: number; seed?: number } = {}) {
  const { pageSize = 100, seed = 1 } = options;
  const emulator = await start({ pageSize });
  for (let index = 0; index < count; index++) emulator.seed({ type: "cloud" });
  emulator.disturb({ seed, probability: 1, kinds: [kind] });
  return { emulator, ids: idsOf(emulator.endpoints) };
}

describe("a repeated page", () => {
  it("names itself as the next one once, the first, the middle and the last alike", async () => {
    const { emulator, ids } = await disturbed(5, "page-repeated", { pageSize: 2 });
    const [one, two, three] = [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)];
    expect((await pagesOf(emulator, "?limit=10")).map(idsOf)).toEqual([one, one, two, two, three, three]);
    const paths = emulator.faults.map(({ path, committed }) => `${path} ${committed}`);
    expect(paths).toEqual(Array.from({ length: 3 }, () => "/endpoints true"));
    expect((await pagesOf(emulator, "?limit=10")).map(idsOf)).toEqual([one, two, three]);
  });

  it("that is refused names nothing", async () => {
    const { emulator } = await disturbed(1, "page-repeated");
    const { status, body } = await call<object>(emulator, "GET", "/endpoints?limit=0");
    expect(status).toBe(400);
    expect(body).not.toHaveProperty("next_page_uri");
  });
});

describe("overlapping pages", () => {
  it.each([1, 2, 3, 4])("hold items twice, and each at least once (seed %i)", async (seed) => {
    const { emulator, ids } = await disturbed(20, "page-overlap", { pageSize: 4, seed });
    const pages = (await pagesOf(emulator)).map(idsOf);
    expect([...new Set(pages.flat())]).toEqual(ids);
    for (const [index, page] of pages.entries()) {
      const before = pages[index - 1];
      if (before) expect(page[0]).toSatisfy((id) => before.includes(id));
      expect(page).toEqual(ids.slice(ids.indexOf(page[0] ?? ""), ids.indexOf(page[0] ?? "") + 4));
    }
    expect(emulator.faults).toHaveLength(pages.length - 1);
    expect(idsOf(emulator.endpoints)).toEqual(ids);
  });

  it("do not come about where they could not: on the first page, and with one item to a page", async () => {
    const { emulator, ids } = await disturbed(4, "page-overlap", { pageSize: 1 });
    expect(idsOf((await pagesOf(emulator)).flat())).toEqual(ids);
    expect(emulator.faults).toEqual([]);
  });

  it("leave a wrong query to be refused", async () => {
    const { emulator } = await disturbed(4, "page-overlap");
    for (const query of ["?before_id=ep_never", "?before_id=tn_1"])
      expect((await call(emulator, "GET", `/endpoints${query}`)).status).toBe(400);
    expect(emulator.faults).toEqual([]);
  });
});

describe("an item that moves", () => {
  it("comes or goes after the page is made, and is never a cloud endpoint or an edge", async () => {
    const { emulator, ids } = await disturbed(3, "item-moved");
    const edge = emulator.seed({ type: "edge" });
    const changes: number[] = [];
    for (let time = 0; time < 30; time++) {
      const before = emulator.endpoints;
      expect((await list(emulator)).endpoints).toEqual(before);
      changes.push(emulator.endpoints.length - before.length);
      const others = emulator.endpoints.filter(({ type }) => type !== "ephemeral");
      expect(idsOf(others)).toEqual([edge.id, ...ids]);
    }
    expect(new Set(changes)).toEqual(new Set([1, -1]));
    expect(emulator.faults).toHaveLength(30);
  });
});
