import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import type { RecordedRequest } from "../../../sdk/testing/types";
import { call, create, type ErrorBody, expectError, start } from "./requests";

const url = "https://a.example.com";

describe("a request", () => {
  it.each([
    ["without credentials", null, 200, 401],
    ["with another scheme", "Basic abc", 201, 401],
    ["without a key", "Bearer", 201, 401],
    ["with a malformed key", "Bearer secret", 202, 401],
    ["with the id of a key", "Bearer ak_2abc", 208, 403],
    ["with an unknown key", `Bearer ${"a".repeat(27)}_${"b".repeat(21)}`, 203, 403],
  ])("%s is refused before any other check", async (_case, authorization, code, status) => {
    const emulator = await start();
    const headers = { authorization, "service-version": null };
    expectError(await call(emulator, "PUT", "/nothing", { headers }), code, status);
  });

  it("needs the given key, or a generated one in the service's form", async () => {
    expect((await start()).apiKey).toMatch(/^[0-9A-Za-z]{27}_[0-9A-Za-z]{21}$/);
    const emulator = await start({ apiKey: "my-key" });
    expect((await call(emulator, "GET", "/endpoints")).status).toBe(200);
  });

  it("needs the version header with the value 2", async () => {
    const emulator = await start();
    expectError(
      await call(emulator, "GET", "/endpoints", { headers: { "service-version": null } }),
      218,
      400,
    );
    expectError(await call(emulator, "GET", "/endpoints", { headers: { "service-version": "1" } }), 217, 400);
  });

  it("needs the version header of the option versionHeader", async () => {
    const emulator = await start({ versionHeader: "Ngrok-Version" });
    expect((await call(emulator, "GET", "/endpoints")).status).toBe(200);
    const headers = { "ngrok-version": null, "service-version": "2" };
    expectError(await call(emulator, "GET", "/endpoints", { headers }), 218, 400);
  });
});

describe("a body", () => {
  it.each([
    ["without a content type", '{"url":"https://a.example.com"}', { "content-type": null }, 216],
    ["of another content type", '{"url":"https://a.example.com"}', { "content-type": "text/plain" }, 210],
    ["of a type that only starts like JSON's", "{}", { "content-type": "application/jsonl" }, 210],
    ["that is not JSON", '{"url":', {}, 213],
    ["that is empty", "", {}, 213],
    ["that is a list", "[]", {}, 213],
    ["that is null", "null", {}, 213],
  ])("%s is refused", async (_case, text, headers, code) => {
    expectError(await call(await start(), "POST", "/endpoints", { text, headers }), code, 400);
  });

  it("may name a charset in its content type", async () => {
    const headers = { "content-type": "application/json; charset=utf-8" };
    expect((await call(await start(), "POST", "/endpoints", { body: { url }, headers })).status).toBe(201);
  });

  it("is refused for DELETE", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    expectError(await call(emulator, "DELETE", `/endpoints/${id}`, { body: {} }), 211, 400);
    expect(emulator.endpoints).toHaveLength(1);
  });

  it("of more than 5 MB is refused with 413", async () => {
    const body = { url, metadata: "m".repeat(5 * 1024 * 1024) };
    expectError(await call(await start(), "POST", "/endpoints", { body }), 212, 413);
  });
});

describe("a path", () => {
  it.each(["/", "/endpoint", "/endpoints/", "/endpoints/ep_1/more", "/tunnels", "/endpoints/ep_unknown"])(
    "%s is not found",
    async (path) => {
      expectError(await call(await start(), "GET", path), 222, 404);
    },
  );

  it.each([
    ["PUT", "/endpoints"],
    ["DELETE", "/endpoints"],
    ["PATCH", "/endpoints"],
    ["POST", "/endpoints/ep_1"],
  ])("does not allow %s %s", async (method, path) => {
    expectError(await call(await start(), method, path), 27614, 405);
  });

  it.each(["GET", "PATCH", "DELETE"])(
    "with an id that does not start with ep_ is refused for %s",
    async (method) => {
      const body = method === "PATCH" ? { body: { description: "d" } } : {};
      expectError(await call(await start(), method, "/endpoints/tn_1", body), 227, 400);
    },
  );

  it("starts with basePath, as do the URIs in the answers", async () => {
    const emulator = await start({ basePath: "/api/v2/", pageSize: 1 });
    expect(emulator.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v2$/);
    const { id, uri } = await create(emulator, { url });
    emulator.seed({ type: "edge" });
    expect(uri).toBe(`${emulator.baseUrl}/endpoints/${id}`);
    const { body } = await call<{ next_page_uri: string }>(emulator, "GET", "/endpoints");
    expect(body.next_page_uri.startsWith(`${emulator.baseUrl}/endpoints?`)).toBe(true);
    expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints", "/endpoints"]);
    expectError(await call(emulator, "GET", "/../../endpoints"), 222, 404);
  });
});

