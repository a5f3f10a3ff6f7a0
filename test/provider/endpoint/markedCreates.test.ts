import { describe, expect, test } from "vitest";
import { MARK_FIELD } from "../../../provider/api/mark";
import { thrown } from "../service";
import {
  countCreates,
  isCreate,
  isList,
  marked,
  marking,
  metadataOf,
  owner,
  start as startPlain,
  URN,
  url,
} from "./creates";

/* What an earlier run of this stack left behind: an endpoint with our mark that no state has. `lostCreate.test.ts` has the rest. */

/** An unpooled and a pooled resource. */
const news = { url, __urn: URN };
const pooled = { ...news, poolingEnabled: true };

const start = () => startPlain({ "endpoints:mark": marking });
const leftover = { type: "cloud" as const, url, ...marked({}) };
const ofStack = (stack: string) => ({ ...leftover, ...marked({ urn: URN.replace("prod", stack) }) });
const patches = ({ emulator }: Pick<Awaited<ReturnType<typeof start>>, "emulator">) =>
  emulator.requests.filter(({ method }) => method === "PATCH");

test("with marks, a move leaves a leftover of its own resource alone, and names it", async () => {
  const { core, emulator } = await start();
  const olds = { ...news, url: "https://old.example.com" };
  const { id, outs } = await core.create(olds);
  const other = emulator.seed(leftover);
  const { message } = await thrown(core.update(id, outs, news));
  expect(message).toContain(`${url} is served by ${other.id}`);
  expect(emulator.endpoints.map((endpoint) => endpoint.url)).toEqual([olds.url, url]);
});

test("with marks, a deletion sees a take-over that came after the last listing, and leaves the endpoint", async () => {
  const { core: first, emulator, newProcess } = await start();
  const { id, outs } = await first.create(news);
  const { core } = newProcess();
  await core.read(id, outs);
  await newProcess().core.create({ ...news, __urn: URN.replace("front", "other"), adopt: id });
  await core.delete(id, outs);
  expect(emulator.endpoints).toHaveLength(1);
});

test("with marks, a deletion sees a take-over that came after the deletion of a replaced resource", async () => {
  const { core: first, emulator, newProcess } = await start();
  const { id, outs } = await first.create(news);
  const olds = { url: "https://replaced.example.com", __urn: URN.replace("front", "replaced") };
  const replaced = await first.create(olds);
  const { core } = newProcess();
  await core.check(olds, olds);
  await core.delete(replaced.id, replaced.outs);
  await newProcess().core.create({ ...news, __urn: URN.replace("front", "other"), adopt: id });
  await core.delete(id, outs);
  expect(emulator.endpoints.map((live) => live.id)).toEqual([id]);
});

