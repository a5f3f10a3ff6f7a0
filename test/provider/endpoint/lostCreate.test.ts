import { describe, expect, onTestFinished, test, vi } from "vitest";
import { thrown } from "../service";
import { conflict, countCreates, isCreate, isList, iso, start, url } from "./creates";

const policy = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const __urn = "urn:pulumi:dev::shop::endpoints:index:CloudEndpoint::ours";

/** A create that takes effect, and whose reply is lost. */
const lost = { afterCommit: true, reset: true } as const;

/** Faults of the reply to a create that took effect. */
const lostReplies: [string, object][] = [
  ["a reset connection", { reset: true }],
  ["no reply in time", { hang: true }],
  ["a body that ends early", { cut: "end" }],
  ["a body that is reset", { cut: "reset" }],
  ["a body that stalls", { cut: "stall" }],
  ["an empty body", { body: "" }],
  ["an HTML page", { status: 200, body: "<html>" }],
  ["a proxy's 502", { status: 502, body: "<html>" }],
  ["the service's 500", { status: 500, body: { error_code: "ERR_NGROK_20000", msg: "x" } }],
  ["a proxy's 429", { status: 429, body: "<html>" }],
  ["a 408", { status: 408, body: "" }],
  ["a reply without an id", { status: 201, body: { url } }],
];

/** The service and a core, and a create of this resource whose reply is lost. */
async function losing(settings?: Record<string, string>) {
  const parts = await start(settings);
  parts.emulator.intercept(isCreate, lost);
  return parts;
}

describe("a create whose reply is lost", () => {
  test.each(lostReplies)("finds the new endpoint, and logs that: %s", async (_, fault) => {
    const { core, emulator, logged } = await start();
    emulator.intercept(isCreate, { afterCommit: true, ...fault });
    const { id, outs } = await core.create({ url, trafficPolicy: policy, description: "x" });
    expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
    expect(outs).toMatchObject({ url, trafficPolicy: JSON.stringify(policy) });
    expect(countCreates(emulator.requests)).toBe(1);
    expect(logged).toEqual([
      `${url}: a create whose answer was lost has created ${id}; this run continues with it`,
    ]);
  });

  test("is sent again if it had no effect", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { reset: true });
    emulator.intercept(isCreate, lost);
    await core.create({ url });
    expect(emulator.endpoints).toHaveLength(1);
  });

  test("finds the new endpoint if the list shows it late", async () => {
    const { core, emulator } = await losing();
    emulator.intercept(isList, { status: 200, body: { endpoints: [], next_page_uri: null } }, 2);
    const { id } = await core.create({ url, description: "x" });
    expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
    expect(countCreates(emulator.requests)).toBe(1);
  });

  test("finds the new endpoint if its creation time has fractions of a second", async () => {
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

  test("gives an endpoint to only one of two resources with the same URL and content", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, lost, 2);
    const both = await Promise.allSettled([core.create({ url }), core.create({ url })]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = both.find((one) => one.status === "rejected");
    expect(String(refused?.reason)).toContain("belongs to another resource of this stack");
    expect(emulator.endpoints).toHaveLength(1);
  });

  test("fails with both reasons if the list cannot be read", async () => {
    const { core, emulator } = await losing({ "endpoints:retryForSeconds": "1" });
    emulator.intercept(isList, { status: 503, body: "" }, 99);
    await expect(core.create({ url })).rejects.toThrow(
      /no answer .*could not find out whether the endpoint exists .*503.*set adopt/,
    );
    expect(countCreates(emulator.requests)).toBe(1);
  });

  test.each([
    ["lost", { reset: true as const }],
    ["refused", conflict],
  ])("or refused fails without showing a secret URL if the list cannot be read: %s", async (_, fault) => {
    const { core, emulator } = await start({ "endpoints:retryForSeconds": "1" });
    emulator.intercept(isCreate, fault, 9);
    emulator.intercept(isList, { status: 403, body: "" }, 99);
    const { message } = await thrown(core.create({ url, __secrets: ["url"] }));
    expect(message).toContain("[secret]");
    expect(message).not.toContain(url);
  });

  test("fails once `endpoints:retryForSeconds` has passed", async () => {
    const { core, emulator, waits } = await start({ "endpoints:retryForSeconds": "20" });
    emulator.intercept(isCreate, { reset: true }, 99);
    await expect(core.create({ url })).rejects.toThrow(/no answer /);
    // The look at the list may take some more seconds, but no create follows it.
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(35_000);
  });
});

