import { describe, expect, test, vi } from "vitest";
import { VERSION } from "../../provider/api/version";
import { documentsAsText } from "../../provider/endpoint/fields";
import { bodies } from "../requests";
import { bothProviders, created, type Options, type Props, startDynamic } from "./bothProviders";
import { thrown } from "./world";

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
  describe("check", () => {
    test.each<[Options, Props, RegExp[]]>([
      [
        { settings: { apiKey: " ", baseUrl: "nonsense", timeoutSeconds: "soon" } },
        { url },
        [/^there is no API key/, /^the base URL has no scheme/, /^timeoutSeconds is not a number/],
      ],
      [{ settings: { baseUrl: undefined } }, { url }, [/no base URL.*ENDPOINTS_BASE_URL.*endpoints:baseUrl/]],
    ])("reports each mistake with a reason: %.60j", async (options, news, reasons) => {
      const { check } = await start(options);
      vi.stubEnv("ENDPOINTS_API_KEY", "");
      expect((await check({}, news)).failures).toEqual(reasons.map(failure));
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
  });

  describe("diff", () => {
    test("reports no change for a new endpoint, in any order of keys and bindings", async () => {
      const provider = await created(start, full);
      const news = { ...full, bindings: ["internal", "public"], trafficPolicy: turned };
      expect(await provider.diff(provider.id, provider.outs, news)).toEqual(unchanged);
    });

    test("replaces the endpoint for another scheme, and deletes the old one first", async () => {
      const provider = await created(start, full);
      const news = { ...full, url: "tls://shop.example.com" };
      const diff = await provider.diff(provider.id, provider.outs, news);
      expect(diff).toEqual({ ...changed, replaces: ["url"] });
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
    test("sends `poolingEnabled: false` if the program gives it", async () => {
      const { emulator } = await created(start, { url, poolingEnabled: false });
      expect(bodies(emulator)).toEqual([{ type: "cloud", url, pooling_enabled: false }]);
    });

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

    test("refuses an endpoint of another type", async () => {
      const provider = await created(start, full);
      const edge = provider.emulator.seed({ type: "edge" });
      const { message } = await thrown(provider.read(edge.id, provider.outs, provider.inputs));
      expect(message).toMatch(/is of type edge; CloudEndpoint manages cloud endpoints only/);
    });
  });

  describe("a warning", () => {
    const onPublicService = { settings: { baseUrl: "https://api.ngrok.com" } };
    const missing = "trafficPolicy is missing, and the public service refuses";

    test("tells once of a misspelt binding, but not of an unknown one", async () => {
      const { check, logged } = await start();
      for (const bindings of [["publik"], ["publik"], ["edge-of-the-world"], ["kubernetes"], UNKNOWN])
        expect((await check({}, { url, bindings })).failures).toEqual([]);
      expect(logged()).toEqual([
        expect.stringContaining(
          "bindings has a name that the public service does not know; did you mean public?",
        ),
      ]);
    });

    test("tells once of each create on the public service without a policy", async () => {
      const { check, logged } = await start(onPublicService);
      const other = "https://other.example.com";
      for (const each of [url, url, other, UNKNOWN])
        expect((await check({}, { url: each })).failures).toEqual([]);
      expect(logged().map((line) => line.split(" to create")[0])).toEqual(
        [url, other, "an endpoint whose URL is not known yet"].map((each) => `${each}: ${missing}`),
      );
    });

    test.each([
      ["with a policy", onPublicService, {}, { url, trafficPolicy: policy }],
      ["with an unknown policy", onPublicService, {}, { url, trafficPolicy: UNKNOWN }],
      ["that exists already", onPublicService, { url }, { url, description: "new" }],
      ["on another service", {}, {}, { url }],
    ])("does not tell of a policy that is missing in an endpoint %s", async (_, options, olds, news) => {
      const { check, logged } = await start(options);
      expect((await check(olds, news)).failures).toEqual([]);
      expect(logged()).toEqual([]);
    });
  });
});

test("the dynamic provider logs the changed places of a secret document, without values, once they are known", async () => {
  const provider = await startDynamic();
  const news = (body: unknown, status: unknown) => ({
    url,
    trafficPolicy: { on_http_request: [{ body }], on_http_response: [{ status, "X-CANARY": status }] },
    __secrets: ["trafficPolicy"],
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
