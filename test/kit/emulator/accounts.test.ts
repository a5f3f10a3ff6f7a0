import { describe, expect, it } from "vitest";
import { call, create, expectError, idsOf, list, start } from "./requests";

const url = "https://a.example.com";
const as = (key: string, body?: object) => ({
  headers: { authorization: `Bearer ${key}` },
  ...(body && { body }),
});

describe("addKey", () => {
  it("returns a second key of the same account", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    const rotated = emulator.addKey();
    expect(idsOf((await list(emulator, "", as(rotated))).endpoints)).toEqual([id]);
    expect((await call(emulator, "DELETE", `/endpoints/${id}`, as(rotated))).status).toBe(204);
    expect(emulator.endpoints).toEqual([]);
  });

  it("returns a key of another account, which has separate endpoints and URLs", async () => {
    const emulator = await start();
    const mine = await create(emulator, { url });
    const key = emulator.addKey({ account: "theirs" });
    const theirs = emulator.seed({ type: "ephemeral" }, "theirs");
    for (const method of ["GET", "DELETE"])
      expectError(await call(emulator, method, `/endpoints/${mine.id}`, as(key)), 222, 404);
    const { body } = await call(emulator, "POST", "/endpoints", as(key, { url }));
    expect((await list(emulator, "", as(key))).endpoints).toEqual(emulator.endpointsOf("theirs"));
    expect(idsOf(emulator.endpointsOf("theirs"))).toEqual([body.id, theirs.id]);
    expect(emulator.endpoints).toEqual([mine]);
    emulator.edit(body.id, { description: "by hand" });
    emulator.remove(theirs.id);
    expect(emulator.endpointsOf("theirs")).toMatchObject([{ id: body.id, description: "by hand" }]);
  });

  it("returns a key of the account's owner or of a colleague, whose id cloud endpoints show on demand", async () => {
    const emulator = await start();
    expect(await create(emulator, { url })).not.toHaveProperty("principal");
    emulator.behave({ principals: true });
    const principalBy = async (key: string, label: string) =>
      (await call(emulator, "POST", "/endpoints", as(key, { url: `https://${label}.example.com` }))).body
        .principal;
    const owner = await principalBy(emulator.apiKey, "b");
    expect(owner).toEqual({ id: expect.stringMatching(/^usr_/), uri: "" });
    expect(await principalBy(emulator.addKey(), "c")).toEqual(owner);
    expect(emulator.seed({ type: "cloud" }).principal).toEqual(owner);
    const colleague = emulator.addKey({ principal: "usr_colleague" });
    expect(await principalBy(colleague, "d")).toEqual({ id: "usr_colleague", uri: "" });
    expect(await principalBy(emulator.addKey({ account: "theirs" }), "e")).not.toEqual(owner);
  });

  it("returns a key that cannot list but reads by id", async () => {
    const emulator = await start();
    const { id } = await create(emulator, { url });
    const key = emulator.addKey({ mayList: false, apiKey: "my_key" });
    expect(key).toBe("my_key");
    expectError(await call(emulator, "GET", "/endpoints", as(key)), 204, 403);
    expect((await call(emulator, "GET", `/endpoints/${id}`, as(key))).status).toBe(200);
  });
});