describe("a create whose reply is lost does not take over an endpoint", () => {
  /** An endpoint with our URL and content that exists when our create is lost without effect. */
  const strangers: [string, (now: number) => object, date?: boolean][] = [
    ["that was created seconds before it", (now) => ({ created_at: iso(now - 5_000) })],
    ["that was created seconds after the loss", (now) => ({ created_at: iso(now + 5_000) })],
    ["that was created in the future", (now) => ({ created_at: iso(now + 3_600_000) })],
    ["that has no creation time", () => ({ created_at: undefined })],
    ["that has an invalid creation time", () => ({ created_at: "yesterday" })],
    ["if the replies have no date to compare with", (now) => ({ created_at: iso(now) }), false],
  ];

  test.each(strangers)("%s", async (_, made, hasDate = true) => {
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

  test.each(["before", "after"] as const)(
    "if an equal one was created %s ours in the same second: it names both",
    async (when) => {
      const { core, emulator } = await start();
      emulator.behave({ urlTaken: "allowed" });
      emulator.rival(when, { reply: lost });
      const { message } = await thrown(core.create({ url }));
      expect(emulator.endpoints).toHaveLength(2);
      for (const { id = "" } of emulator.endpoints) expect(message).toContain(id);
    },
  );

  test("that was created before its second attempt, which the service refuses", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { reset: true });
    emulator.intercept(
      (request) => isCreate(request) && emulator.seed({ type: "cloud", url }) !== undefined,
      conflict,
    );
    await expect(core.create({ url })).rejects.toThrow(/ERR_NGROK_180\d\d.*is served by ep_/);
    expect(emulator.endpoints).toHaveLength(1);
  });
});

describe("a create finds the new endpoint after a reply about another one", () => {
  test.each([
    ["with another URL", { url: "https://other.example.com" }],
    ["with another type", { type: "ephemeral", url }],
  ] as const)("%s", async (_, other) => {
    const { core, emulator } = await start();
    const theirs = emulator.seed({ type: "cloud", url: "https://theirs.example.com" });
    emulator.intercept(isCreate, { afterCommit: true, status: 201, body: { ...theirs, ...other } });
    const { id } = await core.create({ url });
    expect(id).not.toBe(theirs.id);
    expect(emulator.endpoints.map((endpoint) => endpoint.id).sort()).toEqual([id, theirs.id].sort());
    expect(countCreates(emulator.requests)).toBe(1);
  });

  test("that comes a second later", async () => {
    const { core, emulator, clock } = await start();
    const theirs = emulator.seed({ type: "cloud", url: "https://theirs.example.com", created_at: iso(0) });
    const aSecondLater = () => void clock.sleep(1_100);
    emulator.intercept(isCreate, { afterCommit: true, after: aSecondLater, status: 201, body: theirs });
    const { id } = await core.create({ url });
    expect(emulator.endpoints.map((endpoint) => endpoint.id).sort()).toEqual([id, theirs.id].sort());
    expect(countCreates(emulator.requests)).toBe(1);
  });

  test("that is another resource of this run", async () => {
    const { core, emulator } = await start();
    const { id: other } = await core.create({ url: "https://other.example.com" });
    const live = { ...emulator.endpoints[0], url };
    emulator.intercept(isCreate, { afterCommit: true, status: 201, body: live });
    const { id } = await core.create({ url });
    expect(id).not.toBe(other);
    expect(emulator.endpoints).toHaveLength(2);
  });
});

