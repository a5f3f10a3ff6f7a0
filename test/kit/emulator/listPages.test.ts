import { describe, expect, it } from "vitest";
import { call, create, expectError, idsOf, list, pagesOf, start } from "./requests";

describe("the list", () => {
  it("of an empty account has no endpoints, its own URI and no next page", async () => {
    const emulator = await start();
    expect(await list(emulator)).toEqual({
      endpoints: [],
      uri: `${emulator.baseUrl}/endpoints`,
      next_page_uri: null,
    });
  });

  it("starts with the newest endpoint, even if all have the same created_at", async () => {
    const emulator = await start({ now: () => new Date("2026-01-02T03:04:05Z") });
    const made: string[] = [];
    for (let index = 0; index < 20; index++)
      made.unshift((await create(emulator, { url: `https://h${index}.example.com` })).id);
    expect(idsOf((await list(emulator)).endpoints)).toEqual(made);
    expect(idsOf(emulator.endpoints)).toEqual(made);
  });

  it("shows a seeded endpoint at the place of its created_at", async () => {
    const emulator = await start();
    const young = emulator.seed({ type: "cloud" });
    const old = emulator.seed({ type: "cloud", created_at: "2020-01-01T00:00:00Z" });
    expect(idsOf((await list(emulator)).endpoints)).toEqual([young.id, old.id]);
  });

  it("has 100 endpoints on a page, and each endpoint on one page", async () => {
    const emulator = await start();
    for (let index = 0; index < 201; index++) emulator.seed({ type: "cloud" });
    const pages = await pagesOf(emulator);
    expect(pages.map((page) => page.length)).toEqual([100, 100, 1]);
    expect(pages.flat()).toEqual(emulator.endpoints);
  });

  it("has no next page after a last page that is full", async () => {
    const emulator = await start();
    for (let index = 0; index < 4; index++) emulator.seed({ type: "edge" });
    expect((await pagesOf(emulator, "?limit=2")).map((page) => page.length)).toEqual([2, 2]);
  });

  it.each([
    ["works", [[5, 4], [3]]],
    ["incomplete", [[4]]],
    [
      "ignored",
      [
        [5, 4],
        [3, 2],
        [1, 0],
      ],
    ],
  ] as const)("applies a filter to each page as the option filters demands: %s", async (filters, pages) => {
    const emulator = await start({ pageSize: 2, filters });
    const types = ["edge", "ephemeral", "edge", "cloud", "cloud", "cloud"] as const;
    const seeded = types.map((type) => emulator.seed({ type }));
    const filter = encodeURIComponent('obj.type == "cloud"');
    const listed = await pagesOf(emulator, `?filter=${filter}`);
    expect(listed.map((page) => page.map(({ id }) => seeded.findIndex((one) => one.id === id)))).toEqual(
      pages,
    );
  });

  it("refuses every filter with filters: refused", async () => {
    const emulator = await start({ filters: "refused" });
    expectError(await call(emulator, "GET", "/endpoints?filter=true"), 231, 400);
  });

  it("continues after the last endpoint of a page, even if that is deleted by now", async () => {
    const emulator = await start();
    const [oldest, last] = [emulator.seed({ type: "cloud" }), emulator.seed({ type: "cloud" })];
    emulator.seed({ type: "cloud" });
    emulator.remove(last.id);
    expect((await list(emulator, `?before_id=${last.id}`)).endpoints).toEqual([oldest]);
  });

  it("omits the edge of a cloud endpoint, which a read by id shows", async () => {
    const emulator = await start();
    const seeded = emulator.seed({ type: "cloud", edge: { id: "edghts_1", uri: "" } });
    const { edge, ...item } = seeded;
    expect((await list(emulator)).endpoints).toEqual([item]);
    expect((await call(emulator, "GET", `/endpoints/${seeded.id}`)).body.edge).toEqual(edge);
  });

  it.each([
    ["?limit=0", 233],
    ["?limit=101", 233],
    ["?limit=ten", 233],
    ["?limit=", 233],
    ["?page=2", 231],
    ["?filter=obj.kind", 230],
    ["?filter=obj.type%20%3D", 230],
    ["?limit=1&limit=2", 232],
    ["?before_id=tn_1", 227],
    ["?before_id=ep_never", 230],
  ])("is refused for %s with code %i", async (query, code) => {
    expectError(await call(await start(), "GET", `/endpoints${query}`), code, 400);
  });
});
