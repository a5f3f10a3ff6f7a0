import { describe, expect, it } from "vitest";
import type { RecordedRequest } from "../../../sdk/testing";
import { call, create, SHORT, send, start } from "./requests";

const url = "https://a.example.com";
const always = () => true;

/* disturb.test.ts tests the replies that `disturb` also gives: errors, resets, missing answers, cut bodies. */

describe("a scripted reply", () => {
  it("is given the set number of times without an effect, and then the emulator answers", async () => {
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

  it("for an operation answers its requests only, and earlier scripts take precedence", async () => {
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

  it("can replace headers, and remove one with null", async () => {
    const emulator = await start();
    const problem = "application/problem+json";
    emulator.intercept(always, { status: 400, headers: { "Content-Type": problem }, body: {} });
    expect((await call(emulator, "GET", "/endpoints")).headers.get("content-type")).toBe(problem);
    emulator.intercept(always, { afterCommit: true, headers: { Date: null } });
    expect((await call(emulator, "GET", "/endpoints")).headers.get("date")).toBeNull();
  });

  it("can compute its body from the real body and the request", async () => {
    const emulator = await start();
    const body = (real: object, request: object) => ({ real, request });
    emulator.intercept("create", { status: 201, body });
    const reply = await call<object>(emulator, "POST", "/endpoints", { body: { url } });
    expect(reply.body).toMatchObject({ real: {}, request: { method: "POST", body: { url } } });
    expect(emulator.endpoints).toEqual([]);
  });

  it("with delayMs delays the answer, but not the effect", async () => {
    const emulator = await start();
    emulator.intercept(always, { afterCommit: true, delayMs: 60_000 });
    const answer = send(emulator, "POST", "/endpoints", { url });
    await expect.poll(() => emulator.endpoints.length).toBe(1);
    expect(emulator.requests[0]?.status).toBe(0);
    await emulator.close();
    expect((await answer).status).toBeUndefined();
  });

  it("with cut is complete if the body is empty", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    emulator.intercept(always, { afterCommit: true, cut: "stall" });
    const answer = await send(emulator, "DELETE", `/endpoints/${id}`);
    expect([answer.status, answer.text, answer.error]).toEqual([204, "", undefined]);
    expect(emulator.endpoints).toEqual([]);
  });

  it("is logged and reported once, with the status that the client got, or 0 for none", async () => {
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

  it("does not break the emulator if the client disconnects first", async () => {
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
