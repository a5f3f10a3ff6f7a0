import { describe, expect, it } from "vitest";
import { type Edit, gatewayReply, type Match, type ReportedTime } from "../../../../sdk/testing";
import { call, create, failure, send, start } from "./requests";

const url = "https://a.example.com";
const now = () => new Date("2026-01-02T03:04:05.600Z");

describe("a script for an operation", () => {
  it.each([
    ["create", "POST", ""],
    ["list", "GET", ""],
    ["read", "GET", "/ep_1"],
    ["update", "PATCH", "/ep_1"],
    ["delete", "DELETE", "/ep_1"],
  ] as const)("takes each %s, and no other request", async (match, method, path) => {
    const emulator = await start();
    emulator.seed({ type: "cloud", id: "ep_1", url: "https://b.example.com" });
    emulator.intercept(match, { status: 418 }, 9);
    const hit: string[] = [];
    for (const one of ["POST", "GET", "GET /ep_1", "PATCH /ep_1", "DELETE /ep_1"]) {
      const [verb = "", at = ""] = one.split(" ");
      const body = { POST: { url }, PATCH: { description: "d" } }[verb];
      if ((await send(emulator, verb, `/endpoints${at}`, body)).status === 418) hit.push(one);
    }
    expect(hit).toEqual([`${method} ${path}`.trim()]);
  });

  it("can be a disturbance too", async () => {
    const emulator = await start();
    emulator.disturb({ seed: 1, probability: 1, kinds: ["5xx-before"], match: "list" });
    expect((await send(emulator, "POST", "/endpoints", { url })).status).toBe(201);
    expect((await send(emulator, "GET", "/endpoints")).status).toBeGreaterThanOrEqual(500);
  });
});

