import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { WireEndpoint } from "../../../provider/api/contract";
import { type EmulatorOptions, type FaultKind, faultKinds, trustFaultKinds } from "../../../sdk/testing";
import { type Answer, send, start } from "./requests";

const url = "https://a.example.com";
/** How long to wait for an answer that may never arrive. Unit: milliseconds. Long enough for a busy machine. */
const PATIENCE = 2000;
const START = Date.parse("2026-01-02T03:04:05Z");

/** The answer to a request, and the endpoints right after it and five seconds later. */
interface Outcome {
  answer: Answer;
  /** The body. Empty if it is not JSON. */
  body: Partial<WireEndpoint> & { error_code?: string };
  atOnce: WireEndpoint[];
  later: WireEndpoint[];
  theirs: string;
  rivals: readonly string[];
  committed: boolean | undefined;
}

/** The outcomes of the same request with 24 seeds, if every request is disturbed by this kind of fault. */
async function outcomes(
  kind: FaultKind,
  method: "POST" | "GET" | "LIST" | "PATCH" | "DELETE",
  options: EmulatorOptions = {},
): Promise<Outcome[]> {
  const one = async (seed: number): Promise<Outcome> => {
    let time = START;
    const emulator = await start({ ...options, now: () => new Date(time) });
    const mine = emulator.seed({ type: "cloud", url: "https://b.example.com", id: "ep_mine" });
    const theirs = emulator.seed({ type: "cloud" }).id;
    emulator.disturb({ seed, probability: 1, kinds: [kind] });
    const verb = method === "LIST" ? "GET" : method;
    const path = method === "POST" || method === "LIST" ? "/endpoints" : `/endpoints/${mine.id}`;
    const sent = { POST: { url }, PATCH: { description: "d" } }[method as string];
    const patience = kind === "late" || kind === "rival" ? PATIENCE : undefined;
    const answer = await send(emulator, verb, path, sent, patience);
    const atOnce = emulator.endpoints;
    time += 5000;
    const later = emulator.endpoints;
    const body = answer.text.startsWith("{") && !answer.error ? JSON.parse(answer.text) : {};
    const { rivals, faults } = emulator;
    return { answer, body, atOnce, later, theirs, rivals, committed: faults[0]?.committed };
  };
  return Promise.all(Array.from({ length: 24 }, (_, seed) => one(seed)));
}

const own = ({ rivals }: Outcome, endpoints: WireEndpoint[]) =>
  endpoints.filter((endpoint) => endpoint.url === url && !rivals.includes(endpoint.id));
const values = <T>(all: Outcome[], of: (outcome: Outcome) => T) => new Set(all.map(of));

