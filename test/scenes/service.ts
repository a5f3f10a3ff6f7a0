import { gatewayReply, type ScriptedReply } from "../../sdk/testing/emulator";
import { at, coded, type Hand, type Props, type Reply, refused, type Scene, scene } from "./scene";

/* What the service shows later: odd replies, endpoints that are gone, and drift. */

const shop = { url: at("shop") };
const described = { ...shop, description: "x" };
const from = { o: "shop" };
const missing = coded(404, 18100);
const html = gatewayReply("html");
const commands = ["refresh", "destroy"] as const;

const answered = (reply: object) => ({ afterCommit: true, ...reply }) as ScriptedReply;
const removed = ({ emulator, id }: Hand) => emulator.remove(id("shop"));
const edited =
  (change: Props, name = "shop") =>
  ({ emulator, id }: Hand) =>
    emulator.edit(id(name), change);

/** All replies are compressed, although the requests ask for none of that. */
const compressed: Reply[] = [["any", answered({ headers: { "content-encoding": "gzip" } }), 99]];

/** Neither the list nor a first read by id shows the endpoint. */
const nothing: Reply[] = [
  ["list", { status: 200, body: { endpoints: [], next_page_uri: null } }],
  ["read", missing],
];

export const oddReplies: Scene[] = [
  scene("compressed replies are read, and a pool gets one member", {
    program: { o: { ...described, poolingEnabled: true } },
    replies: compressed,
    writes: ["POST shop"],
    next: [{ replies: compressed, command: "refresh" }],
    state: { o: "shop" },
  }),
  ...[
    { status: 204, body: "" },
    { status: 202, body: {} },
  ].map((reply) =>
    scene(`an update that is answered by a ${reply.status} takes effect once`, {
      from,
      program: { o: described },
      replies: [["update", answered(reply)]],
      writes: ["PATCH shop description"],
      next: [{}],
      state: { o: "shop" },
      stacks: true,
    }),
  ),
  scene("a refresh reads a young endpoint again that neither the list nor a first read shows", {
    from,
    replies: nothing,
    command: "refresh",
    state: { o: "shop" },
  }),
  scene("a refresh reads an endpoint of unknown age again that neither the list nor a first read shows", {
    from,
    later: true,
    byHand: ({ editState }) => editState("o", ({ createdAt: _, ...outs }) => outs),
    replies: nothing,
    command: "refresh",
    state: { o: "shop" },
  }),
  ...(["refresh", "up"] as const).map((command) =>
    scene(`${command} fails if the reply describes another endpoint`, {
      from,
      others: { theirs: { url: at("other") } },
      program: { o: described },
      command,
      byHand: ({ emulator }) => {
        const body = emulator.endpoints.at(-1) ?? {};
        emulator.intercept("list", refused);
        emulator.intercept(command === "up" ? "update" : "read", { status: 200, body });
      },
      writes: command === "up" ? ["PATCH shop description"] : [],
      fails: /the reply is about another endpoint/,
      state: { o: "shop" },
    }),
  ),
  ...[
    { status: 200, body: "<html>" },
    { status: 202, body: {} },
  ].flatMap((reply) => [
    scene(`a deletion that is answered by a ${reply.status} without an effect fails`, {
      from,
      command: "destroy",
      replies: [["delete", reply]],
      writes: ["DELETE shop"],
      fails: /a deletion must be answered with 204/,
      state: { o: "shop" },
    }),
    scene(`a deletion that is answered by a ${reply.status} with an effect succeeds`, {
      from,
      later: true,
      command: "destroy",
      replies: [["delete", answered(reply)]],
      writes: ["DELETE shop"],
    }),
  ]),
];

const STILL_LISTED = /the account's list still contains ep_/;
const WRONG_ACCOUNT =
  /may not be the account of this stack.*none of the \d endpoints.*ENDPOINTS_ACCEPT_ACCOUNT=1/;
const OTHER_KEY = "3otherOtherOtherOtherOther7_otherOtherOtherOther1";
const otherKey = { apiKey: OTHER_KEY };
const rotated = ({ emulator }: Hand) => emulator.addKey(otherKey);

