import { describe, expect, test } from "vitest";
import { MARK_FIELD } from "../../../provider/api/mark";
import { thrown } from "../service";
import { countCreates, isCreate, isList, metadataOf, owner, start as startPlain, URN, url } from "./creates";

/** An unpooled and a pooled resource. */
const news = { url, __urn: URN };
const pooled = { ...news, poolingEnabled: true };

const start = (more: Record<string, string> = {}) =>
  startPlain({ "endpoints:mark": owner.namespace, ...more });

const CREATED = "2020-01-01T00:00:00Z";
const marked = (mark: object) =>
  JSON.stringify({ [MARK_FIELD]: { ...owner, nonce: "0011", time: CREATED, ...mark } });
const ofStack = (stack: string) => marked({ urn: URN.replace("prod", stack) });

/** An endpoint that an earlier run of this stack created: it has our mark, but no state has it. */
const leftover = { type: "cloud" as const, url, metadata: marked({}), created_at: CREATED };

describe("with marks, a lost create", () => {
  test.each([
    ["alone", news],
    ["in a pool", pooled],
  ])("%s finds its endpoint beside another one with the same URL, content and time", async (_, inputs) => {
    const { core, emulator } = await start();
    emulator.behave({ urlTaken: "allowed" });
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    const rival = () =>
      emulator.seed({ type: "cloud", url, pooling_enabled: inputs === pooled }) !== undefined;
    emulator.intercept((request) => isList(request) && rival(), { afterCommit: true });
    const { id } = await core.create(inputs);
    const ours = emulator.endpoints.find((endpoint) => endpoint.id === id);
    expect(metadataOf(ours)[MARK_FIELD]).toMatchObject(owner);
    expect(countCreates(emulator.requests)).toBe(1);
  });

  test("in a pool is sent again if it had no effect", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { reset: true });
    await core.create(pooled);
    expect(emulator.endpoints).toHaveLength(1);
  });

  test("takes over the endpoint that an earlier run left on its URL", async () => {
    const { core, emulator, newProcess } = await start();
    emulator.behave({ urlTaken: "allowed" });
    const { id } = await core.create(news);
    emulator.intercept(isCreate, { reset: true });
    expect((await newProcess().core.create(news)).id).toBe(id);
    expect(countCreates(emulator.requests)).toBe(2);
  });
});

describe("with marks, a create", () => {
  test("whose reply cannot be read and names another resource's endpoint continues with its own", async () => {
    const { core, emulator } = await start();
    const { id } = await core.create(pooled);
    const body = { id, type: "cloud", url, created_at: 5 };
    emulator.intercept(isCreate, { afterCommit: true, status: 201, body });
    const second = await core.create({ ...pooled, __urn: `${URN}-2` });
    expect(second.id).not.toBe(id);
    expect(emulator.endpoints.map((endpoint) => endpoint.id).sort()).toEqual([id, second.id].sort());
  });

  test.each([
    ["whose URL is taken", news, {}],
    ["in a pool", pooled, { pooling_enabled: true }],
  ])(
    "%s takes over a leftover of any age, and updates it to the program's inputs",
    async (_, inputs, more) => {
      const { core, emulator, logged } = await start();
      const { id } = emulator.seed({ ...leftover, ...more });
      const made = await core.create({ ...inputs, description: "x" });
      expect(made).toMatchObject({ id, outs: { description: "x" } });
      expect(emulator.endpoints).toHaveLength(1);
      expect(logged).toEqual([
        `${url}: takes over ${id}, which an earlier run of this stack created (endpoints:mark)`,
      ]);
    },
  );

  test("in a pool shares one list with all other creates of a run", async () => {
    const { core, emulator } = await start();
    const all = Array.from({ length: 20 }, (_, index) => ({
      url: `https://n${index}.example.com`,
      poolingEnabled: true,
      __urn: `${URN}${index}`,
    }));
    await Promise.all(all.map((inputs) => core.create(inputs)));
    expect(emulator.requests.filter(isList)).toHaveLength(1);
  });

  test("takes over no endpoint with its own mark that an entry of the state has, as after `pulumi state rename`", async () => {
    for (const inputs of [news, pooled]) {
      const { core, emulator } = await start();
      const { id } = emulator.seed({ ...leftover, pooling_enabled: inputs === pooled });
      await core.read(id, { url, type: "cloud", __entry: "another" });
      const created = core.create(inputs);
      if (inputs === pooled) expect((await created).id).not.toBe(id);
      else await expect(created).rejects.toThrow(/give it aliases/);
      expect(emulator.requests.filter(({ method }) => method === "PATCH")).toEqual([]);
    }
  });

  test("takes over no endpoint with a copy of its mark: its creation time does not fit", async () => {
    const { core, emulator } = await start();
    const { id } = emulator.seed({ ...leftover, created_at: "2020-01-01T00:02:00Z" });
    await expect(core.create(news)).rejects.toThrow(`is served by ${id}`);
    emulator.edit(id, { pooling_enabled: true });
    expect((await core.create(pooled)).id).not.toBe(id);
    expect(emulator.requests.filter(({ method }) => method === "PATCH")).toEqual([]);
  });

  test("takes over no leftover of a resource of another type, or of another component, with the same name", async () => {
    for (const types of [
      "pulumi-nodejs:dynamic/endpoints:CloudEndpoint",
      "my:Shop$endpoints:index:CloudEndpoint",
    ]) {
      const { core, emulator } = await start();
      const urn = URN.replace("endpoints:index:CloudEndpoint", types);
      const { id } = emulator.seed({ ...leftover, metadata: marked({ urn }), pooling_enabled: true });
      expect((await core.create(pooled)).id).not.toBe(id);
    }
  });

  test("has the time of each attempt in its mark, by the service's clock", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { status: 429, body: { error_code: "ERR_NGROK_226", msg: "slow down" } }, 2);
    await core.create(news);
    const times = emulator.requests.filter(isCreate).map(({ body }) => {
      const { time } = metadataOf(body)[MARK_FIELD] as { time: string };
      return Date.parse(time);
    });
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThan(50_000);
    expect(third - second).toBeGreaterThan(50_000);
    const made = Date.parse(emulator.endpoints[0]?.created_at ?? "");
    expect(Math.abs(made - third)).toBeLessThan(5_000);
  });

  test("does not take over an endpoint that is already in a state of this run", async () => {
    const { core, emulator } = await start();
    const { id } = emulator.seed({ ...leftover, pooling_enabled: true });
    core.diff(id, { url, poolingEnabled: true }, pooled);
    expect((await core.create(pooled)).id).not.toBe(id);
  });

  test("fails with the ids of all leftovers if there are several", async () => {
    const { core, emulator } = await start();
    const ids = [0, 1].map(() => emulator.seed({ ...leftover, pooling_enabled: true }).id);
    const { message } = await thrown(core.create(pooled));
    for (const id of ids) expect(message).toContain(id);
    expect(message).toMatch(/carry the mark of this resource.*Set adopt/);
    expect(emulator.requests.some(isCreate)).toBe(false);
  });

  test("logs that its metadata cannot hold a mark, and sends none", async () => {
    const { core, emulator, logged } = await start();
    await core.create({ ...news, metadata: "text" });
    expect(emulator.requests.find(isCreate)?.body).toMatchObject({ metadata: "text" });
    expect(logged).toEqual([expect.stringMatching(/created without a mark/)]);
  });

  test("fails if the reply describes an endpoint without its mark", async () => {
    const { core, emulator } = await start();
    const seed = emulator.seed({ type: "cloud", url });
    emulator.intercept(isCreate, { status: 201, body: seed });
    await expect(core.create(news)).rejects.toThrow(`is served by ${seed.id}`);
  });
});

