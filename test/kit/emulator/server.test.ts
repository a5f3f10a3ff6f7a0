import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import type { RecordedRequest } from "../../../sdk/testing/types";
import { send, start } from "./requests";

const url = "https://a.example.com";

it("the key is random, in the service's form, and every reply has another operation id", async () => {
  const emulator = await start();
  expect(emulator.apiKey).toMatch(/^[0-9A-Za-z]{27}_[0-9A-Za-z]{21}$/);
  const ids = [1, 2].map(async () => (await send(emulator, "GET", "/endpoints")).headers["operation-id"]);
  expect(new Set(await Promise.all(ids)).size).toBe(2);
});

describe("the log of requests", () => {
  it("contains each request with its query, body and status, and never the key", async () => {
    const emulator = await start({ basePath: "/api" });
    await send(emulator, "POST", "/endpoints", { body: { url }, headers: { "x-test": "1" } });
    await send(emulator, "GET", "/endpoints?limit=5");
    await send(emulator, "POST", "/endpoints", { text: "{no" });
    const path = "/endpoints";
    expect(emulator.requests).toMatchObject([
      { method: "POST", path, query: {}, body: { url }, status: 201, headers: { "x-test": "1" } },
      { method: "GET", path, query: { limit: "5" }, status: 200 },
      { method: "POST", path, body: "{no", status: 400 },
    ]);
    expect(emulator.requests[1]).not.toHaveProperty("body");
    expect(JSON.stringify(emulator.requests)).not.toContain(emulator.apiKey);
  });

  it("is in order of arrival, even if a later request is answered first", async () => {
    const answered: RecordedRequest[] = [];
    const emulator = await start({ onAnswer: (record) => answered.push(record) });
    const slow = httpRequest(`${emulator.baseUrl}/endpoints`, { method: "POST" });
    slow.flushHeaders();
    await expect.poll(() => emulator.requests.length).toBe(1);
    expect(emulator.requests[0]?.status).toBe(0);
    await send(emulator, "GET", "/endpoints");
    slow.end();
    await once(slow, "response");
    expect(emulator.requests.map(({ method, status }) => `${method} ${status}`)).toEqual([
      "POST 401",
      "GET 200",
    ]);
    expect(answered.map(({ method }) => method)).toEqual(["GET", "POST"]);
  });
});

describe("the server", () => {
  it("keeps running after a client disconnects while sending, or sends something other than HTTP", async () => {
    const emulator = await start();
    const headers = { "content-length": "100" };
    const leaving = httpRequest(`${emulator.baseUrl}/endpoints`, { method: "POST", headers });
    leaving.on("error", () => {});
    leaving.write("{");
    await expect.poll(() => emulator.requests.length).toBe(1);
    leaving.destroy();
    const raw = connect(Number(new URL(emulator.baseUrl).port), "127.0.0.1");
    raw.on("error", () => {});
    raw.write("nonsense\r\n\r\n");
    await once(raw, "close");
    expect((await send(emulator, "GET", "/endpoints")).status).toBe(200);
    expect(emulator.endpoints).toEqual([]);
  });

  it("frees its port when it closes, even if requests are in progress", async () => {
    const emulator = await start();
    emulator.intercept(({ method }) => method === "GET", { status: 200, delayMs: 60_000 });
    const cut = send(emulator, "GET", "/endpoints");
    const headers = { "content-length": "100" };
    const sending = httpRequest(`${emulator.baseUrl}/endpoints`, { method: "POST", headers });
    sending.on("error", () => {});
    sending.write("{");
    await expect.poll(() => emulator.requests.length).toBe(2);
    await emulator.close();
    expect((await cut).error).toBeDefined();
    const again = await start({ port: Number(new URL(emulator.baseUrl).port) });
    expect(again.baseUrl).toBe(emulator.baseUrl);
    await emulator.close();
  });
});
