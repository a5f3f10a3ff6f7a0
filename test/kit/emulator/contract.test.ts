import { expect, test } from "vitest";
import { managedInputs } from "../../../provider/endpoint/fields";
import { snakeCase } from "../../../provider/service/replySchemas";
import { Emulator, type EmulatorOptions } from "../../../sdk/testing";
import { CHANGEABLE } from "../../../sdk/testing/emulator/serviceRules";
import { EmulatorFixture, type Exchange } from "./requests";

/* The emulator's contract. A row has requests with their replies, and what others do between them. */

type Row = [
  outcome: string,
  ...parts: (Exchange | EmulatorOptions | ((fixture: EmulatorFixture) => unknown))[],
];

const url = "https://a.example.com";
const other = "https://b.example.com";
const TCP = "tcp://1.example.com:20000";
const ADDRESS = expect.stringMatching(/^ra_/);
const POLICY = "# first\non_http_request:\n  - actions: []\n";
const pools = { pooling_enabled: true };
const none = undefined;
const FIRST: Exchange = ["POST", { url }, 201];
const SECOND: Exchange = ["POST", { url: other }, 201];
const headers = (changed: Record<string, string | null>, sent: object = {}) => ({
  ...sent,
  headers: changed,
});
const key = (apiKey: string, sent: object = {}) => headers({ authorization: `Bearer ${apiKey}` }, sent);
const filter = (expression: string) => `GET ?filter=${encodeURIComponent(expression)}`;
const name = 'Läden "\\ 😀';
const wait = (milliseconds: number) => (fixture: EmulatorFixture) => fixture.pass(milliseconds);
const at = (time: string) => `2026-01-0${time}Z`;

