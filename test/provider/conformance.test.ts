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

  test.each<[string, Props, object]>([
    [
      "no change for another order of keys and bindings",
      { bindings: ["internal", "public"], trafficPolicy: turned },
      unchanged,
    ],
    [
      "a replacement for another scheme, which deletes first",
      { url: "tls://shop.example.com" },
      { ...changed, replaces: ["url"] },
    ],
    ["an update for an unknown value", { description: UNKNOWN }, changed],
    ["an update for an unknown URL", { url: UNKNOWN }, changed],
    [
      "an update for an unknown part",
      { trafficPolicy: { on_http_request: [{ actions: [UNKNOWN] }] } },
      changed,
    ],
  ])("a diff reports %s", async (_, change, diff) => {
    const provider = await created(start, full);
    expect(await provider.diff(provider.id, provider.outs, { ...full, ...change })).toEqual(diff);
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

  const onPublicService = { settings: { baseUrl: "https://api.ngrok.com" } };
  const other = "https://other.example.com";
  const misspelt = "bindings has a name that the public service does not know; did you mean public?";
  const missing = (what: string) =>
    `${what}: trafficPolicy is missing, and the public service refuses to create`;
  const bindings = [["publik"], ["publik"], ["edge-of-the-world"], ["kubernetes"], UNKNOWN];

  test.each<[string, Options, Props, news: Props[], warnings: string[]]>([
    [
      "tell once of a misspelt binding, but not of an unknown one",
      {},
      {},
      bindings.map((bindings) => ({ url, bindings })),
      [misspelt],
    ],
    [
      "tell once of each create on the public service without a policy",
      onPublicService,
      {},
      [{ url }, { url }, { url: other }, { url: UNKNOWN }],
      [url, other, "an endpoint whose URL is not known yet"].map(missing),
    ],
    [
      "do not tell of a policy that is given or unknown",
      onPublicService,
      {},
      [policy, UNKNOWN].map((trafficPolicy) => ({ url, trafficPolicy })),
      [],
    ],
    [
      "do not tell of a policy that an endpoint lacks already",
      onPublicService,
      { url },
      [{ url, description: "new" }],
      [],
    ],
    ["do not tell of a policy that is missing on another service", {}, {}, [{ url }], []],
  ])("warnings %s", async (_, options, olds, news, warnings) => {
    const { check, logged } = await start(options);
    for (const each of news) expect((await check(olds, each)).failures).toEqual([]);
    expect(logged()).toEqual(warnings.map((warning) => expect.stringContaining(warning)));
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
