import { expect, test } from "vitest";
import { snakeCase } from "../../../provider/api/replySchemas";
import { managedInputs } from "../../../provider/endpoint/fields";
import { Emulator, type EmulatorOptions } from "../../../sdk/testing";
import { CHANGEABLE } from "../../../sdk/testing/emulator/serviceRules";
import { type Exchange, World } from "./requests";

/* The emulator's contract: a row is a few requests with their replies, or what others do between them. */

type Row = [outcome: string, ...parts: (Exchange | EmulatorOptions | ((world: World) => unknown))[]];

const url = "https://a.example.com";
const other = "https://b.example.com";
const pools = { pooling_enabled: true };
const none = undefined;
/** What the service says about a taken URL, by `urlTaken`. */
const taken = {
  "18017": "400 18017",
  "18009": "409 18009",
  "422": "422 18001",
  "400-bare": "400",
  "409-bare": "409",
};
const headers = (changed: Record<string, string | null>, sent: object = {}) => ({
  ...sent,
  headers: changed,
});
const key = (apiKey: string, sent: object = {}) => headers({ authorization: `Bearer ${apiKey}` }, sent);
const filter = (expression: string) => `GET ?filter=${encodeURIComponent(expression)}`;
const name = 'Läden "\\ 😀';
const wait = (milliseconds: number) => (world: World) => world.pass(milliseconds);
const at = (time: string) => `2026-01-0${time}Z`;

