import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Emulator, RecordedRequest, ScriptedReply } from "../../sdk/testing";
import { service, thrown } from "./service";

const url = "https://shop.example.com";
const policy = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const __urn = "urn:pulumi:dev::shop::endpoints:index:CloudEndpoint::ours";
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

/** What the public service was seen to refuse a taken URL with. */
const conflict: ScriptedReply = {
  status: 400,
  body: { error_code: "ERR_NGROK_18017", msg: "pooling was set to disabled when another endpoint exists" },
};

const iso = (time: number) => new Date(time).toISOString().replace(/\.\d+Z$/, "Z");

const start = (settings: Record<string, string> = {}) =>
  service({ settings: { "endpoints:timeoutSeconds": "0.2", ...settings } });
const posts = (requests: readonly RecordedRequest[]) => requests.filter(isCreate).length;

describe("a create whose answer is lost", () => {
  test.each(lostAnswers)("by %s is found, and is ours", async (_, fault) => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, fault);
    const { id, outs } = await core.create({ url, trafficPolicy: policy, description: "x" });
    expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
    expect(outs).toMatchObject({ url, trafficPolicy: JSON.stringify(policy) });
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

  test("twice is not taken for what somebody else made between the two", async () => {
    const { core, emulator, clock } = await start();
    emulator.behave({ urlTaken: "allowed" });
    emulator.intercept(isCreate, { reset: true });
    const before = () => void emulator.seed({ type: "cloud", url, created_at: iso(clock.now() - 3_000) });
    emulator.intercept(isCreate, { before, reset: true });
    const error = await thrown(core.create({ url }));
    expect(error.message).toContain(emulator.endpoints[0]?.id);
  });

  test("and that the list does not show yet is found when the list has caught up", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    emulator.intercept(isList, { status: 200, body: { endpoints: [], next_page_uri: null } }, 2);
    const { id } = await core.create({ url, description: "x" });
    expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
    expect(posts(emulator.requests)).toBe(1);
  });

  test("and whose time has fractions of a second is found", async () => {
    // Only sleeps take time, so that the moments of the create are certain.
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const { core, emulator, api, clock } = await start();
    // Many replies show the service's clock exactly.
    for (let index = 0; index < 30; index++) {
      await api.find("ep_none");
      await clock.sleep(137);
    }
    await clock.sleep(1_300 - (clock.now() % 1_000));
    emulator.behave({ urlTaken: "allowed" });
    const created_at = new Date(clock.now()).toISOString();
    const before = () => void emulator.seed({ type: "cloud", url, created_at });
    emulator.intercept(isCreate, { before, reset: true });
    const { id } = await core.create({ url });
    expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
  });

  test("and that the list shows, but that is not found by its id, is named, not sent again", async () => {
    const { core, emulator } = await start();
    emulator.behave({ urlTaken: "allowed" });
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    const unknown = { status: 404, body: { error_code: "ERR_NGROK_18100", msg: "no" } };
    emulator.intercept(({ path }) => path.startsWith("/endpoints/"), unknown, 99);
    const error = await thrown(core.create({ url }));
    expect(error.message).toContain(emulator.endpoints[0]?.id);
    expect(posts(emulator.requests)).toBe(1);
  });

  test("is not sent again where an earlier run of this stack has left an endpoint on its URL", async () => {
    const { core, emulator, newProcess } = await start({ "endpoints:mark": "team" });
    emulator.behave({ urlTaken: "allowed" });
    const { id } = await core.create({ url, __urn });
    emulator.intercept(isCreate, { reset: true });
    expect((await newProcess().core.create({ url, __urn })).id).toBe(id);
    expect(posts(emulator.requests)).toBe(2);
  });

  test("is reported to the user in one line when it is found", async () => {
    const { core, emulator, said } = await start();
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    const { id } = await core.create({ url });
    expect(said).toEqual([
      `${url}: a create whose answer was lost has created ${id}; this run continues with it`,
    ]);
  });

  test("is looked for no further back than it was sent, by the service's own clock", async () => {
    for (const hours of [-5, 0, 5]) {
      const { core, emulator } = await service({ pageSize: 12, ahead: hours * 3_600_000 });
      const old = new Date(Date.now() + (hours - 1) * 3_600_000).toISOString();
      for (let index = 0; index < 40; index++) {
        emulator.seed({ type: "ephemeral", url: `https://old-${index}.example.app`, created_at: old });
      }
      emulator.intercept(isCreate, { afterCommit: true, reset: true });
      const { id } = await core.create({ url });
      expect(emulator.endpoints[0]?.id).toBe(id);
      // At the end of a second one page may be read twice.
      const pages = emulator.requests.filter(isList);
      expect(pages.filter(({ query }) => "before_id" in query)).toEqual([]);
    }
  });

  /** Somebody else's endpoint with our URL and content, which is there when our POST is lost without effect. */
  const strangers: [string, (now: number) => object, date?: boolean][] = [
    ["a second before our POST", (now) => ({ created_at: iso(now - 1_000) })],
    ["long before our POST", (now) => ({ created_at: iso(now - 3_600_000) })],
    ["seconds after our POST was lost", (now) => ({ created_at: iso(now + 5_000) })],
    ["in the future", (now) => ({ created_at: iso(now + 3_600_000) })],
    ["at a time that is not given", () => ({ created_at: undefined })],
    ["at a time that is garbage", () => ({ created_at: "yesterday" })],
    ["at a time that nothing can be compared with", (now) => ({ created_at: iso(now) }), false],
  ];

  test.each(strangers)("is not taken for what somebody else made %s", async (_, made, hasDate = true) => {
    const { core, emulator, clock } = await start();
    const rival = { type: "cloud" as const, url, description: "x" };
    const { id } = emulator.seed({ ...rival, ...made(clock.now()) });
    emulator.intercept(isCreate, { reset: true });
    if (!hasDate) emulator.intercept(() => true, { afterCommit: true, headers: { date: "" } }, 99);
    const error = await thrown(core.create({ url, description: "x" }));
    expect(error.message).toContain(id);
    expect(error.message).toMatch(/set adopt/);
    expect(emulator.requests.some(({ method }) => method === "PATCH")).toBe(false);
    expect(emulator.endpoints).toHaveLength(1);
  });

  test("is not taken for what was refused explicitly when it was sent again", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { reset: true });
    emulator.intercept(
      (request) => isCreate(request) && emulator.seed({ type: "cloud", url }) !== undefined,
      conflict,
    );
    const error = await thrown(core.create({ url }));
    expect(error.message).toMatch(/ERR_NGROK_180\d\d.*is served by ep_/);
    expect(emulator.endpoints).toHaveLength(1);
  });

  test.each([
    ["another URL", { url: "https://other.example.com" }],
    ["another type", { type: "ephemeral", url }],
  ] as const)("and is answered with an endpoint of %s is looked for", async (_, other) => {
    const { core, emulator } = await start();
    const theirs = emulator.seed({ type: "cloud", url: "https://theirs.example.com" });
    emulator.intercept(isCreate, { afterCommit: true, status: 201, body: { ...theirs, ...other } });
    const { id } = await core.create({ url });
    expect(id).not.toBe(theirs.id);
    expect(emulator.endpoints.map((endpoint) => endpoint.id).sort()).toEqual([id, theirs.id].sort());
    expect(posts(emulator.requests)).toBe(1);
  });

  test("and is answered with another endpoint a second later is looked for from when it was sent", async () => {
    const { core, emulator, clock } = await start();
    const theirs = emulator.seed({ type: "cloud", url: "https://theirs.example.com", created_at: iso(0) });
    const aSecondLater = () => void clock.sleep(1_100);
    emulator.intercept(isCreate, { afterCommit: true, after: aSecondLater, status: 201, body: theirs });
    const { id } = await core.create({ url });
    expect(emulator.endpoints.map((endpoint) => endpoint.id).sort()).toEqual([id, theirs.id].sort());
    expect(posts(emulator.requests)).toBe(1);
  });

  /** What the service made of our create, on a service that refuses no URL and so would make a second one. */
  const changed: [string, object, Record<string, unknown>, boolean][] = [
    ["URL", { url: `${url}:8443` }, {}, true],
    ["content", { url, traffic_policy: '{"version":1}' }, {}, false],
    ["mark, in a pool", { url, pooling_enabled: true }, { poolingEnabled: true }, true],
    ["mark", { url }, {}, true],
  ];

  test.each(changed)(
    "and whose %s the service changed is named, not sent again",
    async (what, made, inputs, isAnswered) => {
      const settings: Record<string, string> = what.startsWith("mark") ? { "endpoints:mark": "team" } : {};
      const { core, emulator, clock } = await start(settings);
      emulator.behave({ urlTaken: "allowed" });
      const before = () => void emulator.seed({ type: "cloud", ...made, created_at: iso(clock.now()) });
      const body = () => ({ ...emulator.endpoints[0] });
      emulator.intercept(isCreate, isAnswered ? { before, status: 201, body } : { before, reset: true });
      const error = await thrown(core.create({ url, trafficPolicy: policy, ...inputs, __urn }));
      expect(error.message).toContain(emulator.endpoints[0]?.id);
      expect(error.message).toMatch(/set adopt/);
      expect(posts(emulator.requests)).toBe(1);
    },
  );

  test("is named, not sent again, where the replies have another clock than the service", async () => {
    for (const date of [-600_000, -3_000, 3_000, 600_000]) {
      const { core, emulator } = await start();
      emulator.behave({ urlTaken: "allowed", date });
      emulator.intercept(isCreate, { afterCommit: true, reset: true });
      const outcome = await core.create({ url }).then(
        ({ id }) => id,
        (error: Error) => error.message,
      );
      expect(outcome).toContain(emulator.endpoints[0]?.id);
      expect(emulator.endpoints).toHaveLength(1);
    }
  });

  test("is found by one of two resources with its URL and content, not by both", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { afterCommit: true, reset: true }, 2);
    const both = await Promise.allSettled([core.create({ url }), core.create({ url })]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = both.find((one) => one.status === "rejected");
    expect(String(refused?.reason)).toContain("belongs to another resource of this stack");
    expect(emulator.endpoints).toHaveLength(1);
  });

  test("and is answered with the endpoint of another resource is looked for", async () => {
    const { core, emulator } = await start();
    const { id: other } = await core.create({ url: "https://other.example.com" });
    const live = { ...emulator.endpoints[0], url };
    emulator.intercept(isCreate, { afterCommit: true, status: 201, body: live });
    const { id } = await core.create({ url });
    expect(id).not.toBe(other);
    expect(emulator.endpoints).toHaveLength(2);
  });

  test("in a pool is reported with the ids that it may be, since others may look the same", async () => {
    const { core, emulator } = await start();
    const pooled = { url, poolingEnabled: true, description: "x" };
    const { id: first } = await core.create(pooled);
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    const error = await thrown(core.create(pooled));
    const lost = emulator.endpoints.find(({ id }) => id !== first)?.id ?? "";
    expect(error.message).toMatch(
      new RegExp(`may have created one of these.*: ${lost}\\. Find out which.*set adopt`),
    );
    expect(error.message).not.toContain(first);
    expect(posts(emulator.requests)).toBe(2);
  });

  test("in a pool, and that had no effect, is not sent again, since one more would not be noticed", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { reset: true });
    const error = await thrown(core.create({ url, poolingEnabled: true }));
    expect(error.message).toMatch(/in a pool nobody would notice one more endpoint.*endpoints:mark/);
    expect(posts(emulator.requests)).toBe(1);
  });

  test("and cannot be looked for either fails plainly, with both reasons", async () => {
    const { core, emulator } = await start({ "endpoints:retryForSeconds": "1" });
    emulator.intercept(isCreate, { afterCommit: true, reset: true });
    emulator.intercept(isList, { status: 503, body: "" }, 99);
    const error = await thrown(core.create({ url }));
    expect(error.message).toMatch(
      /no answer .*Whether the endpoint was created could not be determined either .*503.*set adopt/,
    );
    expect(posts(emulator.requests)).toBe(1);
  });

  test.each([
    ["lost", { reset: true as const }],
    ["refused", conflict],
  ])("or refused is reported without a secret URL, where the list cannot be read: %s", async (_, fault) => {
    const { core, emulator } = await start({ "endpoints:retryForSeconds": "1" });
    emulator.intercept(isCreate, fault, 9);
    emulator.intercept(isList, { status: 403, body: "" }, 99);
    const { message } = await thrown(core.create({ url, __secrets: ["url"] }));
    expect(message).toContain("[secret]");
    expect(message).not.toContain(url);
  });

  test("for longer than the time for it is given up", async () => {
    const { core, emulator, waits } = await start({ "endpoints:retryForSeconds": "20" });
    emulator.intercept(isCreate, { reset: true }, 99);
    const error = await thrown(core.create({ url }));
    expect(error.message).toMatch(/no answer /);
    // Looking may take some seconds more; nothing is sent after the time is over.
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(35_000);
  });
});