const rows: Row[] = [
  [
    "credentials come before all other checks, and then the version",
    ...Object.entries({
      "401 200": null,
      "401 201": "Bearer",
      "401 202": "Bearer secret",
      "403 208": "Bearer ak_2abc",
      "403 203": `Bearer ${"a".repeat(27)}_${"b".repeat(21)}`,
    }).map(
      ([reply, authorization]): Exchange => [
        "PUT /nothing",
        headers({ authorization, "service-version": null }),
        reply,
      ],
    ),
    ["PUT /nothing", headers({ "service-version": null }), "400 218"],
  ],
  [
    "the header of the version has either of two names",
    ["GET", headers({ "service-version": null, "ngrok-version": "2" }), 200],
    ["GET", headers({ "service-version": null, "ngrok-version": "1" }), "400 217"],
    ["GET", headers({ "service-version": null, "x-version": "2" }), "400 218"],
  ],
  [
    "with a name that is given, the others do not count",
    { versionHeader: "X-Version" },
    ["GET", headers({ "x-version": null, "service-version": "2", "ngrok-version": "2" }), "400 218"],
    ["GET", headers({ "x-version": "2" }), 200],
  ],
  ["the key can be given", { apiKey: "my-key" }, ["GET", key("my-key"), 200]],

  // Paths, methods and bodies.
  [
    "other paths are not found, other methods not allowed, and an id has the prefix ep_",
    ...["/", "/endpoint", "/endpoints/", "/endpoints/ep_1/more", "/endpoints/ep_unknown"].map(
      (path): Exchange => [`GET ${path}`, none, "404 222"],
    ),
    ...["PUT", "DELETE", "PATCH", "POST /endpoints/ep_1"].map((line): Exchange => [line, none, "405 27614"]),
    ["GET /endpoints/tn_1", none, "400 227"],
  ],
  [
    "paths and URIs begin with basePath",
    { basePath: "/api/v2/", pageSize: 1 },
    ["POST", { url }, { uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v2\/endpoints\/ep_/) }],
    ["GET /../../endpoints", none, "404 222"],
  ],
  [
    "a body must be a JSON object by its type and its text",
    ["POST", headers({ "content-type": null }, { text: "{}" }), "400 216"],
    ["POST", headers({ "content-type": "application/jsonl" }, { text: "{}" }), "400 210"],
    ...['{"url":', "", "[]", "null"].map((text): Exchange => ["POST", { text }, "400 213"]),
    ["POST", headers({ "content-type": "application/json; charset=utf-8" }, { body: { url } }), 201],
  ],
  ["a body has at most 5 MB", ["POST", { url, metadata: "m".repeat(5 * 1024 * 1024) }, "413 212"]],

  // Creates.
  [
    "a created endpoint has the fields that derive from its URL, and none without a value",
    [
      "POST",
      { type: "cloud", url: "HTTPS://Shop.Example.com:443", description: "", metadata: "m" },
      {
        id: expect.stringMatching(/^ep_[0-9A-Za-z]{27}$/),
        url: "https://shop.example.com",
        public_url: "https://shop.example.com",
        proto: "https",
        hostport: "shop.example.com:443",
        bindings: ["public"],
        pooling_enabled: false,
        metadata: "m",
        created_at: at("2T03:04:05"),
        description: none,
        tcp_addr: none,
        domain: { id: expect.stringMatching(/^rd_/), uri: expect.stringContaining("/reserved_domains/rd_") },
      },
    ],
  ],
  ...Object.entries({
    "http://a.example.com:80": { url: "http://a.example.com", hostport: "a.example.com:80" },
    "http://a.internal:8080": { bindings: ["internal"], public_url: "http://a.internal", domain: none },
    "https://*.example.com": { hostport: "*.example.com:443" },
    [TCP]: { url: TCP, public_url: "tcp://1.example.com", domain: none, tcp_addr: { id: ADDRESS } },
  }).map(([given, shown]): Row => [`${given} is shown with its parts`, ["POST", { url: given }, shown]]),
  [
    "endpoints of a host share its domain, and others do not",
    FIRST,
    ["POST", { url: "http://a.example.com" }, 201],
    SECOND,
    ({ emulator }) => {
      const [apart, two, one] = emulator.endpoints.map(({ domain }) => domain?.id);
      expect([two === one, apart === one]).toEqual([true, false]);
    },
  ],
  ...(
    [
      [18015, {}],
      [18015, { url: "" }],
      [248, { type: "edge", url }],
      [249, { url: "not a url" }],
      [18022, { url: "a.example.com:443" }],
      [18003, { url: "tcp://1.tcp.example.com" }],
      ...["ftp://a.example.com", `${url}/`, "https://user@a.example.com", "https://a.*.example.com"]
        .concat(`${url}:65536`, `${url}:0`, `${url}:1:2`, "https://a_b.example.com")
        .map((odd) => [18001, { url: odd }] as const),
      [18012, { url, description: "d".repeat(256) }],
      [18013, { url, metadata: "m".repeat(4097) }],
      [15005, { url, bindings: ["private"] }],
      [15006, { url, bindings: ["public", "public"] }],
      [214, { url, id: "ep_1" }],
      ...Object.entries({ url: 1, description: null, bindings: [1], pooling_enabled: "true" }).map(
        ([field, odd]) => [215, { url, [field]: odd }] as const,
      ),
      ...["{a: 1}", '{"a": 1', "- a\n- b", "just words", "a: b: c", "   "].map(
        (policy) => [2236, { url, traffic_policy: policy }] as const,
      ),
    ] as const
  ).map(
    ([code, body]): Row => [
      `a create is refused with ${code}: ${JSON.stringify(body).slice(0, 60)}`,
      ["POST", body, `400 ${code}`],
    ],
  ),
  [
    "the limits count characters, not bytes, and a policy is returned unchanged",
    ["POST", { url, description: `${"é".repeat(254)}😀`, metadata: `${"é".repeat(4095)}😀` }, 201],
    ["PATCH 1", { traffic_policy: POLICY }, { traffic_policy: POLICY }],
  ],

  // Updates and deletes.
  [
    "an update changes the given fields and updated_at only",
    ["POST", { url, metadata: "m", traffic_policy: "{}", description: "old" }, 201],
    wait(55_000),
    ["PATCH 1", { description: "new" }, { description: "new", metadata: "m", traffic_policy: "{}" }],
    ["GET 1", none, { created_at: at("2T03:04:05"), updated_at: at("2T03:05:00"), url }],
  ],
  [
    "an empty text removes a field, and empty bindings are the service's choice",
    ["POST", { url, description: "d", bindings: ["internal"] }, 201],
    ["PATCH 1", { description: "", bindings: [] }, { description: none, bindings: ["public"] }],
  ],
  [
    "an update of the URL changes what derives from it",
    FIRST,
    ["PATCH 1", { url: "https://B.example.com:443" }, { url: other, hostport: "b.example.com:443" }],
    ["PATCH 1", { url: "https://b.internal" }, { domain: none }],
  ],
  [
    "an update is refused with the codes of a create, or its own",
    FIRST,
    ...Object.entries({
      18004: {},
      18005: { url: "http://a.example.com" },
      18014: { id: "ep_other", description: "d" },
      214: { type: "cloud" },
      215: { description: null },
      2236: { traffic_policy: "- 1" },
    }).map(([code, body]): Exchange => ["PATCH 1", body, `400 ${code}`]),
  ],
  [
    "an update may repeat the id, which alone is empty",
    (fixture) => fixture.seed({ type: "cloud", id: "ep_1" }),
    ["PATCH 1", { id: "ep_1", description: "d" }, { description: "d" }],
    ["PATCH 1", { id: "ep_1" }, "400 18004"],
  ],
  [
    "a deleted endpoint is not found",
    FIRST,
    ["DELETE 1", {}, "400 211"],
    ["DELETE 1", none, 204],
    ["GET 1", none, "404 222"],
    ["DELETE 1", none, "404 222"],
    ["GET", none, []],
  ],
  [
    "only cloud endpoints can be changed",
    (fixture) => fixture.seed({ type: "ephemeral" }),
    ["GET 1", none, { type: "ephemeral" }],
    ["PATCH 1", { description: "d" }, "400 18014"],
    ["DELETE 1", none, "400 18014"],
  ],

  // Two endpoints with one URL.
  ...(
    [
      ["in another spelling is refused", {}, { url: "HTTPS://A.example.com:443" }, 18017],
      ["is refused if only the first pools", pools, {}, 18017],
      ["is refused if only the second pools", {}, pools, 18016],
      ["is accepted if both pool", pools, pools, none],
      ["is refused with a common binding", {}, { bindings: ["internal", "public"] }, 18017],
      ["is accepted without a common binding", {}, { bindings: ["kubernetes"] }, none],
    ] as const
  ).map(
    ([what, first, second, code]): Row => [
      `a second endpoint on a URL ${what}, on create and on update`,
      ["POST", { url, ...first }, 201],
      SECOND,
      ["PATCH 2", { url, ...second }, code ? `400 ${code}` : 200],
      ...(code ? [["POST", { url, ...second }, `400 ${code}`] as Exchange] : []),
    ],
  ),
  [
    "an update of pooling or bindings alone can conflict, and one of the description cannot",
    ["POST", { url, ...pools }, 201],
    ["POST", { url, ...pools }, 201],
    ["PATCH 2", { pooling_enabled: false }, "400 18017"],
    ["POST", { url, bindings: ["kubernetes"] }, 201],
    ["PATCH 3", { bindings: ["kubernetes", "public"] }, "400 18017"],
    (fixture) => fixture.seed({ type: "cloud", url }),
    ["PATCH 4", { description: "d" }, 200],
  ],
  ...Object.entries({
    "18017": "400 18017",
    "18009": "409 18009",
    "422": "422 18001",
    "400-bare": "400",
    "409-bare": "409",
  } as const).map(
    ([urlTaken, reply]): Row => [
      `a taken URL is refused as urlTaken says: ${urlTaken}`,
      ({ emulator }) => emulator.setBehaviour({ urlTaken: urlTaken as "18017" }),
      FIRST,
      ["POST", { url }, reply],
      ["POST", { url, ...pools }, "400 18016"],
    ],
  ),
  ...(
    [
      [url, { type: "ephemeral", url }],
      [url, { type: "edge", public_url: url }],
      [TCP, { type: "edge", public_url: "tcp://1.example.com", hostport: "1.example.com:20000" }],
    ] as const
  ).map(
    ([wanted, seed]): Row => [
      `an endpoint of the type ${seed.type} has its URL alone, too: ${wanted}`,
      (fixture) => fixture.seed(seed),
      ["POST", { url: wanted }, "400 18017"],
      ["POST", { url: wanted, ...pools }, "400 18016"],
      ({ emulator, id }) => emulator.edit(id(1), pools),
      ["POST", { url: wanted, ...pools }, 201],
    ],
  ),

  // Lists.
  [
    "a list begins with the newest endpoint, and a seed stands at its created_at",
    FIRST,
    SECOND,
    (fixture) => fixture.seed({ type: "cloud", created_at: "2020-01-01T00:00:00Z" }),
    ["GET", none, [2, 1, 3]],
  ],
  [
    "a page continues after the last endpoint of the one before, also after that is deleted",
    { pageSize: 3 },
    (fixture) => [1, 2, 3, 4].map(() => fixture.seed({ type: "edge" })),
    ["GET ?limit=2", none, [4, 3]],
    ["GET ?limit=2", none, { next_page_uri: expect.stringMatching(/\/endpoints\?limit=2&before_id=ep_/) }],
    ["GET ?limit=2&before_id=#3", none, { next_page_uri: null }],
    ["GET ?limit=100", none, [4, 3, 2]],
    ({ emulator, id }) => emulator.remove(id(3)),
    ["GET ?before_id=#3", none, [2, 1]],
  ],
  [
    "a list lacks the edge of a cloud endpoint",
    (fixture) => fixture.seed({ type: "cloud", edge: { id: "edghts_1", uri: "" } }),
    ["GET", none, { endpoints: [expect.not.objectContaining({ edge: expect.anything() })] }],
  ],
  [
    "odd queries are refused",
    ...["limit=0", "limit=101", "limit=ten"].map((query): Exchange => [`GET ?${query}`, none, "400 233"]),
    ["GET ?page=2", none, "400 231"],
    ["GET ?limit=1&limit=2", none, "400 232"],
    ["GET ?before_id=tn_1", none, "400 227"],
    ["GET ?before_id=ep_never", none, "400 230"],
  ],
  [
    "filters compare texts",
    (fixture) => fixture.seed({ type: "cloud", url, name }),
    (fixture) => fixture.seed({ type: "edge", region: "us" }),
    [filter('obj.type == "cloud"'), none, [1]],
    [filter('obj.url in ["https://other.example.com", "https://a.example.com"]'), none, [1]],
    [filter("obj.url in []"), none, []],
    [filter('obj.name == "L\\u00e4den \\"\\\\ 😀"'), none, [1]],
    [filter('obj.type == "cloud" && obj.name in ["a && b", "L\\u00e4den \\"\\\\ 😀"]'), none, [1]],
    [filter('obj.type == "cloud" && obj.region == "us"'), none, []],
  ],
  [
    "other filters are refused",
    ...["", 'obj.type == "cloud" || obj.type == "edge"', 'obj.type == "cloud", "edge"', 'obj.type in "cloud"']
      .concat('obj.kind == "cloud"', "obj.type == 1", 'obj.name == "\n"', String.raw`obj.name == "\q"`)
      .map((expression): Exchange => [filter(expression), none, "400 230"]),
  ],

  // What tests do to an account.
  [
    "a seed has the fields of its type",
    (fixture) => {
      const agents = fixture.seed({ type: "ephemeral", url: "https://a.internal" });
      expect(agents).toMatchObject({
        bindings: ["internal"],
        upstream_url: "http://localhost:80",
        principal: { id: expect.stringMatching(/^usr_/), uri: "" },
        tunnel: { id: agents.id.replace("ep_", "tn_"), uri: expect.stringContaining("/tunnels/tn_") },
      });
      const edge = fixture.seed({ type: "edge", public_url: "tls://shop.example.com" });
      expect(edge).toMatchObject({ proto: "tls", hostport: "shop.example.com:443", bindings: ["public"] });
      expect([edge.domain?.id, edge.edge?.uri].join()).toMatch(/^rd_\w+,.*\/edges\/tls\/edgtls_/);
      for (const field of ["url", "uri", "tunnel"]) expect(edge).not.toHaveProperty(field);
      expect(fixture.seed({ type: "ephemeral" })).not.toHaveProperty("domain");
      const bare = fixture.seed({ type: "edge", public_url: "tcp://1.example.com" });
      expect([bare.tcp_addr?.id, bare.hostport]).toEqual([ADDRESS, expect.stringMatching(/:\d+$/)]);
    },
  ],
  [
    "given fields of a seed replace derived ones, and an id exists once",
    (fixture) => {
      const seeded = fixture.seed({ type: "cloud", url, region: "eu", domain: none, id: "ep_mine" });
      const uri = `${fixture.emulator.baseUrl}/endpoints/ep_mine`;
      expect(seeded).toMatchObject({ id: "ep_mine", uri, hostport: "a.example.com:443", region: "eu" });
      expect(seeded).not.toHaveProperty("domain");
      expect(() => fixture.seed({ type: "cloud", id: "ep_mine" })).toThrow("ep_mine");
      expect(() => fixture.seed({ type: "cloud", url: "nonsense" })).toThrow("scheme");
    },
  ],
  [
    "an edit changes an endpoint and its updated_at, without rules",
    ["POST", { url, description: "d" }, 201],
    SECOND,
    wait(60_000),
    ({ emulator, id }) => emulator.edit(id(1), { description: none, url: other }),
    ["GET 1", none, { description: none, url: other, hostport: "b.example.com:443" }],
    ["GET 1", none, { updated_at: at("2T03:05:05") }],
    ({ emulator }) => {
      expect(() => emulator.edit("ep_1", {})).toThrow("ep_1");
      expect(() => emulator.remove("ep_1")).toThrow("ep_1");
    },
  ],
  [
    "a second key of an account has the same endpoints, and may be unable to list",
    FIRST,
    ({ emulator }) => emulator.addKey({ apiKey: "second" }),
    ({ emulator }) => emulator.addKey({ apiKey: "reader", mayList: false }),
    ["GET", key("second"), [1]],
    ["GET", key("reader"), "403 204"],
    ["GET 1", key("reader"), 200],
    ["DELETE 1", key("second"), 204],
    ["GET", none, []],
  ],
  [
    "a key of another account has other endpoints",
    FIRST,
    ({ emulator }) => emulator.addKey({ apiKey: "theirs", account: "theirs" }),
    (fixture) => fixture.seed({ type: "ephemeral" }, "theirs"),
    ["GET 1", key("theirs"), "404 222"],
    ["POST", key("theirs", { body: { url } }), 201],
    ["GET", key("theirs"), [3, 2]],
    ({ emulator, id }) => emulator.edit(id(3), { description: "by hand" }),
    ({ emulator }) => expect(emulator.endpointsOf("theirs")).toMatchObject([{ description: "by hand" }, {}]),
    ["GET", none, [1]],
  ],

  // Time.
  [
    "a rate limit counts the accepted requests of its window, after credentials and version",
    { rateLimit: { requests: 2, windowSeconds: 60 } },
    ["GET", headers({ authorization: null }), "401 200"],
    ["GET", headers({ "service-version": null }), "400 218"],
    ["GET", none, 200],
    wait(40_000),
    ["GET", none, 200],
    wait(19_999),
    ["GET /nothing", none, "429 226"],
    ["GET", none, "429 226"],
    wait(1),
    ["GET", none, 200],
    ["GET", none, "429 226"],
  ],
  [
    "a rate limit counts scripted replies, and never refuses them",
    { rateLimit: { requests: 1, windowSeconds: 60 } },
    ({ emulator }) => emulator.intercept("list", { status: 299 }, 2),
    ["GET", none, 299],
    ["GET", none, 299],
    ["GET", none, "429 226"],
  ],
  [
    "a list that lags shows changes later, unlike a read by id",
    { listLag: 3000 },
    (fixture) => fixture.seed({ type: "cloud", created_at: "2026-01-01T00:00:00Z" }),
    FIRST,
    ["DELETE 1", none, 204],
    wait(2999),
    ["GET", none, [1]],
    ["GET 1", none, "404 222"],
    wait(1),
    ["GET", none, [2]],
  ],
  [
    "created_at is the one of createdAt, and the order stays",
    ({ emulator }) => emulator.setBehaviour({ createdAt: 86_400_000 }),
    ["POST", { url }, { created_at: at("3T03:04:05") }],
    ({ emulator }) => emulator.setBehaviour({ createdAt: null }),
    ["POST", { url: other }, { created_at: none }],
    ["GET", none, [2, 1]],
  ],
];

test.each(rows)("%s", async (_, ...parts) => {
  const options = parts.filter((part) => typeof part !== "function" && !Array.isArray(part));
  const fixture = await EmulatorFixture.start(Object.assign({}, ...options));
  for (const part of parts) {
    if (typeof part === "function") part(fixture);
    else if (Array.isArray(part)) await fixture.exchange(part);
  }
});

test("the emulator's own table of fields equals the fields that the provider sends", () => {
  expect(Object.keys(CHANGEABLE).sort()).toEqual(managedInputs.map(snakeCase).sort());
});

test.each([
  { rateLimit: { requests: Number.NaN, windowSeconds: 1 } },
  { rateLimit: { requests: 1, windowSeconds: 0 } },
  { pageSize: 0 },
])("the emulator does not start with %j", async (options) => {
  await expect(Emulator.start(options)).rejects.toThrow(RangeError);
});
