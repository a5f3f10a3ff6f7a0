import { describe, expect, it } from "vitest";
import { Emulator, type RateLimit } from "../../../../sdk/testing/emulator";
import { call, expectError, start } from "./requests";

const url = "https://a.example.com";
const always = () => true;

/** An emulator whose clock stands still until it is told otherwise. */
async function limited(rateLimit: RateLimit) {
  let time = Date.parse("2026-01-02T03:04:05Z");
  const emulator = await start({ rateLimit, now: () => new Date(time) });
  const list = () => call(emulator, "GET", "/endpoints");
  const pass = (seconds: number) => {
    time += seconds * 1000;
  };
  return { emulator, list, pass };
}

describe("a rate limit", () => {
  it("refuses what is beyond it with 226, before anything takes effect and without a Retry-After", async () => {
    const { emulator, list } = await limited({ requests: 2, windowSeconds: 60 });
    for (let time = 0; time < 2; time++) expect((await list()).status).toBe(200);
    const refused = await call(emulator, "POST", "/endpoints", { body: { url } });
    expectError(refused, 226, 429);
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(emulator.endpoints).toEqual([]);
  });

  it("rolls: each request makes room a window after it came, and refused ones never took any", async () => {
    const { list, pass } = await limited({ requests: 2, windowSeconds: 60 });
    await list();
    pass(40);
    await list();
    pass(19.999);
    for (let time = 0; time < 5; time++) expect((await list()).status).toBe(429);
    pass(0.001);
    expect((await list()).status).toBe(200);
    expect((await list()).status).toBe(429);
    pass(40);
    expect((await list()).status).toBe(200);
  });

  it("is looked at after credentials and version, and before the path", async () => {
    const { emulator, list } = await limited({ requests: 1, windowSeconds: 60 });
    const without = (name: string) => call(emulator, "GET", "/endpoints", { headers: { [name]: null } });
    for (let time = 0; time < 2; time++) {
      expectError(await without("authorization"), 200, 401);
      expectError(await without("service-version"), 218, 400);
    }
    expect((await list()).status).toBe(200);
    expectError(await call(emulator, "GET", "/nothing"), 226, 429);
  });

  it("counts scripted replies, and never refuses one", async () => {
    const { emulator, list, pass } = await limited({ requests: 2, windowSeconds: 60 });
    emulator.intercept(always, { status: 503 }, 3);
    for (const _time of [1, 2, 3]) {
      expect((await list()).status).toBe(503);
      pass(10);
    }
    pass(39.999);
    expect((await list()).status).toBe(429);
    pass(0.001);
    expect((await list()).status).toBe(200);
    expect((await list()).status).toBe(429);
  });

  it("refuses the request behind a scripted fault too, which then has no effect", async () => {
    const { emulator, list } = await limited({ requests: 1, windowSeconds: 60 });
    await list();
    emulator.intercept(always, { afterCommit: true, status: 502 });
    expect((await call(emulator, "POST", "/endpoints", { body: { url } })).status).toBe(502);
    emulator.intercept(always, { afterCommit: true, headers: { "X-Proxy": "1" } });
    const { status, headers } = await list();
    expect([status, headers.get("x-proxy")]).toEqual([429, "1"]);
    expect(emulator.endpoints).toEqual([]);
  });

  it.each([
    { requests: 0, windowSeconds: 1 },
    { requests: 1, windowSeconds: 0 },
    { requests: Number.NaN, windowSeconds: 1 },
  ])("that makes no sense (%j) is refused at the start", async (rateLimit) => {
    await expect(Emulator.start({ rateLimit })).rejects.toThrow(RangeError);
  });
});