test.each([401, 403, 404])(
  "a create that is refused with %i is neither looked for nor sent again",
  async (status) => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { status, body: "" });
    expect((await thrown(core.create({ url }))).message).toContain(`status ${status}`);
    expect(emulator.requests).toHaveLength(1);
  },
);

describe("a URL that is taken", () => {
  const bare: ScriptedReply = { status: 409, body: "" };

  test.each([
    ["nothing is found on it", () => {}],
    [
      "the list cannot be read",
      (emulator: Emulator) => emulator.intercept(isList, { status: 200, body: "" }, 9),
    ],
  ])("is refused with a next step also without a code, where %s", async (_, also) => {
    const { core, emulator } = await start();
    also(emulator);
    emulator.intercept(isCreate, bare, 9);
    const error = await thrown(core.create({ url }));
    expect(error.message).toMatch(/status 409.*[Rr]un the command again.*adopt/);
  });

  const leftover = (age: number) => ({
    type: "cloud" as const,
    url,
    description: "x",
    created_at: new Date(Date.now() - age * 60_000).toISOString(),
  });

  test.each([
    ["18017 and 400", conflict],
    ["18009 and 409", { status: 409, body: { error_code: "ERR_NGROK_18009", msg: "exists" } }],
    ["422 and no code", { status: 422, body: "" }],
    ["409 of a gateway", { status: 409, body: "<html>" }],
  ])("and is refused with %s is reported with what holds it", async (_, refusal) => {
    const { core, emulator } = await start();
    const { id } = emulator.seed({ ...leftover(5), description: "theirs" });
    emulator.intercept(isCreate, refusal, 9);
    const { message } = await thrown(core.create({ url, description: "x" }));
    expect(message).toContain(`${url} is served by ${id}, a cloud endpoint, created at `);
    expect(message).toMatch(/described as “theirs”: set adopt/);
    expect(posts(emulator.requests)).toBe(1);
  });

  test("is reported with what holds it, where a filter shows only a member of a pool on it", async () => {
    const { core, emulator } = await start();
    emulator.behave({ filters: "incomplete" });
    emulator.seed({ ...leftover(6), pooling_enabled: true });
    const { id } = emulator.seed(leftover(5));
    emulator.intercept(isCreate, conflict, 9);
    const { message } = await thrown(core.create({ url, poolingEnabled: true }));
    expect(message).toContain(`${url} is served by ${id}, a cloud endpoint`);
  });

  test("for a member of a pool reads each other member once", async () => {
    const { core, emulator } = await start();
    for (let index = 0; index < 5; index++) emulator.seed({ ...leftover(6), pooling_enabled: true });
    emulator.intercept(isCreate, { status: 400, body: { error_code: "ERR_NGROK_18020", msg: "full" } }, 9);
    await thrown(core.create({ url, poolingEnabled: true }));
    expect(emulator.requests.filter(({ path }) => /ep_/.test(path))).toHaveLength(5);
  });

  test("by an agent's endpoint says so, and that it cannot be adopted", async () => {
    const { core, emulator } = await start();
    const { id } = emulator.seed({ type: "ephemeral", url });
    emulator.intercept(isCreate, conflict, 9);
    const { message } = await thrown(core.create({ url }));
    expect(message).toMatch(
      new RegExp(`is served by ${id}, an endpoint of type ephemeral.*stop what serves it`),
    );
    expect(message).not.toContain("set adopt");
  });

  test("by nobody any more is tried again for some seconds", async () => {
    for (const code of [18006, 18016, 18017]) {
      const { core, emulator, waits } = await start();
      const refusal = { status: 400, body: { error_code: `ERR_NGROK_${code}`, msg: "not yet" } };
      emulator.intercept(isCreate, refusal, 3);
      await core.create({ url });
      expect(posts(emulator.requests)).toBe(4);
      expect(waits).toEqual([1_000, 2_000, 4_000]);

      emulator.intercept(isCreate, refusal, 9);
      const { message } = await thrown(core.create({ url: "https://other.example.com" }));
      expect(message).toContain(`ERR_NGROK_${code}`);
      expect(posts(emulator.requests)).toBe(8);
    }
  });

  test("by what this run has just deleted, which the list still shows, is tried again", async () => {
    const { core, emulator } = await start();
    const first = await core.create({ url });
    const shown = emulator.endpoints;
    await core.delete(first.id, first.outs);
    emulator.intercept(isCreate, conflict, 2);
    emulator.intercept(isList, { status: 200, body: { endpoints: shown, next_page_uri: null } }, 9);
    expect((await core.create({ url })).id).not.toBe(first.id);
  });

  test("by what this run has just moved to another URL, which the list does not show yet, is tried again", async () => {
    const { core, emulator } = await start();
    const first = await core.create({ url });
    const shown = emulator.endpoints;
    await core.update(first.id, first.outs, { url: "https://moved.example.com" });
    emulator.intercept(isCreate, conflict, 2);
    emulator.intercept(isList, { status: 200, body: { endpoints: shown, next_page_uri: null } }, 9);
    expect((await core.create({ url })).id).not.toBe(first.id);
  });

  test("is looked for a few times in a run, however many creates are refused", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { status: 400, body: { error_code: "ERR_NGROK_2201", msg: "x" } }, 99);
    const urls = Array.from({ length: 20 }, (_, index) => `https://n${index}.example.com`);
    await Promise.all(urls.map((each) => thrown(core.create({ url: each }))));
    expect(emulator.requests.filter(isList).length).toBeLessThanOrEqual(5);
  });

  test("by exactly what would be created is named, with both ways to take it over", async () => {
    const { core, emulator } = await start();
    const { id } = emulator.seed(leftover(5));
    const { message } = await thrown(core.create({ url, description: "x" }));
    expect(message).toContain(
      `with exactly this content, as a killed run leaves it behind: set adopt: "${id}"`,
    );
    expect(message).toMatch(/endpoints:recoverWithin/);
  });

  test("is reported also where the list that would say by whom cannot be read", async () => {
    const { core, emulator } = await start();
    emulator.seed(leftover(5));
    emulator.intercept(isList, { status: 403, body: "" });
    await expect(core.create({ url, description: "x" })).rejects.toThrow(/ERR_NGROK_180.*set adopt/);
  });

  test("is taken over with recoverWithin, if it is exactly that, and young enough", async () => {
    const settings = { "endpoints:recoverWithin": "1h" };
    const young = await start(settings);
    const { id } = young.emulator.seed(leftover(59));
    expect(await young.core.create({ url, description: "x" })).toMatchObject({ id });
    expect(young.said).toEqual([expect.stringMatching(/takes over ep_\w+.*recoverWithin/)]);

    const old = await start(settings);
    old.emulator.seed(leftover(61));
    await expect(old.core.create({ url, description: "x" })).rejects.toThrow(/ERR_NGROK_180/);

    const other = await start(settings);
    other.emulator.seed(leftover(1));
    await expect(other.core.create({ url, description: "y" })).rejects.toThrow(/is served by ep_/);
  });

  test("is not taken over with recoverWithin in a pool, or from a resource of this run", async () => {
    const settings = { "endpoints:recoverWithin": "1h" };
    const pooled = await start(settings);
    pooled.emulator.seed({ ...leftover(1), pooling_enabled: true });
    await expect(pooled.core.create({ url, description: "x" })).rejects.toThrow(/ERR_NGROK_18017/);

    const owned = await start(settings);
    await owned.core.create({ url, description: "x" });
    await expect(owned.core.create({ url, description: "x" })).rejects.toThrow(
      /belongs to another resource of this stack/,
    );
    expect(owned.emulator.endpoints).toHaveLength(1);
  });

  test.each([
    ["garbage", "yesterday"],
    ["2099", "2099-01-01T00:00:00Z"],
    ["missing", undefined],
  ])("is not taken over with recoverWithin where its age is %s", async (_, created_at) => {
    const { core, emulator } = await start({ "endpoints:recoverWithin": "1h" });
    emulator.seed({ ...leftover(1), created_at });
    await expect(core.create({ url, description: "x" })).rejects.toThrow(/is served by ep_/);
  });

  test("is judged by the service's clock, not by ours", async () => {
    const { core, emulator } = await service({
      now: () => new Date(Date.now() + 7_200_000),
      settings: { "endpoints:recoverWithin": "1h" },
    });
    emulator.seed(leftover(0));
    await expect(core.create({ url, description: "x" })).rejects.toThrow(/ERR_NGROK_180/);
  });
});

