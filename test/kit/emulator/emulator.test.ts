import { describe, expect, it } from "vitest";
import { call, create, start } from "./requests";

const url = "https://a.example.com";

describe("seed", () => {
  it("adds an agent's endpoint with the agent's fields and none of a cloud endpoint's", async () => {
    const emulator = await start();
    const endpoint = emulator.seed({ type: "ephemeral" });
    expect(endpoint).toMatchObject({
      type: "ephemeral",
      proto: "https",
      bindings: ["public"],
      pooling_enabled: false,
      name: "command_line",
      upstream_url: "http://localhost:80",
      principal: { id: expect.stringMatching(/^usr_/), uri: "" },
      tunnel: { id: endpoint.id.replace("ep_", "tn_"), uri: expect.stringContaining("/tunnels/tn_") },
      tunnel_session: {
        id: expect.stringMatching(/^ts_/),
        uri: expect.stringContaining("/tunnel_sessions/ts_"),
      },
    });
    expect(endpoint.public_url).toBe(endpoint.url);
    for (const field of ["uri", "domain", "edge", "traffic_policy"])
      expect(endpoint).not.toHaveProperty(field);
  });

  it("adds an edge with the fields domain and edge, and without url", async () => {
    const endpoint = (await start()).seed({ type: "edge", public_url: "tls://shop.example.com" });
    expect(endpoint).toMatchObject({
      type: "edge",
      public_url: "tls://shop.example.com",
      proto: "tls",
      hostport: "shop.example.com:443",
      domain: { id: expect.stringMatching(/^rd_/) },
      edge: { id: expect.stringMatching(/^edgtls_/), uri: expect.stringContaining("/edges/tls/edgtls_") },
    });
    for (const field of ["url", "uri", "tunnel", "principal"]) expect(endpoint).not.toHaveProperty(field);
  });

  it("adds an edge for tcp with a reserved address, with or without the port in its public URL", async () => {
    const emulator = await start();
    const full = emulator.seed({ type: "edge", public_url: "tcp://1.tcp.example.com:20000" });
    expect(full).toMatchObject({
      hostport: "1.tcp.example.com:20000",
      tcp_addr: { id: expect.stringMatching(/^ra_/) },
    });
    const bare = emulator.seed({
      type: "edge",
      public_url: "tcp://1.tcp.example.com",
      hostport: "1.tcp.example.com:20000",
    });
    expect(bare.tcp_addr).toEqual(full.tcp_addr);
    expect(emulator.seed({ type: "edge", public_url: "tcp://2.tcp.example.com" }).hostport).toMatch(/:\d+$/);
  });

  it("adds a cloud endpoint with the fields of a created one, and the given fields take precedence", async () => {
    const emulator = await start();
    const seeded = emulator.seed({ type: "cloud", url, region: "eu", domain: undefined, id: "ep_mine" });
    expect(seeded).toMatchObject({
      id: "ep_mine",
      uri: `${emulator.baseUrl}/endpoints/ep_mine`,
      hostport: "a.example.com:443",
      region: "eu",
    });
    expect(seeded).not.toHaveProperty("domain");
    expect(() => emulator.seed({ type: "cloud", id: "ep_mine" })).toThrow("ep_mine");
    expect(() => emulator.seed({ type: "cloud", url: "nonsense" })).toThrow("scheme");
  });
});

describe("edit and remove", () => {
  it("change an endpoint and its updated_at", async () => {
    let time = "2026-01-02T03:04:05Z";
    const emulator = await start({ now: () => new Date(time) });
    const before = await create(emulator, { url, description: "d", metadata: "m" });
    time = "2026-01-02T04:00:00Z";
    emulator.edit(before.id, { description: undefined, metadata: "theirs" });
    const { description: _gone, ...kept } = before;
    const { body } = await call(emulator, "GET", `/endpoints/${before.id}`);
    expect(body).toEqual({ ...kept, metadata: "theirs", updated_at: time });
  });

  it("throw if the endpoint does not exist", async () => {
    const emulator = await start();
    expect(() => emulator.edit("ep_1", {})).toThrow("ep_1");
    expect(() => emulator.remove("ep_1")).toThrow("ep_1");
  });
});

it("returns copies, so that a test cannot change the emulator's endpoints by accident", async () => {
  const emulator = await start();
  const seeded = emulator.seed({ type: "cloud" });
  seeded.bindings?.push("internal");
  for (const endpoint of emulator.endpoints) endpoint.description = "changed";
  expect(emulator.endpoints[0]).toMatchObject({ bindings: ["public"] });
  expect(emulator.endpoints[0]).not.toHaveProperty("description");
});