const rows: Row[] = [
  // Credentials and the version come before all other checks.
  ...Object.entries({
    "without credentials": [null, "401 200"],
    "with another scheme": ["Basic abc", "401 201"],
    "without a key": ["Bearer", "401 201"],
    "with a malformed key": ["Bearer secret", "401 202"],
    "with the id of a key": ["Bearer ak_2abc", "403 208"],
    "with an unknown key": [`Bearer ${"a".repeat(27)}_${"b".repeat(21)}`, "403 203"],
  } as const).map(
    ([how, [authorization, reply]]): Row => [
      `a request ${how} is refused`,
      ["PUT /nothing", headers({ authorization, "service-version": null }), reply],
    ],
  ),
  [
    "a request without the version is refused",
    ["PUT /nothing", headers({ "service-version": null }), "400 218"],
  ],
  ["a request with another version is refused", ["GET", headers({ "service-version": "1" }), "400 217"]],
  [
    "the header of the version can have another name",
    { versionHeader: "Ngrok-Version" },
    ["GET", none, 200],
    ["GET", headers({ "ngrok-version": null, "service-version": "2" }), "400 218"],
  ],
  ["the key can be given", { apiKey: "my-key" }, ["GET", key("my-key"), 200]],

  // Paths, methods and bodies.
  ...["/", "/endpoint", "/endpoints/", "/endpoints/ep_1/more", "/tunnels", "/endpoints/ep_unknown"].map(
    (path): Row => [`the path ${path} is not found`, [`GET ${path}`, none, "404 222"]],
  ),
  ...["PUT", "DELETE", "PATCH", "POST /endpoints/ep_1"].map(
    (line): Row => [`${line} is not allowed`, [line, none, "405 27614"]],
  ),
  ...["GET", "PATCH", "DELETE"].map(
    (method): Row => [
      `${method} refuses an id without the prefix ep_`,
      [`${method} /endpoints/tn_1`, method === "PATCH" ? { description: "d" } : none, "400 227"],
    ],
  ),
  [
    "paths and URIs begin with basePath",
    { basePath: "/api/v2/", pageSize: 1 },
    ["POST", { url }, { uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v2\/endpoints\/ep_/) }],
    ["GET /../../endpoints", none, "404 222"],
  ],
  ["a body needs a content type", ["POST", { text: "{}", headers: { "content-type": null } }, "400 216"]],
  [
    "a body must be JSON by its type",
    ["POST", { text: "{}", headers: { "content-type": "application/jsonl" } }, "400 210"],
  ],
  ...['{"url":', "", "[]", "null"].map(
    (text): Row => [`the body ${text} is refused`, ["POST", { text }, "400 213"]],
  ),
  [
    "a content type may have a charset",
    ["POST", headers({ "content-type": "application/json; charset=utf-8" }, { body: { url } }), 201],
  ],
  [
    "a body of more than 5 MB is refused",
    ["POST", { url, metadata: "m".repeat(5 * 1024 * 1024) }, "413 212"],
  ],
  ["DELETE takes no body", ["POST", { url }, 201], ["DELETE 1", {}, "400 211"]],

  // Creates.
  [
    "a created endpoint has the fields that derive from its URL, and none without a value",
    [
      "POST",
      { type: "cloud", url: "HTTPS://Shop.Example.com:443", description: "", metadata: "m" },
      {
        id: expect.stringMatching(/^ep_[0-9A-Za-z]{27}$/),
        type: "cloud",
        url: "https://shop.example.com",
        public_url: "https://shop.example.com",
        proto: "https",
        hostport: "shop.example.com:443",
        bindings: ["public"],
        pooling_enabled: false,
        metadata: "m",
        created_at: at("2T03:04:05"),
        updated_at: at("2T03:04:05"),
        description: none,
        tcp_addr: none,
        domain: {
          id: expect.stringMatching(/^rd_\w{27}$/),
          uri: expect.stringMatching(/\/reserved_domains\/rd_/),
        },
      },
    ],
  ],
  ...[
    ["http://a.example.com:80", "http://a.example.com", "http://a.example.com", "a.example.com:80"],
    ["http://a.internal:8080", "http://a.internal:8080", "http://a.internal", "a.internal:8080"],
    ["tls://a.example.com", "tls://a.example.com", "tls://a.example.com", "a.example.com:443"],
    ["https://*.example.com", "https://*.example.com", "https://*.example.com", "*.example.com:443"],
    ["tcp://1.example.com:12345", "tcp://1.example.com:12345", "tcp://1.example.com", "1.example.com:12345"],
  ].map(
    ([given, shown, publicUrl, hostport]): Row => [
      `${given} is shown as ${shown} and ${hostport}`,
      ["POST", { url: given }, { url: shown, public_url: publicUrl, hostport, proto: given?.split(":")[0] }],
    ],
  ),
  [
    "endpoints of a host share its domain, and others do not",
    ["POST", { url }, 201],
    ["POST", { url: "http://a.example.com" }, 201],
    ["POST", { url: other }, 201],
    ({
      emulator: {
        endpoints: [apart, two, one],
      },
    }) => {
      expect(two?.domain).toEqual(one?.domain);
      expect(apart?.domain?.id).not.toBe(one?.domain?.id);
    },
  ],
  [
    "an internal host has the binding internal, and no domain",
    ["POST", { url: "https://a.internal" }, { bindings: ["internal"], domain: none, tcp_addr: none }],
  ],
  [
    "a tcp URL has a reserved address, and given bindings and pooling are kept",
    [
      "POST",
      { url: "tcp://1.example.com:1", bindings: ["public", "internal"], ...pools },
      {
        bindings: ["public", "internal"],
        ...pools,
        tcp_addr: { id: expect.stringMatching(/^ra_/) },
        domain: none,
      },
    ],
  ],
  ...(
    [
      [18015, {}],
      [18015, { url: "" }],
      [248, { type: "edge", url }],
      [249, { url: "not a url" }],
      [18022, { url: "a.example.com:443" }],
      [18001, { url: "ftp://a.example.com" }],
      [18001, { url: `${url}/` }],
      [18001, { url: `${url}?q=1` }],
      [18001, { url: "https://user@a.example.com" }],
      [18001, { url: "https://a.*.example.com" }],
      [18001, { url: "https://a_b.example.com" }],
      [18001, { url: `${url}:65536` }],
      [18001, { url: `${url}:0` }],
      [18001, { url: `${url}:1:2` }],
      [18003, { url: "tcp://1.tcp.example.com" }],
      [18012, { url, description: "d".repeat(256) }],
      [18013, { url, metadata: "m".repeat(4097) }],
      [15005, { url, bindings: ["private"] }],
      [15006, { url, bindings: ["public", "public"] }],
      [214, { url, colour: "red" }],
      [214, { url, id: "ep_1" }],
      [215, { url: 1 }],
      [215, { url, description: null }],
      [215, { url, bindings: "public" }],
      [215, { url, bindings: [1] }],
      [215, { url, pooling_enabled: "true" }],
      ...["{a: 1}", '{"a": 1', "- a\n- b", "[1]", "just words", "a: b: c", "   "].map(
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
    "the limits count characters, not bytes",
    ["POST", { url, description: `${"é".repeat(254)}😀`, metadata: `${"é".repeat(4095)}😀` }, 201],
  ],
  ...['{ "on_http_request": [],\n "a": 1 }', "# first\non_http_request:\n  - actions: []\n"].map(
    (policy): Row => [
      `a policy is returned unchanged: ${JSON.stringify(policy)}`,
      ["POST", { url, traffic_policy: policy }, { traffic_policy: policy }],
      ["GET 1", none, { traffic_policy: policy }],
    ],
  ),

  // Updates and deletes.
  [
    "an update changes the given fields and updated_at only",
    ["POST", { url, metadata: "m", traffic_policy: "{}", description: "old" }, 201],
    wait(55_000),
    ["PATCH 1", { description: "new" }, { description: "new", metadata: "m", traffic_policy: "{}" }],
    [
      "GET 1",
      none,
      { created_at: at("2T03:04:05"), updated_at: at("2T03:05:00"), url, bindings: ["public"] },
    ],
  ],
  [
    "an empty text removes a field",
    ["POST", { url, description: "d", metadata: "m", traffic_policy: "{}" }, 201],
    [
      "PATCH 1",
      { description: "", metadata: "", traffic_policy: "" },
      { description: none, metadata: none, traffic_policy: none },
    ],
  ],
  [
    "an update of the URL changes what derives from it",
    ["POST", { url }, 201],
    [
      "PATCH 1",
      { url: "https://B.example.com:443" },
      { url: other, public_url: other, hostport: "b.example.com:443" },
    ],
    ["PATCH 1", { url: other }, 200],
    ["PATCH 1", { url: "https://b.internal" }, { domain: none }],
  ],
  [
    "empty bindings are the service's choice",
    ["POST", { url, bindings: ["internal"] }, 201],
    ["PATCH 1", { bindings: ["kubernetes"] }, { bindings: ["kubernetes"] }],
    ["PATCH 1", { bindings: [] }, { bindings: ["public"] }],
  ],
  ...(
    [
      [18004, {}],
      [18005, { url: "http://a.example.com" }],
      [249, { url: "" }],
      [214, { type: "cloud" }],
      [215, { description: null }],
      [18014, { id: "ep_other", description: "d" }],
      [18012, { description: "d".repeat(256) }],
      [2236, { traffic_policy: "- 1" }],
    ] as const
  ).map(
    ([code, body]): Row => [
      `an update is refused with ${code}: ${JSON.stringify(body).slice(0, 60)}`,
      ["POST", { url }, 201],
      ["PATCH 1", body, `400 ${code}`],
    ],
  ),
  [
    "an update may repeat the id, which alone is empty",
    (world) => world.seed({ type: "cloud", id: "ep_1" }),
    ["PATCH 1", { id: "ep_1", description: "d" }, { description: "d" }],
    ["PATCH 1", { id: "ep_1" }, "400 18004"],
  ],
  [
    "with fixedUrlAndPooling, neither changes, and other fields do",
    { fixedUrlAndPooling: true },
    ["POST", { url }, 201],
    ["PATCH 1", { url: other, description: "d" }, "400 18014"],
    ["PATCH 1", { ...pools, description: "d" }, "400 18014"],
    ["PATCH 1", { url: "HTTPS://a.example.com:443", pooling_enabled: false, description: "d" }, 200],
    ({ emulator }) => emulator.behave({ fixedUrlAndPooling: false }),
    ["PATCH 1", pools, pools],
  ],
  [
    "a deleted endpoint is not found",
    ["POST", { url }, 201],
    ["DELETE 1", none, 204],
    ["GET 1", none, "404 222"],
    ["PATCH 1", { description: "d" }, "404 222"],
    ["DELETE 1", none, "404 222"],
    ["GET", none, []],
  ],
  ...(["ephemeral", "edge"] as const).map(
    (type): Row => [
      `an endpoint of the type ${type} can only be read`,
      (world) => world.seed({ type }),
      ["GET 1", none, { type }],
      ["PATCH 1", { description: "d" }, "400 18014"],
      ["DELETE 1", none, "400 18014"],
    ],
  ),

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
      ["POST", { url: other }, 201],
      ["PATCH 2", { url, ...second }, code ? `400 ${code}` : 200],
      ...(code ? [["POST", { url, ...second }, `400 ${code}`] as Exchange] : []),
    ],
  ),
  [
    "an update of pooling or bindings alone can conflict, and one of the description cannot",
    ["POST", { url, ...pools }, 201],
    ["POST", { url, ...pools }, 201],
    ["POST", { url, bindings: ["kubernetes"] }, 201],
    ["PATCH 2", { pooling_enabled: false }, "400 18017"],
    ["PATCH 3", { bindings: ["kubernetes", "public"] }, "400 18017"],
    (world) => world.seed({ type: "cloud", url }),
    ["PATCH 4", { description: "d" }, 200],
  ],
  ...Object.entries(taken).map(
    ([urlTaken, reply]): Row => [
      `a taken URL is refused as urlTaken says: ${urlTaken}`,
      { urlTaken: urlTaken as keyof typeof taken },
      ["POST", { url }, 201],
      ["POST", { url: other }, 201],
      ["POST", { url }, reply],
      ["PATCH 2", { url }, reply],
      ["POST", { url, ...pools }, "400 18016"],
    ],
  ),
  [
    "a taken URL is accepted with urlTaken: allowed, until that changes",
    { urlTaken: "allowed" },
    ["POST", { url }, 201],
    ["POST", { url }, 201],
    ["POST", { url, ...pools }, 201],
    ["GET", none, [3, 2, 1]],
    ({ emulator }) => emulator.behave({ urlTaken: "18009" }),
    ["POST", { url }, "409 18009"],
  ],
  ...[
    { type: "ephemeral", url } as const,
    { type: "edge", public_url: url } as const,
    { type: "edge", public_url: "tcp://1.example.com", hostport: "1.example.com:20000" } as const,
  ].map((seed): Row => {
    const wanted = "hostport" in seed ? "tcp://1.example.com:20000" : url;
    return [
      `an endpoint of the type ${seed.type} has its URL alone, too: ${wanted}`,
      (world) => world.seed(seed),
      ["POST", { url: wanted }, "400 18017"],
      ["POST", { url: wanted, ...pools }, "400 18016"],
      ({ emulator, id }) => emulator.edit(id(1), pools),
      ["POST", { url: wanted, ...pools }, 201],
    ];
  }),

  // Lists.
  [
    "an empty list has its own URI, and no next page",
    ["GET", none, { endpoints: [], uri: expect.stringMatching(/\/endpoints$/), next_page_uri: null }],
  ],
  [
    "a list begins with the newest endpoint, and a seed stands at its created_at",
    ["POST", { url }, 201],
    ["POST", { url: other }, 201],
    (world) => world.seed({ type: "cloud", created_at: "2020-01-01T00:00:00Z" }),
    ["GET", none, [2, 1, 3]],
  ],
  [
    "a page continues after the last endpoint of the one before, also after that is deleted",
    { pageSize: 3 },
    (world) => [1, 2, 3, 4].map(() => world.seed({ type: "edge" })),
    ["GET ?limit=2", none, [4, 3]],
    ["GET ?limit=2", none, { next_page_uri: expect.stringMatching(/\/endpoints\?limit=2&before_id=ep_/) }],
    ["GET ?limit=2&before_id=#3", none, { next_page_uri: null }],
    ["GET ?limit=100", none, [4, 3, 2]],
    ({ emulator, id }) => emulator.remove(id(3)),
    ["GET ?before_id=#3", none, [2, 1]],
  ],
  [
    "a page has at most 100 endpoints",
    (world) => Array.from({ length: 101 }, () => world.seed({ type: "cloud" })),
    ["GET", none, Array.from({ length: 100 }, (_, index) => 101 - index)],
    ["GET ?before_id=#2", none, [1]],
  ],
  [
    "a list lacks the edge of a cloud endpoint, which a read by id shows",
    (world) => world.seed({ type: "cloud", edge: { id: "edghts_1", uri: "" } }),
    (world) => world.seed({ type: "edge" }),
    [
      "GET",
      none,
      {
        endpoints: [
          { edge: { id: expect.stringMatching(/^edgtls_/) } },
          expect.not.objectContaining({ edge: expect.anything() }),
        ],
      },
    ],
    ["GET 1", none, { edge: { id: "edghts_1" } }],
  ],
  ...(
    [
      ["limit=0", 233],
      ["limit=101", 233],
      ["limit=ten", 233],
      ["limit=", 233],
      ["page=2", 231],
      ["limit=1&limit=2", 232],
      ["before_id=tn_1", 227],
      ["before_id=ep_never", 230],
    ] as const
  ).map(([query, code]): Row => [`the query ${query} is refused`, [`GET ?${query}`, none, `400 ${code}`]]),
  [
    "filters compare texts",
    (world) => world.seed({ type: "cloud", url, name }),
    (world) => world.seed({ type: "edge", region: "us" }),
    [filter('obj.type == "cloud"'), none, [1]],
    [filter('obj.url in ["https://other.example.com", "https://a.example.com"]'), none, [1]],
    [filter("obj.url in []"), none, []],
    [filter('obj.name == "L\\u00e4den \\"\\\\ 😀"'), none, [1]],
    [filter('obj.region == ""'), none, [1]],
    [filter('obj.type == "cloud" && obj.name in ["a && b", "L\\u00e4den \\"\\\\ 😀"]'), none, [1]],
    [filter('obj.type == "cloud" && obj.region == "us"'), none, []],
  ],
  ...[
    "",
    "obj.type =",
    'obj.type == "cloud',
    'obj.type == "cloud" || obj.type == "edge"',
    'obj.type == "cloud", "edge"',
    'obj.type in "cloud"',
    'obj.kind == "cloud"',
    'obj.__proto__ == "x"',
    "obj.type == 1",
    'type == "cloud"',
    'obj.name == "\n"',
    String.raw`obj.name == "\q"`,
    String.raw`obj.name == "\u12"`,
  ].map(
    (expression): Row => [
      `the filter ${JSON.stringify(expression)} is refused`,
      [filter(expression), none, "400 230"],
    ],
  ),
  ...Object.entries({ works: [6, 5], incomplete: [5], ignored: [6, 5], agent: [6, 5] }).map(
    ([filters, first]): Row => [
      `a filter acts as the option filters says: ${filters}`,
      { pageSize: 2, filters: filters as "works" },
      (world) =>
        ["edge", "ephemeral", "edge", "cloud", "cloud", "cloud"].map((type) =>
          world.seed({ type: type as "edge" }),
        ),
      [filter('obj.type == "cloud"'), none, first],
      [
        `${filter('obj.type == "cloud"')}&before_id=#5`,
        none,
        filters === "ignored" ? [4, 3] : filters === "incomplete" ? [] : [4],
      ],
      [filter('obj.type == "agent"'), none, { agent: [2], ignored: [6, 5] }[filters] ?? []],
    ],
  ),
  ["with filters: refused there is none", { filters: "refused" }, ["GET ?filter=true", none, "400 231"]],

  // What tests do to an account.
  [
    "a seed has the fields of its type",
    (world) => {
      const agents = world.seed({ type: "ephemeral" });
      expect(agents).toMatchObject({
        proto: "https",
        bindings: ["public"],
        pooling_enabled: false,
        public_url: agents.url,
        name: "command_line",
        upstream_url: "http://localhost:80",
        principal: { id: expect.stringMatching(/^usr_/), uri: "" },
        tunnel: { id: agents.id.replace("ep_", "tn_"), uri: expect.stringContaining("/tunnels/tn_") },
        tunnel_session: { uri: expect.stringContaining("/tunnel_sessions/ts_") },
      });
      for (const field of ["uri", "domain", "edge"]) expect(agents).not.toHaveProperty(field);
      const edge = world.seed({ type: "edge", public_url: "tls://shop.example.com" });
      expect(edge).toMatchObject({
        proto: "tls",
        hostport: "shop.example.com:443",
        domain: { id: expect.stringMatching(/^rd_/) },
      });
      expect(edge.edge?.uri).toContain("/edges/tls/edgtls_");
      for (const field of ["url", "uri", "tunnel", "principal"]) expect(edge).not.toHaveProperty(field);
      const full = world.seed({ type: "edge", public_url: "tcp://1.example.com:20000" });
      expect(full).toMatchObject({
        hostport: "1.example.com:20000",
        tcp_addr: { id: expect.stringMatching(/^ra_/) },
      });
      const bare = world.seed({
        type: "edge",
        public_url: "tcp://1.example.com",
        hostport: "1.example.com:20000",
      });
      expect(bare.tcp_addr).toEqual(full.tcp_addr);
      expect(world.seed({ type: "edge", public_url: "tcp://2.example.com" }).hostport).toMatch(/:\d+$/);
    },
  ],
  [
    "a seed on an internal host has the binding internal, like a created endpoint",
    ({ emulator }) => {
      for (const type of ["cloud", "ephemeral"] as const)
        expect(emulator.seed({ type, url: "https://a.internal" }).bindings).toEqual(["internal"]);
      expect(emulator.seed({ type: "edge", public_url: "https://b.internal" }).bindings).toEqual([
        "internal",
      ]);
    },
  ],
  [
    "given fields of a seed replace derived ones, and an id exists once",
    (world) => {
      const seeded = world.seed({ type: "cloud", url, region: "eu", domain: none, id: "ep_mine" });
      const uri = `${world.emulator.baseUrl}/endpoints/ep_mine`;
      expect(seeded).toMatchObject({ id: "ep_mine", uri, hostport: "a.example.com:443", region: "eu" });
      expect(seeded).not.toHaveProperty("domain");
      expect(() => world.seed({ type: "cloud", id: "ep_mine" })).toThrow("ep_mine");
      expect(() => world.seed({ type: "cloud", url: "nonsense" })).toThrow("scheme");
    },
  ],
  [
    "an edit changes an endpoint and its updated_at, without rules",
    ["POST", { url, description: "d" }, 201],
    ["POST", { url: other }, 201],
    wait(60_000),
    ({ emulator, id }) => emulator.edit(id(1), { description: none, metadata: "theirs", url: other }),
    [
      "GET 1",
      none,
      {
        description: none,
        metadata: "theirs",
        url: other,
        hostport: "b.example.com:443",
        updated_at: at("2T03:05:05"),
      },
    ],
    ({ emulator }) => {
      expect(() => emulator.edit("ep_1", {})).toThrow("ep_1");
      expect(() => emulator.remove("ep_1")).toThrow("ep_1");
    },
  ],
  [
    "the emulator hands out copies",
    (world) => {
      world.seed({ type: "cloud" }).bindings?.push("internal");
      for (const endpoint of world.emulator.endpoints) endpoint.description = "changed";
    },
    ["GET 1", none, { bindings: ["public"], description: none }],
  ],
  [
    "a second key of an account has the same endpoints, and may be unable to list",
    ["POST", { url }, 201],
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
    ["POST", { url }, 201],
    ({ emulator }) => emulator.addKey({ apiKey: "theirs", account: "theirs" }),
    (world) => world.seed({ type: "ephemeral" }, "theirs"),
    ["GET 1", key("theirs"), "404 222"],
    ["DELETE 1", key("theirs"), "404 222"],
    ["POST", key("theirs", { body: { url } }), 201],
    ["GET", key("theirs"), [3, 2]],
    ["GET", none, [1]],
    ({ emulator, id }) => {
      emulator.edit(id(3), { description: "by hand" });
      emulator.remove(id(2));
      expect(emulator.endpointsOf("theirs")).toMatchObject([{ id: id(3), description: "by hand" }]);
    },
  ],

  // Time.
  [
    "a rate limit counts the accepted requests of its window",
    { rateLimit: { requests: 2, windowSeconds: 60 } },
    ["GET", none, 200],
    wait(40_000),
    ["GET", none, 200],
    wait(19_999),
    ["POST", { url }, "429 226"],
    ["GET", none, "429 226"],
    wait(1),
    ["GET", none, 200],
    ["GET", none, "429 226"],
    wait(40_000),
    ["GET", none, 200],
  ],
  [
    "a rate limit comes after credentials and version, and before the path",
    { rateLimit: { requests: 1, windowSeconds: 60 } },
    ["GET", headers({ authorization: null }), "401 200"],
    ["GET", headers({ "service-version": null }), "400 218"],
    ["GET", none, 200],
    ["GET /nothing", none, "429 226"],
  ],
  [
    "a rate limit counts scripted replies, and never refuses them",
    { rateLimit: { requests: 2, windowSeconds: 60 } },
    ({ emulator }) => emulator.intercept("list", { status: 299 }, 3),
    ...[1, 2, 3].flatMap((): [Exchange, (world: World) => void] => [["GET", none, 299], wait(10_000)]),
    wait(39_999),
    ["GET", none, "429 226"],
    wait(1),
    ["GET", none, 200],
    ["GET", none, "429 226"],
  ],
  [
    "a list that lags shows changes later, unlike a read by id",
    { listLag: 3000, pageSize: 2 },
    (world) => [1, 2].map(() => world.seed({ type: "cloud", created_at: "2026-01-01T00:00:00Z" })),
    ["POST", { url }, 201],
    ["PATCH 1", { description: "d" }, 200],
    ["DELETE 2", none, 204],
    wait(2999),
    ["GET", none, [2, 1]],
    ["GET", none, { endpoints: [{}, expect.not.objectContaining({ description: "d" })] }],
    ["GET ?before_id=#2", none, [1]],
    ["GET 2", none, "404 222"],
    ["GET 3", none, 200],
    wait(1),
    ["GET", none, [3, 1]],
    ({ emulator }) => emulator.behave({ listLag: 0 }),
    ["GET", none, [3, 1]],
  ],
  ...(
    [
      [0, at("2T03:04:05")],
      [86_400_000, at("3T03:04:05")],
      ["yesterday", "yesterday"],
      [null, none],
    ] as const
  ).map(
    ([createdAt, shown]): Row => [
      `created_at is the one of createdAt, and the order stays: ${createdAt}`,
      (world) => world.seed({ type: "ephemeral" }),
      ({ emulator }) => emulator.behave({ createdAt }),
      ["POST", { url }, { created_at: shown }],
      (world) => world.seed({ type: "ephemeral" }),
      ["GET", none, [3, 2, 1]],
    ],
  ),
];

test.each(rows)("%s", async (_, ...parts) => {
  const options = parts.filter((part) => typeof part !== "function" && !Array.isArray(part));
  const world = await World.start(Object.assign({}, ...options));
  for (const part of parts) {
    if (typeof part === "function") part(world);
    else if (Array.isArray(part)) await world.exchange(part);
  }
});

test("the emulator takes the fields that the provider sends, by a table of its own", () => {
  expect(Object.keys(CHANGEABLE).sort()).toEqual(managedInputs.map(snakeCase).sort());
});

test.each([
  { rateLimit: { requests: 0, windowSeconds: 1 } },
  { rateLimit: { requests: 1, windowSeconds: 0 } },
  { rateLimit: { requests: Number.NaN, windowSeconds: 1 } },
  { pageSize: 0 },
])("the emulator does not start with %j", async (options) => {
  await expect(Emulator.start(options)).rejects.toThrow(RangeError);
});
