import { describe, expect, it } from "vitest";
import { type DisturbOptions, type FaultKind, faultKinds } from "../../../sdk/testing";
import { create, failure, SHORT, send, start } from "./requests";

const url = "https://a.example.com";

/** An emulator that disturbs every request by one of these kinds of fault. */
async function disturbed(kinds?: FaultKind[], more: Partial<DisturbOptions> = {}) {
  const emulator = await start();
  emulator.disturb({ seed: 1, probability: 1, ...(kinds ? { kinds } : {}), ...more });
  return emulator;
}

const listKinds: FaultKind[] = ["page-repeated", "page-overlap", "item-moved"];
const bodyKinds: FaultKind[] = ["truncated", "stalled", "cut-reset", "empty"];
const serverError = expect.toSatisfy((status) => [500, 502, 503, 504].includes(status));
const json = { "content-type": "application/json" };
const limited = {
  status: 429,
  text: expect.stringContaining('"error_code":"ERR_NGROK_226"'),
  headers: expect.objectContaining(json),
};
const page = {
  text: expect.stringMatching(/^<html>/),
  headers: expect.objectContaining({ "content-type": "text/html; charset=utf-8" }),
};

/** The answer to a create for each kind of fault, and whether it creates the endpoint. */
const creates: [FaultKind, object, boolean][] = [
  ["latency", { status: 201 }, true],
  ["429", { ...limited, headers: expect.objectContaining({ ...json, "retry-after": "1" }) }, false],
  ["429-bare", limited, false],
  ["429-proxy", { ...page, status: 429 }, false],
  ["5xx-before", { status: serverError }, false],
  ["5xx-after", { status: serverError }, true],
  ["reset-before", { error: failure.reset }, false],
  ["reset-after", { error: failure.reset }, true],
  ["hang-before", { error: failure.silence }, false],
  ["hang-after", { error: failure.silence }, true],
  ["truncated", { status: 201, error: failure.closed, text: expect.stringMatching(/^{"id":[^}]*$/) }, true],
  ["stalled", { status: 201, error: failure.silence, text: expect.stringMatching(/^{"id":/) }, true],
  ["cut-reset", { status: 201, error: failure.reset, text: expect.stringMatching(/^{"id":/) }, true],
  ["html", { ...page, status: 200 }, true],
  ["empty", { status: 201, text: "" }, true],
];

describe("disturb", () => {
  it.each(creates)(
    "with the kind %s gives a create the expected answer and effect",
    async (kind, shown, committed) => {
      const emulator = await disturbed([kind]);
      const patience = kind.startsWith("hang") || kind === "stalled" ? SHORT : undefined;
      const answer = await send(emulator, "POST", "/endpoints", { url }, patience);
      expect(answer).toMatchObject(shown);
      expect("retry-after" in answer.headers).toBe(kind === "429");
      expect(emulator.endpoints.map((endpoint) => endpoint.url)).toEqual(committed ? [url] : []);
      expect(emulator.faults).toEqual([{ kind, method: "POST", path: "/endpoints", committed }]);
      await emulator.close();
    },
  );

  it("applies the kinds that are about lists to lists only, and these tests know every kind", async () => {
    expect([...creates.map(([kind]) => kind), ...listKinds]).toEqual(faultKinds);
    const emulator = await disturbed(listKinds);
    expect((await send(emulator, "POST", "/endpoints", { url })).status).toBe(201);
    expect(emulator.faults).toEqual([]);
  });

  it("draws each status of a server error, as HTML and as JSON", async () => {
    const emulator = await disturbed(["5xx-before"]);
    const drawn = new Set<string>();
    for (let time = 0; time < 80; time++) {
      const { status, headers, text } = await send(emulator, "GET", "/endpoints");
      const isJson = headers["content-type"] === "application/json";
      if (isJson) expect(JSON.parse(text).status_code).toBe(status);
      drawn.add(`${status} ${isJson}`);
    }
    expect(drawn.size).toBe(8);
  });

  it("never cuts the empty body of a delete", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    emulator.disturb({ seed: 1, probability: 1, kinds: bodyKinds });
    expect((await send(emulator, "DELETE", `/endpoints/${id}`)).status).toBe(204);
    expect(emulator.faults).toEqual([]);
  });

  it("logs a refused request as one without an effect", async () => {
    const emulator = await start();
    await create(emulator, { url });
    emulator.disturb({ seed: 1, probability: 1, kinds: ["5xx-after"] });
    expect((await send(emulator, "POST", "/endpoints", { url })).status).toSatisfy((status) => status >= 500);
    expect(emulator.endpoints).toHaveLength(1);
    expect(emulator.faults).toMatchObject([{ kind: "5xx-after", committed: false }]);
  });

  const quick = faultKinds.filter((kind) => !kind.startsWith("hang") && kind !== "stalled");
  const run = async (seed: number) => {
    const emulator = await disturbed(quick, { seed, probability: 0.5 });
    for (let index = 0; index < 40; index++) {
      const body = index % 2 ? { url: `https://h${index}.example.com` } : undefined;
      await send(emulator, body ? "POST" : "GET", "/endpoints", body);
    }
    const urls = emulator.endpoints.map((endpoint) => endpoint.url);
    return { faults: emulator.faults, statuses: emulator.requests.map(({ status }) => status), urls };
  };

  it("gives the same faults and the same endpoints for the same seed", async () => {
    const [one, same, other] = await Promise.all([run(7), run(7), run(8)]);
    expect(same).toEqual(one);
    expect(other.faults).not.toEqual(one.faults);
    expect(one.faults.length).toBeGreaterThan(10);
    expect(one.faults.length).toBeLessThan(30);
  });

  it("disturbs only the requests that match, up to the given number", async () => {
    const emulator = await disturbed(["5xx-before"], { match: "create", most: 2 });
    const statuses: (number | undefined)[] = [];
    for (let time = 0; time < 3; time++) {
      expect((await send(emulator, "GET", "/endpoints")).status).toBe(200);
      statuses.push((await send(emulator, "POST", "/endpoints", { url })).status);
    }
    expect(statuses).toEqual([serverError, serverError, 201]);
  });

  it("disturbs no request with the probability 0, and throws for an invalid probability", async () => {
    const emulator = await disturbed(undefined, { probability: 0 });
    for (let time = 0; time < 20; time++)
      expect((await send(emulator, "GET", "/endpoints")).status).toBe(200);
    for (const probability of [-0.1, 1.1, Number.NaN])
      expect(() => emulator.disturb({ seed: 1, probability })).toThrow(RangeError);
  });

  it("does not disturb a request that has a scripted reply", async () => {
    const emulator = await disturbed(["reset-before"]);
    emulator.intercept(() => true, { status: 418 });
    expect((await send(emulator, "GET", "/endpoints")).status).toBe(418);
    expect((await send(emulator, "GET", "/endpoints")).error).toBe(failure.reset);
    expect(emulator.faults).toHaveLength(1);
  });

  it("replaces an earlier disturbance, and ends with calm, which keeps the log of faults", async () => {
    const emulator = await disturbed(["reset-before"]);
    await send(emulator, "GET", "/endpoints");
    emulator.disturb({ seed: 1, probability: 1, kinds: ["html"] });
    await send(emulator, "GET", "/endpoints");
    emulator.calm();
    const { status, text } = await send(emulator, "GET", "/endpoints");
    expect([status, JSON.parse(text).endpoints]).toEqual([200, []]);
    expect(emulator.faults.map(({ kind }) => kind)).toEqual(["reset-before", "html"]);
  });
});
