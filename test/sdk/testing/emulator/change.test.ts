import { describe, expect, it } from "vitest";
import { call, create, expectRefusal, start, tryCreate } from "./requests";

const url = "https://a.example.com";
const patch = (emulator: Awaited<ReturnType<typeof start>>, id: string, body: unknown) =>
  call(emulator, "PATCH", `/endpoints/${id}`, { body });

describe("an update", () => {
  it("of the description alone changes that and the time of the update", async () => {
    let time = "2026-01-02T03:04:05Z";
    const emulator = await start({ now: () => new Date(time) });
    const before = await create(emulator, { url, metadata: "m", traffic_policy: "{}", description: "old" });
    time = "2026-01-02T03:05:00Z";
    const reply = await patch(emulator, before.id, { description: "new" });
    expect([reply.status, reply.body]).toEqual([200, { ...before, description: "new", updated_at: time }]);
  });

  it("with an empty text clears the field and leaves it out", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url, description: "d", metadata: "m", traffic_policy: "{}" });
    const { body } = await patch(emulator, id, { description: "", metadata: "", traffic_policy: "" });
    for (const field of ["description", "metadata", "traffic_policy"]) expect(body).not.toHaveProperty(field);
  });

  it("of the URL changes all that follows from it and keeps the id", async () => {
    const emulator = await start();
    const before = await create(emulator, { url });
    const { body } = await patch(emulator, before.id, { url: "https://B.example.com:443", id: before.id });
    expect(body).toMatchObject({
      id: before.id,
      url: "https://b.example.com",
      public_url: "https://b.example.com",
    });
    expect(body.hostport).toBe("b.example.com:443");
    expect(body.domain?.id).not.toBe(before.domain?.id);
    const moved = await patch(emulator, before.id, { url: "https://b.internal" });
    expect(moved.body).not.toHaveProperty("domain");
  });

  it("that gives the URL it has already is accepted", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    expect((await patch(emulator, id, { url })).status).toBe(200);
  });

  it("of the bindings to an empty list gives them back to the service", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url, bindings: ["internal"] });
    expect((await patch(emulator, id, { bindings: ["kubernetes"] })).body.bindings).toEqual(["kubernetes"]);
    expect((await patch(emulator, id, { bindings: [] })).body.bindings).toEqual(["public"]);
  });

  it.each([
    [18004, {}],
    [18005, { url: "http://a.example.com" }],
    [249, { url: "" }],
    [214, { type: "cloud" }],
    [214, { colour: "red" }],
    [215, { description: null }],
    [18014, { id: "ep_other", description: "d" }],
    [18012, { description: "d".repeat(256) }],
    [18013, { metadata: "m".repeat(4097) }],
    [2236, { traffic_policy: "- 1" }],
    [15005, { bindings: ["private"] }],
    [15006, { bindings: ["public", "public"] }],
  ])("is refused with %i for %j, and changes nothing", async (code, body) => {
    const emulator = await start();
    const before = await create(emulator, { url });
    expectRefusal(await patch(emulator, before.id, body), code, 400);
    expect(emulator.endpoints).toEqual([before]);
  });

  it("that holds nothing but the id is an empty update", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    expectRefusal(await patch(emulator, id, { id }), 18004, 400);
  });
});

describe("a delete", () => {
  it("answers 204 without a body, and the endpoint is gone for read, update, list and delete", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    const reply = await call(emulator, "DELETE", `/endpoints/${id}`);
    expect([reply.status, reply.body]).toEqual([204, undefined]);
    expectRefusal(await call(emulator, "GET", `/endpoints/${id}`), 222, 404);
    expectRefusal(await patch(emulator, id, { description: "d" }), 222, 404);
    expectRefusal(await call(emulator, "DELETE", `/endpoints/${id}`), 222, 404);
    expect(emulator.endpoints).toEqual([]);
  });

  it("frees the URL", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    await call(emulator, "DELETE", `/endpoints/${id}`);
    expect((await create(emulator, { url })).id).not.toBe(id);
  });
});

describe("an endpoint that is not a cloud endpoint", () => {
  it.each(["ephemeral", "edge"] as const)(
    "of type %s is read, but neither changed nor deleted",
    async (type) => {
      const emulator = await start();
      const seeded = emulator.seed({ type });
      expect((await call(emulator, "GET", `/endpoints/${seeded.id}`)).body).toEqual(seeded);
      expectRefusal(await patch(emulator, seeded.id, { description: "d" }), 18014, 400);
      expectRefusal(await call(emulator, "DELETE", `/endpoints/${seeded.id}`), 18014, 400);
      expect(emulator.endpoints).toEqual([seeded]);
    },
  );
});

