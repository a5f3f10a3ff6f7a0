import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../../sdk/testing";
import { thrown } from "../service";
import { conflict, countCreates, isCreate, isList, start, url } from "./creates";

/** An endpoint with our URL and content, of this age in minutes. */
const leftover = (age: number) => ({
  type: "cloud" as const,
  url,
  description: "x",
  created_at: new Date(Date.now() - age * 60_000).toISOString(),
});

test.each([401, 403, 404])(
  "a create that the service refuses with %i is neither repeated nor followed by a look at the list",
  async (status) => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { status, body: "" });
    await expect(core.create({ url })).rejects.toThrow(`status ${status}`);
    expect(emulator.requests).toHaveLength(1);
  },
);

describe("a create that the service refuses names the endpoint that has the URL", () => {
  test.each<[string, ScriptedReply]>([
    ["18017 and 400", conflict],
    ["18009 and 409", { status: 409, body: { error_code: "ERR_NGROK_18009", msg: "exists" } }],
    ["422 without a code", { status: 422, body: "" }],
    ["409 of a gateway", { status: 409, body: "<html>" }],
  ])("after %s", async (_, refusal) => {
    const { core, emulator } = await start();
    const { id } = emulator.seed({ ...leftover(5), description: "theirs" });
    emulator.intercept(isCreate, refusal, 9);
    const { message } = await thrown(core.create({ url, description: "x" }));
    expect(message).toContain(`${url} is served by ${id}, a cloud endpoint, created at `);
    expect(message).toMatch(
      /described as “theirs”\. If you renamed or moved this resource, give it aliases.*Otherwise another stack, program or person may manage it.*set adopt/,
    );
    expect(countCreates(emulator.requests)).toBe(1);
  });

  test("with both ways to take it over if its content is that of the program", async () => {
    const { core, emulator } = await start();
    const { id } = emulator.seed(leftover(5));
    const { message } = await thrown(core.create({ url, description: "x" }));
    expect(message).toMatch(
      new RegExp(
        `If you renamed.*a killed run left it behind, with exactly this content: then set adopt: "${id}"`,
      ),
    );
  });

  test("without the advice to adopt it if it is an agent's", async () => {
    const { core, emulator } = await start();
    const { id } = emulator.seed({ type: "ephemeral", url });
    emulator.intercept(isCreate, conflict, 9);
    const { message } = await thrown(core.create({ url }));
    expect(message).toMatch(
      new RegExp(`is served by ${id}, an endpoint of type ephemeral.*stop the agent or edge that serves it`),
    );
    expect(message).not.toContain("set adopt");
  });

  test("also if a filtered list shows only a member of a pool", async () => {
    const { core, emulator } = await start();
    emulator.behave({ filters: "incomplete" });
    emulator.seed({ ...leftover(6), pooling_enabled: true });
    const { id } = emulator.seed(leftover(5));
    emulator.intercept(isCreate, conflict, 9);
    const { message } = await thrown(core.create({ url, poolingEnabled: true }));
    expect(message).toContain(`${url} is served by ${id}, a cloud endpoint`);
  });
});

describe("a create that the service refuses", () => {
  test.each([
    ["the list shows no endpoint on the URL", 0],
    ["the list cannot be read", 9],
  ])("without a code fails with a next step if %s", async (_, unreadable) => {
    const { core, emulator } = await start();
    emulator.intercept(isList, { status: 200, body: "" }, unreadable);
    emulator.intercept(isCreate, { status: 409, body: "" }, 9);
    const error = await thrown(core.create({ url }));
    expect(error.message).toMatch(/status 409.*[Rr]un the command again.*choose another url/);
  });

  test("fails with the refusal if the key may not list endpoints", async () => {
    const { core, emulator } = await start();
    emulator.seed(leftover(5));
    emulator.intercept(isList, { status: 403, body: "" });
    await expect(core.create({ url, description: "x" })).rejects.toThrow(/ERR_NGROK_180.*choose another url/);
  });

  test("is sent again for some seconds if nothing has the URL", async () => {
    for (const code of [18006, 18016, 18017]) {
      const { core, emulator, waits } = await start();
      const refusal = { status: 400, body: { error_code: `ERR_NGROK_${code}`, msg: "not yet" } };
      emulator.intercept(isCreate, refusal, 3);
      await core.create({ url });
      expect(countCreates(emulator.requests)).toBe(4);
      expect(waits).toEqual([1_000, 2_000, 4_000]);

      emulator.intercept(isCreate, refusal, 9);
      const { message } = await thrown(core.create({ url: "https://other.example.com" }));
      expect(message).toContain(`ERR_NGROK_${code}`);
      expect(countCreates(emulator.requests)).toBe(8);
    }
  });

  test.each(["deleted", "moved to another URL"])(
    "is sent again if the list still shows an endpoint that this run %s",
    async (how) => {
      const { core, emulator } = await start();
      const first = await core.create({ url });
      const shown = emulator.endpoints;
      if (how === "deleted") await core.delete(first.id, first.outs);
      else await core.update(first.id, first.outs, { url: "https://moved.example.com" });
      emulator.intercept(isCreate, conflict, 2);
      emulator.intercept(isList, { status: 200, body: { endpoints: shown, next_page_uri: null } }, 9);
      expect((await core.create({ url })).id).not.toBe(first.id);
    },
  );

  test("reads each other member of its pool once", async () => {
    const { core, emulator } = await start();
    for (let index = 0; index < 5; index++) emulator.seed({ ...leftover(6), pooling_enabled: true });
    emulator.intercept(isCreate, { status: 400, body: { error_code: "ERR_NGROK_18020", msg: "full" } }, 9);
    await thrown(core.create({ url, poolingEnabled: true }));
    expect(emulator.requests.filter(({ path }) => /ep_/.test(path))).toHaveLength(5);
  });

  test("shares a reading of the list with other refused creates", async () => {
    const { core, emulator } = await start();
    emulator.intercept(isCreate, { status: 400, body: { error_code: "ERR_NGROK_2201", msg: "x" } }, 99);
    const urls = Array.from({ length: 20 }, (_, index) => `https://n${index}.example.com`);
    await Promise.all(urls.map((each) => thrown(core.create({ url: each }))));
    expect(emulator.requests.filter(isList).length).toBeLessThanOrEqual(5);
  });
});
