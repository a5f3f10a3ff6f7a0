import { gatewayReply, type ScriptedReply } from "../../sdk/testing/emulator";
import type { Behaviour } from "../../sdk/testing/emulator/behaviour";
import { type Actor, at, error, forbidden, type Props, type Scenario, type Stub, scenario } from "./scenario";

/* Writes that the service accepts and then ignores, or stores in another form. */

const shop = { url: at("shop") };
const policy = (status: number) => ({
  on_http_request: [{ actions: [{ type: "deny", config: { status_code: status } }] }],
});
const full = {
  ...shop,
  description: "a",
  metadata: { a: 1 },
  trafficPolicy: policy(404),
  bindings: ["public"],
  poolingEnabled: false,
};
const other = {
  url: at("moved"),
  description: "b",
  metadata: { a: 2 },
  trafficPolicy: policy(405),
  bindings: ["internal"],
  poolingEnabled: true,
};
type Stores = Behaviour["stores"];

const behaving =
  (change: Partial<Behaviour>) =>
  ({ emulator }: Actor) =>
    emulator.setBehaviour(change);

/** The service answers an update, and ignores these fields. */
const ignoring = (...fields: string[]): Partial<Behaviour> => ({
  stores: (sent, before) => (before ? without(sent, fields) : sent),
});
const asSent: Stores = (sent) => sent;
const trimming: Partial<Behaviour> = {
  stores: ({ description, ...sent }) =>
    description === undefined ? sent : { ...sent, description: description.trim() },
};
const without = (props: object, fields: string[]) =>
  Object.fromEntries(Object.entries(props).filter(([name]) => !fields.includes(name)));

/** The service does not show these fields. */
const hiding = (...fields: string[]): Partial<Behaviour> => ({
  shows: (endpoint) => without(endpoint, fields),
});

/** The warning of a field that has another value than was sent. */
const differs = (place: string) =>
  new RegExp(
    `the service stored another value than this run sent: ${place}\\. The state has .*See "A change that the service ignores"`,
  );
const spaced = { ...shop, description: "x " };
const read = "/endpoints/shop";

const { description: _, ...removed } = full;

/** What an update changes, the program, the field in the request, and the place in the message. */
const ignored: [string, Props & { url: string }, string, string][] = [
  ["description", { ...full, description: "b" }, "description", "description"],
  ["a removed description", removed, "description", "description"],
  ["metadata", { ...full, metadata: { a: 2 } }, "metadata", "metadata\\.a"],
  [
    "a policy",
    { ...full, trafficPolicy: policy(405) },
    "traffic_policy",
    "trafficPolicy\\.on_http_request\\[0\\]\\.\\S*status_code",
  ],
  ["bindings", { ...full, bindings: ["internal"] }, "bindings", "bindings"],
  ["poolingEnabled", { ...full, poolingEnabled: true }, "pooling_enabled", "poolingEnabled"],
  ["url", { ...full, url: at("moved") }, "url", "url"],
];

/** Replies to reads by id that leave open what lives. */
const failedReads: [string, ScriptedReply][] = [
  ["a 503", { status: 503, body: "" }],
  ["a reset connection", { reset: true }],
  ["the service's own 404", error(404, 18100)],
  ["a gateway's 404", gatewayReply("html")],
  ["a 403", forbidden],
  ["a reply that cannot be read", { status: 200, body: "<html>" }],
];

const lacking: Stub = ["create", { afterCommit: true, body: (real) => without(real, ["description"]) }];

/** A reply with the endpoint as it was, and reads that omit a field without a value. */
const oldReply = (before: object, field: string): Stub[] => [
  ["update", { afterCommit: true, body: (real) => ({ ...(real as object), ...before }) }],
  ["read", { afterCommit: true, body: (real) => without(real, [field]) }, 9],
];

