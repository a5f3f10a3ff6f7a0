import { describe, expect, test } from "vitest";
import type { RecordedRequest, ScriptedReply } from "../../sdk/testing";
import { service, thrown } from "./service";

const url = "https://shop.example.com";
const policy = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const isCreate = ({ method }: RecordedRequest) => method === "POST";
const isList = ({ method, path }: RecordedRequest) => method === "GET" && path === "/endpoints";

/** Every way in which the answer to a create is lost, though the create took effect. */
const lostAnswers: [string, ScriptedReply][] = [
  ["a reset connection", { afterCommit: true, reset: true }],
  ["no answer in time", { afterCommit: true, hang: true }],
  ["a body that ends early", { afterCommit: true, cut: "end" }],
  ["a body that is reset", { afterCommit: true, cut: "reset" }],
  ["a body that stalls", { afterCommit: true, cut: "stall" }],
  ["an empty body", { afterCommit: true, body: "" }],
  ["a page of HTML", { afterCommit: true, status: 200, body: "<html>" }],
  ["a 502 of a proxy", { afterCommit: true, status: 502, body: "<html>" }],
  [
    "a 500 of the service",
    { afterCommit: true, status: 500, body: { error_code: "ERR_NGROK_20000", msg: "x" } },
  ],
  ["a 429 of a proxy", { afterCommit: true, status: 429, body: "<html>" }],
  ["a 408", { afterCommit: true, status: 408, body: "" }],
  ["a reply without an id", { afterCommit: true, status: 201, body: { url } }],
];

const start = (settings: Record<string, string> = {}) =>
  service({ urlTaken: "18009", settings: { "endpoints:timeoutSeconds": "0.2", ...settings } });
const posts = (requests: readonly RecordedRequest[]) => requests.filter(isCreate).length;

describe("a create whose answer is lost", () => {
  test.each(lostAnswers)("by %s is found, and is ours", async (_, fault) => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, fault);
    const { id, outs } = await core.create({ url, trafficPolicy: policy, description: "x" });
    expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
    expect(outs).toMatchObject({ url, trafficPolicy: policy });
    expect(posts(emulator.requests)).toBe(1);
  });

  test.each(lostAnswers)("by %s, and that had no effect, is sent again", async (_, fault) => {
    const { core, emulator } = await start();
    const lost = "status" in fault || "reset" in fault || "hang" in fault ? fault : { status: 200, body: "" };
    emulator.intercept(isCreate, { ...lost, afterCommit: false } as ScriptedReply);
    const { id } = await core.create({ url });
    expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
    expect(posts(emulator.requests)).toBe(2);
  });

  test("twice over is still made once", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { reset: true });
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    await core.create({ url });
    expect(emulator.endpoints).toHaveLength(1);
  });

  test("and that the list does not show yet is found when it is sent again and the URL is taken", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    emulator.intercept(isList, { status: 200, body: { endpoints: [], next_page_uri: null } });
    const { id } = await core.create({ url, description: "x" });
    expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
    expect(posts(emulator.requests)).toBe(2);
  });

  test("is looked for no further back than it was sent, by the service's own clock", async () => {
    for (const hours of [-5, 0, 5]) {
      const { core, emulator } = await service({
        now: () => new Date(Date.now() + hours * 3_600_000),
        pageSize: 2,
      });
      const old = new Date(Date.now() + (hours - 1) * 3_600_000).toISOString();
      for (let index = 0; index < 9; index++) {
        emulator.seed({ type: "ephemeral", url: `https://old-${index}.example.app`, created_at: old });
      }
      emulator.intercept(isCreate, { afterCommit: true, reset: true });
      const { id } = await core.create({ url });
      expect(emulator.endpoints[0]?.id).toBe(id);
      expect(emulator.requests.filter(isList)).toHaveLength(1);
    }
  });

  test("is not taken for what somebody else made on the URL in the meantime", async () => {
    const { core, emulator } = await start();
    const theirs = () => emulator.seed({ type: "cloud", url, description: "theirs" }) !== undefined;
    emulator.intercept((request) => isCreate(request) && theirs(), { reset: true });
    const error = await thrown(core.create({ url, description: "ours" }));
    expect(error.message).toMatch(
      /ERR_NGROK_18009.*It is ep_\w+, made at .*with other content \(“theirs”\): set adopt/,
    );
    expect(emulator.endpoints).toMatchObject([{ description: "theirs" }]);
    expect(emulator.requests.some(({ method }) => method === "PATCH")).toBe(false);
  });

  test("in a pool is told with the ids that it may be, since others may look the same", async () => {
    const { core, emulator } = await start();
    const pooled = { url, poolingEnabled: true, description: "x" };
    const { id: first } = await core.create(pooled);
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    const error = await thrown(core.create(pooled));
    const lost = emulator.endpoints.find(({ id }) => id !== first)?.id ?? "";
    expect(error.message).toMatch(new RegExp(`may be one of these.*: ${lost}\\. See which.*set adopt`));
    expect(error.message).not.toContain(first);
    expect(posts(emulator.requests)).toBe(2);
  });

  test("in a pool, and that had no effect, is sent again", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { reset: true });
    await core.create({ url, poolingEnabled: true });
    expect(emulator.endpoints).toHaveLength(1);
  });

  test("and cannot be looked for either fails plainly, with both reasons", async () => {
    const { core, emulator } = await start({ "endpoints:retryForSeconds": "1" });
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    emulator.intercept(isList, { status: 503, body: "" }, 99);
    const error = await thrown(core.create({ url }));
    expect(error.message).toMatch(
      /no answer .*Whether it was could not be seen either .*503.*Run the command again/,
    );
    expect(posts(emulator.requests)).toBe(1);
  });

  test("for longer than the time for it is given up", async () => {
    const { core, emulator, waits } = await start({ "endpoints:retryForSeconds": "20" });
    emulator.intercept(isCreate, { reset: true }, 99);
    const error = await thrown(core.create({ url }));
    expect(error.message).toMatch(/no answer .*next run names it/);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(20_000);
  });
});

