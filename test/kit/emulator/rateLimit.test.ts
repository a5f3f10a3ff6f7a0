import { describe, expect, it } from "vitest";
import { Emulator, type RateLimit } from "../../../sdk/testing/emulator";
import { call, expectError, frozen } from "./requests";

const url = "https://a.example.com";
const always = () => true;

async function limited(rateLimit: RateLimit) {
  const { emulator, pass } = await frozen({ rateLimit });
  return { emulator, pass, list: () => call(emulator, "GET", "/endpoints") };
}

describe("a rate limit", () => {
  it("refuses further requests with code 226, without an effect and without a Retry-After", async () => {
    const { emulator, list } = await limited({ requests: 2, windowSeconds: 60 });
    for (let time = 0; time < 2; time++) expect((await list()).status).toBe(200);
    const refused = await call(emulator, "POST", "/endpoints", { body: { url } });
    expectError(refused, 226, 429);
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(emulator.endpoints).toEqual([]);
  });

  it("counts the accepted requests of the last windowSeconds", async () => {
    const { list, pass } = await limited({ requests: 2, windowSeconds: 60 });
    await list();
    pass(40_000);
    await list();
    pass(19_999);
    for (let time = 0; time < 5; time++) expect((await list()).status).toBe(429);
    pass(1);
    expect((await list()).status).toBe(200);
    expect((await list()).status).toBe(429);
    pass(40_000);
    expect((await list()).status).toBe(200);
  });

  it("is checked after the credentials and the version, and before the path", async () => {
    const { emulator, list } = await limited({ requests: 1, windowSeconds: 60 });
    const without = (name: string) => call(emulator, "GET", "/endpoints", { headers: { [name]: null } });
    for (let time = 0; time < 2; time++) {
      expectError(await without("authorization"), 200, 401);
      expectError(await without("service-version"), 218, 400);
    }
    expect((await list()).status).toBe(200);
    expectError(await call(emulator, "GET", "/nothing"), 226, 429);
  });

  it("counts requests with scripted replies, and never refuses them", async () => {
    const { emulator, list, pass } = await limited({ requests: 2, windowSeconds: 60 });
    emulator.intercept(always, { status: 503 }, 3);
    for (const _time of [1, 2, 3]) {
      expect((await list()).status).toBe(503);
      pass(10_000);
    }
    pass(39_999);
    expect((await list()).status).toBe(429);
    pass(1);
    expect((await list()).status).toBe(200);
    expect((await list()).status).toBe(429);
  });

  it.each([
    { requests: 0, windowSeconds: 1 },
    { requests: 1, windowSeconds: 0 },
    { requests: Number.NaN, windowSeconds: 1 },
  ])("is refused at the start if it is invalid: %j", async (rateLimit) => {
    await expect(Emulator.start({ rateLimit })).rejects.toThrow(RangeError);
  });
});
