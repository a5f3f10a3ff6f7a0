import { describe, expect, test, vi } from "vitest";
import { documentsAsText } from "../../provider/endpoint/fields";
import { UNKNOWN } from "../../provider/pulumi/sentinels";
import { VERSION } from "../../provider/service/version";
import { bodies } from "../requests";
import { bothProviders, created, type Props, startDynamic } from "./bothProviders";
import { thrown } from "./emulated";

/*
 * The dynamic provider and the plugin return the same results, and send the same requests. Scenarios test whole runs of both;
 * `plugin/` tests previews, imports and detailed diffs, which only the plugin has.
 */

const url = "https://shop.example.com";
const policy = { on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] };
const full = {
  url,
  trafficPolicy: policy,
  description: "front door",
  metadata: { team: "shop" },
  bindings: ["public", "internal"],
  poolingEnabled: true,
};
const unchanged = { changes: false, replaces: [], deleteBeforeReplace: true };
const changed = { ...unchanged, changes: true };

describe.each(bothProviders)("%s", (_, start) => {
  test("a check normalizes the inputs, and parses documents", async () => {
    const provider = await start();
    // Before the create of a pool's member, the list is read for equal members.
    const written = {
      ...{ ...full, poolingEnabled: false, url: "HTTPS://Shop.Example.com:443/", description: "" },
      ...{ trafficPolicy: "on_http_request: []", metadata: '{"a": [1, null]}' },
    };
    const { description: _, ...others } = full;
    expect(await provider.check({}, written)).toEqual({
      inputs: {
        ...{ ...others, poolingEnabled: false },
        ...{ trafficPolicy: { on_http_request: [] }, metadata: { a: [1, null] } },
      },
      failures: [],
    });
    expect(provider.emulator.requests).toEqual([]);
  });

  test("a create does not treat an endpoint that the program only reads as its stack's own", async () => {
    const provider = await start();
    const { emulator } = provider;
    const { id = "" } = emulator.seed({ type: "cloud", url, description: "theirs" });
    await provider.read(id, {}, {});
    await provider.check({}, { url });
    await expect(provider.create({ url })).rejects.toThrow(
      /is served by ep_.*who-has ep_\w+( --stack \w+)?` names who has it/,
    );
  });

  test("what a program only reads, and an entry without our notes, are not dropped", async () => {
    const provider = await start();
    const { id = "" } = provider.emulator.seed({ type: "cloud", url });
    const { props = {}, inputs = {} } = await provider.read(id, {}, {});
    expect(Object.keys(props).filter((name) => name.startsWith("__"))).toEqual([]);
    // A refresh of it adds none.
    expect((await provider.read(id, props, inputs)).props).toEqual(props);
    provider.emulator.remove(id);
    await expect(provider.read(id, props, inputs)).rejects.toThrow(/There is no endpoint ep_/);
  });

  test("a check reports all mistakes at once, quotes no text, and names no property, because the engine would print its value", async () => {
    const provider = await start();
    const { failures } = await provider.check(
      {},
      { trafficPolicy: "{secret:", bindings: "public", colour: "red", description: "x".repeat(300) },
    );
    const named = failures.map(({ reason }) => reason.split(" ")[0]).sort();
    expect(named).toEqual(["bindings", "colour", "description", "trafficPolicy", "url"]);
    expect(failures.map(({ property }) => property)).toEqual(Array(5).fill(""));
    expect(JSON.stringify(failures)).not.toContain("secret:");
    expect(provider.emulator.requests).toEqual([]);
  });

  test("a check reports all mistakes of the settings", async () => {
    const { check } = await start({ settings: { apiKey: " ", baseUrl: "nonsense" } });
    vi.stubEnv("ENDPOINTS_API_KEY", "");
    const reasons = [/^there is no API key/, /^the base URL has no scheme/];
    expect((await check({}, { url })).failures).toEqual(
      reasons.map((reason) => ({ property: "", reason: expect.stringMatching(reason) })),
    );
  });

  // biome-ignore format: one line for each diff
  test.each<[string, Props, object]>([
    ["no change for another order of keys and bindings", { bindings: ["internal", "public"], trafficPolicy: { on_http_request: [{ actions: [{ config: { status_code: 404 }, type: "deny" }] }] } }, unchanged],
    ["a replacement for another scheme, which deletes first", { url: "tls://shop.example.com" }, { ...changed, replaces: ["url"] }],
    ["an update for an unknown URL", { url: UNKNOWN }, changed],
    ["an update for an unknown part", { trafficPolicy: { on_http_request: [{ actions: [UNKNOWN] }] } }, changed],
  ])("a diff reports %s", async (_, change, diff) => {
    const provider = await created(start, full);
    expect(await provider.diff(provider.id, provider.outs, { ...full, ...change })).toEqual(diff);
  });

  test("a create sends the given inputs, and returns the service's fields, which a read leaves as they are", async () => {
    const provider = await created(start, full);
    expect(bodies(provider.emulator)).toEqual([
      {
        type: "cloud",
        url,
        traffic_policy: '{"on_http_request":[{"actions":[{"config":{"status_code":404},"type":"deny"}]}]}',
        description: "front door",
        metadata: '{"team":"shop"}',
        bindings: ["public", "internal"],
        pooling_enabled: true,
      },
    ]);
    const [live] = provider.emulator.endpoints;
    const { id, outs, inputs } = provider;
    expect(id).toBe(live?.id);
    expect(outs).toEqual({
      ...documentsAsText(full),
      type: "cloud",
      proto: "https",
      publicUrl: url,
      hostport: "shop.example.com:443",
      uri: live?.uri,
      domain: live?.domain,
      createdAt: live?.created_at,
      updatedAt: live?.updated_at,
      __accountFingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      __entryId: expect.stringMatching(/^[0-9a-f]{16}$/),
      __setByProgram: ["bindings", "poolingEnabled", "trafficPolicy"],
      __version: VERSION,
    });
    expect(await provider.read(id, outs, inputs)).toEqual({ id, props: outs, inputs });
  });

  test("a read refuses an endpoint of another type", async () => {
    const provider = await created(start, full);
    const edge = provider.emulator.seed({ type: "edge" });
    const { message } = await thrown(provider.read(edge.id, provider.outs, provider.inputs));
    expect(message).toMatch(/is of type edge; CloudEndpoint manages cloud endpoints only/);
  });
});

test("the dynamic provider logs the changed places of a secret document without values, once the document is known", async () => {
  const provider = await startDynamic();
  const news = (body: unknown, status: unknown) => ({
    url,
    trafficPolicy: { on_http_request: [{ body }], on_http_response: [{ status, "X-CANARY": status }] },
    __secretFields: ["trafficPolicy"],
  });
  const { id, outs } = await provider.create(news("CANARY-1", 404));
  // The engine unwraps the secrets of a dynamic resource.
  const state = { ...outs, trafficPolicy: (outs["trafficPolicy"] as Props)["value"] };
  for (const after of [news("CANARY-1", 404), news("CANARY-1", UNKNOWN), news("CANARY-2", 403)])
    await provider.diff(id, state, after);
  expect(provider.logged()).toEqual([
    `${url}: changes trafficPolicy.on_http_request[0].body, trafficPolicy.on_http_response[0]["[secret]"], trafficPolicy.on_http_response[0].status`,
  ]);
});

test("the dynamic provider shows a warning once, however many resources cause it", async () => {
  const provider = await startDynamic({ settings: { adopt: "ep_1" } });
  for (const _ of [1, 2]) await provider.diff("ep_1", { url }, { url });
  expect(provider.logged()).toEqual([
    expect.stringMatching(/^warning: endpoints:adopt names endpoints that/),
  ]);
});