describe("a URL that is taken", () => {
  const leftover = (age: number) => ({
    type: "cloud" as const,
    url,
    description: "x",
    created_at: new Date(Date.now() - age * 60_000).toISOString(),
  });

  test("by exactly what would be created is named, with both ways to take it over", async () => {
    const { core, emulator } = await start();
    const { id } = emulator.seed(leftover(5));
    const { message } = await thrown(core.create({ url, description: "x" }));
    expect(message).toContain(
      `with exactly this content, as a run that was killed leaves it behind: set adopt: "${id}"`,
    );
    expect(message).toMatch(/endpoints:recoverWithin/);
  });

  test("is told also where the list that would say by whom cannot be read", async () => {
    const { core, emulator } = await start();
    emulator.seed(leftover(5));
    emulator.intercept(isList, { status: 403, body: "" });
    await expect(core.create({ url, description: "x" })).rejects.toThrow(/ERR_NGROK_18009.*set adopt/);
  });

  test("is taken over with recoverWithin, if it is exactly that, and young enough", async () => {
    const settings = { "endpoints:recoverWithin": "1h" };
    const young = await start(settings);
    const { id } = young.emulator.seed(leftover(59));
    expect(await young.core.create({ url, description: "x" })).toMatchObject({ id });
    expect(young.said).toEqual([expect.stringMatching(/takes over ep_\w+.*recoverWithin/)]);

    const old = await start(settings);
    old.emulator.seed(leftover(61));
    await expect(old.core.create({ url, description: "x" })).rejects.toThrow(/ERR_NGROK_18009/);

    const other = await start(settings);
    other.emulator.seed(leftover(1));
    await expect(other.core.create({ url, description: "y" })).rejects.toThrow(/with other content/);
  });

  test("is not taken over with recoverWithin in a pool, or from a resource of this run", async () => {
    const settings = { "endpoints:recoverWithin": "1h" };
    const pooled = await start(settings);
    pooled.emulator.seed({ ...leftover(1), pooling_enabled: true });
    await expect(pooled.core.create({ url, description: "x" })).rejects.toThrow(/ERR_NGROK_18017/);

    const owned = await start(settings);
    await owned.core.create({ url, description: "x" });
    await expect(owned.core.create({ url, description: "x" })).rejects.toThrow(/ERR_NGROK_18009/);
    expect(owned.emulator.endpoints).toHaveLength(1);
  });

  test("is judged by the service's clock, not by ours", async () => {
    const { core, emulator } = await service({
      now: () => new Date(Date.now() + 7_200_000),
      urlTaken: "18009",
      settings: { "endpoints:recoverWithin": "1h" },
    });
    emulator.seed(leftover(0));
    await expect(core.create({ url, description: "x" })).rejects.toThrow(/ERR_NGROK_18009/);
  });
});
