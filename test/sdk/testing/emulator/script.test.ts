import { setTimeout as wait } from "node:timers/promises";
import { request } from "undici";
import { describe, expect, it } from "vitest";
import type { RecordedRequest, ScriptedReply } from "../../../../sdk/testing";
import { call, create, failure, SHORT, send, start } from "./requests";

const url = "https://a.example.com";
const always = () => true;

describe("a scripted fault after the effect", () => {
  it.each<[string, ScriptedReply, object]>([
    ["an error", { afterCommit: true, status: 503, body: "no" }, { status: 503, text: "no" }],
    ["an empty body by default", { afterCommit: true, status: 502 }, { status: 502, text: "" }],
    ["a reset", { afterCommit: true, reset: true }, { error: failure.reset }],
    ["silence", { afterCommit: true, hang: true }, { error: failure.silence }],
    ["the right status without a body", { afterCommit: true, body: "" }, { status: 201, text: "" }],
  ])("shows the client %s, and the endpoint is there", async (_case, reply, expected) => {
    const emulator = await start();
    emulator.intercept(always, reply);
    const patience = "hang" in reply ? SHORT : undefined;
    expect(await send(emulator, "POST", "/endpoints", { url }, patience)).toMatchObject(expected);
    expect(emulator.endpoints).toMatchObject([{ url }]);
    expect((await send(emulator, "POST", "/endpoints", { url })).status).toBe(400);
  });

  it("updates and deletes too, though the client sees that it failed", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    emulator.intercept(always, { afterCommit: true, status: 500 }, 2);
    expect((await send(emulator, "PATCH", `/endpoints/${id}`, { description: "d" })).status).toBe(500);
    expect(emulator.endpoints).toMatchObject([{ id, description: "d" }]);
    expect((await send(emulator, "DELETE", `/endpoints/${id}`)).status).toBe(500);
    expect(emulator.endpoints).toEqual([]);
  });

  it("changes nothing where the request would be refused, and the client still sees the fault", async () => {
    const emulator = await start();
    const before = await create(emulator, { url });
    emulator.intercept(always, { afterCommit: true, status: 504 }, 2);
    expect((await send(emulator, "POST", "/endpoints", { url })).status).toBe(504);
    const badKey = { headers: { authorization: "Bearer wrong_key" } };
    const refused = await call(emulator, "DELETE", `/endpoints/${before.id}`, badKey);
    expect(refused.status).toBe(504);
    expect(emulator.endpoints).toEqual([before]);
  });

  it("waits after the effect, not before it", async () => {
    const emulator = await start();
    emulator.intercept(always, { afterCommit: true, delayMs: 60_000 });
    const answer = send(emulator, "POST", "/endpoints", { url });
    await expect.poll(() => emulator.endpoints.length).toBe(1);
    expect(emulator.requests[0]?.status).toBe(0);
    await emulator.close();
    expect((await answer).status).toBeUndefined();
  });
});

describe("a scripted fault before the effect", () => {
  it.each<[string, ScriptedReply, object]>([
    ["an error", { status: 503 }, { status: 503, text: "" }],
    ["a reset", { reset: true }, { error: failure.reset }],
    ["silence", { hang: true }, { error: failure.silence }],
  ])("shows the client %s, and there is no endpoint", async (_case, reply, expected) => {
    const emulator = await start();
    emulator.intercept(always, reply);
    const patience = "hang" in reply ? SHORT : undefined;
    expect(await send(emulator, "POST", "/endpoints", { url }, patience)).toMatchObject(expected);
    expect(emulator.endpoints).toEqual([]);
  });

  it("of a form that only the compiler excludes says so to the client", async () => {
    const emulator = await start();
    emulator.intercept(always, { cut: "end" } as ScriptedReply);
    const { body } = await call<{ msg: string }>(emulator, "POST", "/endpoints", { body: { url } });
    expect(body.msg).toContain("afterCommit: true");
    expect(emulator.endpoints).toEqual([]);
  });
});

