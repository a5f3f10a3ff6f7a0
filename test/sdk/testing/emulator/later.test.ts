import { describe, expect, it } from "vitest";
import type { EmulatorOptions, ScriptedReply } from "../../../../sdk/testing";
import { call, create, expectError, failure, list, SHORT, send, start, tryCreate } from "./requests";

const url = "https://a.example.com";
const always = () => true;

/** An emulator whose clock stands still until it is told otherwise. */
async function frozen(options: EmulatorOptions = {}) {
  let time = Date.parse("2026-01-02T03:04:05.600Z");
  const emulator = await start({ ...options, now: () => new Date(time) });
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { emulator, pass };
}

describe("a list that lags", () => {
  it("lacks what is new, has what is deleted, and shows no edit, until its time has passed", async () => {
    const { emulator, pass } = await frozen({ listLag: 3000 });
    const old = emulator.seed({ type: "cloud", created_at: "2026-01-01T00:00:00Z" });
    const dead = emulator.seed({ type: "cloud", created_at: "2026-01-01T00:00:00Z" });
    const made = await create(emulator, { url });
    const changed = (await call(emulator, "PATCH", `/endpoints/${old.id}`, { body: { description: "d" } }))
      .body;
    await call(emulator, "DELETE", `/endpoints/${dead.id}`);
    for (const milliseconds of [0, 2999]) {
      pass(milliseconds);
      expect((await list(emulator)).endpoints).toEqual([dead, old]);
    }
    expect((await call(emulator, "GET", `/endpoints/${made.id}`)).body).toEqual(made);
    expectError(await call(emulator, "GET", `/endpoints/${dead.id}`), 222, 404);
    expect(emulator.endpoints).toEqual([made, changed]);
    pass(1);
    expect((await list(emulator)).endpoints).toEqual([made, changed]);
  });

  it("goes on where a page ended, though the last item of it is gone by now", async () => {
    const { emulator } = await frozen({ listLag: 1000, pageSize: 1 });
    const [second, first] = ["2", "1"].map((day) =>
      emulator.seed({ type: "cloud", created_at: `2025-01-0${day}T00:00:00Z` }),
    );
    emulator.remove(second?.id ?? "");
    expect((await list(emulator)).endpoints).toEqual([second]);
    expect((await list(emulator, `?before_id=${second?.id}`)).endpoints).toEqual([first]);
  });

  it("can be switched, and can be scripted for one request", async () => {
    const { emulator, pass } = await frozen();
    const made = await create(emulator, { url });
    pass(1000);
    emulator.behave({ listLag: 2000 });
    expect((await list(emulator)).endpoints).toEqual([]);
    emulator.behave({ listLag: 0 });
    expect((await list(emulator)).endpoints).toEqual([made]);
    emulator.intercept(always, { afterCommit: true, behaviour: { listLag: 1001 } });
    expect((await list(emulator)).endpoints).toEqual([]);
    expect((await list(emulator)).endpoints).toEqual([made]);
  });
});