test("a create whose reply is lost finds or names the endpoint if the replies have another clock than the service", async () => {
  for (const date of [-600_000, -3_000, 3_000, 600_000]) {
    const { core, emulator } = await start();
    emulator.behave({ urlTaken: "allowed", date });
    emulator.intercept(isCreate, lost);
    const outcome = await core.create({ url }).catch(({ message }: Error) => ({ id: message }));
    expect(outcome.id).toContain(emulator.endpoints[0]?.id);
    expect(emulator.endpoints).toHaveLength(1);
  }
});

describe("a create whose reply is lost fails with the next step, and is not sent again", () => {
  /** The endpoint as the service changed it, on a service that accepts a URL twice. */
  const changed: [string, object, Record<string, unknown>, boolean][] = [
    ["URL", { url: `${url}:8443` }, {}, true],
    ["content", { url, traffic_policy: '{"version":1}' }, {}, false],
    ["mark, in a pool", { url, pooling_enabled: true }, { poolingEnabled: true }, true],
    ["mark", { url }, {}, true],
  ];

  test.each(changed)("if the service changes the %s", async (what, made, inputs, isAnswered) => {
    const settings: Record<string, string> = what.startsWith("mark") ? { "endpoints:mark": "team" } : {};
    const { core, emulator, clock } = await start(settings);
    emulator.behave({ urlTaken: "allowed" });
    const before = () => void emulator.seed({ type: "cloud", ...made, created_at: iso(clock.now()) });
    const body = () => ({ ...emulator.endpoints[0] });
    emulator.intercept(isCreate, isAnswered ? { before, status: 201, body } : { before, reset: true });
    const error = await thrown(core.create({ url, trafficPolicy: policy, ...inputs, __urn }));
    expect(error.message).toContain(emulator.endpoints[0]?.id);
    expect(error.message).toMatch(/set adopt/);
    expect(countCreates(emulator.requests)).toBe(1);
  });

  test("if the list shows an endpoint that a GET by id does not find", async () => {
    const { core, emulator } = await losing();
    emulator.behave({ urlTaken: "allowed" });
    const unknown = { status: 404, body: { error_code: "ERR_NGROK_18100", msg: "no" } };
    emulator.intercept(({ path }) => path.startsWith("/endpoints/"), unknown, 99);
    await expect(core.create({ url })).rejects.toThrow(emulator.endpoints[0]?.id);
    expect(countCreates(emulator.requests)).toBe(1);
  });

  test("if the endpoint is in a pool, since other members may be equal", async () => {
    const { core, emulator } = await start();
    const pooled = { url, poolingEnabled: true, description: "x" };
    const { id: first } = await core.create(pooled);
    emulator.intercept(isCreate, lost);
    const error = await thrown(core.create(pooled));
    const made = emulator.endpoints.find(({ id }) => id !== first)?.id ?? "";
    expect(error.message).toMatch(
      new RegExp(`may have created one of these.*: ${made}\\. Find out which.*set adopt`),
    );
    expect(error.message).not.toContain(first);
    expect(countCreates(emulator.requests)).toBe(2);
  });

  test("if a create in a pool had no effect, since nobody would notice one more member", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { reset: true });
    await expect(core.create({ url, poolingEnabled: true })).rejects.toThrow(
      /another try could add a second endpoint to the pool.*endpoints:mark/,
    );
    expect(countCreates(emulator.requests)).toBe(1);
  });
});

test("two resources with one URL whose answers are both lost never get the same endpoint", async () => {
  const { core, emulator } = await start();
  emulator.intercept(isCreate, { afterCommit: true, reset: true });
  emulator.intercept(isCreate, { reset: true });
  const created = await Promise.allSettled([core.create({ url }), core.create({ url })]);
  expect(created.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(String(created.map((one) => "reason" in one && one.reason))).toMatch(/belongs to another resource/);
  expect(emulator.endpoints).toHaveLength(1);
});
