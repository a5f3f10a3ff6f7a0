import { describe, expect, it } from "vitest";
import {
  type FaultInjectionOptions,
  type FaultKind,
  faultKinds,
  type ScriptedReply,
} from "../../../sdk/testing";
import { emulatedService } from "../../emulatedService";
import { EmulatorFixture, failure, type Reply, SHORT, send } from "./requests";

const url = "https://a.example.com";
const always = () => true;
const half = expect.stringMatching(/^{"id":[^}]*$/);

const type = (name: string) => ({ "content-type": name });
const JSON_TYPE = type("application/json");
const OWN = '{"type":"cloud","own":1}';
const BARE = '{"real":{},"method":"POST"}';

/** The reply to a create for each script, and whether it creates the endpoint. */
const scripts: [ScriptedReply, object, boolean][] = [
  [{ status: 418 }, { status: 418, text: "" }, false],
  [{ status: 400, body: { msg: "no" } }, { text: '{"msg":"no"}', headers: JSON_TYPE }, false],
  [{ status: 400, headers: { "Content-Type": "a/b" }, body: {} }, { headers: type("a/b") }, false],
  [{ afterCommit: true, status: 502, body: "<html>" }, { status: 502, text: "<html>" }, true],
  [{ afterCommit: true, body: (real) => ({ type: real["type"], own: 1 }) }, { status: 201, text: OWN }, true],
  [{ status: 201, body: (real, { method }) => ({ real, method }) }, { text: BARE }, false],
  [{ reset: true }, { error: failure.reset }, false],
  [{ reset: true, afterCommit: true }, { error: failure.reset }, true],
  [{ hang: true }, { error: failure.silence }, false],
  [{ hang: true, afterCommit: true }, { error: failure.silence }, true],
  [{ afterCommit: true, cut: "end" }, { status: 201, error: failure.closed, text: half }, true],
  [{ afterCommit: true, cut: "stall" }, { status: 201, error: failure.silence, text: half }, true],
  [{ afterCommit: true, cut: "reset" }, { status: 201, error: failure.reset, text: half }, true],
];

/** Sends a create, whose reply may never come. */
const create = (emulator: EmulatorFixture["emulator"], isSilent: boolean): Promise<Reply> =>
  send(emulator, "POST", "/endpoints", { body: { url } }, isSilent ? SHORT : undefined);

describe("intercept", () => {
  it.each(scripts)("with %j gives a create this reply and effect", async (script, reply, isCreated) => {
    const emulator = await emulatedService();
    emulator.intercept("create", script);
    expect(
      await create(emulator, "hang" in script || ("cut" in script && script.cut === "stall")),
    ).toMatchObject(reply);
    expect(emulator.endpoints).toHaveLength(isCreated ? 1 : 0);
    expect((await send(emulator, "GET", "/endpoints")).status).toBe(200);
  });

  it("gives the reply the set number of times, and each operation the oldest matching script", async () => {
    const fixture = await EmulatorFixture.start();
    fixture.seed({ type: "cloud", url: "https://b.example.com" });
    const operations = { create: "POST", list: "GET", read: "GET 1", update: "PATCH 1", delete: "DELETE 1" };
    for (const operation of Object.keys(operations) as (keyof typeof operations)[])
      fixture.emulator.intercept(operation, { status: operation.length + 210 });
    fixture.emulator.intercept(always, { status: 299 }, 5);
    for (const wanted of ["own", "any"])
      for (const [operation, line] of Object.entries(operations))
        await fixture.exchange([line, undefined, wanted === "own" ? operation.length + 210 : 299]);
    fixture.emulator.intercept(always, { afterCommit: true, cut: "stall" });
    await fixture.exchange(["DELETE 1", undefined, 204]);
  });

  it("lets late writes take effect in the order and at the time of their effect, before later requests and edits", async () => {
    const fixture = await EmulatorFixture.start();
    const { emulator } = fixture;
    const [changed, dead] = [{}, {}].map(() => fixture.seed({ type: "cloud" }));
    for (const [lateMs, ...sent] of [
      [4000, "POST", "", { url, description: "late" }],
      [3000, "POST", "", { url }],
      [3000, "PATCH", `/${changed?.id}`, { description: "d" }],
      [3000, "DELETE", `/${dead?.id}`, undefined],
    ] as const) {
      emulator.intercept(always, { lateMs, status: 504 });
      const [method, path, body] = sent;
      expect((await send(emulator, method, `/endpoints${path}`, { body })).status).toBe(504);
    }
    fixture.pass(2999);
    expect(emulator.endpoints).toEqual([dead, changed]);
    fixture.pass(60_000);
    emulator.edit(changed?.id ?? "", { metadata: "by hand" });
    const made = { url, created_at: "2026-01-02T03:04:08Z" };
    const edited = { id: changed?.id, description: "d", metadata: "by hand" };
    expect(emulator.endpoints).toMatchObject([made, edited]);
    expect(emulator.endpoints[0]).not.toHaveProperty("description");
  });

  it("leaves the header Date to the option date, or replaces it", async () => {
    const { emulator } = await EmulatorFixture.start({ date: -3_600_000 });
    const shown = async () => (await send(emulator, "GET", "/nothing")).headers["date"];
    expect(await shown()).toBe("Fri, 02 Jan 2026 02:04:05 GMT");
    emulator.intercept(always, { afterCommit: true, headers: { Date: "x" } });
    emulator.intercept(always, { afterCommit: true, headers: { Date: null } });
    expect([await shown(), await shown()]).toEqual(["x", undefined]);
    emulator.setBehaviour({ date: "soon" });
    expect(await shown()).toBe("soon");
  });
});

