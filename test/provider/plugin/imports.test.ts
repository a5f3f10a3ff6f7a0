import { describe, expect, test } from "vitest";
import { thrown } from "../service";
import { plugin } from "./pluginClient";
import { url } from "./shop";

describe("an import", () => {
  test("gives all inputs, so that what was there changes nothing", async () => {
    const { client, emulator } = await plugin();
    const { id } = emulator.seed({
      type: "cloud",
      url,
      traffic_policy: "on_http_request: []",
      metadata: '{"a":1}',
      description: "by hand",
    });
    const { inputs, props } = await client.read(id);
    expect(inputs).toEqual({
      url,
      trafficPolicy: { on_http_request: [] },
      metadata: { a: 1 },
      description: "by hand",
      bindings: ["public"],
      poolingEnabled: false,
    });
    expect((await client.check(inputs ?? {}, inputs ?? {})).inputs).toEqual(inputs);
    expect(await client.diff(id, props ?? {}, inputs ?? {})).toMatchObject({ changes: false });
  });

  test("asks for no input back that the program leaves to the service", async () => {
    const { client, emulator } = await plugin();
    const { id } = emulator.seed({ type: "cloud", url, traffic_policy: "{}" });
    const { props = {} } = await client.read(id);
    const news = { url, trafficPolicy: {} };
    expect(await client.diff(id, props, news)).toMatchObject({ changes: false });
    const refreshed = await client.read(id, props, news);
    expect(refreshed.inputs).toEqual(news);
    expect(await client.diff(id, refreshed.props ?? {}, news)).toMatchObject({ changes: false });
  });

  test("takes what is there for the service's choice, and names what somebody makes of it later", async () => {
    const { client, emulator } = await plugin();
    const { id } = emulator.seed({ type: "cloud", url, bindings: ["internal"] });
    const { props = {} } = await client.read(id);
    const news = { url };
    emulator.edit(id, { bindings: ["public"], pooling_enabled: true });
    // A write, so that no read is served from what was listed before.
    const { outs } = await client.update(id, props, { url, description: "x" });
    const seen = await client.read(id, outs, news);
    expect(seen.inputs).toEqual({ url, description: "x", bindings: ["public"], poolingEnabled: true });
    expect(await client.diff(id, seen.props ?? {}, { url, description: "x" })).toMatchObject({
      changes: true,
      diffs: ["bindings", "poolingEnabled"],
      detailed: { bindings: "UPDATE", poolingEnabled: "UPDATE" },
    });
  });

  test.each(["edge", "ephemeral"] as const)("of an %s endpoint is refused with the reason", async (type) => {
    const { client, emulator } = await plugin();
    const { id } = emulator.seed({ type });
    const error = await thrown(client.read(id));
    expect(error.message).toBe(
      `cannot import ${id}: ${id} is of type ${type}; CloudEndpoint manages cloud endpoints only. Read it with getEndpoint, or give the id of a cloud endpoint.`,
    );
  });
});
