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

const hidden = (label: string) => ({ url: at(label), metadata: { a: 1 } });

const OLD = /accepted the change, but old values of ep_\w+ still live: /;
const lives = (what: string) =>
  new RegExp(`${OLD.source}${what}.*--replace.*See "A change that the service ignores"`);
const spaced = { ...shop, description: "x " };
const read = "/endpoints/shop";

const { description: _, ...removed } = full;

/** What an update changes, the program, the field in the request, and the words in the message. */
const ignored: [string, Props & { url: string }, string, string][] = [
  ["description", { ...full, description: "b" }, "description", 'description \\(sent "b", lives "a"\\)'],
  ["a removed description", removed, "description", 'description \\(sent nothing, lives "a"\\)'],
  ["metadata", { ...full, metadata: { a: 2 } }, "metadata", "metadata.a \\(sent 2, lives 1\\)"],
  [
    "a policy",
    { ...full, trafficPolicy: policy(405) },
    "traffic_policy",
    "trafficPolicy.on.*\\(sent 405, lives 404",
  ],
  [
    "bindings",
    { ...full, bindings: ["internal"] },
    "bindings",
    'bindings \\(sent \\["internal"\\], lives \\["public"\\]',
  ],
  [
    "poolingEnabled",
    { ...full, poolingEnabled: true },
    "pooling_enabled",
    "poolingEnabled \\(sent true, lives false\\)",
  ],
  [
    "url",
    { ...full, url: at("moved") },
    "url",
    'url \\(sent "https://moved.example.com", lives "https://shop',
  ],
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
    program: { o: full },
    writes: ["POST shop"],
    reads: [],
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
  }),
  ...ignored.map(([what, program, field, place]) =>
    scenario(
      `an update that the service ignores fails each time, until the program has the live value: ${what}`,
      {
        from: { o: full },
        program: { o: program },
        before: behaving(ignoring(field)),
        writes: [`PATCH shop ${field === "url" ? "url=moved" : field}`],
        reads: [read, read],
        fails: lives(place),
        outputs: { o: { url: full.url, description: "a", bindings: ["public"], poolingEnabled: false } },
        next: [
          { writes: [`PATCH shop ${field === "url" ? "url=moved" : field}`], fails: lives(place) },
          { program: { o: full } },
          {},
        ],
        state: { o: "shop" },
      },
    ),
  ),
  scenario("an update that the service makes in part fails, and a revert of the program undoes it", {
    from: { o: full },
    program: { o: { ...full, description: "b", trafficPolicy: policy(405) } },
    before: behaving(ignoring("traffic_policy")),
    writes: ["PATCH shop description traffic_policy"],
    fails: lives("trafficPolicy"),
    outputs: { o: { description: "b" } },
    next: [{ program: { o: full }, writes: ["PATCH shop description"] }, { command: "refresh" }, {}],
    state: { o: "shop" },
    fields: { shop: { description: "a" } },
    stacks: true,
  }),
  scenario("an update that the service ignores is sent again by the next `up`, once the service makes it", {
    from: { o: full },
    program: { o: { ...full, description: "b" } },
    before: behaving(ignoring("description")),
    writes: ["PATCH shop description"],
    fails: lives("description"),
    next: [{ before: behaving({ stores: asSent }), writes: ["PATCH shop description"] }, {}],
    state: { o: "shop" },
  }),
  scenario(
    "after an ignored change, `pulumi refresh` and ignoreChanges keep the live value, as the page says",
    {
      from: { o: full },
      program: { o: { ...full, description: "b" } },
      before: behaving(ignoring("description")),
      writes: ["PATCH shop description"],
      fails: lives("description"),
      next: [
        { command: "refresh" },
        { program: { o: { ...full, description: "b", options: { ignoreChanges: ["description"] } } } },
        {},
      ],
      state: { o: "shop" },
      fields: { shop: { description: "a" } },
      stacks: true,
    },
  ),
  scenario("after an ignored change, `--replace` makes it, as the message says", {
    from: { o: full },
    program: { o: { ...full, poolingEnabled: true } },
    before: behaving(ignoring("pooling_enabled")),
    writes: ["PATCH shop pooling_enabled"],
    fails: lives("poolingEnabled"),
    next: [{ replace: ["o"], writes: ["DELETE shop", "POST shop"] }, {}],
    state: { o: "shop#2" },
  }),
  ...[null, ""].map((nothing) =>
    scenario(`a field with ${JSON.stringify(nothing)} is shown, so an ignored change of it fails`, {
      from: { o: shop },
      program: { o: { ...shop, description: "x" } },
      before: behaving({
        ...ignoring("description"),
        shows: (endpoint) => ({ ...endpoint, description: nothing }),
      }),
      writes: ["PATCH shop description"],
      fails: lives('description \\(sent "x", lives nothing\\)'),
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
    fails: /old values.*url[\s\S]*is served by ep_\w+.*which keeps this URL/,
    state: { o: "shop" },
  }),
  scenario(
    "a text that the service trims is a warning, and then a change until the program has the new text",
    {
      program: { o: spaced },
      before: behaving(trimming),
      writes: ["POST shop"],
      says: [/^.*https:..shop.*stores another value than it was sent: description \(sent "x ", lives "x"\)/m],
      outputs: { o: { description: "x" } },
      next: [
        { writes: ["PATCH shop description"], fails: /stores both alike/ },
        { program: { o: { ...shop, description: "x" } } },
        {},
      ],
      state: { o: "shop" },
      stacks: true,
    },
  ),
  scenario("an update to a value that the service stores in another form is a warning", {
    from: { o: full },
    program: { o: { ...full, description: " c " } },
    before: behaving(trimming),
    writes: ["PATCH shop description"],
    reads: [read, read],
    says: [/description \(sent " c ", lives "c"\)/],
    outputs: { o: { description: "c" } },
  }),
  scenario("a default that the service adds to a policy is a warning with its place", {
    program: { o: full },
    before: behaving({
      stores: ({ traffic_policy, ...sent }) => ({
        ...sent,
        ...(traffic_policy && { traffic_policy: traffic_policy.replace(/}$/, ',"on_tcp_connect":[]}') }),
      }),
    }),
    writes: ["POST shop"],
    says: [/trafficPolicy.on_tcp_connect \(sent nothing, lives \[\]\)/],
  }),
  scenario(
    "an ignored change of a secret that the program no longer marks is shown and stored nowhere in plain",
    {
      from: { o: { ...shop, description: "CANARY", options: { secret: ["description"] } } },
      program: { o: { ...shop, description: "public" } },
      before: behaving(ignoring("description")),
      writes: ["PATCH shop description"],
      fails: OLD,
      state: { o: "shop" },
    },
  ),
  scenario("the values of a resource with a secret are in no message", {
    from: { o: { ...full, options: { secret: ["metadata"] } } },
    program: {
      o: { ...full, description: " c ", metadata: { a: "CANARY" }, options: { secret: ["metadata"] } },
    },
    before: behaving({
      stores: ({ metadata: _, description = "", ...sent }) => ({ ...sent, description: description.trim() }),
    }),
    writes: ["PATCH shop description metadata"],
    fails: lives("metadata.a\\. It ignores"),
    says: [/another value than it was sent: description\. Write/],
    state: { o: "shop" },
  }),
  scenario("a field that the service does not show is a warning, and the state keeps what was sent", {
    program: { o: { ...shop, metadata: { a: 1 } } },
    service: hiding("metadata"),
    writes: ["POST shop"],
    reads: [read, read],
    says: [/https:..shop\.example\.com: the service shows no metadata, neither/],
    outputs: { o: { metadata: '{"a":1}' } },
    next: [{}, { program: { o: shop }, writes: ["PATCH shop metadata"], reads: [] }],
    stacks: true,
  }),
  scenario(
    "a field that the service does not show causes one search and one warning, however many writes have it",
    {
      program: { a: hidden("a"), b: hidden("b"), c: hidden("c") },
      service: hiding("metadata"),
      order: ["a", "b", "c"],
      writes: ["POST a", "POST b", "POST c"],
      reads: ["/endpoints/a", "/endpoints/a"],
      says: [/https:..a\.example\.com: the service shows no metadata, neither(?![\s\S]*shows no metadata)/],
      outputs: { a: { metadata: '{"a":1}' }, c: { metadata: '{"a":1}' } },
      next: [{}],
    },
  ),
  scenario("an update that takes effect within five seconds succeeds", {
    from: { o: full },
    program: { o: { ...full, description: "b" } },
    before: ({ emulator }) => {
      const body = () => emulator.endpoints[0] ?? {};
      emulator.intercept("update", { status: 200, lateMs: 4_000, body });
    },
    writes: ["PATCH shop description"],
    reads: [read, read],
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
      says: [/reply has no description, and reads by id failed \(GET .*pulumi refresh/],
      outputs: { o: { description: "a" } },
      next: [{ command: "refresh" }, {}],
    }),
  ),
  ...failedReads.map(([what, reply]) =>
    scenario(
      `an update whose reply has the old value fails, and the next \`up\` sends it again, after ${what}`,
      {
        from: { o: full },
        program: { o: { ...full, description: "b" } },
        before: behaving(ignoring("description")),
        replies: [["read", reply, 999]],
        writes: ["PATCH shop description"],
        fails: /description \(sent "b", lives "a"\); a read failed \(GET/,
        next: [{ before: behaving({ stores: asSent }), writes: ["PATCH shop description"] }],
        state: { o: "shop" },
      },
    ),
  ),
  scenario("after an answer that cannot be read, the live values decide what the update has changed", {
    from: { o: full },
    program: { o: { ...full, description: "b", metadata: { a: 2 } } },
    before: behaving(ignoring("metadata")),
    replies: [["update", { afterCommit: true, status: 202, body: {} }]],
    writes: ["PATCH shop description metadata"],
    fails: /PATCH \/endpoints\/ep_\w+: status 202/,
    outputs: { o: { description: "b", metadata: '{"a":1}' } },
    next: [{ program: { o: full }, writes: ["PATCH shop description"] }],
    state: { o: "shop" },
  }),
  scenario("an adoption whose change is ignored fails, but has taken the endpoint over", {
    others: { theirs: { ...shop, description: "a" } },
    program: { o: { ...shop, adopt: "@theirs", description: "b" } },
    before: behaving(ignoring("description")),
    writes: ["PATCH theirs description"],
    fails: lives("description"),
    next: [
      { writes: ["PATCH theirs description"], fails: lives("description") },
      { program: { o: { ...shop, adopt: "@theirs", description: "a" } } },
      {},
    ],
    state: { o: "theirs" },
    stacks: true,
  }),
  scenario(
    "a rename with an adoption whose change is ignored does not let the old entry delete the endpoint",
    {
      from: { o: full },
      program: { n: { ...full, adopt: "@shop", description: "b" } },
      before: behaving(ignoring("description")),
      continueOnError: true,
      writes: ["PATCH shop description"],
      fails: lives("description"),
      says: [/belongs to another resource of this stack, so it was not/],
      next: [{ program: { n: full } }, { command: "refresh" }],
      state: { n: "shop" },
    },
  ),
  scenario(
    "after an adoption whose change is ignored, the next `up` drops the old entry, and keeps the endpoint",
    {
      from: { o: full },
      program: { n: { ...full, adopt: "@shop", description: "b" } },
      before: behaving(ignoring("description")),
      writes: ["PATCH shop description"],
      fails: lives("description"),
      next: [{ program: { n: full }, says: [/belongs to another resource of this stack/] }, {}],
      state: { n: "shop" },
    },
  ),
];
