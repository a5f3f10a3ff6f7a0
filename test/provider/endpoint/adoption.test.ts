import { describe, expect, test } from "vitest";
import { paths } from "../../requests";
import { service, thrown } from "../service";

const url = "https://shop.example.com";

describe("adopt", () => {
  test.each(["before", "after"])(
    "refuses the endpoint of another resource that the engine compares %s the adopter",
    async (when) => {
      const { core: first, newProcess } = await service();
      const other = { url: "https://other.example.com" };
      const { id, outs } = await first.create(other);
      const { core } = newProcess();
      const compare = () => core.diff(id, outs, other);
      const message = /already belongs to another resource of this stack/;
      if (when === "before") compare();
      const { failures } = await core.check({}, { url, adopt: id });
      if (when === "before") return expect(failures[0]?.reason).toMatch(message);
      expect(compare).toThrow(message);
      // Without a preview, the engine may compare the other resource after the adoption. The run must still fail.
      const noPreview = newProcess().core;
      await noPreview.create((await noPreview.check({}, { url, adopt: id })).inputs);
      expect(() => noPreview.diff(id, outs, other)).toThrow(/belongs to two resources of this stack/);
    },
  );

  test("changes the URL of an endpoint that an id names, and refuses a second adoption of the id in the same run", async () => {
    const { core, emulator } = await service();
    const { id } = emulator.seed({ type: "cloud", url: "https://old.example.com" });
    expect((await core.create({ url, adopt: id })).outs).toMatchObject({ url });
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toHaveLength(1);
    await expect(core.create({ url, adopt: id })).rejects.toThrow(
      /already belongs to another resource of this stack/,
    );
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toHaveLength(1);
  });

  test.each([false, true])(
    "refuses one of two members of a pool, even if a filter shows only one (after a write: %s)",
    async (written) => {
      const { core, emulator } = await service({ filters: "incomplete" });
      const pool = { type: "cloud" as const, url, pooling_enabled: true };
      const ids = [emulator.seed(pool), emulator.seed(pool)].map(({ id }) => id);
      if (written) await core.create({ url: "https://other.example.com" });
      const { message } = await thrown(core.create({ url, poolingEnabled: true, adopt: true }));
      expect(message).toMatch(/Several cloud endpoints can share/);
      for (const id of ids) expect(message).toContain(id);
      expect(emulator.requests.filter(({ method }) => method === "PATCH")).toEqual([]);
    },
  );

  test("reads 250 endpoints by their ids with less than ten requests", async () => {
    const { core, emulator } = await service({ settings: { "endpoints:requestsPerWindow": "1000" } });
    const all = Array.from({ length: 250 }, (_, index) =>
      emulator.seed({ type: "cloud", url: `https://n${index}.example.com`, description: "theirs" }),
    );
    const adoptAll = all.map(async ({ id, url }) => {
      const { inputs } = await core.check({}, { url, description: "theirs", adopt: id });
      return core.create(inputs);
    });
    const adopted = await Promise.all(adoptAll);
    expect(adopted.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
    expect(emulator.requests.length).toBeLessThan(10);
  });

  test.each(["its id", "its URL"])(
    "by %s reads the endpoint itself if the list omits an input",
    async (by) => {
      const { core, emulator } = await service();
      const { id } = emulator.seed({ type: "cloud", url, description: "theirs" });
      emulator.intercept("list", { status: 200, body: { endpoints: [{ id, type: "cloud", url }] } });
      await core.create({ url, description: "theirs", adopt: by === "its id" ? id : true });
      const sent = paths(emulator);
      expect(sent).toEqual(["GET /endpoints", `GET /endpoints/${id}`]);
    },
  );

  test.each(["its id", "its URL"])("by %s reads the endpoint itself after an earlier write", async (by) => {
    const { core, emulator } = await service();
    const { id } = emulator.seed({ type: "cloud", url, description: "theirs" });
    await core.create({ url: "https://new.example.com" });
    await core.create({ url, description: "theirs", adopt: by === "its id" ? id : true });
    expect(paths(emulator).at(-1)).toBe(`GET /endpoints/${id}`);
  });

  test("refuses even the only member of a pool, and finds it in the whole list if a filter shows none", async () => {
    const { core, emulator } = await service({
      settings: { "endpoints:listFilter": "on" },
      filters: "incomplete",
    });
    const { id } = emulator.seed({ type: "cloud", url, pooling_enabled: true });
    await expect(core.create({ url, poolingEnabled: true, adopt: true })).rejects.toThrow(id);
    expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
  });

  test("creates an endpoint if none has the URL, and logs that", async () => {
    const { core, emulator, logged } = await service();
    const { inputs } = await core.check({}, { url, adopt: true });
    await core.create(inputs);
    expect(logged).toEqual([expect.stringMatching(/no cloud endpoint to adopt, so one is created/)]);
    expect(emulator.endpoints).toHaveLength(1);
  });

  test("fails for several endpoints, for another type or scheme, and for an unknown id", async () => {
    const { core, emulator } = await service();
    const pooled = [1, 2].map(() => emulator.seed({ type: "cloud", url, pooling_enabled: true }).id);
    const several = await core.check({}, { url, adopt: true });
    for (const id of pooled) expect(several.failures[0]?.reason).toContain(id);
    const edge = emulator.seed({ type: "edge", public_url: "https://edge.example.com" }).id;
    await expect(core.create({ url, adopt: edge })).rejects.toThrow(/is of type edge/);
    await expect(core.create({ url: "tls://shop.example.com", adopt: pooled[0] })).rejects.toThrow(/scheme/);
    await expect(core.create({ url, adopt: "ep_nobody" })).rejects.toThrow(/no endpoint ep_nobody to adopt/);
    expect(emulator.requests.every((request) => request.method === "GET")).toBe(true);
  });

  test("logs an unreadable endpoint of the list, since it may be the one to adopt", async () => {
    const { core, emulator, logged } = await service();
    emulator.intercept("list", { status: 200, body: { endpoints: [{ id: "ep_2", port: "high" }] } });
    await core.create({ url, adopt: true });
    expect(logged).toEqual([expect.stringMatching(/cannot be read.*ep_2.*port/)]);
  });
});