describe("two endpoints on one URL", () => {
  it("are refused, however the URL is written", async () => {
    const emulator = await start();
    await create(emulator, { url });
    expectRefusal(await tryCreate(emulator, { url: "HTTPS://A.example.com:443" }), 18017, 400);
  });

  it("are a pool where both have pooling enabled", async () => {
    const emulator = await start();
    await create(emulator, { url, pooling_enabled: true });
    await create(emulator, { url, pooling_enabled: true });
    expect(emulator.endpoints).toHaveLength(2);
  });

  it("are refused in both directions where they disagree on pooling", async () => {
    const emulator = await start();
    await create(emulator, { url });
    expectRefusal(await tryCreate(emulator, { url, pooling_enabled: true }), 18016, 400);
    const pooled = "https://b.example.com";
    await create(emulator, { url: pooled, pooling_enabled: true });
    expectRefusal(await tryCreate(emulator, { url: pooled }), 18017, 400);
  });

  it("are allowed where no binding is common, and refused where an update makes one common", async () => {
    const emulator = await start();
    await create(emulator, { url, bindings: ["public", "internal"] });
    const { id } = await create(emulator, { url, bindings: ["kubernetes"] });
    expectRefusal(await patch(emulator, id, { bindings: ["kubernetes", "internal"] }), 18017, 400);
  });

  it("are refused on an update of the URL or of pooling too", async () => {
    const emulator = await start();
    await create(emulator, { url });
    const other = await create(emulator, { url: "https://b.example.com" });
    expectRefusal(await patch(emulator, other.id, { url }), 18017, 400);
    expectRefusal(await patch(emulator, other.id, { url, pooling_enabled: true }), 18016, 400);

    const pooled = "https://c.example.com";
    await create(emulator, { url: pooled, pooling_enabled: true });
    const member = await create(emulator, { url: pooled, pooling_enabled: true });
    expectRefusal(await patch(emulator, member.id, { pooling_enabled: false }), 18017, 400);
    expectRefusal(await patch(emulator, other.id, { url: pooled }), 18017, 400);
    expect((await patch(emulator, other.id, { url: pooled, pooling_enabled: true })).status).toBe(200);
  });

  it("that came about behind the service's back can still have their texts changed", async () => {
    const emulator = await start();
    emulator.seed({ type: "cloud", url });
    const { id } = emulator.seed({ type: "cloud", url });
    expect((await patch(emulator, id, { description: "d" })).status).toBe(200);
  });

  it.each(["18017", "18009", "422", "400-bare", "409-bare"] as const)(
    "are refused as the option urlTaken says, also on an update, and a disagreement on pooling as ever: %s",
    async (urlTaken) => {
      const emulator = await start({ urlTaken });
      await create(emulator, { url });
      const other = await create(emulator, { url: "https://b.example.com" });
      const status = { "18017": 400, "18009": 409, "422": 422, "400-bare": 400, "409-bare": 409 }[urlTaken];
      const code = { "18017": 18017, "18009": 18009, "422": 18001, "400-bare": "no", "409-bare": "no" }[
        urlTaken
      ];
      for (const reply of [await tryCreate(emulator, { url }), await patch(emulator, other.id, { url })]) {
        if (typeof code === "number") expectRefusal(reply, code, status);
        else
          expect(reply).toMatchObject({
            status,
            body: { status_code: status, msg: expect.stringMatching(/\S/) },
          });
        if (typeof code !== "number") expect(reply.body).not.toHaveProperty("error_code");
      }
      expectRefusal(await tryCreate(emulator, { url, pooling_enabled: true }), 18016, 400);
      expect(emulator.endpoints).toHaveLength(2);
    },
  );

  it("coexist where the service refuses no URL, whatever they say of pooling, until it does again", async () => {
    const emulator = await start({ urlTaken: "allowed" });
    await create(emulator, { url });
    await create(emulator, { url });
    await create(emulator, { url, pooling_enabled: true });
    expect(new Set(emulator.endpoints.map((endpoint) => endpoint.id)).size).toBe(3);
    emulator.behave({ urlTaken: "18009" });
    expectRefusal(await tryCreate(emulator, { url }), 18009, 409);
  });

  it.each([
    { type: "ephemeral", url } as const,
    { type: "edge", public_url: url } as const,
    { type: "edge", public_url: "tcp://1.tcp.example.com", hostport: "1.tcp.example.com:20000" } as const,
  ])("are refused where $type holds it, and share it with an agent that pools", async (seed) => {
    const emulator = await start();
    const { id } = emulator.seed(seed);
    const wanted = "hostport" in seed ? "tcp://1.tcp.example.com:20000" : url;
    expectRefusal(await tryCreate(emulator, { url: wanted }), 18017, 400);
    expectRefusal(await tryCreate(emulator, { url: wanted, pooling_enabled: true }), 18016, 400);
    emulator.edit(id, { pooling_enabled: true });
    await create(emulator, { url: wanted, pooling_enabled: true });
    expect(emulator.endpoints).toHaveLength(2);
  });
});