/** The 404s of a gateway in front of the service, or of another server at a wrong base URL. */
const gateways: [string, ScriptedReply][] = [
  ["a page of HTML", html],
  ["JSON without a code", { status: 404, body: { message: "no route" } }],
  ["JSON with a code that is not the service's", { status: 404, body: { error_code: "GW_404", msg: "no" } }],
];

/** What becomes of an endpoint, the replies about it, and the error if it stays in the state. */
const absences: [string, Reply[], RegExp?][] = [
  ["that is gone goes after the service's 404", []],
  ["that is gone stays if the key may not list", [["list", refused, 99]], /pulumi state delete/],
  ["that exists stays after the service's 404", [["by id", missing, 99]], STILL_LISTED],
  ...gateways.flatMap(([what, reply]): typeof absences => [
    [`that is gone goes after ${what}`, [["by id", reply, 99]]],
    [`that exists stays after ${what}`, [["by id", reply, 99]], STILL_LISTED],
  ]),
  ...[401, 403].map((status): (typeof absences)[number] => [
    `that exists stays after a ${status}`,
    [["any", { status, body: "" }, 99]],
    new RegExp(`status ${status}`),
  ]),
  ["that exists stays if the base URL is wrong", [["any", html, 99]], /Check endpoints:baseUrl/],
  [
    "that exists stays if the list is a 404 too, as with a base URL without its path prefix",
    [["any", missing, 99]],
    /list.*cannot be read.*path prefix.*state delete/,
  ],
];

export const gone: Scene[] = [
  ...commands.flatMap((command) =>
    absences.map(([what, replies, fails]) => {
      const exists = what.startsWith("that exists");
      return scene(`${command}: an endpoint ${what}`, {
        from,
        service: { pageSize: 1 },
        others: { a: { url: at("a") }, b: { url: at("b") } },
        later: true,
        byHand: (hand) => {
          if (!exists) removed(hand);
          // A refresh asks the list first. It must not find the endpoint there.
          if (command === "refresh") hand.emulator.intercept("list", refused);
        },
        replies,
        command,
        fails,
        state: fails ? { o: "shop" } : {},
        live: exists ? ["a", "b", "shop"] : ["a", "b"],
      });
    }),
  ),
  scene("refresh: an endpoint that exists stays after a 500", {
    from,
    command: "refresh",
    replies: [["any", { status: 500, body: "" }, 999]],
    fails: /status 500/,
    state: { o: "shop" },
  }),
  scene("a refresh drops an endpoint that was deleted by hand, and `up` creates it again", {
    from: { o: "shop", p: "other" },
    later: true,
    byHand: removed,
    command: "refresh",
    next: [{ writes: ["POST shop"] }],
    state: { o: "shop#2", p: "other" },
    stacks: true,
  }),
  scene("the deletion of an endpoint that was deleted by hand succeeds", {
    from,
    later: true,
    byHand: removed,
    command: "destroy",
  }),
  scene("an update of an endpoint that was deleted by hand fails, and names `pulumi refresh`", {
    from,
    later: true,
    byHand: removed,
    program: { o: described },
    fails: /The endpoint ep_\w+ no longer exists.*pulumi refresh/,
    state: { o: "shop" },
    live: [],
  }),
  ...commands.map((command) =>
    scene(`${command}: an endpoint goes if the list lags behind its deletion`, {
      from,
      service: { listLag: 4_000 },
      later: true,
      byHand: (hand) => {
        removed(hand);
        hand.emulator.intercept("list", command === "refresh" ? refused : { status: 503, body: "" });
      },
      command,
    }),
  ),
  ...commands.map((command) =>
    scene(`${command}: another account's key drops nothing, and with ENDPOINTS_ACCEPT_ACCOUNT=1 it does`, {
      from,
      later: true,
      byHand: ({ emulator }) => emulator.addKey({ account: "other", ...otherKey }),
      with: otherKey,
      command,
      fails: WRONG_ACCOUNT,
      next: [{ with: otherKey, environment: { ENDPOINTS_ACCEPT_ACCOUNT: "1" }, command }],
      live: ["shop"],
    }),
  ),
  scene("a rotated key drops what is gone if the list shows another endpoint of the stack, on any page", {
    service: { pageSize: 1 },
    from: { o: "shop", p: "other" },
    later: true,
    byHand: (hand) => {
      rotated(hand);
      removed(hand);
      for (const name of ["a", "b"]) hand.seed(name, { url: at(name) });
    },
    with: otherKey,
    command: "refresh",
    order: ["p", "o"],
    state: { p: "other" },
    live: ["a", "b", "other"],
  }),
  scene("a rotated key drops nothing if the list only shows endpoints that it created", {
    from,
    later: true,
    byHand: (hand) => [rotated(hand), removed(hand)],
    with: otherKey,
    program: { p: "new" },
    writes: ["POST new"],
    fails: WRONG_ACCOUNT,
    state: { o: "shop", p: "new" },
    live: ["new"],
  }),
  scene("an endpoint proves no account for itself, on a later page of the list", {
    service: { pageSize: 1 },
    from,
    later: true,
    byHand: (hand) => {
      rotated(hand);
      hand.seed("a", { url: at("a") });
      hand.emulator.intercept("list", refused);
    },
    replies: [["by id", missing, 9]],
    with: otherKey,
    command: "refresh",
    fails: WRONG_ACCOUNT,
    state: { o: "shop" },
    live: ["a", "shop"],
  }),
  scene("an update with a rotated key notes its account, so that a later refresh can drop the endpoint", {
    from,
    byHand: rotated,
    with: otherKey,
    command: "refresh",
    next: [
      { with: otherKey },
      { with: otherKey, program: { o: described }, writes: ["PATCH shop description"] },
      { with: otherKey, later: true, byHand: removed, command: "refresh" },
    ],
  }),
];

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

