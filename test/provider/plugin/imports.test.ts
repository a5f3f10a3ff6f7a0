import { describe, expect, test } from "vitest";
import { thrown } from "../emulated";
import { plugin, secret, url } from "./pluginClient";

const chosen = { bindings: ["public"], poolingEnabled: false };

describe("an import", () => {
  // biome-ignore format: one line for each endpoint
  test.each<[string, live: object, inputs: { [input: string]: unknown }]>([
    ["all inputs", { traffic_policy: "on_http_request: []", metadata: '{"a":1}', description: "by hand" }, { trafficPolicy: { on_http_request: [] }, metadata: { a: 1 }, description: "by hand", ...chosen }],
    ["metadata with a number of more digits than data can hold as text", { metadata: '{"n":9007199254740993}' }, { metadata: '{"n":9007199254740993}', ...chosen }],
    ["secrets, without a note, because the inputs become code", { metadata: '{"password":"CANARY-1"}' }, { metadata: secret({ password: "CANARY-1" }), ...chosen }],
  ])("returns %s, and they cause no change", async (_, live, expected) => {
    const { client, emulator } = await plugin();
    const { id } = emulator.seed({ type: "cloud", url, ...live });
    const { inputs = {}, props = {} } = await client.read(id);
    expect(inputs).toEqual({ url, ...expected });
    expect((await client.check(inputs, inputs)).inputs).toEqual(inputs);
    expect(await client.diff(id, props, inputs)).toMatchObject({ changes: false });
    // A program that sets less keeps what exists.
    const { bindings: _b, poolingEnabled: _p, trafficPolicy: _t, ...own } = inputs;
    expect((await client.check(inputs, own)).failures).toEqual([]);
    expect(await client.diff(id, props, own)).toMatchObject({ changes: false });
  });

  test("records the service's defaults, so that a later edit is drift", async () => {
    const { client, emulator } = await plugin();
    const { id } = emulator.seed({ type: "cloud", url, bindings: ["internal"] });
    const { props = {} } = await client.read(id);
    emulator.edit(id, { bindings: ["public"], pooling_enabled: true });
    // After a write, the provider does not use the earlier list.
    const news = { url, description: "x" };
    const { outs } = await client.update(id, props, news);
    const drifted = await client.read(id, outs, { url });
    expect(drifted.inputs).toEqual({ ...news, bindings: ["public"], poolingEnabled: true });
    expect(await client.diff(id, drifted.props ?? {}, news)).toMatchObject({
      changes: true,
      detailed: { bindings: "UPDATE", poolingEnabled: "UPDATE" },
    });
  });

  type Seed = Parameters<Awaited<ReturnType<typeof plugin>>["emulator"]["seed"]>[0];
  // biome-ignore format: one line for each endpoint
  test.each<[string, live: Seed | undefined, RegExp]>([
    ["a wrong id", undefined, /^cannot import ep_1: There is no endpoint ep_1 in this account\. Correct the id; getEndpoints\(\) lists them all\.$/],
    ["an edge", { type: "edge" }, /^cannot import ep_1: ep_1 is of type edge; CloudEndpoint manages cloud endpoints only\. Read it with getEndpoint, or give the id of a cloud endpoint\.$/],
  ])("of %s is refused with the reason and the next step", async (_, live, message) => {
    const { client, emulator } = await plugin();
    if (live) emulator.seed({ ...live, id: "ep_1" });
    expect((await thrown(client.read("ep_1"))).message).toMatch(message);
  });
});
