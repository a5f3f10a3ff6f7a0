import { describe, expect, it } from "vitest";
import type { FaultKind } from "../../../sdk/testing";
import { idsOf, list, pagesOf, start } from "./requests";

/** An emulator with this number of cloud endpoints that disturbs every request. The ids are those of its list. */
async function disturbed(count: number, kind: FaultKind, options: { pageSize?: number; seed?: number } = {}) {
  const { pageSize = 100, seed = 1 } = options;
  const emulator = await start({ pageSize });
  for (let index = 0; index < count; index++) emulator.seed({ type: "cloud" });
  emulator.disturb({ seed, probability: 1, kinds: [kind] });
  return { emulator, ids: idsOf(emulator.endpoints) };
}

describe("page-repeated", () => {
  it("makes each page name itself once as the next page", async () => {
    const { emulator, ids } = await disturbed(5, "page-repeated", { pageSize: 2 });
    const [one, two, three] = [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)];
    expect((await pagesOf(emulator, "?limit=10")).map(idsOf)).toEqual([one, one, two, two, three, three]);
    const paths = emulator.faults.map(({ path, committed }) => `${path} ${committed}`);
    expect(paths).toEqual(Array.from({ length: 3 }, () => "/endpoints true"));
    expect((await pagesOf(emulator, "?limit=10")).map(idsOf)).toEqual([one, two, three]);
  });
});

describe("page-overlap", () => {
  it.each([1, 2, 3, 4])("repeats items on the next page and omits none (seed %i)", async (seed) => {
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

  it("does not apply to the first page or to pages of one item", async () => {
    const { emulator, ids } = await disturbed(4, "page-overlap", { pageSize: 1 });
    expect(idsOf((await pagesOf(emulator)).flat())).toEqual(ids);
    expect(emulator.faults).toEqual([]);
  });
});

describe("item-moved", () => {
  it("adds or removes an agent's endpoint after the page is read", async () => {
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
