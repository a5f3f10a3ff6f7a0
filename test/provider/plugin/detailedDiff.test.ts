import { describe, expect, test } from "vitest";
import { created, full, rules, UNKNOWN } from "./shop";

const status = "trafficPolicy.on_http_request[0].actions[1].config.status_code";

describe("a diff names the exact place", () => {
  test.each([
    ["of a change within the policy", { trafficPolicy: rules(403) }, { [status]: "UPDATE of inputs" }],
    [
      "of a part of the policy that is not known yet",
      { trafficPolicy: rules(UNKNOWN) },
      { [status]: "UPDATE of inputs" },
    ],
    [
      "of an item that came",
      { trafficPolicy: { ...rules(404), on_tcp_connect: [] } },
      { "trafficPolicy.on_tcp_connect": "ADD of inputs" },
    ],
    [
      "of an item that went",
      { trafficPolicy: { on_http_request: [] } },
      { "trafficPolicy.on_http_request[0]": "DELETE of inputs" },
    ],
    [
      "under a name with dots",
      { metadata: { team: "shop" } },
      { 'metadata["cost.center"]': "DELETE of inputs" },
    ],
    ["of another kind of value", { metadata: "text" }, { metadata: "UPDATE of inputs" }],
    ["of metadata that went", { metadata: undefined }, { metadata: "DELETE of inputs" }],
    ["of a field that went", { description: undefined }, { description: "DELETE" }],
    [
      "of bindings, as a whole, since their order means nothing",
      { bindings: ["internal", "public"] },
      { bindings: "UPDATE" },
    ],
    [
      "of bindings that are left to the service, which is a change of the inputs alone",
      { bindings: undefined },
      { bindings: "DELETE of inputs" },
    ],
    ["of a URL", { url: "https://other.example.com" }, { url: "UPDATE" }],
  ])("%s", async (_, change, detailed) => {
    const { client, id, outs, inputs } = await created(full);
    const news = JSON.parse(JSON.stringify({ ...full, ...change }));
    expect(await client.diff(id, outs, news, inputs)).toMatchObject({
      changes: true,
      replaces: [],
      diffs: [Object.keys(change)[0]],
      detailed,
    });
  });

  test.each([
    ["that drifted", { traffic_policy: JSON.stringify(rules(418)) }, { [status]: "UPDATE of inputs" }],
    [
      "that drifted in text that is not canonical",
      {
        traffic_policy: JSON.stringify(rules(418), null, 2),
        metadata: '{ "team": "shop", "cost.center": 1 }',
      },
      { [status]: "UPDATE of inputs" },
    ],
    ["that no longer parses", { traffic_policy: "{" }, { trafficPolicy: "UPDATE of inputs" }],
    [
      "that came by hand",
      { metadata: '{"team":"shop","cost.center":1,"by":"hand"}' },
      { "metadata.by": "DELETE of inputs" },
    ],
    ["that somebody removed", { metadata: "" }, { metadata: "ADD of inputs" }],
  ])("%s, after a refresh", async (_, edit, detailed) => {
    const { client, emulator, id, outs, inputs } = await created(full);
    emulator.edit(id, edit);
    const found = await client.read(id, outs, inputs);
    expect(await client.diff(id, found.props ?? {}, inputs, found.inputs)).toMatchObject({
      changes: true,
      detailed,
    });
  });

  test("of a live document where the inputs are equal: the whole of it", async () => {
    const { client, emulator, id, outs, inputs } = await created(full);
    emulator.edit(id, { traffic_policy: JSON.stringify(rules(418)) });
    const { props = {} } = await client.read(id, outs, inputs);
    expect(await client.diff(id, props, inputs, inputs)).toMatchObject({
      detailed: { trafficPolicy: "UPDATE" },
    });
  });

  test("of a replacement: the scheme", async () => {
    const { client, id, outs } = await created(full);
    expect(await client.diff(id, outs, { ...full, url: "tls://shop.example.com" })).toEqual({
      changes: true,
      replaces: ["url"],
      deleteBeforeReplace: true,
      diffs: ["url"],
      detailed: { url: "UPDATE_REPLACE" },
    });
  });

  test("and none where nothing changed", async () => {
    const { client, id, outs } = await created(full);
    expect(await client.diff(id, outs, full)).toMatchObject({ changes: false, diffs: [], detailed: {} });
  });

  test("where the state came from the dynamic provider as well", async () => {
    const { client, id, outs } = await created(full);
    const dynamic = { ...outs, __provider: "code" };
    expect(await client.diff(id, dynamic, full)).toMatchObject({ changes: false, detailed: {} });
    expect(await client.diff(id, dynamic, { ...full, description: "x" })).toMatchObject({
      detailed: { description: "UPDATE" },
    });
  });
});
