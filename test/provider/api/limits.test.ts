import { describe, expect, test } from "vitest";
import { service, thrown } from "../service";

const any = () => true;
const url = "https://shop.example.com";
const refused = { status: 429, body: { error_code: "ERR_NGROK_226", msg: "rate" } };

describe("a 429", () => {
  test.each([
    ["for the seconds of its Retry-After", { "retry-after": "7" }, 7],
    ["for a full window without a Retry-After", undefined, 60],
    ["for at least a second", { "retry-after": "0" }, 1],
  ])("holds all requests %s", async (_, headers, seconds) => {
    const { api, emulator, waits } = await service();
    emulator.intercept(any, { ...refused, ...(headers && { headers }) });
    await Promise.all([api.create({ url }), api.create({ url: "https://other.example.com" })]);
    expect(emulator.endpoints).toHaveLength(2);
    expect(Math.round((waits[0] ?? 0) / 1000)).toBe(seconds);
  });

  test("is repeated for up to ten minutes", async () => {
    const { api, emulator } = await service();
    emulator.intercept(any, refused, 9);
    await api.create({ url });
    emulator.intercept(any, refused, 11);
    await expect(api.create({ url: "https://b.example.com" })).rejects.toThrow(/429.*wait a minute/);
  });

  test("ends all waiting requests after ten minutes without another reply", async () => {
    const { api, emulator, clock } = await service();
    emulator.intercept(any, refused, 999);
    const began = clock.now();
    const errors = await Promise.all(Array.from({ length: 30 }, () => thrown(api.get("ep_1"))));
    expect(new Set(errors.map(({ message }) => /429/.test(message)))).toEqual(new Set([true]));
    expect(clock.now() - began).toBeLessThan(11 * 60_000);
  });

  test("that asks for more than ten minutes fails at once, with the wait in the message", async () => {
    const { api, emulator, waits } = await service();
    emulator.intercept(any, { ...refused, headers: { "retry-after": "3600" } });
    const error = await thrown(api.get("ep_1"));
    expect(error.message).toMatch(/429.*asks to wait 3600 s/);
    expect(waits).toEqual([]);
  });
});

describe("a long wait", () => {
  test("for the service is logged once, with its length and a possible reason", async () => {
    const { api, emulator, logged } = await service();
    emulator.intercept(any, refused, 2);
    await api.create({ url });
    expect(logged).toEqual([
      expect.stringMatching(
        /^requests wait 60 s, because the service reports .*Others may use the account too/,
      ),
    ]);
  });

  test("for our own budget is logged once, with the budget's settings", async () => {
    const { api, logged } = await service({ settings: { "endpoints:requestsPerWindow": "3" } });
    await Promise.all(Array.from({ length: 8 }, () => thrown(api.get("ep_1"))));
    expect(logged).toEqual([
      expect.stringMatching(
        /^requests wait 60 s, to keep to the account's budget of 3 requests in 60 s \(endpoints:requestsPerWindow/,
      ),
    ]);
  });
});