describe("a gateway's own answer", () => {
  it.each([
    ["html", "text/html; charset=utf-8", /^<html>/],
    ["json", "application/json", /^{"msg":/],
    ["coded", "application/json", /^{"error_code":"GW_404","msg":/],
  ] as const)("as %s has no code of the service, and the request no effect", async (form, type, text) => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    for (const match of ["delete", "read", "list", "create"] satisfies Match[])
      emulator.intercept(match, gatewayReply(form));
    for (const [method, path] of [
      ["DELETE", `/${id}`],
      ["GET", `/${id}`],
      ["GET", ""],
      ["POST", ""],
    ]) {
      const answer = await send(emulator, method ?? "", `/endpoints${path}`);
      expect(answer).toMatchObject({ status: 404, headers: { "content-type": type } });
      expect(answer.text).toMatch(text);
      expect(answer.text).not.toContain("ERR_NGROK");
    }
    expect(emulator.endpoints).toHaveLength(1);
  });

  it("has the status that was asked for", () => {
    expect(gatewayReply("coded", 502)).toMatchObject({ status: 502, body: { error_code: "GW_502" } });
  });
});

describe("a body that is made of the real one", () => {
  it("shows another endpoint or another type, though the create took effect", async () => {
    const emulator = await start();
    const theirs = emulator.seed({ type: "cloud" });
    emulator.intercept("create", { afterCommit: true, body: theirs });
    emulator.intercept("create", { afterCommit: true, body: (real) => ({ ...real, type: "ephemeral" }) });
    const first = await call(emulator, "POST", "/endpoints", { body: { url } });
    expect([first.status, first.body, emulator.endpoints[0]?.url]).toEqual([201, theirs, url]);
    const second = await call(emulator, "POST", "/endpoints", { body: { url: "https://b.example.com" } });
    expect(second.body).toEqual({ ...emulator.endpoints[0], type: "ephemeral" });
  });

  it("knows the request, and is empty where the request had no effect", async () => {
    const emulator = await start();
    const body = (real: object, request: object) => ({ real, request });
    emulator.intercept("create", { status: 201, body });
    const reply = await call<object>(emulator, "POST", "/endpoints", { body: { url } });
    expect(reply.body).toMatchObject({ real: {}, request: { method: "POST", body: { url } } });
    expect(emulator.endpoints).toEqual([]);
  });
});

describe("the service's times", () => {
  it.each<[ReportedTime, string | null]>([
    [0, "Fri, 02 Jan 2026 03:04:05 GMT"],
    [-3_600_000, "Fri, 02 Jan 2026 02:04:05 GMT"],
    ["soon", "soon"],
    [null, null],
  ])("in the header Date are what the option says: %j", async (date, shown) => {
    const emulator = await start({ now, date });
    expect((await call(emulator, "GET", "/endpoints")).headers.get("date")).toBe(shown);
    expect((await call(emulator, "GET", "/nothing")).headers.get("date"), "of an error").toBe(shown);
    emulator.behave({ date: 0 });
    expect((await call(emulator, "GET", "/endpoints")).headers.get("date")).toMatch(/03:04:05 GMT$/);
  });

  it("in one answer's Date can be left out by its script", async () => {
    const emulator = await start();
    emulator.intercept("list", { afterCommit: true, headers: { Date: null } });
    expect((await call(emulator, "GET", "/endpoints")).headers.get("date")).toBeNull();
    expect((await call(emulator, "GET", "/endpoints")).headers.get("date")).not.toBeNull();
  });

  it.each<[ReportedTime, string | undefined]>([
    [0, "2026-01-02T03:04:05Z"],
    [86_400_000, "2026-01-03T03:04:05Z"],
    ["yesterday", "yesterday"],
    [null, undefined],
  ])("of a create are what the option says: %j, at the true place in the list", async (createdAt, shown) => {
    const emulator = await start({ now });
    const [one, two] = [emulator.seed({ type: "ephemeral" }), emulator.seed({ type: "ephemeral" })];
    emulator.behave({ createdAt });
    const made = await create(emulator, { url });
    expect(made.created_at).toBe(shown);
    const last = emulator.seed({ type: "ephemeral" });
    expect(emulator.endpoints.map(({ id }) => id)).toEqual([last.id, made.id, two.id, one.id]);
  });
});

describe("a rival", () => {
  const body = { url, description: "d", metadata: "m" };
  const refused = { status: 400 };
  const lost = { error: failure.reset };

  it.each([
    ["before", undefined, refused, ["rival"]],
    ["before", "allowed", { status: 201 }, ["own", "rival"]],
    ["after", undefined, { status: 201 }, ["own"]],
    ["after", "allowed", { status: 201 }, ["rival", "own"]],
    ["instead", undefined, lost, ["rival"]],
    ["instead", "allowed", lost, ["rival"]],
  ] as const)(
    "who comes %s a create (equal URLs: %s) makes the same, as far as the rules let him",
    async (when, urlTaken, shown, makers) => {
      const emulator = await start({ ...(urlTaken && { urlTaken }) });
      emulator.rival(when);
      expect(await send(emulator, "POST", "/endpoints", body)).toMatchObject(shown);
      for (const endpoint of emulator.endpoints) expect(endpoint).toMatchObject(body);
      const by = emulator.endpoints.map(({ id }) => (emulator.rivals.includes(id) ? "rival" : "own"));
      expect(by).toEqual(makers);
    },
  );

  it("has the fields that were given, and a create of another URL does not meet him", async () => {
    const emulator = await start();
    const fields: Edit = { created_at: "2099-01-01T00:00:00Z", principal: { id: "usr_2", uri: "" } };
    const match: Match = (request) => request.method === "POST" && Object(request.body).url === url;
    emulator.rival("instead", { match, fields, reply: { status: 504 } });
    await create(emulator, { url: "https://b.example.com" });
    expect((await send(emulator, "POST", "/endpoints", body)).status).toBe(504);
    expect(emulator.endpoints[0]).toMatchObject({ ...body, ...fields, id: emulator.rivals[0] });
    expect(emulator.endpoints).toHaveLength(2);
  });
});