describe("whose mark an endpoint carries", () => {
  const pulumi = (resource: string) => ({
    namespace: "team",
    project: "shop",
    stack: "dev",
    resource,
    nonce: "1",
  });
  const theirs = JSON.stringify({ "pulumi-endpoints": pulumi("theirs") });

  test.each([
    ["carries another mark", theirs, {}],
    ["carries another mark, for a stack that marks", theirs, { "endpoints:mark": "team" }],
    ["carries none, for a stack that marks", undefined, { "endpoints:mark": "team" }],
  ])(
    "shows that a young endpoint is not what a killed run of ours left: it %s",
    async (_, metadata, marks) => {
      const { core, emulator } = await start({ "endpoints:recoverWithin": "1h", ...marks });
      const { id } = emulator.seed({ type: "cloud", url, ...(metadata && { metadata }) });
      const error = await thrown(core.create({ url, __urn }));
      expect(error.message).toContain(`is served by ${id}`);
    },
  );

  test("shows that a reply to a marked create is about an endpoint of somebody else's", async () => {
    const { core, emulator } = await start({ "endpoints:mark": "team" });
    const seed = emulator.seed({ type: "cloud", url });
    emulator.intercept(isCreate, { status: 201, body: seed });
    expect((await thrown(core.create({ url, __urn }))).message).toContain(`is served by ${seed.id}`);
  });

  test("shows that an endpoint is not what our lost create without a mark made", async () => {
    const { core, emulator } = await start();
    emulator.rival("instead", { fields: { metadata: theirs } });
    const error = await thrown(core.create({ url }));
    expect(error.message).toContain(`is served by ${emulator.rivals[0]}`);
  });
});
