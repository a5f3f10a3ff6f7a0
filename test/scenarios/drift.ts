import { type Actor, at, edited, error, type Props, type Scenario, scenario } from "./scenario";

/* Drift: edits by hand, and fields with defaults of the service. */

const shop = { url: at("shop") };
const described = { ...shop, description: "x" };
const from = { o: "shop" };

/** A field, an edit of it by hand, the input that a refresh shows, and the field that `up` sends. */
const edits: [string, Props, Props, string][] = [
  ["description", { description: "by hand" }, { description: "by hand" }, "description"],
  ["metadata", { metadata: '{"by":"hand"}' }, { metadata: { by: "hand" } }, "metadata"],
  ["trafficPolicy", { traffic_policy: '{"a":[]}' }, { trafficPolicy: { a: [] } }, "traffic_policy"],
  ["an invalid policy", { traffic_policy: "{ no: [" }, { trafficPolicy: "{ no: [" }, "traffic_policy"],
  ["bindings", { bindings: ["internal"] }, { bindings: ["internal"] }, "bindings"],
  ["poolingEnabled", { pooling_enabled: true }, { poolingEnabled: true }, "pooling_enabled"],
  ["url", { url: at("moved") }, { url: at("moved") }, "url=shop"],
];

const full = {
  ...shop,
  description: "a",
  metadata: { a: 1, b: 2 },
  trafficPolicy: { on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] },
  bindings: ["public"],
  poolingEnabled: false,
};

/** Edits that change nothing but the spelling. */
const spellings: Props[] = [
  { bindings: ["internal", "public"] },
  { metadata: '{"b":2, "a":1}' },
  {
    traffic_policy: '{ "on_http_request" : [ {"actions":[{"type":"deny","config":{"status_code":404}}]}]}',
  },
  { traffic_policy: "on_http_request:\n- actions:\n  - {type: deny, config: {status_code: 404}} # closed\n" },
];

export const drift: Scenario[] = [
  ...edits.map(([field, change, shown, sent]) =>
    scenario(`an edit of ${field} by hand is an input after a refresh, and \`up\` sends only that field`, {
      from: { o: full },
      before: edited(change),
      command: "refresh",
      inputs: { o: { ...full, ...shown } },
      next: [{ writes: [`PATCH shop ${sent}`] }, { command: "refresh" }, {}],
    }),
  ),
  ...spellings.map((change) =>
    scenario(`another spelling is no drift: ${Object.entries(change)}`, {
      from: { o: { ...full, bindings: ["public", "internal"] } },
      before: edited(change),
      command: "refresh",
      inputs: { o: { ...full, bindings: ["public", "internal"] } },
      next: [{}],
    }),
  ),
  scenario("a description that was added by hand is cleared by the next `up` after a refresh", {
    from,
    before: edited({ description: "by hand" }),
    command: "refresh",
    next: [{ writes: ["PATCH shop description"] }],
  }),
  scenario("a refresh of an endpoint without a description is one request, if nobody has edited it", {
    from,
    later: true,
    command: "refresh",
    reads: ["/endpoints"],
  }),
  ...["0.0.9", "99.0.0", "unreadable"].map((__version) =>
    scenario(`a state of the version ${__version} causes no change, and keeps its version`, {
      from,
      before: ({ editState }) => editState("o", (outs) => ({ ...outs, __version })),
      next: [{ command: "refresh", outputs: { o: { __version } } }],
    }),
  ),
  scenario("a policy that the program gave cannot be removed, and the preview fails", {
    from: { o: { ...shop, trafficPolicy: { a: [] } } },
    program: { o: shop },
    fails: /trafficPolicy cannot be removed, because an endpoint needs one/,
    state: { o: "shop" },
  }),
  scenario("another order in a list of a policy is a change", {
    from: { o: { ...shop, trafficPolicy: { a: [1, 2] } } },
    program: { o: { ...shop, trafficPolicy: { a: [2, 1] } } },
    writes: ["PATCH shop traffic_policy"],
  }),
  scenario("a field that leaves the program is cleared", {
    from: { o: { ...described, metadata: { a: 1 } } },
    program: { o: "shop" },
    writes: ["PATCH shop description metadata"],
    next: [{}],
  }),
];