describe("a request that takes effect late", () => {
  it.each<[ScriptedReply, object]>([
    [{ lateMs: 4000, reset: true }, { error: failure.reset }],
    [{ lateMs: 4000, hang: true }, { error: failure.silence }],
    [{ lateMs: 4000, status: 504 }, { status: 504 }],
  ])("by %j has none until then, and then the one that it would have had", async (reply, shown) => {
    const { emulator, pass } = await frozen();
    const [changed, dead] = [await create(emulator, { url }), emulator.seed({ type: "cloud" })];
    emulator.intercept(always, reply, 3);
    const patience = "hang" in reply ? SHORT : undefined;
    const answer = [
      await send(emulator, "POST", "/endpoints", { url: "https://b.example.com" }, patience),
      await send(emulator, "PATCH", `/endpoints/${changed.id}`, { description: "d" }, patience),
      await send(emulator, "DELETE", `/endpoints/${dead.id}`, undefined, patience),
    ];
    expect(answer).toMatchObject([shown, shown, shown]);
    pass(3999);
    expect(emulator.endpoints).toEqual([dead, changed]);
    expect((await list(emulator)).endpoints).toHaveLength(2);
    pass(60_001);
    // Created at its own time, not when somebody looked.
    const made = { url: "https://b.example.com", created_at: "2026-01-02T03:04:09Z" };
    expect((await list(emulator)).endpoints).toMatchObject([made, { id: changed.id, description: "d" }]);
    expect(emulator.endpoints).toMatchObject([made, { id: changed.id }]);
  });

  it("comes in the order of the times that were set, and is refused where it comes too late", async () => {
    const { emulator, pass } = await frozen();
    emulator.intercept(always, { lateMs: 3000, reset: true });
    emulator.intercept(always, { lateMs: 1000, reset: true });
    await send(emulator, "POST", "/endpoints", { url, description: "first" });
    await send(emulator, "POST", "/endpoints", { url, description: "second" });
    pass(5000);
    expect(emulator.endpoints).toMatchObject([{ description: "second", created_at: "2026-01-02T03:04:06Z" }]);
  });

  it("has happened before whoever acts next, by request or by hand", async () => {
    const { emulator, pass } = await frozen();
    const { id } = await create(emulator, { url: "https://b.example.com" });
    emulator.intercept(always, { lateMs: 1000, reset: true }, 2);
    await send(emulator, "PATCH", `/endpoints/${id}`, { description: "late" });
    await send(emulator, "POST", "/endpoints", { url });
    pass(1000);
    emulator.edit(id, { description: "by hand" });
    expectError(await tryCreate(emulator, { url }), 18017, 400);
    expect(emulator.endpoints).toMatchObject([{ url }, { id, description: "by hand" }]);
  });

  it("counts against a rate limit when it comes, and takes effect whatever has come since", async () => {
    const { emulator, pass } = await frozen({ rateLimit: { requests: 1, windowSeconds: 60 } });
    emulator.intercept(always, { lateMs: 1000, reset: true });
    await send(emulator, "POST", "/endpoints", { url });
    expect((await send(emulator, "GET", "/endpoints")).status).toBe(429);
    pass(1000);
    expect(emulator.endpoints).toHaveLength(1);
  });
});

describe("a URL that is not ready", () => {
  it.each([18006, 18016, 18017] as const)(
    "after a delete or a move is refused with %i for so long, though nobody has it",
    async (code) => {
      const { emulator, pass } = await frozen({ busyUrl: { ms: 3000, code } });
      const [dead, moved] = [await create(emulator, { url }), await create(emulator, { url: `${url}:8443` })];
      await call(emulator, "DELETE", `/endpoints/${dead.id}`);
      await call(emulator, "PATCH", `/endpoints/${moved.id}`, { body: { url: "https://b.example.com" } });
      for (const milliseconds of [0, 2999]) {
        pass(milliseconds);
        for (const freed of [url, `${url}:8443`]) {
          expectError(await tryCreate(emulator, { url: freed }), code, 400);
          expectError(await tryCreate(emulator, { url: freed, pooling_enabled: true }), code, 400);
        }
      }
      await create(emulator, { url: "https://c.example.com" });
      pass(1);
      await create(emulator, { url });
      await create(emulator, { url: `${url}:8443` });
    },
  );

  it("is ready as long as one of a pool is left", async () => {
    const { emulator } = await frozen({ busyUrl: { ms: 3000, code: 18017 } });
    const pooled = { url, pooling_enabled: true };
    const [one, other] = [await create(emulator, pooled), await create(emulator, pooled)];
    await call(emulator, "DELETE", `/endpoints/${one.id}`);
    await create(emulator, pooled);
    const { status } = await call(emulator, "PATCH", `/endpoints/${other.id}`, { body: { bindings: [] } });
    expect(status).toBe(200);
  });

  it("can be one that nobody had, as after its domain was reserved", async () => {
    const { emulator, pass } = await frozen();
    emulator.busy("https://A.example.com", { ms: 1000, code: 18006 });
    expectError(await tryCreate(emulator, { url }), 18006, 400);
    pass(1000);
    await create(emulator, { url });
  });
});