describe("the trust fault", () => {
  it("must be named in kinds to be drawn, and each kind has a test in this file", () => {
    const source = readFileSync(import.meta.filename, "utf8");
    for (const kind of trustFaultKinds) {
      expect(faultKinds).not.toContain(kind);
      expect(source).toContain(`outcomes("${kind}"`);
    }
  });

  it("late loses the answer, and a write takes effect within four seconds", async () => {
    const creates = await outcomes("late", "POST");
    for (const outcome of creates) {
      expect(outcome.atOnce).toHaveLength(2);
      expect(own(outcome, outcome.later)).toHaveLength(1);
      expect(outcome.committed).toBe(true);
      const made = Date.parse(own(outcome, outcome.later)[0]?.created_at ?? "");
      expect(made - START).toBeLessThanOrEqual(4000);
    }
    expect(values(creates, ({ answer }) => answer.error ?? "5xx").size).toBe(3);
    expect(values(creates, ({ answer }) => answer.status).has(201)).toBe(false);
    for (const { later } of await outcomes("late", "DELETE")) expect(later).toHaveLength(1);
    for (const { later } of await outcomes("late", "PATCH"))
      expect(later[1]).toMatchObject({ description: "d" });
    for (const { answer } of await outcomes("late", "GET")) expect(answer.status).toBe(200);
  });

  it("list-lag returns an old list, but a current endpoint for a read by id", async () => {
    for (const { body } of await outcomes("list-lag", "LIST")) expect(body).toMatchObject({ endpoints: [] });
    for (const { body } of await outcomes("list-lag", "GET")) expect(body.id).toBe("ep_mine");
  });

  it("other-endpoint returns another endpoint, and a write takes effect only at times", async () => {
    for (const method of ["POST", "PATCH"] as const) {
      const all = await outcomes("other-endpoint", method);
      for (const { answer } of all) expect(answer.status).toBe(method === "POST" ? 201 : 200);
      for (const { body, atOnce } of all)
        expect(["ep_mine", ...atOnce.map(({ id }) => id)]).toContain(body.id);
      for (const { body } of all)
        expect([body.url, body.description]).not.toContain(method === "POST" ? url : "d");
      expect(values(all, ({ committed }) => committed)).toEqual(new Set([true, false]));
      for (const { atOnce, committed } of all) {
        const changed = atOnce.some((endpoint) => endpoint.url === url || endpoint.description === "d");
        expect(changed).toBe(committed);
      }
    }
    for (const { body, theirs } of await outcomes("other-endpoint", "GET")) expect(body.id).toBe(theirs);
    for (const { later } of await outcomes("other-endpoint", "DELETE")) expect(later).toHaveLength(1);
  });

  it("other-type returns the type of an agent's endpoint for a created cloud endpoint", async () => {
    for (const outcome of await outcomes("other-type", "POST")) {
      expect(outcome.body).toMatchObject({ id: own(outcome, outcome.later)[0]?.id, type: "ephemeral" });
      expect(own(outcome, outcome.later)).toMatchObject([{ type: "cloud" }]);
    }
  });

  it("no-date removes the header Date, and date-skewed shifts it by up to an hour", async () => {
    for (const { answer } of await outcomes("no-date", "GET"))
      expect(answer.headers).not.toHaveProperty("date");
    const skews = (await outcomes("date-skewed", "GET")).map(
      ({ answer }) => Date.parse(`${answer.headers["date"]}`) - START,
    );
    for (const skew of skews) expect(Math.abs(skew)).toBeLessThanOrEqual(3_600_000);
    expect([Math.min(...skews) < 0, Math.max(...skews) > 0]).toEqual([true, true]);
  });

  it("created-at stores an endpoint with a missing, malformed or wrong created_at", async () => {
    const all = await outcomes("created-at", "POST");
    for (const outcome of all) expect(own(outcome, outcome.later)).toEqual([outcome.body]);
    const shown = values(all, ({ body }) => body.created_at?.slice(0, 10));
    expect(shown).toEqual(new Set([undefined, "now", "2026-01-02"]));
  });

  it("gateway-404 answers every request with 404, without the service's code and without an effect", async () => {
    for (const method of ["POST", "GET", "LIST", "PATCH", "DELETE"] as const) {
      const all = await outcomes("gateway-404", method);
      for (const { answer, atOnce } of all) expect([answer.status, atOnce.length]).toEqual([404, 2]);
      for (const { answer } of all) expect(answer.text).not.toContain("ERR_NGROK");
      expect(values(all, ({ answer }) => answer.text).size).toBe(3);
    }
  });

  it("not-yet refuses a create although no endpoint has the URL", async () => {
    const all = await outcomes("not-yet", "POST");
    for (const { answer, atOnce } of all) expect([answer.status, atOnce.length]).toEqual([400, 2]);
    const codes = ["ERR_NGROK_18006", "ERR_NGROK_18016", "ERR_NGROK_18017"];
    expect([...values(all, ({ body }) => body.error_code)].sort()).toEqual(codes);
  });

  it.each(["18017", "allowed"] as const)(
    "rival creates the same endpoint for another client, if the service allows it (urlTaken: %s)",
    async (urlTaken) => {
      const all = await outcomes("rival", "POST", { urlTaken });
      const made = all.map((outcome) => [own(outcome, outcome.later).length, outcome.rivals.length].join());
      const answered = all.filter(({ answer }) => answer.status === 201);
      expect(new Set(made)).toEqual(new Set(urlTaken === "allowed" ? ["0,1", "1,1"] : ["0,1", "1,0"]));
      for (const outcome of answered) expect(own(outcome, outcome.later)).toEqual([outcome.body]);
      expect([answered.length > 0, answered.length < all.length]).toEqual([true, true]);
    },
  );
});
