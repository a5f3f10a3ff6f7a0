import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { WireEndpoint } from "../../../../provider/api/contract";
import { type EmulatorOptions, type FaultKind, faultKinds, trustFaultKinds } from "../../../../sdk/testing";
import { type Answer, send, start } from "./requests";

const url = "https://a.example.com";
/** Of a client that may get no answer, in ms: long enough for one that comes from a busy machine. */
const PATIENCE = 2000;
const START = Date.parse("2026-01-02T03:04:05Z");

/** What one request came to: what the client saw, and what was there a moment and five seconds later. */
interface Outcome {
  answer: Answer;
  /** The body, where it is an endpoint or an error of the service. */
  body: Partial<WireEndpoint> & { error_code?: string };
  atOnce: WireEndpoint[];
  later: WireEndpoint[];
  theirs: string;
  rivals: readonly string[];
  committed: boolean | undefined;
}

/** One request to each of many services that hit everything with one kind of fault, all at one moment. */
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

describe("a fault of trust", () => {
  it("is never drawn unasked, and each has a test here", () => {
    const source = readFileSync(import.meta.filename, "utf8");
    for (const kind of trustFaultKinds) {
      expect(faultKinds).not.toContain(kind);
      expect(source).toContain(`outcomes("${kind}"`);
    }
  });

  it("by late loses the answer, and a write takes effect within four seconds, at its own time", async () => {
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

  it("by list-lag shows a list of up to four seconds ago, and a read by id as it is", async () => {
    for (const { body } of await outcomes("list-lag", "LIST")) expect(body).toMatchObject({ endpoints: [] });
    for (const { body } of await outcomes("list-lag", "GET")) expect(body.id).toBe("ep_mine");
  });

  it("by other-endpoint answers with another one, and a write takes effect or does not", async () => {
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

  it("by other-type calls what was created an agent's, which it is not", async () => {
    for (const outcome of await outcomes("other-type", "POST")) {
      expect(outcome.body).toMatchObject({ id: own(outcome, outcome.later)[0]?.id, type: "ephemeral" });
      expect(own(outcome, outcome.later)).toMatchObject([{ type: "cloud" }]);
    }
  });

  it("by no-date and date-skewed tells no time, or a wrong one", async () => {
    for (const { answer } of await outcomes("no-date", "GET"))
      expect(answer.headers).not.toHaveProperty("date");
    const skews = (await outcomes("date-skewed", "GET")).map(
      ({ answer }) => Date.parse(`${answer.headers["date"]}`) - START,
    );
    for (const skew of skews) expect(Math.abs(skew)).toBeLessThanOrEqual(3_600_000);
    expect([Math.min(...skews) < 0, Math.max(...skews) > 0]).toEqual([true, true]);
  });

  it("by created-at makes an endpoint without a time, with no time, or with a wrong one", async () => {
    const all = await outcomes("created-at", "POST");
    for (const outcome of all) expect(own(outcome, outcome.later)).toEqual([outcome.body]);
    const shown = values(all, ({ body }) => body.created_at?.slice(0, 10));
    expect(shown).toEqual(new Set([undefined, "now", "2026-01-02"]));
  });

  it("by gateway-404 says that it is not there, with no code of the service, and nothing happens", async () => {
    for (const method of ["POST", "GET", "LIST", "PATCH", "DELETE"] as const) {
      const all = await outcomes("gateway-404", method);
      for (const { answer, atOnce } of all) expect([answer.status, atOnce.length]).toEqual([404, 2]);
      for (const { answer } of all) expect(answer.text).not.toContain("ERR_NGROK");
      expect(values(all, ({ answer }) => answer.text).size).toBe(3);
    }
  });

  it("by not-yet refuses a create, though nobody has the URL", async () => {
    const all = await outcomes("not-yet", "POST");
    for (const { answer, atOnce } of all) expect([answer.status, atOnce.length]).toEqual([400, 2]);
    const codes = ["ERR_NGROK_18006", "ERR_NGROK_18016", "ERR_NGROK_18017"];
    expect([...values(all, ({ body }) => body.error_code)].sort()).toEqual(codes);
  });

  it.each(["18017", "allowed"] as const)(
    "by rival lets somebody else create the same, within the rules (equal URLs: %s)",
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