const internal = { url: "https://shop.internal" };
/** Fields with a default of the service: an edit by hand, the default, and both as inputs. */
const defaults = [
  {
    field: "bindings",
    name: "shop.internal",
    o: internal,
    edit: { bindings: ["public"] },
    serviceDefault: { bindings: ["internal"] },
    edited: { bindings: ["public"] },
    setByProgram: { bindings: ["internal"] },
  },
  {
    field: "pooling_enabled",
    name: "shop",
    o: shop,
    edit: { pooling_enabled: true },
    serviceDefault: { pooling_enabled: false },
    edited: { poolingEnabled: true },
    setByProgram: { poolingEnabled: false },
  },
];

type Sent = { method: string; path: string };
const isWrite = ({ method }: Sent) => method !== "GET";
const isById = ({ method, path }: Sent) => method === "GET" && path !== "/endpoints";
/** The replies that omit the fields with defaults. */
const omissions: [string, (sent: Sent) => boolean][] = [
  ["by id", isById],
  ["to writes", isWrite],
  ["in lists", (sent) => !isById(sent) && !isWrite(sent)],
  ["everywhere", () => true],
];

/** From now on, these replies show endpoints without some fields. */
const omitting =
  (omits: (sent: Sent) => boolean, omit: (shown: Props) => Props) =>
  ({ emulator }: Actor) => {
    const body = (real: Props, sent: Sent) => {
      if (!omits(sent)) return real;
      const { endpoints } = real;
      return Array.isArray(endpoints) ? { ...real, endpoints: endpoints.map(omit) } : omit(real);
    };
    emulator.intercept(() => true, { afterCommit: true, body }, Number.POSITIVE_INFINITY);
  };
const withoutDefaults = ({ bindings: _, pooling_enabled: __, ...rest }: Props): Props => rest;
const withoutPoolingThatIsOff = ({ pooling_enabled, ...rest }: Props): Props =>
  pooling_enabled === true ? { pooling_enabled, ...rest } : rest;

const FIXED =
  /ERR_NGROK_18014.*Some services never change url or poolingEnabled of an endpoint\. See "A change that the service ignores"/;