export const drift: Scene[] = [
  ...edits.flatMap(([field, change, shown, sent]) => [
    scene(`an edit of ${field} by hand is found by a refresh, and \`up\` sends only that field`, {
      from: { o: full },
      byHand: edited(change),
      command: "refresh",
      next: [{ writes: [`PATCH shop ${sent}`] }, { command: "refresh" }, {}],
      state: { o: "shop" },
      stacks: true,
    }),
    scene(`a refresh shows the edit of ${field} in the inputs`, {
      from: { o: full },
      byHand: edited(change),
      command: "refresh",
      state: { o: field === "url" ? "shop=moved" : "shop" },
      inputs: { o: { ...full, ...shown } },
    }),
  ]),
  ...spellings.map((change) =>
    scene(`another spelling is no drift: ${Object.entries(change)}`, {
      from: { o: { ...full, bindings: ["public", "internal"] } },
      byHand: edited(change),
      command: "refresh",
      next: [{}],
      state: { o: "shop" },
      inputs: { o: { ...full, bindings: ["public", "internal"] } },
    }),
  ),
  scene("a description that was added by hand is cleared by the next `up` after a refresh", {
    from,
    byHand: edited({ description: "by hand" }),
    command: "refresh",
    next: [{ writes: ["PATCH shop description"] }],
    state: { o: "shop" },
  }),
  scene("another order of a policy's list is a change", {
    from: { o: { ...shop, trafficPolicy: { a: [1, 2] } } },
    program: { o: { ...shop, trafficPolicy: { a: [2, 1] } } },
    writes: ["PATCH shop traffic_policy"],
    state: { o: "shop" },
  }),
  scene("a field that leaves the program is cleared", {
    from: { o: { ...described, metadata: { a: 1 } } },
    program: { o: "shop" },
    writes: ["PATCH shop description metadata"],
    next: [{}],
    state: { o: "shop" },
  }),
];

const internal = { url: "https://shop.internal" };
/** Fields that the service chooses if the program does not give them: an edit, the service's choice, and both as inputs. */
const choices = [
  {
    field: "bindings",
    name: "shop.internal",
    o: internal,
    edit: { bindings: ["public"] },
    choice: { bindings: ["internal"] },
    edited: { bindings: ["public"] },
    given: { bindings: ["internal"] },
  },
  {
    field: "pooling_enabled",
    name: "shop",
    o: shop,
    edit: { pooling_enabled: true },
    choice: { pooling_enabled: false },
    edited: { poolingEnabled: true },
    given: { poolingEnabled: false },
  },
];