describe("with marks, a create", () => {
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
      expect(metadataOf(emulator.endpoints[0])[MARK_FIELD]).not.toMatchObject({ nonce: "0011" });
      expect(emulator.endpoints).toHaveLength(1);
      const found = `${url}: takes over ${id}, which an earlier run of this stack created (endpoints:mark)`;
      expect(logged).toEqual([expect.stringContaining(`${found}. If a resource that was renamed`)]);
    },
  );

  const mine = "endpoints:index:CloudEndpoint";
  test.each<[string, object, ((parts: Awaited<ReturnType<typeof start>>, id: string) => unknown)?]>([
    [
      "that an entry of the state has, as a read shows",
      {},
      ({ core }, id) => core.read(id, { url, type: "cloud", __entry: "another" }),
    ],
    [
      "that an entry of the state has, as a diff shows",
      {},
      ({ core }, id) => core.diff(id, { url }, { url, description: "x" }),
    ],
    ["with a copy of its mark", { created_at: "2020-01-01T00:02:00Z" }],
    ["whose mark has an unknown time", marked({ time: "unknown" })],
    [
      "of a resource of another type",
      marked({ urn: URN.replace(mine, "pulumi-nodejs:dynamic/endpoints:CloudEndpoint") }),
    ],
    ["of another component", marked({ urn: URN.replace(mine, `my:Shop$${mine}`) })],
    ["of another stack", ofStack("dev")],
  ])("takes over no endpoint %s", async (_, more, arrange) => {
    for (const inputs of [news, pooled]) {
      const parts = await start();
      const { core, emulator } = parts;
      const { id } = emulator.seed({ ...leftover, ...more, pooling_enabled: inputs === pooled });
      await arrange?.(parts, id);
      const created = core.create(inputs);
      if (inputs === pooled) expect((await created).id).not.toBe(id);
      else await expect(created).rejects.toThrow(`is served by ${id}`);
      expect(patches(parts)).toEqual([]);
    }
  });

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

  test("in a pool fails with the ids of all leftovers if there are several", async () => {
    const { core, emulator } = await start();
    const ids = [0, 1].map(() => emulator.seed({ ...leftover, pooling_enabled: true }).id);
    const { message } = await thrown(core.create(pooled));
    for (const id of ids) expect(message).toContain(id);
    expect(message).toMatch(/Several cloud endpoints can share.*Set adopt/);
    expect(emulator.requests.some(isCreate)).toBe(false);
  });

  test("in a pool warns of a list item that cannot be read, since it may be a leftover", async () => {
    const { core, emulator, logged } = await start();
    const unreadable = { ...leftover, id: "ep_odd", pooling_enabled: true, port: "high" };
    emulator.intercept(isList, { status: 200, body: { endpoints: [unreadable], next_page_uri: null } });
    await core.create(pooled);
    expect(logged).toEqual([expect.stringMatching(/cannot be read.*ep_odd/)]);
  });

  test("has the time of each attempt in its mark, by the service's clock, which one page shows", async () => {
    const { core, emulator } = await startPlain({ "endpoints:mark": marking }, { ahead: 3_600_000 });
    emulator.intercept(isCreate, { status: 429, body: { error_code: "ERR_NGROK_226", msg: "slow down" } }, 2);
    await core.create(news);
    expect(emulator.requests.map(({ method }) => method)).toEqual(["GET", "POST", "POST", "POST"]);
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

  test("logs that its metadata cannot hold a mark, and sends none", async () => {
    const { core, emulator, logged } = await start();
    await core.create({ ...news, metadata: "text" });
    expect(emulator.requests.find(isCreate)?.body).toMatchObject({ metadata: "text" });
    expect(logged).toEqual([expect.stringMatching(/created without a mark/)]);
  });

  test.each<[string, RegExp]>([
    [URN.replace("front", "o"), /aliases: \["urn:pulumi:prod::shop::endpoints[^"]+::o"\]/],
    [
      URN.replace("::endpoints", "::my:Shop$endpoints"),
      /aliases: \["urn:pulumi:prod::shop::my:Shop\$endpoints[^"]+::front"\]/,
    ],
  ])("that meets the endpoint of %s names its alias and `--target`", async (urn, alias) => {
    const { core, emulator } = await start();
    emulator.seed({ ...leftover, ...marked({ urn }) });
    const { message } = await thrown(core.create(news));
    expect(message).toMatch(alias);
    expect(message).toContain("pulumi up --target");
  });
});

test("a message has safe text of another's mark: one line of limited length, without commands of a pipeline", async () => {
  const { core, emulator } = await start();
  emulator.seed(ofStack(`x\n\u001b[2J\u202e##vso[task.complete]${"y".repeat(3_000)}`));
  const { message } = await thrown(core.create(news));
  expect(message).toMatch(/^[^\p{Cc}\p{Cf}]{1,1500}$/u);
  expect(message).not.toContain("##vso");
});

test("an endpoint without a mark gets one after its adoption by the first change of its metadata", async () => {
  const { core, emulator } = await start();
  const { id } = emulator.seed({ type: "cloud", url, metadata: '{"a":1}' });
  const { outs } = await core.create({ ...news, metadata: { a: 1 }, adopt: true });
  expect(countCreates(emulator.requests) + patches({ emulator }).length).toBe(0);
  await core.update(id, outs, { ...news, metadata: { a: 2 } });
  expect(metadataOf(emulator.endpoints[0])).toMatchObject({ a: 2, [MARK_FIELD]: owner });
});
