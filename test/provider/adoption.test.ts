import { describe, expect, test } from "vitest";
import { service, thrown } from "./service";

const url = "https://shop.example.com";
const policy = { on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] };

describe("adopt", () => {
  test("takes over the endpoint with this URL, changes what differs alone, and announces it at the preview", async () => {
    const { core, emulator, said } = await service();
    const { id } = emulator.seed({
      type: "cloud",
      url,
      description: "old",
      traffic_policy: JSON.stringify(policy),
    });
    emulator.seed({ type: "cloud", url: "https://other.example.com" });
    emulator.seed({ type: "edge", public_url: url });
    const news = { url, description: "new", trafficPolicy: policy, adopt: true };
    const { inputs } = await core.check({}, news);
    expect(said).toEqual([`${url}: adopts ${id}, and changes description`]);
    const result = await core.create(inputs);
    expect(result.id).toBe(id);
    expect(emulator.requests.filter(({ method }) => method !== "GET").map(({ body }) => body)).toEqual([
      { id, description: "new" },
    ]);
    const found = await core.read(id, result.outs);
    expect(found.inputs).toEqual(inputs);
    expect(core.diff("ep_1", found.props, { url, description: "new", trafficPolicy: policy }).changes).toBe(
      false,
    );
  });

  test.each(["before", "after"])(
    "refuses at the preview what another resource has that is compared %s it",
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
      // Without a preview the other one may be compared when it is too late. The run must not succeed all the same.
      const unseen = newProcess().core;
      await unseen.create((await unseen.check({}, { url, adopt: id })).inputs);
      expect(() => unseen.diff(id, outs, other)).toThrow(message);
    },
  );

  test("takes over by id, also to another URL of the same scheme, and writes nothing where nothing differs", async () => {
    const { core, emulator } = await service();
    const { id } = emulator.seed({ type: "cloud", url: "https://old.example.com" });
    expect((await core.create({ url, adopt: id })).outs).toMatchObject({ url });
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toHaveLength(1);
    expect((await thrown(core.create({ url, adopt: id }))).message).toMatch(
      /already belongs to another resource of this stack/,
    );
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toHaveLength(1);
  });

  test("of hundreds by their ids shares the pages of the list", async () => {
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
    "by %s reads the endpoint itself where the list leaves an input out",
    async (by) => {
      const { core, emulator } = await service();
      const { id } = emulator.seed({ type: "cloud", url, description: "theirs" });
      emulator.intercept(({ path }) => path === "/endpoints", {
        status: 200,
        body: { endpoints: [{ id, type: "cloud", url }] },
      });
      await core.create({ url, description: "theirs", adopt: by === "its id" ? id : true });
      const asked = emulator.requests.map(({ method, path }) => `${method} ${path}`);
      expect(asked).toEqual(["GET /endpoints", `GET /endpoints/${id}`]);
    },
  );

  test("by id reads the endpoint itself once something was written", async () => {
    const { core, emulator } = await service();
    const { id } = emulator.seed({ type: "cloud", url, description: "theirs" });
    const asked = () => emulator.requests.map(({ method, path }) => `${method} ${path}`);
    await core.create({ url: "https://new.example.com" });
    const before = asked().length;
    await core.create({ url, description: "theirs", adopt: id });
    expect(asked().slice(before)).toEqual([`GET /endpoints/${id}`]);
  });

  test("creates where there is nothing with this URL", async () => {
    const { core, emulator, said } = await service();
    const { inputs } = await core.check({}, { url, adopt: true });
    await core.create(inputs);
    expect(said).toEqual([expect.stringMatching(/no cloud endpoint to adopt, so one is created/)]);
    expect(emulator.endpoints).toHaveLength(1);
  });

  test("is refused where a second endpoint appeared on its URL after other adoptions", async () => {
    const { core, emulator } = await service();
    const urls = Array.from({ length: 13 }, (_, index) => `https://e${index}.example.com`);
    for (const url of urls) emulator.seed({ type: "cloud", url, pooling_enabled: true });
    for (const url of urls.slice(1)) await core.create({ url, adopt: true, description: "ours" });
    const first = { url: urls[0] ?? "", adopt: true };
    emulator.seed({ type: "cloud", url: first.url, pooling_enabled: true });
    expect((await thrown(core.create(first))).message).toMatch(/Several cloud endpoints serve/);
  });

  test("is refused where it could mean several, is of another type or scheme, or is not there", async () => {
    const { core, emulator } = await service();
    const pooled = [1, 2].map(() => emulator.seed({ type: "cloud", url, pooling_enabled: true }).id);
    const several = await core.check({}, { url, adopt: true });
    for (const id of pooled) expect(several.failures[0]?.reason).toContain(id);
    const edge = emulator.seed({ type: "edge", public_url: "https://edge.example.com" }).id;
    expect((await thrown(core.create({ url, adopt: edge }))).message).toMatch(/is of type edge/);
    expect((await thrown(core.create({ url: "tls://shop.example.com", adopt: pooled[0] }))).message).toMatch(
      /scheme/,
    );
    expect((await thrown(core.create({ url, adopt: "ep_nobody" }))).message).toMatch(
      /no endpoint ep_nobody to adopt/,
    );
    expect(emulator.requests.every((request) => request.method === "GET")).toBe(true);
  });

  test("reports an endpoint in the list that cannot be read, since it could be the one", async () => {
    const { core, emulator, said } = await service();
    emulator.intercept(({ path }) => path === "/endpoints", {
      status: 200,
      body: { endpoints: [{ id: "ep_2", port: "high" }] },
    });
    await core.create({ url, adopt: true });
    expect(said).toEqual([expect.stringMatching(/ep_2.*cannot be read.*port/)]);
  });
});
