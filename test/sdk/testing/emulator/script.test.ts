import { describe, expect, it, test } from "vitest";
import { gatewayReply, type RecordedRequest } from "../../../../sdk/testing";
import { call, create, failure, SHORT, send, start } from "./requests";

const url = "https://a.example.com";
const always = () => true;

/* The forms that a disturbance has too (errors, resets, silence, cut bodies) are tested with each kind of it. */

describe("a scripted reply", () => {
  it("is given as often as it says, without any effect, and then the service answers", async () => {
    const emulator = await start();
    const script = { status: 429, headers: { "Retry-After": "3" }, body: { error_code: "ERR_NGROK_226" } };
    emulator.intercept(({ method }) => method === "POST", script, 2);
    expect((await call(emulator, "GET", "/endpoints")).status).toBe(200);
    for (let time = 0; time < 2; time++) {
      const reply = await call<object>(emulator, "POST", "/endpoints", { body: { url } });
      expect([reply.status, reply.headers.get("retry-after"), reply.body]).toEqual([429, "3", script.body]);
    }
    expect(emulator.endpoints).toEqual([]);
    expect((await call(emulator, "POST", "/endpoints", { body: { url } })).status).toBe(201);
    expect(emulator.requests.map(({ status }) => status)).toEqual([200, 429, 429, 201]);
  });

  it("for an operation takes its requests and no others, and the one that was added first is used first", async () => {
    const emulator = await start();
    emulator.seed({ type: "cloud", id: "ep_1", url: "https://b.example.com" });
    const operations = ["create", "list", "read", "update", "delete"] as const;
    for (const [index, operation] of operations.entries())
      emulator.intercept(operation, { status: 410 + index });
    emulator.intercept(always, { status: 503 }, 5);
    const statuses = async () => [
      (await send(emulator, "POST", "/endpoints", { url })).status,
      (await send(emulator, "GET", "/endpoints")).status,
      (await send(emulator, "GET", "/endpoints/ep_1")).status,
      (await send(emulator, "PATCH", "/endpoints/ep_1", { description: "d" })).status,
      (await send(emulator, "DELETE", "/endpoints/ep_1")).status,
    ];
    expect(await statuses()).toEqual([410, 411, 412, 413, 414]);
    expect(await statuses()).toEqual([503, 503, 503, 503, 503]);
    expect(await statuses()).toEqual([201, 200, 200, 200, 204]);
  });

  it("has the headers that it names over those of the service, and lacks one that is null", async () => {
    const emulator = await start();
    const problem = "application/problem+json";
    emulator.intercept(always, { status: 400, headers: { "Content-Type": problem }, body: {} });
    expect((await call(emulator, "GET", "/endpoints")).headers.get("content-type")).toBe(problem);
    emulator.intercept(always, { afterCommit: true, headers: { Date: null } });
    expect((await call(emulator, "GET", "/endpoints")).headers.get("date")).toBeNull();
  });

  it("can be made of the request, and of the real body, which is empty where there is none", async () => {
    const emulator = await start();
    const body = (real: object, request: object) => ({ real, request });
    emulator.intercept("create", { status: 201, body });
    const reply = await call<object>(emulator, "POST", "/endpoints", { body: { url } });
    expect(reply.body).toMatchObject({ real: {}, request: { method: "POST", body: { url } } });
    expect(emulator.endpoints).toEqual([]);
  });

  it("with a delay waits after the effect, not before it", async () => {
    const emulator = await start();
    emulator.intercept(always, { afterCommit: true, delayMs: 60_000 });
    const answer = send(emulator, "POST", "/endpoints", { url });
    await expect.poll(() => emulator.endpoints.length).toBe(1);
    expect(emulator.requests[0]?.status).toBe(0);
    await emulator.close();
    expect((await answer).status).toBeUndefined();
  });

  it("that cuts a single byte is a head alone", async () => {
    const emulator = await start();
    emulator.intercept(always, { status: 200, body: "x", cut: "stall" });
    const answer = await send(emulator, "GET", "/endpoints", undefined, SHORT);
    expect(answer).toMatchObject({ status: 200, text: "", error: failure.silence });
  });

  it("that cuts an empty body is whole, since nothing of it can be missing", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    emulator.intercept(always, { afterCommit: true, cut: "stall" });
    const answer = await send(emulator, "DELETE", `/endpoints/${id}`);
    expect([answer.status, answer.text, answer.error]).toEqual([204, "", undefined]);
    expect(emulator.endpoints).toEqual([]);
  });

  it("is logged with the status that the client saw, or 0, and reported once", async () => {
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

  it("does no harm to a client that has left, whatever was to come", async () => {
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

test.each([
  ["html", expect.stringMatching(/^<html>/)],
  ["json", { msg: expect.any(String) }],
  ["coded", { msg: expect.any(String), error_code: "GW_502" }],
] as const)("a gateway's own answer as %s has the status that was asked for", (form, body) => {
  expect(gatewayReply(form, 502)).toMatchObject({ status: 502, body });
});
