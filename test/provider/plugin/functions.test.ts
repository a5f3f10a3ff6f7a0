import { describe, expect, test } from "vitest";
import { thrown } from "../service";
import { plugin, secret } from "./pluginClient";

const GET = "endpoints:index:getEndpoint";
const LIST = "endpoints:index:getEndpoints";

async function withThree() {
  const parts = await plugin();
  const url = "https://shop.example.com";
  const agent = parts.emulator.seed({ type: "ephemeral" });
  const edge = parts.emulator.seed({ type: "edge" });
  const shop = parts.emulator.seed({ type: "cloud", url, metadata: '{"team":"shop"}' });
  return { ...parts, shop, edge, agent };
}

describe("getEndpoint", () => {
  test("returns an endpoint of any type by its id, with one request", async () => {
    const { client, emulator, edge } = await withThree();
    const { result } = await client.invoke(GET, { id: edge.id });
    expect(result).toMatchObject({ id: edge.id, type: "edge", publicUrl: edge.public_url });
    expect(emulator.requests.map(({ path }) => path)).toEqual([`/endpoints/${edge.id}`]);
  });

  test("fails with the reply after a 404 without the service's code, which proves nothing", async () => {
    const { client, emulator, shop } = await withThree();
    emulator.intercept("read", { status: 404, body: "<html>" });
    const { message } = await thrown(client.invoke(GET, { id: shop.id }));
    expect(message).toMatch(/^GET \/endpoints\/ep_\w+: status 404\. /);
  });

  test("finds an endpoint that somebody created after an earlier call", async () => {
    const { client, emulator } = await plugin();
    const url = "https://late.example.com";
    await thrown(client.invoke(GET, { url }));
    const { id } = emulator.seed({ type: "cloud", url });
    expect((await client.invoke(GET, { url })).result["id"]).toBe(id);
  });
});

test("getEndpoint's error does not contain a secret URL of a resource of the run", async () => {
  const { client } = await plugin();
  await client.create({ url: secret("https://hidden.example.com") });
  const { message } = await thrown(client.invoke(GET, { url: "https://hiden.example.com" }));
  expect(message).toContain("no endpoint of the 1 of this account serves https://hiden.example.com");
  expect(message).not.toContain("hidden");
});

describe("getEndpoints", () => {
  test("returns the endpoints that satisfy the filters, newest first", async () => {
    const { client, shop, edge, agent } = await withThree();
    const ids = async (args: Record<string, unknown>) => (await client.invoke(LIST, args)).result["ids"];
    expect(await ids({})).toEqual([shop.id, edge.id, agent.id]);
    expect(await ids({ types: ["edge", "ephemeral"] })).toEqual([edge.id, agent.id]);
    expect(await ids({ urlPattern: "https://*.example.com" })).toEqual([shop.id]);
    expect(await ids({ urlPattern: "https://shop.*.example.com" })).toEqual([]);
    expect(await ids({ metadata: { team: "shop" }, name: null })).toEqual([shop.id]);
    expect(await ids({ region: "nowhere" })).toEqual([]);
  });

  test("returns an endpoint that was created before the call, even if an earlier call is still reading the list", async () => {
    const { client, emulator } = await withThree();
    emulator.intercept(() => true, { afterCommit: true, delayMs: 300 });
    const slow = client.invoke(LIST, {});
    await expect.poll(() => emulator.requests.length).toBe(1);
    const { id } = await client.create({ url: "https://new.example.com" });
    expect((await client.invoke(LIST, {})).result["ids"]).toContain(id);
    expect((await slow).result["ids"]).not.toContain(id);
  });

  test("reports invalid arguments as failures of the call", async () => {
    const { client, emulator } = await withThree();
    expect(await client.invoke(LIST, { types: "cloud", url: "https://a.example.com" })).toEqual({
      result: {},
      failures: [
        { property: "types", reason: 'must be a list, as in ["cloud"]' },
        {
          property: "",
          reason: expect.stringMatching(/^url is no argument of this function; the arguments are types, /),
        },
      ],
    });
    expect(emulator.requests).toEqual([]);
  });

  test("warns of an unknown type", async () => {
    const { client, logged } = await withThree();
    await client.invoke(LIST, { types: ["clud"] });
    expect(logged).toMatchObject([
      { severity: 2, message: expect.stringMatching(/types\[0\] is no type known .*the types are /) },
    ]);
  });

  test("omits an unreadable item, with a warning", async () => {
    const { client, emulator, logged } = await withThree();
    const body = { endpoints: [{ id: "ep_1" }, { id: "ep_2", port: "high" }], next_page_uri: null };
    emulator.intercept(() => true, { status: 200, body });
    expect((await client.invoke(LIST, {})).result["ids"]).toEqual(["ep_1"]);
    expect(logged).toMatchObject([{ severity: 2, message: expect.stringMatching(/cannot be read.*ep_2/) }]);
  });
});

test("an unknown function fails with the names of the known ones", async () => {
  const { client } = await plugin();
  await expect(client.invoke("endpoints:index:none", {})).rejects.toThrow(
    /has no endpoints:index:none; it has endpoints:index:getEndpoint and/,
  );
});
