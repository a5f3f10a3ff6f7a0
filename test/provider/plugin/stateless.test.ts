import { describe, expect, test } from "vitest";
import { thrown } from "../service";
import { full, type PluginClient, type Props, plugin, secret, url } from "./pluginClient";

/* The calls of `pulumi do`, which has no stack: it configures a provider without a name, and reads with empty properties. */

/** Starts the plugin, with a mark that stacks would use. */
async function withoutStack() {
  const environment = { ENDPOINTS_MARK: "team/prod" };
  const parts = await plugin({ environment, configure: false });
  const { apiKey, baseUrl } = parts.emulator;
  await parts.client.configure({ apiKey, baseUrl }, "");
  return parts;
}

async function create(client: PluginClient, news: Props): Promise<string> {
  const { inputs } = await client.check({}, news);
  return (await client.create(inputs)).id;
}

/** What `patch` does; `upsert` replaces the inputs instead. */
async function patch(client: PluginClient, id: string, change: Props, { whole = false } = {}) {
  const { props = {}, inputs: olds = {} } = await client.read(id, {}, {});
  const { inputs, failures } = await client.check(olds, whole ? change : { ...olds, ...change });
  if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join("; "));
  const { detailed } = await client.diff(id, props, inputs, olds);
  return { detailed, ...(await client.update(id, props, inputs)) };
}

const ownMark = {
  "pulumi-endpoints": {
    namespace: "team/prod",
    urn: "urn:pulumi:prod::shop::t::web",
    nonce: "1",
    time: "now",
  },
};

describe("without a stack", () => {
  test("the component, which only a program can construct, is refused as such", async () => {
    const { client } = await withoutStack();
    const type = "endpoints:index:WebhookVerification";
    const inputs = { platform: "github", secret: "CANARY" };
    const { message } = await thrown(client.check({}, inputs, `urn:pulumi:stack::project::${type}::hooks`));
    expect(message).toBe(`${type} is a component: construct it in a program, and run \`pulumi up\`.`);
  });

  test("two creates in a pool make two endpoints, without marks", async () => {
    const { client, emulator } = await withoutStack();
    const pooled = { url, poolingEnabled: true };
    expect(await create(client, pooled)).not.toBe(await create(client, pooled));
    expect(emulator.endpoints.map(({ metadata }) => metadata ?? "")).toEqual(["", ""]);
  });

  test("a change of one field sends only that field", async () => {
    const { client, emulator } = await withoutStack();
    const id = await create(client, full);
    const { detailed } = await patch(client, id, { description: "back door" });
    expect(detailed).toEqual({ description: "UPDATE" });
    const patches = emulator.requests.filter(({ method }) => method === "PATCH");
    expect(patches.map(({ body }) => body)).toEqual([{ id, description: "back door" }]);
  });

  test("a change that changes nothing sends nothing", async () => {
    const { client, emulator } = await withoutStack();
    const id = await create(client, full);
    expect((await patch(client, id, { url: "https://SHOP.example.com/" })).detailed).toEqual({});
    expect(emulator.requests.filter(({ method }) => method === "PATCH")).toEqual([]);
  });

  test("a change of the metadata keeps the mark of the stack that has the endpoint", async () => {
    const { client, emulator } = await withoutStack();
    const metadata = JSON.stringify({ team: "shop", ...ownMark });
    const { id } = emulator.seed({ type: "cloud", url, metadata });
    expect((await client.read(id, {}, {})).inputs).toMatchObject({ metadata: { team: "shop" } });
    await patch(client, id, { metadata: { team: "web" } });
    const [live] = emulator.endpoints;
    expect(JSON.parse(live?.metadata ?? "")).toEqual({ team: "web", ...ownMark });
  });

  test("a replacement of all inputs clears what it leaves out, but never the policy", async () => {
    const { client, emulator } = await withoutStack();
    const id = await create(client, full);
    await expect(patch(client, id, { url }, { whole: true })).rejects.toThrow(/trafficPolicy/);
    const { trafficPolicy } = full;
    await patch(client, id, { url, trafficPolicy }, { whole: true });
    expect(emulator.requests.at(-1)?.body).toEqual({ id, description: "", metadata: "" });
  });

  test("secrets stay marked, and an endpoint's own secrets are marked too", async () => {
    const { client, emulator } = await withoutStack();
    const { inputs } = await client.check({}, { url, description: secret("hidden") });
    expect((await client.create(inputs)).outs["description"]).toEqual(secret("hidden"));
    const { id } = emulator.seed({ type: "cloud", url: "https://b.example.com", metadata: '{"token":"t"}' });
    const { props, inputs: read } = await client.read(id, {}, {});
    expect(props?.["metadata"]).toEqual(secret('{"token":"t"}'));
    expect(read?.["metadata"]).toEqual(secret({ token: "t" }));
  });

  test("an endpoint is deleted, and one that does not exist is reported", async () => {
    const { client, emulator } = await withoutStack();
    const id = await create(client, full);
    const { props = {} } = await client.read(id, {}, {});
    await client.delete(id, props);
    expect(emulator.endpoints).toEqual([]);
    expect((await thrown(client.read(id, {}, {}))).message).toBe(
      `cannot read ${id}: There is no endpoint ${id}. Correct the id, or create the endpoint with CloudEndpoint.`,
    );
  });

  test("an agent's endpoint is refused", async () => {
    const { client, emulator } = await withoutStack();
    const { id } = emulator.seed({ type: "ephemeral" });
    expect((await thrown(client.read(id, {}, {}))).message).toMatch(
      /CloudEndpoint manages cloud endpoints only/,
    );
  });

  test("the message of a missing setting names what counts", async () => {
    const { client } = await plugin({ configure: false });
    await client.configure({}, "");
    expect((await thrown(client.list())).message).toMatch(
      /^there is no API key: .*\n.*\nthis command reads no stack's configuration: use the environment/,
    );
  });
});
