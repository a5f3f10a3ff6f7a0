import { describe, expect, test } from "vitest";
import { created, full, rules, UNKNOWN } from "./shop";

describe("a diff names the exact place", () => {
  test.each([
    [
      "of a change within the policy",
      { trafficPolicy: rules(403) },
      { "trafficPolicy.on_http_request[0].actions[1].config.status_code": "UPDATE" },
    ],
    [
      "of a part of the policy that is not known yet",
      { trafficPolicy: rules(UNKNOWN) },
      { "trafficPolicy.on_http_request[0].actions[1].config.status_code": "UPDATE" },
    ],
    [
      "of an item that came",
      { trafficPolicy: { ...rules(404), on_tcp_connect: [] } },
      { "trafficPolicy.on_tcp_connect": "ADD" },
    ],
    [
      "of an item that went",
      { trafficPolicy: { on_http_request: [] } },
      { "trafficPolicy.on_http_request[0]": "DELETE" },
    ],
    ["under a name with dots", { metadata: { team: "shop" } }, { 'metadata["cost.center"]': "DELETE" }],
    ["of another kind of value", { metadata: "text" }, { metadata: "UPDATE" }],
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
    const { client, id, outs } = await created(full);
    const news = JSON.parse(JSON.stringify({ ...full, ...change }));
    expect(await client.diff(id, outs, news)).toMatchObject({
      changes: true,
      replaces: [],
      diffs: [Object.keys(change)[0]],
      detailed,
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
