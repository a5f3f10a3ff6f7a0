import { describe, expect, it } from "vitest";
import { call, create, expectError, start, tryCreate } from "./requests";

const url = "https://a.example.com";
const patch = (emulator: Awaited<ReturnType<typeof start>>, id: string, body: unknown) =>
  call(emulator, "PATCH", `/endpoints/${id}`, { body });

describe("an update", () => {
  it("changes only the given field and updated_at", async () => {
    let time = "2026-01-02T03:04:05Z";
    const emulator = await start({ now: () => new Date(time) });
    const before = await create(emulator, { url, metadata: "m", traffic_policy: "{}", description: "old" });
    time = "2026-01-02T03:05:00Z";
    const reply = await patch(emulator, before.id, { description: "new" });
    expect([reply.status, reply.body]).toEqual([200, { ...before, description: "new", updated_at: time }]);
  });

  it("with an empty text removes the field", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url, description: "d", metadata: "m", traffic_policy: "{}" });
    const { body } = await patch(emulator, id, { description: "", metadata: "", traffic_policy: "" });
    for (const field of ["description", "metadata", "traffic_policy"]) expect(body).not.toHaveProperty(field);
  });

  it("of the URL changes the fields that depend on the URL, and keeps the id", async () => {
    const emulator = await start();
    const before = await create(emulator, { url });
    const { body } = await patch(emulator, before.id, { url: "https://B.example.com:443", id: before.id });
    expect(body).toMatchObject({
      id: before.id,
      url: "https://b.example.com",
      public_url: "https://b.example.com",
    });
    expect(body.hostport).toBe("b.example.com:443");
    expect((await patch(emulator, before.id, { url: "https://b.example.com" })).status).toBe(200);
    expect(body.domain?.id).not.toBe(before.domain?.id);
    const moved = await patch(emulator, before.id, { url: "https://b.internal" });
    expect(moved.body).not.toHaveProperty("domain");
  });

  it("with empty bindings restores the service's default", async () => {
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
    [215, { description: null }],
    [18014, { id: "ep_other", description: "d" }],
    [18012, { description: "d".repeat(256) }],
    [2236, { traffic_policy: "- 1" }],
  ])("is refused with code %i for %j, and changes nothing", async (code, body) => {
    const emulator = await start();
    const before = await create(emulator, { url });
    expectError(await patch(emulator, before.id, body), code, 400);
    expect(emulator.endpoints).toEqual([before]);
  });

  it("of url or pooling_enabled is refused with fixedUrlAndPooling, and other fields change", async () => {
    const emulator = await start({ fixedUrlAndPooling: true });
    const before = await create(emulator, { url });
    for (const change of [{ url: "https://b.example.com" }, { pooling_enabled: true }])
      expectError(await patch(emulator, before.id, { ...change, description: "d" }), 18014, 400);
    expect(emulator.endpoints).toEqual([before]);
    const same = { url: "HTTPS://a.example.com:443", pooling_enabled: false, description: "d" };
    expect((await patch(emulator, before.id, same)).status).toBe(200);
    emulator.behave({ fixedUrlAndPooling: false });
    expect((await patch(emulator, before.id, { pooling_enabled: true })).body.pooling_enabled).toBe(true);
  });

  it("that contains only the id is refused as empty", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    expectError(await patch(emulator, id, { id }), 18004, 400);
  });
});

describe("a delete", () => {
  it("answers 204 without a body, and later requests about the endpoint get 404", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    const reply = await call(emulator, "DELETE", `/endpoints/${id}`);
    expect([reply.status, reply.body]).toEqual([204, undefined]);
    expectError(await call(emulator, "GET", `/endpoints/${id}`), 222, 404);
    expectError(await patch(emulator, id, { description: "d" }), 222, 404);
    expectError(await call(emulator, "DELETE", `/endpoints/${id}`), 222, 404);
    expect(emulator.endpoints).toEqual([]);
  });
});

it.each(["ephemeral", "edge"] as const)(
  "an endpoint of type %s can be read, but not changed or deleted",
  async (type) => {
    const emulator = await start();
    const seeded = emulator.seed({ type });
    expect((await call(emulator, "GET", `/endpoints/${seeded.id}`)).body).toEqual(seeded);
    expectError(await patch(emulator, seeded.id, { description: "d" }), 18014, 400);
    expectError(await call(emulator, "DELETE", `/endpoints/${seeded.id}`), 18014, 400);
    expect(emulator.endpoints).toEqual([seeded]);
  },
);