export const serviceDefaults: Scenario[] = [
  ...defaults.flatMap(({ field, name, o, edit, serviceDefault, edited: shown, setByProgram }) => {
    const before = edited(edit, name);
    const back = { writes: [`PATCH ${name} ${field}`] };
    const found = { from: { o }, before, command: "refresh" } as const;
    const description = "x";
    return [
      scenario(`the service's default of ${field} comes back by one PATCH after an edit by hand`, {
        ...found,
        inputs: { o: { ...o, ...shown } },
        next: [{ command: "refresh" }, back, { command: "refresh" }, { inputs: { o } }],
        fields: { [name]: serviceDefault },
      }),
      scenario(`an edit of ${field} by hand stays if the program gets the same value`, {
        ...found,
        next: [
          { program: { o: { ...o, ...shown } } },
          { command: "refresh" },
          { program: { o: { ...o, ...shown, description } }, writes: [`PATCH ${name} description`] },
          {},
        ],
        fields: { [name]: edit },
      }),
      scenario(`an edit of ${field} by hand that was undone by hand is no change`, {
        ...found,
        next: [{ before: edited(serviceDefault, name), command: "refresh", inputs: { o } }, {}],
      }),
      scenario(`an edit of ${field} by hand stays drift after an update of another field`, {
        from: { o },
        before,
        program: { o: { ...o, description } },
        writes: [`PATCH ${name} description`],
        next: [back, {}],
        fields: { [name]: serviceDefault },
      }),
      scenario(`an edit of ${field} is reverted to the value that the program had last`, {
        from: { o: { ...o, ...setByProgram } },
        program: { o },
        next: [{ before, command: "refresh" }, back, {}],
        fields: { [name]: serviceDefault },
      }),
      scenario(`an edit of ${field} is reverted to the value at the adoption`, {
        others: { theirs: { ...o, ...serviceDefault } },
        program: { o: { ...o, adopt: "@theirs" } },
        next: [
          { before: edited(edit, "theirs"), command: "refresh" },
          { writes: [`PATCH theirs ${field}`] },
          {},
        ],
        state: { o: "theirs" },
        fields: { theirs: serviceDefault },
      }),
    ];
  }),
  ...omissions.flatMap(([where, omits]) =>
    [
      { ...shop, poolingEnabled: true },
      { ...shop, bindings: ["public"] },
    ].map((setByProgram) =>
      scenario(`a default that the service omits ${where} is no change: ${JSON.stringify(setByProgram)}`, {
        before: omitting(omits, withoutDefaults),
        program: { o: setByProgram },
        writes: ["POST shop"],
        next: [
          { program: from },
          { command: "refresh" },
          {},
          { program: { o: described }, writes: ["PATCH shop description"] },
          { command: "refresh" },
          { program: { o: { ...described, url: at("b") } }, writes: ["PATCH shop url=b"] },
          { command: "refresh" },
          {},
        ],
        state: { o: "shop=b" },
      }),
    ),
  ),
  scenario("a default that replies to writes omit is recorded by the first refresh", {
    before: omitting(isWrite, withoutDefaults),
    program: { o: internal },
    writes: ["POST shop.internal"],
    next: [
      { command: "refresh" },
      { before: edited({ bindings: ["public"] }, "shop.internal"), command: "refresh" },
      { writes: ["PATCH shop.internal bindings"] },
      {},
    ],
  }),
  ...[shop, { ...shop, poolingEnabled: false }].map((o) =>
    scenario(`a service that omits \`pooling_enabled: false\` has pooling off: ${JSON.stringify(o)}`, {
      before: omitting(() => true, withoutPoolingThatIsOff),
      program: { o },
      writes: ["POST shop"],
      next: [
        {},
        { before: edited({ pooling_enabled: true }), command: "refresh" },
        { writes: ["PATCH shop pooling_enabled"] },
        { command: "refresh" },
        { inputs: { o } },
      ],
    }),
  ),
  scenario("the default bindings may change with a new URL of the program, not with an edit of the URL", {
    from,
    program: { o: internal },
    replies: [["update", { afterCommit: true, body: (real) => ({ ...real, bindings: ["internal"] }) }]],
    writes: ["PATCH shop url=shop.internal"],
    next: [
      { before: edited({ bindings: ["internal"] }), command: "refresh" },
      {},
      { before: edited({ ...shop, bindings: ["public"] }), command: "refresh" },
      { writes: ["PATCH shop url=shop.internal bindings"] },
      {},
    ],
    state: { o: "shop=shop.internal" },
  }),
  scenario("a new URL of the program brings default bindings back that somebody had edited", {
    from: { o: internal },
    before: edited({ bindings: ["public"] }, "shop.internal"),
    command: "refresh",
    next: [
      {
        program: { o: { url: "https://b.internal" } },
        writes: ["PATCH shop.internal url=b.internal bindings"],
      },
      {},
    ],
    state: { o: "shop.internal=b.internal" },
  }),
  ...[["internal", "public"], []].map((bindings) =>
    scenario(`default bindings that the service shows as ${JSON.stringify(bindings)} are no change`, {
      from: { o: { ...shop, bindings: ["public", "internal"] } },
      program: from,
      next: [{ before: edited({ bindings }), command: "refresh", inputs: { o: shop } }, {}],
    }),
  ),
  ...[{ url: at("moved") }, { poolingEnabled: true }].map((change) =>
    scenario(`a refusal to change pooling or URL says how to go on: ${JSON.stringify(change)}`, {
      service: { fixedUrlAndPooling: true },
      from,
      program: { o: { ...shop, ...change } },
      fails: FIXED,
      next: [{ program: { o: described }, writes: ["PATCH shop description"] }],
      state: { o: "shop" },
    }),
  ),
  scenario("a refusal to revert pooling ends once the program has the live value", {
    service: { fixedUrlAndPooling: true },
    from,
    before: edited({ pooling_enabled: true }),
    command: "refresh",
    next: [
      { fails: FIXED },
      { program: { o: { ...shop, poolingEnabled: true } } },
      { command: "refresh" },
      {},
    ],
    state: { o: "shop" },
  }),
  scenario("a refused adoption that would change pooling says how to go on", {
    service: { fixedUrlAndPooling: true },
    others: { theirs: shop },
    program: { o: { ...shop, poolingEnabled: true, adopt: "@theirs" } },
    fails: FIXED,
  }),
  ...[error(400, 18017), error(400, 2201), error(401, 200)].map((reply) =>
    scenario(
      `an update that is refused for another reason names no \`--replace\`: ${JSON.stringify(reply)}`,
      {
        from,
        program: { o: { ...shop, poolingEnabled: true } },
        replies: [["update", reply, 99]],
        fails: /cannot update(?!.*--replace)/,
        state: { o: "shop" },
      },
    ),
  ),
];
