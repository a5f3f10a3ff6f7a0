import { describe, expect, test } from "vitest";
import { findEndpoint } from "../../../provider/dataSources/lookup";
import { engineInputs } from "../../../provider/endpoint/inputs";
import { paths } from "../../requests";
import { service, thrown } from "../emulated";

/* The core beyond the scenarios: `get`, imports, shared requests of many resources, and long texts in messages. */

const url = "https://shop.example.com";
const at = (index: number) => `https://n${index}.example.com`;
const code = { __provider: "code" };

type Service = Awaited<ReturnType<typeof service>>;

test("`get` fails for an unknown id", async () => {
  const { core } = await service();
  await expect(core.read("ep_nobody", code)).rejects.toThrow(/no endpoint ep_nobody/);
});

test("another base URL with the same key is another account, so it proves no absence", async () => {
  const { core, emulator, newProcess } = await service();
  const { id, outs } = await core.create(engineInputs({ url }));
  emulator.remove(id);
  const other = newProcess({}, { baseUrl: emulator.baseUrl.replace("127.0.0.1", "localhost") });
  await expect(other.core.read(id, outs)).rejects.toThrow(/may not be this stack's/);
  expect(await newProcess().core.read(id, outs)).toMatchObject({ id: "" });
});

test("many adoptions by id share the pages of the list", async () => {
  const { core, emulator } = await service({ settings: { requestsPerWindow: "1000" } });
  const adopting = Array.from({ length: 250 }, async (_, index) => {
    const { id } = emulator.seed({ type: "cloud", url: at(index), description: "theirs", metadata: "m" });
    const { inputs } = await core.check(
      {},
      { url: at(index), description: "theirs", metadata: "m", adopt: id },
    );
    return core.create(engineInputs(inputs));
  });
  await Promise.all(adopting);
  const reads = paths(emulator).filter((path) => path.startsWith("GET"));
  expect(reads).toEqual(Array(3).fill("GET /endpoints"));
});

describe("many imports", () => {
  const described = { description: "by hand", metadata: '{"a":1}', traffic_policy: "{}" };
  test("share the pages of the list, and give what an import by id gives", async () => {
    const { core, emulator, newProcess } = await service();
    const seed = (_: unknown, i: number) => emulator.seed({ type: "cloud", url: at(i), ...described });
    const ids = Array.from({ length: 120 }, seed).map(({ id }) => id);
    const all = await Promise.all(ids.map((id) => core.import(id)));
    expect(paths(emulator)).toEqual(["GET /endpoints", "GET /endpoints"]);
    const { inputs, props } = await newProcess().core.import(ids[7] ?? "");
    expect(all[7]?.inputs).toEqual(inputs);
    expect(all[7]?.props).toEqual({ ...props, __entryId: all[7]?.props["__entryId"] });
  });
});

test.each<[string, (service: Service, text: string) => Promise<unknown>]>([
  ["import", ({ core }, id) => core.import(id)],
  [
    "getEndpoint by URL",
    ({ api }, host) => findEndpoint(api, { url: `https://${host}` }, { freshness: "recent" }),
  ],
])("%s prints neither a long text whole nor a line break", async (_, work) => {
  for (const long of ["a".repeat(10_000), `${"a".repeat(200)}\n::error::b`]) {
    const { message } = await thrown(work(await service(), long));
    expect(message.length).toBeLessThan(4_000);
    expect(message).not.toContain("\n");
  }
});

test("a create whose answer was lost after half a minute finds the endpoint from the time of its sending", async () => {
  let taken = 0;
  const { core, emulator, logged } = await service({ taken: () => taken });
  const after = () => {
    taken = 30_000;
  };
  emulator.intercept("create", { afterCommit: true, after, reset: true });
  const { id } = await core.create(engineInputs({ url }));
  expect(emulator.endpoints.map(({ id }) => id)).toEqual([id]);
  expect(logged).toEqual([expect.stringMatching(/so this run keeps it/)]);
});

test("two imports of one endpoint in a run are refused", async () => {
  const { core, emulator } = await service();
  const { id } = emulator.seed({ type: "cloud", url });
  await core.import(id);
  await expect(core.import(id)).rejects.toThrow(/belongs to another resource of this stack/);
});

test("an import that fails does not let the old entry delete the endpoint", async () => {
  const { core: before, emulator, newProcess } = await service();
  const { id, outs } = await before.create(engineInputs({ url }));
  const { core } = newProcess();
  emulator.intercept(({ method }) => method === "GET", { status: 403, body: "" }, 9);
  await expect(core.import(id)).rejects.toThrow(/status 403/);
  await expect(core.delete(id, outs)).rejects.toThrow(/was not deleted/);
  expect(emulator.endpoints.map(({ id }) => id)).toEqual([id]);
});

test.each([
  ["no secret", {}],
  ["a secret", { description: "x", __secretFields: ["description"] }],
])("a deletion that a gateway refuses gets no advice for changes, with %s", async (_, more) => {
  const { core, emulator } = await service();
  const { id, outs } = await core.create(engineInputs({ url, ...more }));
  emulator.intercept("delete", { status: 409, body: "<html>" }, 9);
  const { message } = await thrown(core.delete(id, outs));
  expect(message).not.toMatch(/--replace|inputs/);
});

test("diff reports a change if the outputs lack the provider string", async () => {
  const { core } = await service();
  const { outs } = await core.create({ url });
  expect((await core.diff("ep_1", outs, { url, ...code })).changes).toBe(true);
  expect((await core.diff("ep_1", { ...outs, ...code }, { url, ...code })).changes).toBe(false);
});

test("a deletion waits for the resource that has announced to adopt the endpoint", async () => {
  const { newProcess, emulator } = await service();
  const before = newProcess().core;
  const { id, outs } = await before.create(engineInputs((await before.check({}, { url })).inputs));
  const { core } = newProcess();
  await core.check({}, { url: at(2), adopt: id });
  await expect(core.delete(id, outs)).rejects.toThrow(/was not deleted, because this run adopts/);
  expect(emulator.endpoints).toMatchObject([{ id }]);
});

test("endpoints:adopt gives nothing that this run has just deleted, so a dependent of a replacement is created anew", async () => {
  const { core, emulator } = await service({ settings: { adopt: "ep_1" } });
  emulator.seed({ type: "cloud", url, id: "ep_1" });
  await core.check({}, { url: at(2) });
  await core.delete("ep_1", { __entryId: "1" });
  const { inputs, failures } = await core.check({}, { url });
  expect(failures).toEqual([]);
  expect(inputs).toEqual({ url });
});

test("the diff of a resource whose endpoint another one has adopted is an error, and not unchanged", async () => {
  const { core: before, emulator, newProcess } = await service();
  const { id, outs } = await before.create(engineInputs({ url }));
  const { core } = newProcess();
  const { inputs } = await core.check({}, { url: at(2), adopt: id });
  await core.create(engineInputs(inputs));
  await expect(core.diff(id, outs, engineInputs({ url }))).rejects.toThrow(/belongs to two resources/);
  expect(emulator.endpoints).toMatchObject([{ id, url: at(2) }]);
});

describe("`endpoints:adopt` with forty ids that do not exist, and one that does", () => {
  const dead = Array.from({ length: 40 }, (_, index) => `ep_dead${index}`);

  test("costs one request for each id and process, and no more for each new resource", async () => {
    const { emulator, newProcess } = await service({ settings: { requestsPerWindow: "1000" } });
    const { id } = emulator.seed({ type: "cloud", url: at(3) });
    const { core } = newProcess({}, { adopt: [...dead, id].join() });
    const checked = await Promise.all(
      dead.slice(0, 10).map((_, index) => core.check({}, { url: at(index) })),
    );
    expect(checked.map(({ inputs }) => inputs["adopt"])).toEqual(
      checked.map((_, index) => (index === 3 ? id : undefined)),
    );
    expect(emulator.requests.length).toBeLessThan(dead.length + 5);
  });

  test.each<[string, (emulator: Service["emulator"], id: string) => unknown]>([
    ["is deleted", (emulator, id) => emulator.remove(id)],
    ["moves", (emulator, id) => emulator.edit(id, { url: at(9) })],
  ])("takes over nothing that %s after the choice", async (_, change) => {
    const { emulator, newProcess, clock } = await service();
    const { id } = emulator.seed({ type: "cloud", url });
    const { core } = newProcess({}, { adopt: id });
    await core.check({}, { url: at(1) });
    change(emulator, id);
    await clock.sleep(60_001);
    expect(await core.check({}, { url })).toMatchObject({ inputs: { url }, failures: [] });
    expect((await core.check({}, { url })).inputs).not.toHaveProperty("adopt");
  });

  test("names the setting if the key may not read one of its ids", async () => {
    const { emulator, newProcess } = await service();
    const { core } = newProcess({}, { adopt: "ep_theirs" });
    emulator.intercept(({ path }) => path.endsWith("ep_theirs"), { status: 403, body: "" }, 9);
    const { failures } = await core.check({}, { url });
    expect(failures[0]?.reason).toMatch(/ep_theirs: status 403\. .*`pulumi config rm endpoints:adopt`/);
  });
});