describe("two endpoints with the same URL", () => {
  const pooling = { pooling_enabled: true };

  it.each<[string, object, object, number | undefined]>([
    ["refused in any spelling of the URL", {}, { url: "HTTPS://A.example.com:443" }, 18017],
    ["refused if only the first has pooling enabled", pooling, {}, 18017],
    ["refused if only the second has pooling enabled", {}, pooling, 18016],
    ["a pool if both have pooling enabled", pooling, pooling, undefined],
    ["refused if they share a binding", {}, { bindings: ["internal", "public"] }, 18017],
    ["allowed if they share no binding", {}, { bindings: ["kubernetes"] }, undefined],
  ])("are %s, on create and on update", async (_case, first, second, code) => {
    const emulator = await start();
    await create(emulator, { url, ...first });
    const created = await tryCreate(emulator, { url, ...second });
    const { id } = await create(emulator, { url: "https://b.example.com" });
    const updated = await patch(emulator, id, { url, ...second });
    if (code) for (const reply of [created, updated]) expectError(reply, code, 400);
    // The update conflicts with the second endpoint, too.
    else expect([created.status, updated.status]).toEqual([201, first === pooling ? 200 : 400]);
  });

  it("are refused on an update of pooling or bindings alone", async () => {
    const emulator = await start();
    await create(emulator, { url, ...pooling });
    const member = await create(emulator, { url, ...pooling });
    const apart = await create(emulator, { url, bindings: ["kubernetes"] });
    expectError(await patch(emulator, member.id, { pooling_enabled: false }), 18017, 400);
    expectError(await patch(emulator, apart.id, { bindings: ["kubernetes", "public"] }), 18017, 400);
  });

  it("accept an update of the description if seed added them", async () => {
    const emulator = await start();
    emulator.seed({ type: "cloud", url });
    const { id } = emulator.seed({ type: "cloud", url });
    expect((await patch(emulator, id, { description: "d" })).status).toBe(200);
  });

  it.each([
    ["18017", 400, 18017],
    ["18009", 409, 18009],
    ["422", 422, 18001],
    ["400-bare", 400, undefined],
    ["409-bare", 409, undefined],
  ] as const)(
    "are refused as the option urlTaken demands, on create and on update: %s",
    async (urlTaken, status, code) => {
      const emulator = await start({ urlTaken });
      await create(emulator, { url });
      const other = await create(emulator, { url: "https://b.example.com" });
      for (const reply of [await tryCreate(emulator, { url }), await patch(emulator, other.id, { url })]) {
        if (code) expectError(reply, code, status);
        else {
          expect(reply).toMatchObject({
            status,
            body: { status_code: status, msg: expect.stringMatching(/\S/) },
          });
          expect(reply.body).not.toHaveProperty("error_code");
        }
      }
      // The option does not change the error about pooling.
      expectError(await tryCreate(emulator, { url, ...pooling }), 18016, 400);
      expect(emulator.endpoints).toHaveLength(2);
    },
  );

  it("are allowed with urlTaken: allowed, until the option changes", async () => {
    const emulator = await start({ urlTaken: "allowed" });
    await create(emulator, { url });
    await create(emulator, { url });
    await create(emulator, { url, pooling_enabled: true });
    expect(new Set(emulator.endpoints.map((endpoint) => endpoint.id)).size).toBe(3);
    emulator.behave({ urlTaken: "18009" });
    expectError(await tryCreate(emulator, { url }), 18009, 409);
  });

  it.each([
    { type: "ephemeral", url } as const,
    { type: "edge", public_url: url } as const,
    { type: "edge", public_url: "tcp://1.tcp.example.com", hostport: "1.tcp.example.com:20000" } as const,
  ])("are refused if the first is of type $type, unless both have pooling enabled", async (seed) => {
    const emulator = await start();
    const { id } = emulator.seed(seed);
    const wanted = "hostport" in seed ? "tcp://1.tcp.example.com:20000" : url;
    expectError(await tryCreate(emulator, { url: wanted }), 18017, 400);
    expectError(await tryCreate(emulator, { url: wanted, pooling_enabled: true }), 18016, 400);
    emulator.edit(id, { pooling_enabled: true });
    await create(emulator, { url: wanted, pooling_enabled: true });
    expect(emulator.endpoints).toHaveLength(2);
  });
});