describe("a cut body", () => {
  it.each([
    ["end", failure.closed],
    ["reset", failure.reset],
    ["stall", failure.silence],
  ] as const)("of the real answer (%s) comes with its head and first half, and %s", async (cut, error) => {
    const emulator = await start();
    emulator.intercept(always, { afterCommit: true, cut });
    const patience = cut === "stall" ? SHORT : undefined;
    const answer = await send(emulator, "POST", "/endpoints", { url }, patience);
    const whole = JSON.stringify(emulator.endpoints[0]);
    expect(answer).toMatchObject({ status: 201, error, text: whole.slice(0, Math.floor(whole.length / 2)) });
    expect(answer.headers).toMatchObject({
      "content-length": `${whole.length}`,
      "content-type": "application/json",
    });
    expect(emulator.requests.map(({ status }) => status)).toEqual([201]);
  });

  it("of a scripted answer leaves the endpoints alone", async () => {
    const emulator = await start();
    emulator.intercept(always, { status: 200, body: { endpoints: [] }, cut: "end" });
    const answer = await send(emulator, "POST", "/endpoints", { url });
    expect(answer).toMatchObject({ status: 200, text: '{"endpoi', error: failure.closed });
    expect(emulator.endpoints).toEqual([]);
  });

  it("of one byte is a head alone", async () => {
    const emulator = await start();
    emulator.intercept(always, { status: 200, body: "x", cut: "stall" });
    expect(await send(emulator, "GET", "/endpoints", undefined, SHORT)).toMatchObject({
      status: 200,
      text: "",
      error: failure.silence,
    });
  });

  it("that is empty is an answer like any other, since nothing of it can be missing", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    emulator.intercept(always, { afterCommit: true, cut: "stall" });
    const answer = await send(emulator, "DELETE", `/endpoints/${id}`);
    expect([answer.status, answer.text, answer.error]).toEqual([204, "", undefined]);
    expect(emulator.endpoints).toEqual([]);
  });
});

describe("a proxy's page", () => {
  it.each([200, 502])("with the status %i has the content type that was scripted", async (status) => {
    const emulator = await start();
    const headers = { "Content-Type": "text/html" };
    emulator.intercept(always, { afterCommit: true, status, headers, body: "<p>sign in" });
    const answer = await send(emulator, "POST", "/endpoints", { url });
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([
      status,
      "text/html",
      "<p>sign in",
    ]);
    expect(emulator.endpoints).toHaveLength(1);
  });

  it("can stand over the real answer's type, with its status and body", async () => {
    const emulator = await start();
    emulator.intercept(always, { afterCommit: true, headers: { "content-type": "text/plain" } });
    const answer = await send(emulator, "POST", "/endpoints", { url });
    expect([answer.status, answer.headers["content-type"]]).toEqual([201, "text/plain"]);
    expect(JSON.parse(answer.text)).toEqual(emulator.endpoints[0]);
  });
});

describe("a client that waits for ever", () => {
  const forms: [string, ScriptedReply][] = [
    ["a hanging connection", { hang: true }],
    ["a hanging connection after the effect", { afterCommit: true, hang: true }],
    ["a stalled body", { afterCommit: true, cut: "stall" }],
    ["a long delay", { afterCommit: true, delayMs: 60_000 }],
  ];
  it.each(forms)(
    "on %s is sent away when the emulator closes, which it does at once",
    async (_case, reply) => {
      const emulator = await start();
      emulator.intercept(always, reply);
      const headers = { authorization: `Bearer ${emulator.apiKey}`, "service-version": "2" };
      const waiting = request(`${emulator.baseUrl}/endpoints`, { headers }).then(({ body }) => body.text());
      const failed = expect(waiting).rejects.toThrow();
      await expect.poll(() => emulator.requests.length).toBe(1);
      await wait(30);
      await emulator.close();
      await failed;
    },
  );

  it("and leaves does no harm, whatever was to come", async () => {
    const answered: RecordedRequest[] = [];
    const emulator = await start({ onAnswer: (record) => answered.push(record) });
    for (const form of [{ hang: true }, { reset: true }, { afterCommit: true, cut: "end" }] as const) {
      emulator.intercept(always, { ...form, delayMs: 100 });
      const leaving = new AbortController();
      const sent = fetch(`${emulator.baseUrl}/endpoints`, { signal: leaving.signal }).catch(() => {});
      const before = answered.length;
      await expect.poll(() => emulator.requests.length).toBe(before + 1);
      leaving.abort();
      await sent;
      await expect.poll(() => answered.length).toBe(before + 1);
    }
    expect((await send(emulator, "GET", "/endpoints")).status).toBe(200);
  });
});

describe("the log of a fault", () => {
  it("has the status that the client saw, or 0, and each is reported once", async () => {
    const answered: RecordedRequest[] = [];
    const emulator = await start({ onAnswer: (record) => answered.push(record) });
    emulator.intercept(always, { afterCommit: true, status: 503 });
    emulator.intercept(always, { afterCommit: true, reset: true });
    emulator.intercept(always, { hang: true });
    for (const patience of [undefined, undefined, SHORT])
      await send(emulator, "GET", "/endpoints", undefined, patience);
    expect(emulator.requests.map(({ status }) => status)).toEqual([503, 0, 0]);
    expect(answered).toEqual(emulator.requests);
  });
});
