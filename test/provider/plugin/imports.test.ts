import { describe, expect, test } from "vitest";
import { thrown } from "../service";
import { plugin, url } from "./pluginClient";

describe("an import", () => {
  test("returns all inputs, and they cause no change", async () => {
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

  test("causes no change if the program omits fields that the service chooses", async () => {
    const { client, emulator } = await plugin();
    const { id } = emulator.seed({ type: "cloud", url, traffic_policy: "{}" });
    const { props = {} } = await client.read(id);
    const news = { url, trafficPolicy: {} };
    expect(await client.diff(id, props, news)).toMatchObject({ changes: false });
    const refreshed = await client.read(id, props, news);
    expect(refreshed.inputs).toEqual(news);
    expect(await client.diff(id, refreshed.props ?? {}, news)).toMatchObject({ changes: false });
  });

  test("keeps metadata with a number of more digits than data can hold, as text", async () => {
    const { client, emulator } = await plugin();
    const metadata = '{"n":9007199254740993}';
    const { id } = emulator.seed({ type: "cloud", url, metadata });
    const { inputs, props } = await client.read(id);
    expect(inputs).toMatchObject({ metadata });
    expect(await client.diff(id, props ?? {}, { url, metadata })).toMatchObject({ changes: false });
  });

  test("notes the service's choices, so that a later edit is drift", async () => {
    const { client, emulator } = await plugin();
    const { id } = emulator.seed({ type: "cloud", url, bindings: ["internal"] });
    const { props = {} } = await client.read(id);
    const news = { url };
    emulator.edit(id, { bindings: ["public"], pooling_enabled: true });
    // After a write, the provider does not use the earlier list.
    const { outs } = await client.update(id, props, { url, description: "x" });
    const drifted = await client.read(id, outs, news);
    expect(drifted.inputs).toEqual({ url, description: "x", bindings: ["public"], poolingEnabled: true });
    expect(await client.diff(id, drifted.props ?? {}, { url, description: "x" })).toMatchObject({
      changes: true,
      diffs: ["bindings", "poolingEnabled"],
      detailed: { bindings: "UPDATE", poolingEnabled: "UPDATE" },
    });
  });

  test.each(['"by hand"', '{"namespace":"platform"}', "null"])(
    "of an endpoint with the mark's key and the value %s is refused with the next step",
    async (value) => {
      const { client, emulator } = await plugin();
      const metadata = `{"team":"shop","pulumi-endpoints":${value}}`;
      const { id } = emulator.seed({ type: "cloud", url, metadata });
      await expect(client.read(id)).rejects.toThrow(
        new RegExp(
          `cannot import ${id}: .*the key pulumi-endpoints.* rename or remove that key on the service`,
        ),
      );
    },
  );

  test("of an endpoint that does not exist is refused, because the id is wrong", async () => {
    const { client } = await plugin();
    expect((await thrown(client.read("ep_none"))).message).toBe(
      "cannot import ep_none: There is no endpoint ep_none in this account. Correct the id; getEndpoints() lists them all.",
    );
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
