import { describe, expect, test } from "vitest";
import { thrown } from "../emulated";
import { plugin, secret } from "./pluginClient";

const GET = "endpoints:index:getEndpoint";
const LIST = "endpoints:index:getEndpoints";

async function withThree() {
  const parts = await plugin();
  parts.emulator.seed({ type: "ephemeral", id: "ep_agent" });
  parts.emulator.seed({ type: "edge", id: "ep_edge" });
  parts.emulator.seed({ type: "cloud", id: "ep_shop", url: "https://shop.example.com" });
  return parts;
}

describe("getEndpoint", () => {
  test("fails with the reply after a 404 without the service's code", async () => {
    const { client, emulator } = await withThree();
    emulator.intercept("read", { status: 404, body: "<html>" });
    const { message } = await thrown(client.invoke(GET, { id: "ep_shop" }));
    expect(message).toMatch(/^GET \/endpoints\/ep_shop: status 404\. /);
  });

  test("has no secret URL in its error, neither the argument's nor a resource's", async () => {
    const { client } = await plugin();
    await client.create({ url: secret("https://hidden.example.com") });
    const { message } = await thrown(client.invoke(GET, { url: "https://hiden.example.com" }));
    expect(message).toContain("no endpoint of the 1 of this account serves https://hiden.example.com");
    expect(message).not.toContain("hidden");
    const own = await thrown(client.invoke(GET, { url: secret("https://hidden2.example.com") }));
    expect(own.message).toContain("no endpoint of the 1 of this account serves [secret]");
    expect(own.message).not.toContain("hidden");
  });
});

describe("getEndpoints", () => {
  test.each<[object, string[]]>([
    [{}, ["ep_shop", "ep_edge", "ep_agent"]],
    [{ types: ["edge", "ephemeral"], name: null }, ["ep_edge", "ep_agent"]],
  ])("returns the endpoints that satisfy %j, newest first", async (args, ids) => {
    const { client } = await withThree();
    expect((await client.invoke(LIST, { ...args })).result["ids"]).toEqual(ids);
  });

  test("reports invalid arguments as failures of the call", async () => {
    const { client, emulator } = await plugin();
    const unknown = /^url is no argument of this function; the arguments are types, /;
    expect(await client.invoke(LIST, { types: "cloud", url: "https://a.example.com" })).toEqual({
      result: {},
      failures: [
        { property: "types", reason: 'must be a list, as in ["cloud"]' },
        { property: "", reason: expect.stringMatching(unknown) },
      ],
    });
    expect(emulator.requests).toEqual([]);
  });

  test("warns of an unknown type, and of an unreadable item that the result omits", async () => {
    const { client, emulator, logged } = await plugin();
    const body = {
      endpoints: [
        { id: "ep_1", type: "clud" },
        { id: "ep_2", port: "high" },
      ],
    };
    emulator.intercept(() => true, { status: 200, body });
    expect((await client.invoke(LIST, { types: ["clud"] })).result["ids"]).toEqual(["ep_1"]);
    expect(logged).toMatchObject([
      { severity: 2, message: expect.stringMatching(/types\[0\] is no type known .*the types are /) },
      { severity: 2, message: expect.stringMatching(/cannot be read.*ep_2/) },
    ]);
  });
});
