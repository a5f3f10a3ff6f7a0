import { describe, expect, test } from "vitest";
import { UNKNOWN } from "../../../provider/pulumi/sentinels";
import { created, full, plugin, rules } from "./pluginClient";

/*
 * Previews of the engine: the exact places of a diff, and the outputs. Conformance and scenarios test the operations themselves.
 */

const rule = "trafficPolicy.on_http_request[0]";
const status = `${rule}.actions[1].config.status_code`;
const spaced = {
  traffic_policy: JSON.stringify(rules(418), null, 2),
  metadata: '{ "team": "shop", "cost.center": 1 }',
};

// biome-ignore format: one line for each change
const changes: [string, change: object, detailed: object, open: string[]][] = [
  ["within the policy", { trafficPolicy: rules(403) }, { [status]: "UPDATE of inputs" }, ["updatedAt"]],
  ["of an unknown part of the policy", { trafficPolicy: rules(UNKNOWN) }, { [status]: "UPDATE of inputs" }, []],
  ["that adds an item", { trafficPolicy: { ...full.trafficPolicy, on_http_response: [] } }, { "trafficPolicy.on_http_response": "ADD of inputs" }, ["updatedAt"]],
  ["under a name with dots", { metadata: { team: "shop" } }, { 'metadata["cost.center"]': "DELETE of inputs" }, ["updatedAt"]],
  ["that removes the metadata", { metadata: undefined }, { metadata: "DELETE of inputs" }, ["updatedAt"]],
  ["that removes a field", { description: undefined }, { description: "DELETE" }, ["updatedAt"]],
  ["of bindings as a whole, since their order has no meaning", { bindings: ["internal"] }, { bindings: "UPDATE" }, ["updatedAt"]],
  ["that leaves the bindings to the service, which changes only the inputs", { bindings: undefined }, { bindings: "DELETE of inputs" }, []],
  ["of the URL", { url: "https://other.example.com" }, { url: "UPDATE" }, ["domain", "updatedAt"]],
];

test.each(changes)(
  "a change %s has its place, and its preview the values of the update",
  async (_, change, detailed, open) => {
    const { client, emulator, id, outs, inputs } = await created(full);
    const news = JSON.parse(JSON.stringify({ ...full, ...change }));
    const names = Object.keys(change);
    expect(await client.diff(id, outs, news, inputs)).toEqual({
      changes: true,
      replaces: [],
      deleteBeforeReplace: true,
      diffs: names,
      detailed,
    });
    const { outs: previewed } = await client.update(id, outs, news, { preview: true });
    expect(emulator.requests).toHaveLength(1);
    if (JSON.stringify(news).includes(UNKNOWN))
      return expect(previewed).toMatchObject({ trafficPolicy: UNKNOWN });
    const { outs: updated } = await client.update(id, outs, news);
    const known = Object.entries(previewed).filter(([, value]) => value !== UNKNOWN);
    expect(updated).toMatchObject(Object.fromEntries(known));
    expect(
      Object.keys(updated)
        .filter((name) => previewed[name] === UNKNOWN)
        .sort(),
    ).toEqual(open);
    expect(Object.keys(updated).filter((name) => !(name in previewed))).toEqual([]);
  },
);

// biome-ignore format: one line for each edit
test.each<[string, edit: object, detailed: object]>([
  ["of a status code in text that is not canonical", spaced, { [status]: "UPDATE of inputs" }],
  ["to an invalid policy", { traffic_policy: "{" }, { trafficPolicy: "UPDATE of inputs" }],
  ["that adds a key", { metadata: '{"team":"shop","cost.center":1,"by":"hand"}' }, { "metadata.by": "DELETE of inputs" }],
  ["that removes the metadata", { metadata: "" }, { metadata: "ADD of inputs" }],
])("an edit by hand %s has its place after a refresh", async (_, edit, detailed) => {
  const { client, emulator, id, outs, inputs } = await created(full);
  emulator.edit(id, edit);
  const { props = {}, inputs: found } = await client.read(id, outs, inputs);
  expect(await client.diff(id, props, inputs, found)).toMatchObject({ changes: true, detailed });
  // If the inputs are equal, the diff has the whole document.
  const whole = { [Object.keys(detailed)[0]?.split(/[.[]/)[0] ?? ""]: "UPDATE" };
  expect(await client.diff(id, props, inputs, inputs)).toMatchObject({ detailed: whole });
});

test("a diff has the URL for a replacement, and the place of a change in a state of the dynamic provider", async () => {
  const { client, id, outs } = await created(full);
  const replacement = await client.diff(id, outs, { ...full, url: "tls://shop.example.com" });
  expect(replacement).toMatchObject({ replaces: ["url"], detailed: { url: "UPDATE_REPLACE" } });
  const { detailed } = await client.diff(id, { ...outs, __provider: "code" }, { ...full, description: "x" });
  expect(detailed).toEqual({ description: "UPDATE" });
});

describe("the preview of a create", () => {
  const ofUrl = {
    publicUrl: "tcp://a.example.com",
    hostport: "a.example.com:1234",
    proto: "tcp",
    type: "cloud",
  };
  const ofService = { bindings: UNKNOWN, createdAt: UNKNOWN, uri: UNKNOWN, trafficPolicy: UNKNOWN };
  // biome-ignore format: one line for each preview
  test.each<[string, { [input: string]: unknown }, object]>([
    ["has what follows from the URL, and unknown values for the service's fields", { url: "tcp://a.example.com:1234" }, { ...ofUrl, ...ofService }],
    ["with an unknown URL knows nothing that follows from it", { url: UNKNOWN }, { url: UNKNOWN, publicUrl: UNKNOWN, hostport: UNKNOWN, type: "cloud" }],
    ["with an unknown part of a document has an unknown text", { ...full, metadata: { team: UNKNOWN } }, { metadata: UNKNOWN, description: "front door" }],
  ])("%s", async (_, news, expected) => {
    const { client, emulator } = await plugin();
    const { id, outs } = await client.create(news, { preview: true });
    expect(id).toBe("");
    expect(outs).toMatchObject(expected);
    expect(emulator.requests).toEqual([]);
  });
});

test("the preview of an update that reverts an edit by hand has the service's default", async () => {
  const news = { url: "https://shop.internal" };
  const { client, emulator, id, outs } = await created(news);
  emulator.edit(id, { bindings: ["public"] });
  const edited = { ...outs, bindings: ["public"] };
  const { outs: previewed } = await client.update(id, edited, news, { preview: true });
  expect(previewed).toMatchObject({ bindings: ["internal"], updatedAt: UNKNOWN });
  const { outs: updated } = await client.update(id, edited, news);
  expect(updated).toMatchObject({ ...previewed, updatedAt: expect.any(String) });
});