describe("an endpoint with another resource's mark", () => {
  test("is never a leftover, and the message names that resource", async () => {
    for (const marks of [{}, { "endpoints:mark": owner.namespace }]) {
      const { core, emulator, waits } = await startPlain(marks);
      emulator.seed({ ...leftover, metadata: ofStack("dev") });
      const { message } = await thrown(core.create(news));
      expect(message).toContain("created for front of the stack shop/dev (platform-team/prod)");
      // Nothing of this run can move it, so a stack with marks does not wait for that.
      if ("endpoints:mark" in marks) expect(waits).toEqual([]);
    }
  });

  test("does not count as the endpoint of our lost create, which had no mark", async () => {
    const { core, emulator } = await startPlain();
    emulator.rival("instead", { fields: { metadata: ofStack("dev") } });
    const error = await thrown(core.create({ url }));
    expect(error.message).toContain(`is served by ${emulator.rivals[0]}`);
  });

  test("has safe text in messages: one line of limited length, without commands of a pipeline", async () => {
    const { core, emulator } = await start();
    const stack = `x\n\u001b[2J\u202e##vso[task.complete]${"y".repeat(3_000)}`;
    emulator.seed({ ...leftover, metadata: ofStack(stack) });
    const { message } = await thrown(core.create(news));
    expect(message).toMatch(/^[^\p{Cc}\p{Cf}]{1,1500}$/u);
    expect(message).not.toContain("##vso");
  });

  test("gets our mark when it is adopted, so the other stack cannot take it back", async () => {
    const { core, emulator, newProcess, logged } = await start();
    const elsewhere = URN.replace("prod", "dev");
    const { id } = await core.create({ url, __urn: elsewhere });
    const prod = newProcess().core;
    const adoptFrom = "shop/dev (platform-team/prod)";
    const { inputs } = await prod.check({}, { url, adopt: true, adoptFrom, __urn: URN });
    expect(logged).toEqual([`${url}: adopts ${id}, and changes its mark`]);
    expect((await prod.create(inputs)).id).toBe(id);
    expect(metadataOf(emulator.endpoints[0])).toMatchObject({ [MARK_FIELD]: owner });
    const { message } = await thrown(newProcess().core.create({ url, description: "x", __urn: elsewhere }));
    expect(message).toContain("created for front of the stack shop/prod");
    expect(emulator.endpoints[0]?.description).toBeUndefined();
  });
});

test.each([
  [URN.replace("front", "o"), '[{ name: "o" }]'],
  [
    URN.replace("::endpoints", "::my:Shop$endpoints"),
    /\["urn:pulumi:prod::shop::my:Shop\$endpoints[^"]+::front"\]/,
  ],
])("a create that meets the endpoint of %s names its alias, and its deletion", async (urn, alias) => {
  const { core, emulator } = await start();
  emulator.seed({ ...leftover, metadata: marked({ urn }) });
  const { message } = await thrown(core.create(news));
  expect(message).toMatch(alias);
  expect(message).toContain(`run \`pulumi up --target '${urn}'\` first`);
  expect(message).not.toContain("adopt");
});

describe("an endpoint without a mark", () => {
  test("gets one after its adoption by the first change of its metadata", async () => {
    const { core, emulator } = await start();
    const { id } = emulator.seed({ type: "cloud", url, metadata: '{"a":1}' });
    const { outs } = await core.create({ ...news, metadata: { a: 1 }, adopt: true });
    expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
    await core.update(id, outs, { ...news, metadata: { a: 2 } });
    expect(metadataOf(emulator.endpoints[0])).toMatchObject({ a: 2, [MARK_FIELD]: owner });
  });
});
