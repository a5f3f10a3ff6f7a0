import { describe, expect, it } from "vitest";
import type { Edit, Match, ReportedTime } from "../../../sdk/testing";
import { call, create, failure, send, start } from "./requests";

const url = "https://a.example.com";
const now = () => new Date("2026-01-02T03:04:05.600Z");

describe("the reported time", () => {
  it.each<[ReportedTime, string | null]>([
    [0, "Fri, 02 Jan 2026 03:04:05 GMT"],
    [-3_600_000, "Fri, 02 Jan 2026 02:04:05 GMT"],
    ["soon", "soon"],
    [null, null],
  ])("in the header Date is the one of the option date: %j", async (date, shown) => {
    const emulator = await start({ now, date });
    expect((await call(emulator, "GET", "/endpoints")).headers.get("date")).toBe(shown);
    expect((await call(emulator, "GET", "/nothing")).headers.get("date"), "of an error").toBe(shown);
    emulator.behave({ date: 0 });
    expect((await call(emulator, "GET", "/endpoints")).headers.get("date")).toMatch(/03:04:05 GMT$/);
  });

  it.each<[ReportedTime, string | undefined]>([
    [0, "2026-01-02T03:04:05Z"],
    [86_400_000, "2026-01-03T03:04:05Z"],
    ["yesterday", "yesterday"],
    [null, undefined],
  ])(
    "in created_at is the one of the option createdAt and does not change the list's order: %j",
    async (createdAt, shown) => {
      const emulator = await start({ now });
      const [one, two] = [emulator.seed({ type: "ephemeral" }), emulator.seed({ type: "ephemeral" })];
      emulator.behave({ createdAt });
      const made = await create(emulator, { url });
      expect(made.created_at).toBe(shown);
      const last = emulator.seed({ type: "ephemeral" });
      expect(emulator.endpoints.map(({ id }) => id)).toEqual([last.id, made.id, two.id, one.id]);
    },
  );
});

describe("rival", () => {
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
    "creates the same endpoint %s the client's create, if the service allows it (urlTaken: %s)",
    async (when, urlTaken, shown, makers) => {
      const emulator = await start({ ...(urlTaken && { urlTaken }) });
      emulator.rival(when);
      expect(await send(emulator, "POST", "/endpoints", body)).toMatchObject(shown);
      for (const endpoint of emulator.endpoints) expect(endpoint).toMatchObject(body);
      const by = emulator.endpoints.map(({ id }) => (emulator.rivals.includes(id) ? "rival" : "own"));
      expect(by).toEqual(makers);
    },
  );

  it("creates an endpoint with the given fields, and only at a request that matches", async () => {
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