export const writes: Scenario[] = [
  scenario("a cleared description that reads omit has gone, although the reply shows the old one", {
    from: { o: { ...shop, description: "old" } },
    program: { o: shop },
    replies: oldReply({ description: "old" }, "description"),
    writes: ["PATCH shop description"],
    next: [{}],
  }),
  scenario("pooling that was turned off, and that reads omit, is off, although the reply shows it on", {
    from: { o: { ...shop, poolingEnabled: true } },
    program: { o: { ...shop, poolingEnabled: false } },
    replies: oldReply({ pooling_enabled: true }, "pooling_enabled"),
    writes: ["PATCH shop pooling_enabled"],
    next: [{}],
  }),
  scenario("a write takes no further request if the reply shows everything that was sent", {
    program: { o: { ...full, metadata: { list: [null], none: null } } },
    writes: ["POST shop"],
    reads: [],
    outputs: { o: { metadata: '{"list":[null],"none":null}' } },
    next: [
      {
        program: { o: other },
        writes: [`PATCH shop url=moved description metadata bindings pooling_enabled traffic_policy`],
        reads: [],
      },
      {
        program: { o: { url: at("moved"), trafficPolicy: policy(405) } },
        writes: ["PATCH shop description metadata"],
        reads: [],
      },
    ],
    state: { o: "shop=moved" },
    stacks: true,
  }),
  ...ignored.map(([what, program, field, place]) =>
    scenario(
      `an update that the service ignores is a warning and a change, until the program has the live value: ${what}`,
      {
        from: { o: full },
        program: { o: program },
        before: behaving(ignoring(field)),
        writes: [`PATCH shop ${field === "url" ? "url=moved" : field}`],
        reads: [read],
        says: [differs(place)],
        outputs: { o: { url: full.url, description: "a", bindings: ["public"], poolingEnabled: false } },
        next: [
          { writes: [`PATCH shop ${field === "url" ? "url=moved" : field}`], says: [differs(place)] },
          { program: { o: full } },
          {},
        ],
        state: { o: "shop" },
      },
    ),
  ),
  scenario("after an update that the service makes in part, a revert of the program puts everything back", {
    from: { o: full },
    program: { o: { ...full, description: "b", trafficPolicy: policy(405) } },
    before: behaving(ignoring("traffic_policy")),
    writes: ["PATCH shop description traffic_policy"],
    says: [differs("trafficPolicy\\S*")],
    outputs: { o: { description: "b" } },
    next: [{ program: { o: full }, writes: ["PATCH shop description"] }, { command: "refresh" }, {}],
    state: { o: "shop" },
    fields: { shop: { description: "a" } },
  }),
  scenario("an update that takes effect later than five seconds is a change until a refresh finds it", {
    from: { o: full },
    program: { o: { ...full, description: "b" } },
    before: behaving(ignoring("description")),
    writes: ["PATCH shop description"],
    says: [differs("description")],
    next: [
      { before: ({ emulator, id }) => emulator.edit(id("shop"), { description: "b" }), refresh: true },
      {},
    ],
    state: { o: "shop" },
  }),
  scenario(
    "after an ignored change, `pulumi refresh` and ignoreChanges keep the live value, as the page says",
    {
      from: { o: full },
      program: { o: { ...full, description: "b" } },
      before: behaving(ignoring("description")),
      writes: ["PATCH shop description"],
      says: [differs("description")],
      next: [
        { command: "refresh" },
        { program: { o: { ...full, description: "b", options: { ignoreChanges: ["description"] } } } },
        {},
      ],
      state: { o: "shop" },
      fields: { shop: { description: "a" } },
    },
  ),
  scenario("after an ignored change, `--replace` makes it, as the page says", {
    from: { o: full },
    program: { o: { ...full, poolingEnabled: true } },
    before: behaving(ignoring("pooling_enabled")),
    writes: ["PATCH shop pooling_enabled"],
    says: [differs("poolingEnabled")],
    next: [{ replace: ["o"], writes: ["DELETE shop", "POST shop"] }, {}],
    state: { o: "shop#2" },
  }),
  ...[null, ""].map((nothing) =>
    scenario(`a field with ${JSON.stringify(nothing)} is shown, so an ignored change of it differs`, {
      from: { o: shop },
      program: { o: { ...shop, description: "x" } },
      before: behaving({
        ...ignoring("description"),
        shows: (endpoint) => ({ ...endpoint, description: nothing }),
      }),
      writes: ["PATCH shop description"],
      says: [differs("description")],
      next: [{ writes: ["PATCH shop description"] }],
      state: { o: "shop" },
    }),
  ),
  scenario("a create on the old URL of an ignored move fails", {
    from: { o: "shop" },
    program: { o: "moved", p: "shop" },
    before: behaving(ignoring("url")),
    continueOnError: true,
    engine: "serial",
    order: ["o", "p"],
    writes: ["PATCH shop url=moved"],
    says: [differs("url")],
    fails: /is served by ep_\w+/,
    state: { o: "shop" },
  }),
  scenario(
    "a text that the service trims is a warning, and then a change until the program has the new text",
    {
      program: { o: spaced },
      before: behaving(trimming),
      writes: ["POST shop"],
      says: [differs("description")],
      outputs: { o: { description: "x" } },
      next: [
        { writes: ["PATCH shop description"], says: [differs("description")] },
        { program: { o: { ...shop, description: "x" } } },
        {},
      ],
      state: { o: "shop" },
    },
  ),
  scenario("a default that the service adds to a policy is a warning with its place", {
    program: { o: full },
    before: behaving({
      stores: ({ traffic_policy, ...sent }) => ({
        ...sent,
        ...(traffic_policy && { traffic_policy: traffic_policy.replace(/}$/, ',"on_tcp_connect":[]}') }),
      }),
    }),
    writes: ["POST shop"],
    says: [differs("trafficPolicy\\.on_tcp_connect")],
  }),
  scenario(
    "an ignored change of a secret that the program no longer marks is shown and stored nowhere in plain",
    {
      from: { o: { ...shop, description: "CANARY", options: { secret: ["description"] } } },
      program: { o: { ...shop, description: "public" } },
      before: behaving(ignoring("description")),
      writes: ["PATCH shop description"],
      says: [differs("description")],
      next: [{ command: "refresh" }, { writes: ["PATCH shop description"] }],
      state: { o: "shop" },
    },
  ),
  scenario("a field that the service does not show is a warning, and the state keeps what was sent", {
    program: { o: { ...shop, metadata: { a: 1 } } },
    service: hiding("metadata"),
    writes: ["POST shop"],
    reads: [read],
    says: [/https:..shop\.example\.com: the service shows no metadata, neither/],
    outputs: { o: { metadata: '{"a":1}' } },
    next: [{}, { program: { o: shop }, writes: ["PATCH shop metadata"], reads: [] }],
  }),
  scenario("an update that takes effect within five seconds succeeds", {
    from: { o: full },
    program: { o: { ...full, description: "b" } },
    before: ({ emulator }) => {
      const body = () => emulator.endpoints[0] ?? {};
      emulator.intercept("update", { status: 200, lateMs: 4_000, body });
    },
    writes: ["PATCH shop description"],
    reads: [read],
    outputs: { o: { description: "b" } },
    next: [{}],
  }),
  scenario("a create whose reply lacks a field that a read shows succeeds, after one read", {
    program: { o: full },
    replies: [lacking],
    writes: ["POST shop"],
    reads: [read],
    says: [/^\s*$/],
    next: [{}],
  }),
  ...failedReads.map(([what, reply]) =>
    scenario(`a create whose reply lacks a field keeps its endpoint, with a warning, after ${what}`, {
      program: { o: full },
      replies: [lacking, ["read", reply, 999]],
      writes: ["POST shop"],
      says: [/the service shows no description, neither in its reply nor by id/],
      outputs: { o: { description: "a" } },
      next: [{ command: "refresh" }, {}],
    }),
  ),
  ...failedReads.map(([what, reply]) =>
    scenario(`an update whose reply has the old value is a change for the next \`up\`, after ${what}`, {
      from: { o: full },
      program: { o: { ...full, description: "b" } },
      before: behaving(ignoring("description")),
      replies: [["read", reply, 999]],
      writes: ["PATCH shop description"],
      says: [differs("description")],
      next: [{ before: behaving({ stores: asSent }), writes: ["PATCH shop description"] }],
      state: { o: "shop" },
    }),
  ),
  scenario(
    "an answer that cannot be read is an error if the endpoint differs, and a refresh finds what lives",
    {
      from: { o: full },
      program: { o: { ...full, description: "b", metadata: { a: 2 } } },
      before: behaving(ignoring("metadata")),
      replies: [["update", { afterCommit: true, status: 202, body: {} }]],
      writes: ["PATCH shop description metadata"],
      fails: /PATCH \/endpoints\/ep_\w+: status 202/,
      outputs: { o: { description: "a", metadata: '{"a":1}' } },
      next: [
        { command: "refresh", outputs: { o: { description: "b" } } },
        { program: { o: full }, writes: ["PATCH shop description"] },
      ],
      state: { o: "shop" },
    },
  ),
  scenario("an adoption whose change is ignored has taken the endpoint over, and shows the change", {
    others: { theirs: { ...shop, description: "a" } },
    program: { o: { ...shop, adopt: "@theirs", description: "b" } },
    before: behaving(ignoring("description")),
    writes: ["PATCH theirs description"],
    says: [differs("description")],
    next: [
      { writes: ["PATCH theirs description"], says: [differs("description")] },
      { program: { o: { ...shop, adopt: "@theirs", description: "a" } } },
      {},
    ],
    state: { o: "theirs" },
  }),
  scenario(
    "a rename with an adoption whose change is ignored does not let the old entry delete the endpoint",
    {
      from: { o: full },
      program: { n: { ...full, adopt: "@shop", description: "b" } },
      before: behaving(ignoring("description")),
      continueOnError: true,
      writes: ["PATCH shop description"],
      says: [differs("description"), /belongs to another resource of this stack, so it was not/],
      next: [{ program: { n: full } }, { command: "refresh" }],
      state: { n: "shop" },
    },
  ),
];