it("every answer has a different operation id", async () => {
  const emulator = await start();
  const good = await call(emulator, "GET", "/endpoints");
  const bad = await call<ErrorBody>(emulator, "GET", "/endpoints/ep_1");
  expect(good.headers.get("operation-id")).toMatch(/^op_\w{27}$/);
  expect(bad.headers.get("operation-id")).toBe(bad.body.details.operation_id);
  expect(bad.headers.get("operation-id")).not.toBe(good.headers.get("operation-id"));
});

describe("the log of requests", () => {
  it("contains each request with its query, body and status, and never the key", async () => {
    const emulator = await start();
    await call(emulator, "POST", "/endpoints", { body: { url }, headers: { "x-test": "1" } });
    await call(emulator, "GET", "/endpoints?limit=5");
    await call(emulator, "POST", "/endpoints", { text: "{no" });
    expect(emulator.requests).toMatchObject([
      {
        method: "POST",
        path: "/endpoints",
        query: {},
        body: { url },
        status: 201,
        headers: { "x-test": "1" },
      },
      { method: "GET", path: "/endpoints", query: { limit: "5" }, status: 200 },
      { method: "POST", path: "/endpoints", body: "{no", status: 400 },
    ]);
    expect(emulator.requests[1]).not.toHaveProperty("body");
    expect(JSON.stringify(emulator.requests)).not.toContain(emulator.apiKey);
    expect(emulator.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  it("is in order of arrival, even if a later request is answered first", async () => {
    const answered: RecordedRequest[] = [];
    const emulator = await start({ onAnswer: (record) => answered.push(record) });
    const slow = httpRequest(`${emulator.baseUrl}/endpoints`, { method: "POST" });
    slow.flushHeaders();
    await expect.poll(() => emulator.requests.length).toBe(1);
    expect(emulator.requests[0]?.status).toBe(0);
    await call(emulator, "GET", "/endpoints");
    slow.end();
    await once(slow, "response");
    expect(emulator.requests.map(({ method, status }) => [method, status])).toEqual([
      ["POST", 401],
      ["GET", 200],
    ]);
    expect(answered.map(({ method }) => method)).toEqual(["GET", "POST"]);
  });
});

describe("the server", () => {
  it("keeps running after a client disconnects while sending, or sends something other than HTTP", async () => {
    const emulator = await start();
    const leaving = httpRequest(`${emulator.baseUrl}/endpoints`, {
      method: "POST",
      headers: { "content-length": "100" },
    });
    leaving.on("error", () => {});
    leaving.write("{");
    await expect.poll(() => emulator.requests.length).toBe(1);
    leaving.destroy();
    const raw = connect(Number(new URL(emulator.baseUrl).port), "127.0.0.1");
    raw.on("error", () => {});
    raw.write("nonsense\r\n\r\n");
    await once(raw, "close");
    expect((await call(emulator, "GET", "/endpoints")).status).toBe(200);
    expect(emulator.endpoints).toEqual([]);
  });

  it("frees its port when it closes, even if requests are in progress", async () => {
    const emulator = await start();
    emulator.intercept(({ method }) => method === "GET", { status: 200, delayMs: 60_000 });
    const failed = expect(call(emulator, "GET", "/endpoints")).rejects.toThrow();
    const headers = { "content-length": "100" };
    const sending = httpRequest(`${emulator.baseUrl}/endpoints`, { method: "POST", headers });
    sending.on("error", () => {});
    sending.write("{");
    await expect.poll(() => emulator.requests.length).toBe(2);
    await emulator.close();
    await failed;
    const again = await start({ port: Number(new URL(emulator.baseUrl).port) });
    expect(again.baseUrl).toBe(emulator.baseUrl);
    await emulator.close();
  });
});