const serverError = expect.toSatisfy((status) => [500, 502, 503, 504].includes(status));

/** The reply to a create for each kind of fault, and whether it creates the endpoint. */
const kinds: [FaultKind, object, boolean][] = [
  ["429", { status: 429, headers: { "retry-after": "1" } }, false],
  ["5xx-before", { status: serverError }, false],
  ["5xx-after", { status: serverError }, true],
  ["reset-before", { error: failure.reset }, false],
  ["reset-after", { error: failure.reset }, true],
  ["hang-before", { error: failure.silence }, false],
  ["hang-after", { error: failure.silence }, true],
  ["truncated", { status: 201, error: failure.closed, text: half }, true],
];

/** An emulator with a fault of one of these kinds for every request. */
async function withFaults(
  kinds: FaultInjectionOptions["kinds"] = faultKinds,
  more: Partial<FaultInjectionOptions> = {},
) {
  const emulator = await emulatedService();
  emulator.injectFaults({ seed: 1, probability: 1, kinds, ...more });
  return emulator;
}

describe("injectFaults", () => {
  it.each(kinds)("with the kind %s gives a create this reply and effect", async (kind, reply, committed) => {
    const emulator = await withFaults([kind]);
    expect(await create(emulator, kind.startsWith("hang"))).toMatchObject(reply);
    expect(emulator.endpoints).toHaveLength(committed ? 1 : 0);
    expect(emulator.faults).toEqual([{ kind, method: "POST", path: "/endpoints", committed }]);
  });

  it("knows these kinds, and draws each status of a server error", async () => {
    expect(kinds.map(([kind]) => kind).sort()).toEqual([...faultKinds].sort());
    const emulator = await withFaults(["5xx-before"]);
    const drawn = new Set<number | undefined>();
    for (let time = 0; time < 40; time++) drawn.add((await send(emulator, "GET", "/endpoints")).status);
    expect([...drawn].sort()).toEqual([500, 502, 503, 504]);
  });

  it("draws a custom fault, for the requests that the fault matches", async () => {
    const reply = (random: () => number) => ({ status: 299, body: `${random()}` });
    const emulator = await withFaults([{ kind: "odd", match: "create", reply }]);
    expect((await send(emulator, "GET", "/endpoints")).status).toBe(200);
    const [one, other] = [await create(emulator, false), await create(emulator, false)];
    expect([one.status, Number(one.text)]).toEqual([299, expect.closeTo(0.5, 0)]);
    expect(other.text).not.toBe(one.text);
    const fault = { kind: "odd", method: "POST", path: "/endpoints", committed: false };
    expect(emulator.faults).toEqual([fault, fault]);
  });

  it("gives the same faults and the same endpoints for the same seed", async () => {
    const run = async (seed: number) => {
      const emulator = await withFaults(
        faultKinds.filter((kind) => !kind.startsWith("hang")),
        { seed, probability: 0.5 },
      );
      for (let index = 0; index < 40; index++)
        await send(emulator, "POST", "/endpoints", { body: { url: `https://h${index}.example.com` } });
      return { faults: emulator.faults, urls: emulator.endpoints.map((endpoint) => endpoint.url) };
    };
    const [one, same, other] = await Promise.all([run(7), run(7), run(8)]);
    expect(same).toEqual(one);
    expect(other.faults).not.toEqual(one.faults);
    expect(one.faults.length).toSatisfy((count) => count > 10 && count < 30);
  });

  it("disturbs only the requests that match, up to the given number, and never with the probability 0", async () => {
    const emulator = await withFaults(["5xx-before"], { match: "create", most: 2 });
    const statuses: (number | undefined)[] = [];
    for (let time = 0; time < 3; time++) {
      expect((await send(emulator, "GET", "/endpoints")).status).toBe(200);
      statuses.push((await create(emulator, false)).status);
    }
    expect(statuses).toEqual([serverError, serverError, 201]);
    emulator.injectFaults({ seed: 1, probability: 0 });
    expect((await send(emulator, "GET", "/endpoints")).status).toBe(200);
    for (const probability of [-0.1, 1.1, Number.NaN])
      expect(() => emulator.injectFaults({ seed: 1, probability })).toThrow(RangeError);
  });

  it("leaves requests with scripted replies alone, is replaced by a second call, and ends with stopFaults", async () => {
    const emulator = await withFaults(["reset-before"]);
    const statusOf = async () => (await send(emulator, "GET", "/endpoints")).status;
    emulator.intercept(always, { status: 418 });
    expect([await statusOf(), await statusOf()]).toEqual([418, undefined]);
    emulator.injectFaults({ seed: 1, probability: 1, kinds: ["429"] });
    expect(await statusOf()).toBe(429);
    emulator.stopFaults();
    expect(await statusOf()).toBe(200);
    expect(emulator.faults.map(({ kind }) => kind)).toEqual(["reset-before", "429"]);
  });
});