type Sent = { method: string; path: string };
const isWrite = ({ method }: Sent) => method !== "GET";
const isById = ({ method, path }: Sent) => method === "GET" && path !== "/endpoints";
/** Replies that omit the service's choices. */
const omissions: [string, (sent: Sent) => boolean][] = [
  ["by id", isById],
  ["to writes", isWrite],
  ["in lists", (sent) => !isById(sent) && !isWrite(sent)],
  ["everywhere", () => true],
];

/** From now on, such replies show endpoints without some fields. */
const omitting =
  (omits: (sent: Sent) => boolean, omit: (shown: Props) => Props) =>
  ({ emulator }: Hand) => {
    const body = (real: Props, sent: Sent) => {
      if (!omits(sent)) return real;
      const { endpoints } = real;
      return Array.isArray(endpoints) ? { ...real, endpoints: endpoints.map(omit) } : omit(real);
    };
    emulator.intercept(() => true, { afterCommit: true, body }, Number.POSITIVE_INFINITY);
  };
const choicesOf = ({ bindings: _, pooling_enabled: __, ...rest }: Props): Props => rest;
const poolingThatIsOff = ({ pooling_enabled, ...rest }: Props): Props =>
  pooling_enabled === true ? { pooling_enabled, ...rest } : rest;

const FIXED =
  /ERR_NGROK_18014.*never changes url or poolingEnabled of an existing endpoint, give .* live value.*pulumi up --replace/;

