import { describe, expect, test } from "vitest";
import { z } from "zod";
import { withTexts } from "../../provider/document";
import { bothProviders, type Options, type Props } from "./bothProviders";
import { thrown } from "./service";

/*
 * One suite for both providers: whatever Pulumi drives, the same calls give the same answers, and the service
 * sees the same requests. What only one of the protocols has (previews, imports, detailed diffs) is tested with it.
 */

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
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
const none = { changes: false, replaces: [], deleteBeforeReplace: true };
const some = { ...none, changes: true };

/** What both providers report about an endpoint that is there and not ready. */
const partialCreate = z.object({
  properties: z.record(z.string(), z.unknown()),
  reasons: z.array(z.string()),
});

describe.each(bothProviders)("%s", (_, start) => {
  /** What the engine does for a new resource. */
  async function created(news: Props, options?: Options) {
    const provider = await start(options);
    const { inputs } = await provider.check({}, news);
    return { ...provider, inputs, ...(await provider.create(inputs)) };
  }

  describe("check", () => {
    test("turns what was written into what the state holds", async () => {
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

    test("names every mistake at once, and neither the text nor a property, whose value the engine would print", async () => {
      const provider = await start();
      const { failures } = await provider.check(
        {},
        { trafficPolicy: "{secret:", bindings: "public", colour: "red", description: "x".repeat(300) },
      );
      expect(failures.map(({ reason }) => reason.split(" ")[0]).sort()).toEqual([
        "bindings",
        "colour",
        "description",
        "trafficPolicy",
        "url",
      ]);
      expect(failures.map(({ property }) => property)).toEqual(Array(5).fill(""));
      expect(JSON.stringify(failures)).not.toContain("secret:");
    });

    test("merges the merge keys of a YAML policy", async () => {
      const provider = await start();
      const { inputs } = await provider.check(
        {},
        { url, trafficPolicy: "a: &a {x: 1, y: 1}\nb: {<<: *a, y: 2}" },
      );
      expect(inputs).toEqual({ url, trafficPolicy: { a: { x: 1, y: 1 }, b: { x: 1, y: 2 } } });
    });

    test("refuses a number beyond 2^53 in a policy's text, which data cannot hold exactly", async () => {
      const provider = await start();
      const { failures } = await provider.check({}, { url, trafficPolicy: '{"number": 9007199254740993}' });
      expect(failures).toEqual([{ property: "", reason: expect.stringMatching(/^trafficPolicy .*number/) }]);
    });

    test("refuses a policy object of 2 MB, which is beyond the limit", async () => {
      const provider = await start();
      const { failures } = await provider.check({}, { url, trafficPolicy: { text: "x".repeat(2_000_000) } });
      expect(failures).toEqual([
        { property: "", reason: expect.stringMatching(/longer than 1000000 characters/) },
      ]);
    });

    test("refuses to take a policy out", async () => {
      const provider = await start();
      expect((await provider.check(full, { url })).failures).toEqual([
        { property: "", reason: expect.stringMatching(/^trafficPolicy cannot be taken out/) },
      ]);
    });

    test("finds a setting that is missing", async () => {
      const provider = await start({ settings: { baseUrl: undefined } });
      expect((await provider.check({}, { url })).failures).toEqual([
        { property: "", reason: expect.stringMatching(/no base URL.*ENDPOINTS_BASE_URL.*endpoints:baseUrl/) },
      ]);
    });

    test("names what an adoption would change", async () => {
      const provider = await start();
      const { id } = provider.emulator.seed({ type: "cloud", url, description: "old" });
      expect((await provider.check({}, { url, description: "new", adopt: true })).failures).toEqual([]);
      expect(provider.logged()).toEqual([`${url}: adopts ${id}, and changes description`]);
      expect(provider.emulator.requests.map(({ method }) => method)).toEqual(["GET"]);
    });
  });

  describe("diff", () => {
    test("sees no change in what was created, in any order of keys and bindings", async () => {
      const provider = await created(full);
      const news = {
        ...full,
        bindings: ["internal", "public"],
        trafficPolicy: JSON.parse(JSON.stringify(policy)),
      };
      expect(await provider.diff(provider.id, provider.outs, news)).toEqual(none);
    });

    test.each([
      ["url", { url: "https://other.example.com" }],
      ["trafficPolicy", { trafficPolicy: { on_http_request: [] } }],
      ["description", { description: "back door" }],
      ["metadata", { metadata: "text" }],
      ["bindings", { bindings: ["public"] }],
      ["poolingEnabled", { poolingEnabled: false }],
    ])("sees a change of %s, and an update sends just that", async (field, change) => {
      const provider = await created(full);
      const news = { ...full, ...change };
      expect(await provider.diff(provider.id, provider.outs, news)).toEqual(some);
      const { outs } = await provider.update(provider.id, provider.outs, news);
      const snake = field.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
      expect(Object.keys(provider.emulator.requests.at(-1)?.body as object)).toEqual(["id", snake]);
      expect(outs).toMatchObject(withTexts(change));
      expect(await provider.diff(provider.id, outs, news)).toEqual(none);
    });

    test("replaces for another scheme alone, the old one first", async () => {
      const provider = await created(full);
      expect(
        await provider.diff(provider.id, provider.outs, { ...full, url: "tls://shop.example.com" }),
      ).toEqual({
        ...some,
        replaces: ["url"],
      });
    });

    test("clears a description, and leaves bindings that are no longer given to the service", async () => {
      const provider = await created(full);
      const { description: _description, bindings: _bindings, ...news } = full;
      expect(await provider.diff(provider.id, provider.outs, news)).toEqual(some);
      const { outs } = await provider.update(provider.id, provider.outs, news);
      expect(provider.emulator.requests.at(-1)?.body).toEqual({ id: provider.id, description: "" });
      expect(outs).not.toHaveProperty("description");
      expect(outs).toMatchObject({ bindings: full.bindings });
      expect(await provider.diff(provider.id, outs, news)).toEqual(none);
    });

    test("takes an unknown value for a change", async () => {
      const provider = await created(full);
      expect(await provider.diff(provider.id, provider.outs, { ...full, description: UNKNOWN })).toEqual(
        some,
      );
    });
  });

  describe("create", () => {
    test("sends what was given, and keeps what the service says", async () => {
      const provider = await created(full);
      expect(provider.emulator.requests.map(({ body }) => body)).toEqual([
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
        ...withTexts(full),
        type: "cloud",
        proto: "https",
        publicUrl: url,
        hostport: "shop.example.com:443",
        uri: live?.uri,
        domain: live?.domain,
        createdAt: live?.created_at,
        updatedAt: live?.updated_at,
        __account: expect.stringMatching(/^[0-9a-f]{16}$/),
        __given: ["trafficPolicy", "bindings", "poolingEnabled"],
      });
    });

    test("takes over what adopt names, and deletes it in no replacement of the same run", async () => {
      const provider = await start();
      const { id } = provider.emulator.seed({ type: "cloud", url, description: "old" });
      const news = { url, description: "new", adopt: true };
      const { outs, ...result } = await provider.create(news);
      expect(result).toEqual({ id });
      expect(outs).toMatchObject({ description: "new", adopt: true });
      expect(provider.emulator.requests.map(({ method }) => method)).toEqual(["GET", "PATCH"]);
      expect((await thrown(provider.delete(id, outs))).message).toMatch(
        /was taken over by its own replacement/,
      );
    });

    test("adopts a policy and metadata in another spelling as they are", async () => {
      const provider = await start();
      provider.emulator.seed({
        type: "cloud",
        url,
        traffic_policy: JSON.stringify(policy, null, 2),
        metadata: '{ "team": "shop" }',
      });
      const news = { url, trafficPolicy: policy, metadata: { team: "shop" }, adopt: true };
      const { id, outs } = await provider.create(news);
      expect(provider.emulator.requests.map(({ method }) => method)).toEqual(["GET"]);
      expect(outs).toMatchObject(withTexts(news));
      expect(await provider.diff(id, outs, news)).toEqual(none);
    });

    test("that the service refuses says what, why, and what to do", async () => {
      const provider = await start();
      const { id } = provider.emulator.seed({ type: "cloud", url, description: "theirs" });
      const { message } = await thrown(provider.create({ url }));
      expect(message).toMatch(new RegExp(`cannot create ${url}: .*set adopt: "${id}"`));
      expect(message).not.toContain("\n");
    });

    test("that made an endpoint and cannot describe it is kept as a partial create", async () => {
      const provider = await start();
      const { id } = provider.emulator.seed({ type: "cloud", url });
      provider.emulator.intercept(() => true, {
        status: 201,
        body: { id, url, type: "cloud", port: "high" },
      });
      provider.emulator.intercept(({ path }) => path === `/endpoints/${id}`, { status: 403, body: "" });
      const error = await thrown(provider.create({ url, description: "x", __provider: "code" }));
      const { properties, reasons } = partialCreate.parse(
        "partialCreate" in error ? error.partialCreate : error,
      );
      // Without its provider string, Pulumi could neither read nor delete a dynamic resource.
      expect(properties).toMatchObject({ url, description: "x", __provider: "code" });
      expect(reasons).toEqual([expect.stringMatching(`${id} was created.*pulumi refresh`)]);

      provider.emulator.edit(id, { description: "x" });
      const { outs } = await provider.update(id, properties, { url, description: "x" });
      expect(outs).toMatchObject({ type: "cloud", publicUrl: url });
    });
  });

  describe("read", () => {
    test("finds what was created as it is", async () => {
      const provider = await created(full);
      expect(await provider.read(provider.id, provider.outs, provider.inputs)).toEqual({
        id: provider.id,
        props: provider.outs,
        inputs: provider.inputs,
      });
    });

    test("shows a drifted field as the input that it is, and leaves the service's own choices out", async () => {
      const provider = await created({ url, trafficPolicy: policy });
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
    ])("holds a live policy that is %s as the same text, and sees no change", async (_, text) => {
      const provider = await created(full);
      provider.emulator.edit(provider.id, { traffic_policy: text });
      const { props = {}, inputs } = await provider.read(provider.id, provider.outs, provider.inputs);
      expect(props["trafficPolicy"]).toBe(provider.outs["trafficPolicy"]);
      expect(inputs).toEqual(provider.inputs);
      expect(await provider.diff(provider.id, props, full)).toEqual(none);
    });

    test("holds a live policy that does not parse as it is, and an update repairs it", async () => {
      const provider = await created(full);
      provider.emulator.edit(provider.id, { traffic_policy: "{ no: [policy" });
      const { props = {}, inputs } = await provider.read(provider.id, provider.outs, provider.inputs);
      expect(props).toMatchObject({ trafficPolicy: "{ no: [policy" });
      expect(inputs).toEqual({ ...provider.inputs, trafficPolicy: "{ no: [policy" });
      expect(await provider.diff(provider.id, props, full)).toEqual(some);
      expect((await provider.update(provider.id, props, full)).outs).toMatchObject({
        trafficPolicy: provider.outs["trafficPolicy"],
      });
    });

    test("refuses an endpoint of another type", async () => {
      const provider = await created(full);
      const edge = provider.emulator.seed({ type: "edge" });
      const { message } = await thrown(provider.read(edge.id, provider.outs, provider.inputs));
      expect(message).toMatch(/is of type edge; CloudEndpoint manages cloud endpoints only/);
    });
  });

  describe("update", () => {
    test("of what somebody deleted names `pulumi refresh`", async () => {
      const provider = await start();
      const { id, outs } = await provider.create({ url });
      provider.emulator.remove(id);
      const { message } = await thrown(provider.update(id, outs, { url, description: "x" }));
      expect(message).toMatch(/The endpoint ep_\w+ does not exist any more.*pulumi refresh/);
    });

    test("without a difference makes no request", async () => {
      const provider = await created({ url, bindings: ["public"] });
      const { outs } = await provider.update(provider.id, provider.outs, { url });
      expect(provider.emulator.requests.map(({ method }) => method)).toEqual(["POST"]);
      const __chosen = { bindings: ["public"], poolingEnabled: false };
      expect(outs).toEqual({ ...provider.outs, __given: [], __chosen });
    });
  });

  describe("delete", () => {
    test("deletes, and takes what is gone for done", async () => {
      const provider = await created(full);
      await provider.delete(provider.id, provider.outs);
      // A new endpoint would be looked for until lists have caught up.
      const later = await provider.restart();
      await later.delete(provider.id, { ...provider.outs, createdAt: "2026-01-01T00:00:00Z" });
      expect(provider.emulator.endpoints).toEqual([]);
      expect(provider.emulator.requests.map(({ method }) => method)).toEqual([
        "POST",
        "DELETE",
        "DELETE",
        "GET",
      ]);
    });
  });
});
