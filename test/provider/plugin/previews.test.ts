import { describe, expect, test } from "vitest";
import { UNKNOWN } from "../../../provider/endpoint/documents";
import { created, full, plugin, rules } from "./pluginClient";

describe("a preview", () => {
  test("of a create returns fields that follow from the URL, and unknown values for the service's fields", async () => {
    const { client, emulator } = await plugin();
    const { id, outs } = await client.create(
      { url: "tcp://1.tcp.example.com:12345", description: "x" },
      { preview: true },
    );
    expect(id).toBe("");
    expect(outs).toMatchObject({
      url: "tcp://1.tcp.example.com:12345",
      publicUrl: "tcp://1.tcp.example.com",
      hostport: "1.tcp.example.com:12345",
      proto: "tcp",
      type: "cloud",
      description: "x",
      bindings: UNKNOWN,
      createdAt: UNKNOWN,
      uri: UNKNOWN,
      trafficPolicy: UNKNOWN,
    });
    expect(emulator.requests).toEqual([]);
  });

  test("of a create returns the values that the create later returns", async () => {
    const { client } = await plugin();
    const { outs: previewed } = await client.create(full, { preview: true });
    const { outs } = await client.create(full);
    const known = Object.entries(previewed).filter(([, value]) => value !== UNKNOWN);
    expect(outs).toMatchObject(Object.fromEntries(known));
    expect(known.map(([name]) => name).sort()).toEqual(
      [...Object.keys(full), "__given", "hostport", "proto", "publicUrl", "type"].sort(),
    );
  });

  test("of a create with an unknown URL returns unknown values for all fields that follow from it", async () => {
    const { client } = await plugin();
    const { outs } = await client.create({ url: UNKNOWN }, { preview: true });
    expect(outs).toMatchObject({ url: UNKNOWN, publicUrl: UNKNOWN, hostport: UNKNOWN, type: "cloud" });
  });

  test("with an unknown part of a document returns an unknown value for its text", async () => {
    const { client, id, outs } = await created(full);
    const news = { ...full, trafficPolicy: rules(UNKNOWN), metadata: { team: UNKNOWN } };
    const unknown = { trafficPolicy: UNKNOWN, metadata: UNKNOWN, description: "front door" };
    expect((await client.create(news, { preview: true })).outs).toMatchObject(unknown);
    expect((await client.update(id, outs, news, { preview: true })).outs).toMatchObject(unknown);
  });

  test.each([
    ["description", { description: "back door" }],
    ["policy", { trafficPolicy: rules(403) }],
    ["removed description", { description: undefined }],
    ["URL", { url: "https://other.example.com" }],
    ["removed list of bindings", { bindings: undefined }],
  ])("of an update of a %s returns the values that the update later returns", async (_, change) => {
    const { client, emulator, id, outs } = await created(full);
    const news = JSON.parse(JSON.stringify({ ...full, ...change }));
    const { outs: previewed } = await client.update(id, outs, news, { preview: true });
    expect(emulator.requests).toHaveLength(1);
    const { outs: updated } = await client.update(id, outs, news);
    const known = Object.entries(previewed).filter(([, value]) => value !== UNKNOWN);
    expect(updated).toMatchObject(Object.fromEntries(known));
    const open = Object.keys(updated).filter((name) => previewed[name] === UNKNOWN);
    const expected = "url" in change ? ["domain", "updatedAt"] : "bindings" in change ? [] : ["updatedAt"];
    expect(open.sort()).toEqual(expected);
    expect(Object.keys(updated).filter((name) => !(name in previewed))).toEqual([]);
  });

  test("of an update that reverts an edit returns the service's choice", async () => {
    const { client, emulator, id, outs } = await created({ url: "https://shop.internal" });
    emulator.edit(id, { bindings: ["public"] });
    const edited = { ...outs, bindings: ["public"] };
    const news = { url: "https://shop.internal" };
    const { outs: previewed } = await client.update(id, edited, news, { preview: true });
    expect(previewed).toMatchObject({ bindings: ["internal"], updatedAt: UNKNOWN });
    const { outs: updated } = await client.update(id, edited, news);
    expect(updated).toMatchObject({ ...previewed, updatedAt: expect.any(String) });
  });
});
