import { describe, expect, test } from "vitest";
import { UNKNOWN } from "../../../provider/endpoint/documents";
import { created, full, rules } from "./pluginClient";

const rule = "trafficPolicy.on_http_request[0]";
const status = `${rule}.actions[1].config.status_code`;
const drifted = JSON.stringify(rules(418));

describe("a diff gives the exact place", () => {
  test.each([
    ["of a change within the policy", { trafficPolicy: rules(403) }, status, "UPDATE of inputs"],
    ["of an unknown part of the policy", { trafficPolicy: rules(UNKNOWN) }, status, "UPDATE of inputs"],
    [
      "of a new item",
      { trafficPolicy: { ...full.trafficPolicy, a: [] } },
      "trafficPolicy.a",
      "ADD of inputs",
    ],
    ["of a removed item", { trafficPolicy: { on_http_request: [] } }, rule, "DELETE of inputs"],
    ["under a name with dots", { metadata: { team: "shop" } }, 'metadata["cost.center"]', "DELETE of inputs"],
    ["of another kind of value", { metadata: "text" }, "metadata", "UPDATE of inputs"],
    ["of removed metadata", { metadata: undefined }, "metadata", "DELETE of inputs"],
    ["of a removed field", { description: undefined }, "description", "DELETE"],
    [
      "of bindings as a whole, since their order has no meaning",
      { bindings: ["internal", "public"] },
      "bindings",
      "UPDATE",
    ],
    [
      "of bindings that are left to the service, which changes only the inputs",
      { bindings: undefined },
      "bindings",
      "DELETE of inputs",
    ],
    ["of a URL", { url: "https://other.example.com" }, "url", "UPDATE"],
  ])("%s", async (_, change, place, kind) => {
    const { client, id, outs, inputs } = await created(full);
    const news = JSON.parse(JSON.stringify({ ...full, ...change }));
    expect(await client.diff(id, outs, news, inputs)).toMatchObject({
      changes: true,
      replaces: [],
      diffs: [Object.keys(change)[0]],
      detailed: { [place]: kind },
    });
  });

  test.each([
    ["of a drifted status code", { traffic_policy: drifted }, status, "UPDATE"],
    [
      "of a drifted status code in text that is not canonical",
      {
        traffic_policy: JSON.stringify(rules(418), null, 2),
        metadata: '{ "team": "shop", "cost.center": 1 }',
      },
      status,
      "UPDATE",
    ],
    ["of an invalid policy", { traffic_policy: "{" }, "trafficPolicy", "UPDATE"],
    [
      "of a key that was added by hand",
      { metadata: '{"team":"shop","cost.center":1,"by":"hand"}' },
      "metadata.by",
      "DELETE",
    ],
    ["of metadata that was removed by hand", { metadata: "" }, "metadata", "ADD"],
  ])("%s after a refresh", async (_, edit, place, kind) => {
    const { client, emulator, id, outs, inputs } = await created(full);
    emulator.edit(id, edit);
    const found = await client.read(id, outs, inputs);
    const diff = await client.diff(id, found.props ?? {}, inputs, found.inputs);
    expect(diff).toMatchObject({ changes: true, detailed: { [place]: `${kind} of inputs` } });
  });

  test("of drift as a whole document if the inputs are equal", async () => {
    const { client, emulator, id, outs, inputs } = await created(full);
    emulator.edit(id, { traffic_policy: drifted });
    const { props = {} } = await client.read(id, outs, inputs);
    const diff = await client.diff(id, props, inputs, inputs);
    expect(diff).toMatchObject({ detailed: { trafficPolicy: "UPDATE" } });
  });

  test("of the URL for a replacement", async () => {
    const { client, id, outs } = await created(full);
    expect(await client.diff(id, outs, { ...full, url: "tls://shop.example.com" })).toEqual({
      changes: true,
      replaces: ["url"],
      deleteBeforeReplace: true,
      diffs: ["url"],
      detailed: { url: "UPDATE_REPLACE" },
    });
  });

  test("only of changes, and without one is empty", async () => {
    const { client, id, outs } = await created(full);
    expect(await client.diff(id, outs, full)).toMatchObject({ changes: false, diffs: [], detailed: {} });
  });

  test("also for a state of the dynamic provider", async () => {
    const { client, id, outs } = await created(full);
    const dynamic = { ...outs, __provider: "code" };
    expect(await client.diff(id, dynamic, full)).toMatchObject({ changes: false, detailed: {} });
    expect(await client.diff(id, dynamic, { ...full, description: "x" })).toMatchObject({
      detailed: { description: "UPDATE" },
    });
  });
});
