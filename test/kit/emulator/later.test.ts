import { describe, expect, it } from "vitest";
import type { ScriptedReply } from "../../../sdk/testing";
import { call, create, expectError, failure, frozen, list, SHORT, send, tryCreate } from "./requests";

const url = "https://a.example.com";
const always = () => true;

describe("with listLag, the list", () => {
  it("shows creates, updates and deletes only after the lag, unlike a read by id", async () => {
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

  it("continues after the last item of a page, even if that item is deleted by now", async () => {
    const { emulator } = await frozen({ listLag: 1000, pageSize: 1 });
    const [second, first] = ["2", "1"].map((day) =>
      emulator.seed({ type: "cloud", created_at: `2025-01-0${day}T00:00:00Z` }),
    );
    emulator.remove(second?.id ?? "");
    expect((await list(emulator)).endpoints).toEqual([second]);
    expect((await list(emulator, `?before_id=${second?.id}`)).endpoints).toEqual([first]);
  });

  it("lags until behave changes the option, or for a single scripted request", async () => {
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

describe("with lateMs, a request", () => {
  it.each<[ScriptedReply, object]>([
    [{ lateMs: 4000, reset: true }, { error: failure.reset }],
    [{ lateMs: 4000, hang: true }, { error: failure.silence }],
    [{ lateMs: 4000, status: 504 }, { status: 504 }],
  ])("takes effect after that time, if the reply is %j", async (reply, shown) => {
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
    // The endpoint has the time of its creation, not of the first request after it.
    const made = { url: "https://b.example.com", created_at: "2026-01-02T03:04:09Z" };
    expect((await list(emulator)).endpoints).toMatchObject([made, { id: changed.id, description: "d" }]);
    expect(emulator.endpoints).toMatchObject([made, { id: changed.id }]);
  });

  it("takes effect in the order of the set times, and is refused if the URL is in use by then", async () => {
    const { emulator, pass } = await frozen();
    emulator.intercept(always, { lateMs: 3000, reset: true });
    emulator.intercept(always, { lateMs: 1000, reset: true });
    await send(emulator, "POST", "/endpoints", { url, description: "first" });
    await send(emulator, "POST", "/endpoints", { url, description: "second" });
    pass(5000);
    expect(emulator.endpoints).toMatchObject([{ description: "second", created_at: "2026-01-02T03:04:06Z" }]);
  });

  it("takes effect before the next request and before the next edit", async () => {
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
});

describe("with busyUrl, a URL", () => {
  it.each([18006, 18016, 18017] as const)(
    "is refused with code %i for the given time after its endpoint is deleted or moved",
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

  it("is accepted at once while another endpoint of its pool remains", async () => {
    const { emulator } = await frozen({ busyUrl: { ms: 3000, code: 18017 } });
    const pooled = { url, pooling_enabled: true };
    const [one, other] = [await create(emulator, pooled), await create(emulator, pooled)];
    await call(emulator, "DELETE", `/endpoints/${one.id}`);
    await create(emulator, pooled);
    const { status } = await call(emulator, "PATCH", `/endpoints/${other.id}`, { body: { bindings: [] } });
    expect(status).toBe(200);
  });
});

it("busy refuses a URL that no endpoint had, as the service does after a domain is reserved", async () => {
  const { emulator, pass } = await frozen();
  emulator.busy("https://A.example.com", { ms: 1000, code: 18006 });
  expectError(await tryCreate(emulator, { url }), 18006, 400);
  pass(1000);
  await create(emulator, { url });
});