export const chosen: Scene[] = [
  ...choices.flatMap(({ field, name, o, edit, choice, edited: shown, given }) => {
    const byHand = edited(edit, name);
    const back = { writes: [`PATCH ${name} ${field}`] };
    const found = { from: { o }, byHand, command: "refresh", state: { o: name } } as const;
    const description = "x";
    return [
      scene(`the service's choice of ${field} comes back by one PATCH after an edit by hand`, {
        ...found,
        next: [{ command: "refresh" }, back, { command: "refresh" }, {}],
        fields: { [name]: choice },
        inputs: { o },
        stacks: true,
      }),
      scene(`an edit of ${field} by hand is an input after a refresh`, {
        ...found,
        inputs: { o: { ...o, ...shown } },
      }),
      scene(`an edit of ${field} by hand stays if the program takes it on`, {
        ...found,
        next: [
          { program: { o: { ...o, ...shown } } },
          { command: "refresh" },
          { program: { o: { ...o, ...shown, description } }, writes: [`PATCH ${name} description`] },
          {},
        ],
        fields: { [name]: edit },
      }),
      scene(`an edit of ${field} by hand that was undone by hand is no change`, {
        ...found,
        next: [{ byHand: edited(choice, name), command: "refresh" }, {}],
        inputs: { o },
      }),
      scene(`an edit of ${field} by hand stays drift after an update of another field`, {
        from: { o },
        byHand,
        program: { o: { ...o, description } },
        writes: [`PATCH ${name} description`],
        next: [back, {}],
        state: { o: name },
        fields: { [name]: choice },
      }),
      scene(`an edit of ${field} is reverted to the value that the program had last`, {
        from: { o: { ...o, ...given } },
        program: { o },
        next: [{ byHand, command: "refresh" }, back, {}],
        state: { o: name },
        fields: { [name]: choice },
      }),
      scene(`an edit of ${field} is reverted to the value at the adoption`, {
        others: { theirs: { ...o, ...choice } },
        program: { o: { ...o, adopt: true } },
        next: [
          { byHand: edited(edit, "theirs"), command: "refresh" },
          { writes: [`PATCH theirs ${field}`] },
          {},
        ],
        state: { o: "theirs" },
        fields: { theirs: choice },
      }),
    ];
  }),
  ...omissions.flatMap(([where, omits]) =>
    [
      { ...shop, poolingEnabled: true },
      { ...shop, bindings: ["public"] },
    ].map((given) =>
      scene(`a choice that the service omits ${where} is no change: ${JSON.stringify(given)}`, {
        byHand: omitting(omits, choicesOf),
        program: { o: given },
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
  scene("a choice that the service omits in replies to writes is noted by the first refresh", {
    byHand: omitting(isWrite, choicesOf),
    program: { o: internal },
    writes: ["POST shop.internal"],
    next: [
      { command: "refresh" },
      { byHand: edited({ bindings: ["public"] }, "shop.internal"), command: "refresh" },
      { writes: ["PATCH shop.internal bindings"] },
      {},
    ],
    state: { o: "shop.internal" },
  }),
  ...[shop, { ...shop, poolingEnabled: false }].map((o) =>
    scene(`a service that omits \`pooling_enabled: false\` has chosen no pooling: ${JSON.stringify(o)}`, {
      byHand: omitting(() => true, poolingThatIsOff),
      program: { o },
      writes: ["POST shop"],
      next: [
        {},
        { byHand: edited({ pooling_enabled: true }), command: "refresh" },
        { writes: ["PATCH shop pooling_enabled"] },
        { command: "refresh" },
        {},
      ],
      state: { o: "shop" },
      inputs: { o },
    }),
  ),
  scene("the service may choose bindings again with the program's URL, but not with an edit of it by hand", {
    from,
    program: { o: internal },
    replies: [["update", answered({ body: (real: object) => ({ ...real, bindings: ["internal"] }) })]],
    writes: ["PATCH shop url=shop.internal"],
    next: [
      { byHand: edited({ bindings: ["internal"] }), command: "refresh" },
      {},
      { byHand: edited({ ...shop, bindings: ["public"] }), command: "refresh" },
      { writes: ["PATCH shop url=shop.internal bindings"] },
      {},
    ],
    state: { o: "shop=shop.internal" },
  }),
  scene("the service's choice comes back with the program's URL if a refresh found an edit of it before", {
    from: { o: internal },
    byHand: edited({ bindings: ["public"] }, "shop.internal"),
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
    scene(`chosen bindings that come back as ${JSON.stringify(bindings)} are no change`, {
      from: { o: { ...shop, bindings: ["public", "internal"] } },
      program: from,
      next: [{ byHand: edited({ bindings }), command: "refresh" }, {}],
      state: { o: "shop" },
      inputs: { o: shop },
    }),
  ),
  ...[{ url: at("moved") }, { poolingEnabled: true }].map((change) =>
    scene(`a refusal to change pooling or URL says how to go on: ${JSON.stringify(change)}`, {
      service: { fixedUrlAndPooling: true },
      from,
      program: { o: { ...shop, ...change } },
      fails: FIXED,
      next: [{ program: { o: described }, writes: ["PATCH shop description"] }],
      state: { o: "shop" },
    }),
  ),
  scene("a refusal to revert pooling ends once the program has the live value", {
    service: { fixedUrlAndPooling: true },
    from,
    byHand: edited({ pooling_enabled: true }),
    command: "refresh",
    next: [
      { fails: FIXED },
      { program: { o: { ...shop, poolingEnabled: true } } },
      { command: "refresh" },
      {},
    ],
    state: { o: "shop" },
  }),
  scene("a refused adoption that would change pooling says how to go on", {
    service: { fixedUrlAndPooling: true },
    others: { theirs: shop },
    program: { o: { ...shop, poolingEnabled: true, adopt: true } },
    fails: /never changes url or poolingEnabled of an existing endpoint, give the program the live value/,
  }),
  ...[coded(400, 18017), coded(400, 2201), coded(401, 200)].map((reply) =>
    scene(`an update that is refused for another reason names no \`--replace\`: ${JSON.stringify(reply)}`, {
      from,
      program: { o: { ...shop, poolingEnabled: true } },
      replies: [["update", reply, 99]],
      fails: /cannot update(?!.*--replace)/,
      state: { o: "shop" },
    }),
  ),
];
