import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { emulatedService } from "../../emulatedService";
import { until } from "../../until";
import { send } from "./requests";

const url = "https://a.example.com";
/** A request whose body does not arrive as a whole. */
const HALF = { method: "POST", headers: { "content-length": "100" } };

test("the log contains each request with its query, body and status, and never the key", async () => {
  const emulator = await emulatedService({ basePath: "/api" });
  expect(emulator.apiKey).toMatch(/^[0-9A-Za-z]{27}_[0-9A-Za-z]{21}$/);
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

test("the log has the order of arrival, even if a later request is answered first or a client disconnects", async () => {
  const answered: string[] = [];
  const emulator = await emulatedService({
    onAnswer: ({ method, status }) => answered.push(`${method} ${status}`),
  });
  const [slow, leaving] = [{ method: "POST" }, HALF].map((options) =>
    httpRequest(`${emulator.baseUrl}/endpoints`, options).on("error", () => {}),
  );
  slow?.flushHeaders();
  await until(() => emulator.requests.length === 1);
  leaving?.write("{");
  await until(() => emulator.requests.length === 2);
  leaving?.destroy();
  await send(emulator, "GET", "/endpoints");
  slow?.end();
  await until(() => answered.length === 2);
  expect(answered).toEqual(["GET 200", "POST 401"]);
  expect(emulator.requests.map(({ status }) => status)).toEqual([401, 0, 200]);
});

test("the emulator frees its port when it closes, even if requests are in progress", async () => {
  const emulator = await emulatedService();
  emulator.intercept("list", { status: 200, delayMs: 60_000 });
  const cut = send(emulator, "GET", "/endpoints");
  const sending = httpRequest(`${emulator.baseUrl}/endpoints`, HALF).on("error", () => {});
  sending.write("{");
  await until(() => emulator.requests.length === 2);
  await emulator.close();
  expect((await cut).error).toBeDefined();
  const again = await emulatedService({ port: Number(new URL(emulator.baseUrl).port) });
  expect(again.baseUrl).toBe(emulator.baseUrl);
});
