import { gatewayReply } from "../../sdk/testing/emulator";
import { at, type Hand, type Props, type Scene } from "./scene";

/* What the service shows later: endpoints that are gone, drift, and secrets. */

const shop = { url: at("shop") };
const OTHER_KEY = "3otherOtherOtherOtherOther7_otherOtherOtherOther1";
const isById = ({ path }: { path: string }) => path.startsWith("/endpoints/");

const removed = ({ emulator, id }: Hand) => emulator.remove(id("shop"));
/** A minute later, so that no list can lag. */
const later = (act: (hand: Hand) => unknown) => async (hand: Hand) => {
  await hand.clock.sleep(60_000);
  await act(hand);
};
/** A gateway answers each read and write of an endpoint. A refresh reads by id, since its list is refused. */
const behindGateway = ({ emulator }: Hand) => {
  emulator.intercept(isById, gatewayReply("html"), 99);
  emulator.intercept("list", { status: 403, body: "" }, 2);
};

/** All replies are compressed, although the requests ask for none of that. */
const compressed = ({ emulator }: Hand) =>
  emulator.intercept(() => true, { afterCommit: true, headers: { "content-encoding": "gzip" } }, 99);
const described = { ...shop, description: "x" };

export const oddReplies: Scene[] = [
  {
    name: "compressed replies are read, and a pool gets one member",
    runs: [
      {
        byHand: compressed,
        program: { o: { ...shop, poolingEnabled: true, description: "x" } },
        writes: ["POST shop"],
      },
      { byHand: compressed, command: "refresh", writes: [] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  ...[
    ["204 without a body", { status: 204, body: "" }],
    ["202 with an empty object", { status: 202, body: {} }],
  ].map(
    ([what, reply]): Scene => ({
      name: `an update that is answered by a ${what} takes effect once`,
      from: { o: "shop" },
      runs: [
        {
          byHand: ({ emulator }) =>
            emulator.intercept("update", { afterCommit: true, ...(reply as { status: number }) }),
          program: { o: described },
          writes: ["PATCH shop description"],
        },
        { writes: [] },
      ],
      live: ["shop"],
      state: { o: "shop" },
    }),
  ),
  {
    name: "a refresh reads an endpoint again that the list shows and a first read by id does not find",
    from: { o: "shop" },
    runs: [
      {
        byHand: ({ emulator }) => {
          emulator.intercept("list", { status: 200, body: { endpoints: [], next_page_uri: null } });
          emulator.intercept("read", {
            status: 404,
            body: { error_code: "ERR_NGROK_18100", msg: "not yet" },
          });
        },
        command: "refresh",
        writes: [],
      },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
];

export const gone: Scene[] = [
  {
    name: "a refresh drops an endpoint that was deleted by hand, and `up` creates it again",
    from: { o: "shop", p: "other" },
    runs: [
      { byHand: later(removed), command: "refresh", writes: [] },
      { program: { o: "shop", p: "other" }, writes: ["POST shop"] },
    ],
    live: ["other", "shop#2"],
    state: { o: "shop#2", p: "other" },
    stacks: true,
  },
  {
    name: "the deletion of an endpoint that was deleted by hand succeeds",
    from: { o: "shop" },
    runs: [{ byHand: later(removed), command: "destroy", writes: [] }],
    live: [],
    state: {},
  },
  {
    name: "an update of an endpoint that was deleted by hand fails, and names `pulumi refresh`",
    from: { o: "shop" },
    runs: [
      {
        byHand: later(removed),
        program: { o: { ...shop, description: "x" } },
        writes: [],
        fails: /pulumi (up --)?refresh/,
      },
    ],
    live: [],
    state: { o: "shop" },
  },
  ...(["refresh", "destroy"] as const).flatMap((command): Scene[] => [
    {
      name: `${command}: a gateway's 404 drops no endpoint that the list shows`,
      from: { o: "shop" },
      runs: [
        { byHand: later(behindGateway), command, writes: [], fails: /still contains|list/ },
        { byHand: ({ emulator }) => emulator.calm(), writes: [] },
      ],
      live: ["shop"],
      state: { o: "shop" },
    },
    {
      name: `${command}: a gateway's 404 and a list without the endpoint drop it`,
      from: { o: "shop" },
      runs: [
        {
          byHand: later((hand) => {
            removed(hand);
            hand.emulator.intercept(isById, gatewayReply("json"), 99);
          }),
          command,
          writes: [],
        },
      ],
      live: [],
      state: {},
    },
    {
      name: `${command}: the service's own 404 drops no endpoint that a new list still shows`,
      from: { o: "shop" },
      runs: [
        {
          byHand: later(({ emulator }) => {
            emulator.intercept("list", { status: 403, body: "" }, command === "refresh" ? 2 : 0);
            const body = { error_code: "ERR_NGROK_18100", msg: "no" };
            emulator.intercept(isById, { status: 404, body }, 99);
          }),
          command,
          writes: [],
          fails: /still contains|list/,
        },
      ],
      live: ["shop"],
      state: { o: "shop" },
    },
    {
      name: `${command}: nothing is dropped if the list is a 404 too, as with a wrong base URL`,
      from: { o: "shop" },
      runs: [
        {
          byHand: later(({ emulator }) =>
            emulator.intercept(
              () => true,
              { status: 404, body: { error_code: "ERR_NGROK_4042", msg: "no" } },
              99,
            ),
          ),
          command,
          writes: [],
          fails: /path prefix/,
        },
      ],
      live: ["shop"],
      state: { o: "shop" },
    },
    {
      name: `${command}: nothing is dropped with a key that may not list, and the message names \`pulumi state delete\``,
      from: { o: "shop" },
      runs: [
        {
          byHand: later((hand) => {
            removed(hand);
            hand.emulator.intercept("list", { status: 403, body: "" }, 99);
          }),
          command,
          writes: [],
          fails: /pulumi state delete/,
        },
      ],
      live: [],
      state: { o: "shop" },
    },
    {
      name: `${command}: nothing is dropped with another account's key, and ENDPOINTS_ACCEPT_ACCOUNT=1 drops it`,
      from: { o: "shop" },
      runs: [
        {
          byHand: later(({ emulator }) => void emulator.addKey({ account: "other", apiKey: OTHER_KEY })),
          settings: { apiKey: OTHER_KEY },
          command,
          writes: [],
          fails: /ENDPOINTS_ACCEPT_ACCOUNT=1/,
        },
        {
          settings: { apiKey: OTHER_KEY },
          environment: { ENDPOINTS_ACCEPT_ACCOUNT: "1" },
          command,
          writes: [],
        },
      ],
      live: ["shop"],
      state: {},
    },
  ]),
  {
    name: "a rotated key of the same account drops what is gone, since the list shows another endpoint of the stack",
    from: { o: "shop", p: "other" },
    runs: [
      {
        byHand: later((hand) => {
          hand.emulator.addKey({ apiKey: OTHER_KEY });
          removed(hand);
        }),
        settings: { apiKey: OTHER_KEY },
        writes: [],
      },
      { settings: { apiKey: OTHER_KEY }, command: "refresh", writes: [] },
    ],
    live: ["other"],
    state: { p: "other" },
    order: ["p", "o"],
  },
];

/** A field, an edit of it by hand, the input that a refresh shows, and the field that `up` sends. */
const edits: [string, Props, Props, string][] = [
  ["description", { description: "by hand" }, { description: "by hand" }, "description"],
  ["metadata", { metadata: '{"by":"hand"}' }, { metadata: { by: "hand" } }, "metadata"],
  ["trafficPolicy", { traffic_policy: '{"a":[]}' }, { trafficPolicy: { a: [] } }, "traffic_policy"],
  ["bindings", { bindings: ["internal"] }, { bindings: ["internal"] }, "bindings"],
  ["poolingEnabled", { pooling_enabled: true }, { poolingEnabled: true }, "pooling_enabled"],
  ["url", { url: at("moved") }, { url: at("moved") }, "url=shop"],
];

const full = {
  ...shop,
  description: "a",
  metadata: { a: 1 },
  trafficPolicy: { on_http_request: [{ actions: [{ type: "deny" }] }] },
  bindings: ["public"],
  poolingEnabled: false,
};

const edited =
  (change: Props) =>
  ({ emulator, id }: Hand) =>
    emulator.edit(id("shop"), change);

export const drift: Scene[] = [
  ...edits.map(
    ([field, change, , sent]): Scene => ({
      name: `an edit of ${field} by hand is found by a refresh, and \`up\` sends only that field`,
      from: { o: full },
      runs: [
        { byHand: edited(change), command: "refresh", writes: [] },
        { writes: [`PATCH shop ${sent}`] },
        { command: "refresh", writes: [] },
        { writes: [] },
      ],
      live: ["shop"],
      state: { o: "shop" },
      ...(field === "trafficPolicy" && { stacks: true }),
    }),
  ),
  ...edits.map(
    ([field, change, shown]): Scene => ({
      name: `a refresh shows the edit of ${field} in the inputs`,
      from: { o: full },
      runs: [{ byHand: edited(change), command: "refresh", writes: [] }],
      live: [field === "url" ? "shop=moved" : "shop"],
      state: { o: "shop" },
      inputs: { o: { ...full, ...shown } },
    }),
  ),
  {
    name: "a description that was added by hand is cleared by the next `up` after a refresh",
    from: { o: "shop" },
    runs: [
      { byHand: edited({ description: "by hand" }), command: "refresh", writes: [] },
      { writes: ["PATCH shop description"] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "a field that leaves the program is cleared",
    from: { o: { ...shop, description: "x", metadata: { a: 1 } } },
    runs: [{ program: { o: "shop" }, writes: ["PATCH shop description metadata"] }, { writes: [] }],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "the order of bindings and of keys is no drift",
    from: { o: { ...shop, bindings: ["public", "internal"], metadata: { a: 1, b: 2 } } },
    runs: [
      {
        byHand: edited({ bindings: ["internal", "public"], metadata: '{"b":2, "a":1}' }),
        command: "refresh",
        writes: [],
      },
      { writes: [] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  // The service chooses what the program does not give, and the state notes its choice.
  ...(
    [
      [
        "bindings",
        { url: "https://shop.internal" },
        { bindings: ["public"] },
        { bindings: ["internal"] },
        "shop.internal",
      ],
      ["pooling_enabled", shop, { pooling_enabled: true }, { pooling_enabled: false }, "shop"],
    ] as const
  ).flatMap(([field, o, change, back, name]): Scene[] => {
    const edit = ({ emulator, id }: Hand) => emulator.edit(id(name), change as object);
    const input = field === "bindings" ? change : { poolingEnabled: true };
    return [
      {
        name: `the service's choice of ${field} comes back by one PATCH after an edit by hand`,
        from: { o },
        runs: [
          { byHand: edit, command: "refresh", writes: [] },
          { writes: [`PATCH ${name} ${field}`] },
          { command: "refresh", writes: [] },
          { writes: [] },
        ],
        live: [name],
        state: { o: name },
        fields: { [name]: back },
        inputs: { o },
        ...(field === "bindings" && { stacks: true }),
      },
      {
        name: `an edit of ${field} by hand stays if the program takes it on`,
        from: { o },
        runs: [
          { byHand: edit, command: "refresh", writes: [] },
          { program: { o: { ...o, ...input } }, writes: [] },
          { command: "refresh", writes: [] },
          { writes: [] },
        ],
        live: [name],
        state: { o: name },
        fields: { [name]: change },
      },
      {
        name: `an edit of ${field} by hand that was undone by hand is no change`,
        from: { o },
        runs: [
          { byHand: edit, command: "refresh", writes: [] },
          {
            byHand: ({ emulator, id }) => emulator.edit(id(name), back as object),
            command: "refresh",
            writes: [],
          },
          { writes: [] },
        ],
        live: [name],
        state: { o: name },
        inputs: { o },
      },
      {
        name: `an edit of ${field} by hand stays drift after an update of another field`,
        from: { o },
        runs: [
          { byHand: edit, program: { o: { ...o, description: "x" } }, writes: [`PATCH ${name} description`] },
          { writes: [`PATCH ${name} ${field}`] },
          { writes: [] },
        ],
        live: [name],
        state: { o: name },
        fields: { [name]: back },
      },
    ];
  }),
  {
    name: "a refusal to change pooling and URL says how to go on",
    service: { fixedUrlAndPooling: true },
    from: { o: "shop" },
    runs: [
      {
        program: { o: { url: at("moved"), poolingEnabled: true } },
        writes: [],
        fails: /never changes url or poolingEnabled[\s\S]*--replace/,
      },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
];

const refusal = { status: 418, body: { error_code: "ERR_NGROK_9", msg: "bad: CANARY-1 Q0FOQVJZ" } };
const policy = {
  on_http_request: [{ actions: [{ type: "custom-response", config: { body: "CANARY-1" } }] }],
};
/** The runner looks for canaries in every message and state. */
const secretive: [string, Props & { url: string }][] = [
  ["a description", { ...shop, description: "CANARY-1" }],
  ["a policy", { ...shop, trafficPolicy: policy }],
  ["metadata", { ...shop, metadata: { key: "CANARY-1" } }],
  ["a key of metadata", { ...shop, metadata: { "CANARY-1": 1 } }],
];
const fieldOf = (o: Props) => Object.keys(o).filter((name) => name !== "url");

export const secrets: Scene[] = [
  ...secretive.flatMap(([what, given]): Scene[] => {
    const o = { ...given, options: { secret: fieldOf(given) } };
    return [
      {
        name: `${what} that is secret stays so in the state, through a refresh, an update and a move to the other provider`,
        from: { o },
        runs: [
          { command: "refresh", writes: [] },
          { program: { o: { ...o, bindings: ["internal"] } }, writes: ["PATCH shop bindings"] },
          { program: { o: { ...o, bindings: ["internal"], options: { ...o.options, provider: "other" } } } },
          { command: "refresh", writes: [] },
        ],
        live: ["shop"],
        state: { o: "shop" },
      },
      {
        name: `the service's text about a refusal is left out for ${what} that is secret`,
        runs: [
          {
            byHand: ({ emulator }) => emulator.intercept("create", refusal),
            program: { o },
            fails: /418, ERR_NGROK_9 \((?!.*Q0FO).*secret/,
          },
        ],
        live: [],
        state: {},
      },
    ];
  }),
  {
    name: "a secret URL is in no message about a taken URL, nor is the holder's description",
    runs: [
      {
        byHand: ({ seed }) => seed("theirs", { url: at("canary"), description: "CANARY-1" }),
        program: { o: { url: at("canary"), options: { secret: ["url"] } } },
        writes: [],
        fails: /\[secret\] is served by ep_/,
      },
    ],
    live: ["theirs"],
    state: {},
  },
  {
    name: "a secret that somebody moved by hand within its document stays secret",
    from: { o: { ...shop, metadata: { key: "CANARY-1" }, options: { secret: ["metadata"] } } },
    runs: [
      { byHand: edited({ metadata: '{"a":["CANARY-1"]}' }), command: "refresh", writes: [] },
      { command: "refresh", writes: [] },
      { writes: ["PATCH shop metadata"] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "a value under a secret's name that somebody adds by hand makes the document secret",
    from: { o: { ...shop, metadata: { key: "x" } } },
    runs: [{ byHand: edited({ metadata: '{"client_secret":"CANARY-1"}' }), command: "refresh", writes: [] }],
    live: ["shop"],
    state: { o: "shop" },
  },
];
