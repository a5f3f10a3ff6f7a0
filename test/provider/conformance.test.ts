import { describe, expect, test, vi } from "vitest";
import { VERSION } from "../../provider/api/version";
import { documentsAsText } from "../../provider/endpoint/fields";
import { bodies, methods } from "../requests";
import { bothProviders, created } from "./bothProviders";
import { thrown } from "./service";

/*
 * The dynamic provider and the plugin return the same results, and send the same requests. Other files test previews, imports
 * and detailed diffs, which only the plugin has.
 */

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const url = "https://shop.example.com";
const policy = { on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] };
/** The same with its keys in another order. */
const turned = { on_http_request: [{ actions: [{ config: { status_code: 404 }, type: "deny" }] }] };
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

/** A mistake that names no property, because the engine would print its value. */
const failure = (reason: RegExp) => ({ property: "", reason: expect.stringMatching(reason) });

describe.each(bothProviders)("%s", (_, start) => {
  test("a create at a base URL without its path prefix fails with advice about the base URL, not about an id", async () => {
    const provider = await start();
    provider.emulator.intercept(() => true, { status: 404, body: "<html>nothing here</html>" });
    const { message } = await thrown(provider.create({ url }));
    expect(message).toMatch(/POST \/endpoints: status 404.*endpoints:baseUrl .*path prefix/);
    expect(message).not.toMatch(/\bid\b/);
  });

  describe("check", () => {
    test("reports each wrong setting as a mistake of its own", async () => {
      const { check } = await start({
        settings: { apiKey: " ", baseUrl: "nonsense", timeoutSeconds: "soon" },
      });
      vi.stubEnv("ENDPOINTS_API_KEY", "");
      expect((await check({}, { url })).failures).toEqual([
        failure(/^there is no API key/),
        failure(/^the base URL has no scheme/),
        failure(/^timeoutSeconds is not a number/),
      ]);
    });

    test("normalizes the inputs, and parses documents", async () => {
      const provider = await start();
      const written = {
        ...full,
        url: "HTTPS://Shop.Example.com:443/",
        trafficPolicy: "on_http_request: []",
        metadata: '{"a": [1, null]}',
        description: "",
      };
      expect(await provider.check({}, written)).toEqual({
        inputs: {
          url,
          trafficPolicy: { on_http_request: [] },
          metadata: { a: [1, null] },
          bindings: full.bindings,
          poolingEnabled: true,
        },
        failures: [],
      });
      expect(provider.emulator.requests).toEqual([]);
    });

    test("reports all mistakes at once, quotes no text, and names no property, because the engine would print its value", async () => {
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

    test("refuses a policy object of 2 MB, because the limit is 1 MB", async () => {
      const provider = await start();
      const { failures } = await provider.check({}, { url, trafficPolicy: { text: "x".repeat(2_000_000) } });
      expect(failures).toEqual([failure(/longer than 1000000 characters/)]);
    });

    test("refuses to remove a policy", async () => {
      const provider = await start();
      const { failures } = await provider.check(full, { url });
      expect(failures).toEqual([failure(/^trafficPolicy cannot be removed/)]);
    });

    test("reports a missing setting", async () => {
      const provider = await start({ settings: { baseUrl: undefined } });
      const { failures } = await provider.check({}, { url });
      expect(failures).toEqual([failure(/no base URL.*ENDPOINTS_BASE_URL.*endpoints:baseUrl/)]);
    });

    test("logs the changes of an adoption", async () => {
      const provider = await start();
      const { id } = provider.emulator.seed({ type: "cloud", url, description: "old" });
      expect((await provider.check({}, { url, description: "new", adopt: true })).failures).toEqual([]);
      expect(provider.logged()).toEqual([`${url}: adopts ${id} and changes description`]);
      expect(methods(provider.emulator)).toEqual(["GET", "GET"]);
    });
  });

  describe("diff", () => {
    test("reports no change for a new endpoint, in any order of keys and bindings", async () => {
      const provider = await created(start, full);
      const news = { ...full, bindings: ["internal", "public"], trafficPolicy: turned };
      expect(await provider.diff(provider.id, provider.outs, news)).toEqual(unchanged);
    });

    test.each([
      ["url", { url: "https://other.example.com" }],
      ["trafficPolicy", { trafficPolicy: { on_http_request: [] } }],
      ["description", { description: "back door" }],
      ["metadata", { metadata: "text" }],
      ["bindings", { bindings: ["public"] }],
      ["poolingEnabled", { poolingEnabled: false }],
    ])("reports a change of %s, and an update sends only that", async (field, change) => {
      const provider = await created(start, full);
      const news = { ...full, ...change };
      expect(await provider.diff(provider.id, provider.outs, news)).toEqual(changed);
      const { outs } = await provider.update(provider.id, provider.outs, news);
      const snake = field.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
      expect(Object.keys(provider.emulator.requests.at(-1)?.body as object)).toEqual(["id", snake]);
      expect(outs).toMatchObject(documentsAsText(change));
      expect(await provider.diff(provider.id, outs, news)).toEqual(unchanged);
    });

    test("replaces the endpoint for another scheme, and deletes the old one first", async () => {
      const provider = await created(start, full);
      const news = { ...full, url: "tls://shop.example.com" };
      const diff = await provider.diff(provider.id, provider.outs, news);
      expect(diff).toEqual({ ...changed, replaces: ["url"] });
    });

    test("reports a removed description, which an update clears; it leaves removed bindings to the service", async () => {
      const provider = await created(start, full);
      const { description: _description, bindings: _bindings, ...news } = full;
      expect(await provider.diff(provider.id, provider.outs, news)).toEqual(changed);
      const { outs } = await provider.update(provider.id, provider.outs, news);
      expect(provider.emulator.requests.at(-1)?.body).toEqual({ id: provider.id, description: "" });
      expect(outs).not.toHaveProperty("description");
      expect(outs).toMatchObject({ bindings: full.bindings });
      expect(await provider.diff(provider.id, outs, news)).toEqual(unchanged);
    });

    test.each([
      { description: UNKNOWN },
      { url: UNKNOWN },
      { trafficPolicy: { on_http_request: [{ actions: [UNKNOWN] }] } },
    ])("reports an update for an unknown value: %j", async (unknown) => {
      const provider = await created(start, full);
      expect(await provider.diff(provider.id, provider.outs, { ...full, ...unknown })).toEqual(changed);
    });
  });

  describe("create", () => {
    test("sends the given inputs, and returns the service's fields", async () => {
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
      expect(provider.id).toBe(live?.id);
      expect(provider.outs).toEqual({
        ...documentsAsText(full),
        type: "cloud",
        proto: "https",
        publicUrl: url,
        hostport: "shop.example.com:443",
        uri: live?.uri,
        domain: live?.domain,
        createdAt: live?.created_at,
        updatedAt: live?.updated_at,
        __account: expect.stringMatching(/^[0-9a-f]{16}$/),
        __entry: expect.stringMatching(/^[0-9a-f]{16}$/),
        __given: ["bindings", "poolingEnabled", "trafficPolicy"],
        __version: VERSION,
      });
    });

    test("adopts an endpoint, and changes only what differs", async () => {
      const provider = await start();
      const { id } = provider.emulator.seed({ type: "cloud", url, description: "old" });
      provider.emulator.seed({ type: "edge", public_url: url });
      const news = { url, description: "new", adopt: true };
      const { outs, ...result } = await provider.create(news);
      expect(result).toEqual({ id });
      expect(outs).toMatchObject({ description: "new", adopt: true });
      expect(await provider.diff(id, outs, { url, description: "new" })).toEqual(unchanged);
      expect(methods(provider.emulator)).toEqual(["GET", "GET", "PATCH"]);
    });

    test("adopts an endpoint without a change if its policy and metadata differ only in spelling", async () => {
      const provider = await start();
      provider.emulator.seed({
        type: "cloud",
        url,
        traffic_policy: JSON.stringify(policy, null, 2),
        metadata: '{ "team": "shop" }',
      });
      const news = { url, trafficPolicy: policy, metadata: { team: "shop" }, adopt: true };
      const { id, outs } = await provider.create(news);
      expect(methods(provider.emulator)).toEqual(["GET", "GET"]);
      expect(outs).toMatchObject(documentsAsText(news));
      expect(await provider.diff(id, outs, news)).toEqual(unchanged);
    });

    test("fails with the endpoint, the reason and the next step if the service refuses", async () => {
      const provider = await start();
      const { id } = provider.emulator.seed({ type: "cloud", url, description: "theirs" });
      const { message } = await thrown(provider.create({ url }));
      expect(message).toMatch(new RegExp(`cannot create ${url}: .*set adopt: "${id}"`));
      expect(message).not.toContain("\n");
    });
  });

  describe("read", () => {
    test("returns the state of a new endpoint unchanged", async () => {
      const provider = await created(start, full);
      expect(await provider.read(provider.id, provider.outs, provider.inputs)).toEqual({
        id: provider.id,
        props: provider.outs,
        inputs: provider.inputs,
      });
    });

    test("returns a drifted field as an input, and no field that the service chose", async () => {
      const provider = await created(start, { url, trafficPolicy: policy });
      provider.emulator.edit(provider.id, { traffic_policy: '{"on_http_request":[]}' });
      const found = await provider.read(provider.id, provider.outs, provider.inputs);
      expect(found.inputs).toEqual({ url, trafficPolicy: { on_http_request: [] } });
      expect(found.props).toMatchObject({ bindings: ["public"], trafficPolicy: '{"on_http_request":[]}' });
    });

    test.each([
      [
        "JSON with spaces and another order",
        '{ "on_http_request" : [ {"actions":[{"type":"deny","config":{"status_code":404}}]}]}',
      ],
      ["YAML", "on_http_request:\n- actions:\n  - {type: deny, config: {status_code: 404}} # closed\n"],
    ])("normalizes a live policy, and a diff reports no change: %s", async (_, text) => {
      const provider = await created(start, full);
      provider.emulator.edit(provider.id, { traffic_policy: text });
      const { props = {}, inputs } = await provider.read(provider.id, provider.outs, provider.inputs);
      expect(props["trafficPolicy"]).toBe(provider.outs["trafficPolicy"]);
      expect(inputs).toEqual(provider.inputs);
      expect(await provider.diff(provider.id, props, full)).toEqual(unchanged);
    });

    test("returns the text of a live policy that is invalid, and an update repairs it", async () => {
      const provider = await created(start, full);
      provider.emulator.edit(provider.id, { traffic_policy: "{ no: [policy" });
      const { props = {}, inputs } = await provider.read(provider.id, provider.outs, provider.inputs);
      expect(props).toMatchObject({ trafficPolicy: "{ no: [policy" });
      expect(inputs).toEqual({ ...provider.inputs, trafficPolicy: "{ no: [policy" });
      expect(await provider.diff(provider.id, props, full)).toEqual(changed);
      expect((await provider.update(provider.id, props, full)).outs).toMatchObject({
        trafficPolicy: provider.outs["trafficPolicy"],
      });
    });

    test("refuses an endpoint of another type", async () => {
      const provider = await created(start, full);
      const edge = provider.emulator.seed({ type: "edge" });
      const { message } = await thrown(provider.read(edge.id, provider.outs, provider.inputs));
      expect(message).toMatch(/is of type edge; CloudEndpoint manages cloud endpoints only/);
    });
  });

  describe("update", () => {
    test("fails with the advice to run `pulumi refresh` if the endpoint does not exist", async () => {
      const provider = await start();
      const { id, outs } = await provider.create({ url });
      provider.emulator.remove(id);
      const { message } = await thrown(provider.update(id, outs, { url, description: "x" }));
      expect(message).toMatch(/The endpoint ep_\w+ no longer exists.*pulumi refresh/);
    });

    test("sends no request if no field changed", async () => {
      const provider = await created(start, { url, bindings: ["public"] });
      const { outs } = await provider.update(provider.id, provider.outs, { url });
      expect(methods(provider.emulator)).toEqual(["POST"]);
      const __chosen = { bindings: ["public"], poolingEnabled: false };
      expect(outs).toEqual({ ...provider.outs, __given: [], __chosen });
    });
  });

  describe("delete", () => {
    test("succeeds if the endpoint is already gone", async () => {
      const provider = await created(start, full);
      await provider.delete(provider.id, provider.outs);
      // For a new endpoint, the provider would wait until the list shows it.
      const later = await provider.restart();
      await later.delete(provider.id, { ...provider.outs, createdAt: "2026-01-01T00:00:00Z" });
      expect(provider.emulator.endpoints).toEqual([]);
      expect(methods(provider.emulator)).toEqual(["POST", "DELETE", "DELETE", "GET"]);
    });
  });
});
