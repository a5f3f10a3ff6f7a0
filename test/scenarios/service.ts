import { gatewayReply, type ScriptedReply } from "../../sdk/testing/emulator";
import { type Actor, at, committed, error, forbidden, type Scenario, type Stub, scenario } from "./scenario";

/* Odd replies of the service, and endpoints that are gone. */

const shop = { url: at("shop") };
const described = { ...shop, description: "x" };
const from = { o: "shop" };
const missing = error(404, 18100);
const html = gatewayReply("html");
const commands = ["refresh", "destroy"] as const;

const removed = ({ emulator, id }: Actor) => emulator.remove(id("shop"));

/** An update that changes one field, and clears another. */
const changed = {
  from: { o: { ...described, metadata: { a: 1 } } },
  program: { o: { ...shop, metadata: { a: 2 } } },
  writes: ["PATCH shop description metadata"],
};

/** Neither the list nor a first read by id shows the endpoint. */
const nothing: Stub[] = [
  ["list", { status: 200, body: { endpoints: [], next_page_uri: null } }],
  ["read", missing],
];

export const oddReplies: Scenario[] = [
  ...[
    { status: 204, body: "" },
    { status: 202, body: {} },
  ].flatMap((reply) => [
    scenario(`an update that is answered by a ${reply.status} without an effect fails`, {
      ...changed,
      replies: [["update", reply]],
      fails: /PATCH \/endpoints\/ep_\w+: status 20/,
      state: { o: "shop" },
    }),
    scenario(`an update that is answered by a ${reply.status} takes effect once`, {
      ...changed,
      replies: [["update", committed(reply)]],
      next: [{}],
    }),
  ]),
  scenario("a refresh reads a young endpoint again that neither the list nor a first read shows", {
    from,
    replies: nothing,
    command: "refresh",
  }),
  scenario("a refresh reads an endpoint of unknown age again that neither the list nor a first read shows", {
    from,
    later: true,
    before: ({ editState }) => editState("o", ({ createdAt: _, ...outs }) => outs),
    replies: nothing,
    command: "refresh",
  }),
  ...(["refresh", "up"] as const).map((command) =>
    scenario(`${command} fails if the reply describes another endpoint`, {
      from,
      others: { theirs: { url: at("other") } },
      program: { o: described },
      command,
      before: ({ emulator }) => {
        const body = emulator.endpoints.at(-1) ?? {};
        emulator.intercept("list", forbidden);
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
    scenario(`a deletion that is answered by a ${reply.status} without an effect fails`, {
      from,
      command: "destroy",
      replies: [["delete", reply]],
      writes: ["DELETE shop"],
      fails: /a deletion must be answered with 204/,
      state: { o: "shop" },
    }),
    scenario(`a deletion that is answered by a ${reply.status} with an effect succeeds`, {
      from,
      later: true,
      command: "destroy",
      replies: [["delete", committed(reply)]],
      writes: ["DELETE shop"],
    }),
  ]),
];

const STILL_LISTED = /the account's list still contains ep_/;
const WRONG_ACCOUNT =
  /may not be this stack's.*it has \d others\. Use the right key.*See "An endpoint is not found"/;
const OTHER_KEY = "3otherOtherOtherOtherOther7_otherOtherOtherOther1";
const otherKey = { apiKey: OTHER_KEY };
const rotated = ({ emulator }: Actor) => emulator.addKey(otherKey);

/** The 404s of a gateway in front of the service, or of another server at a wrong base URL. */
const gateways: [string, ScriptedReply][] = [
  ["a page of HTML", html],
  ["JSON without a code", { status: 404, body: { message: "no route" } }],
  ["JSON with a code that is not the service's", { status: 404, body: { error_code: "GW_404", msg: "no" } }],
];

/** The end of a title, the replies about the endpoint, and the error if the endpoint stays in the state. */
const absences: [string, Stub[], RegExp?][] = [
  ["that is gone leaves the state after the service's 404", []],
  [
    "that is gone stays if the key may not list",
    [["list", forbidden, 99]],
    /the key may list endpoints\. See "An endpoint is not found"/,
  ],
  [
    "that exists stays after the service's 404 if the first page shows it",
    [["by id", missing, 99]],
    STILL_LISTED,
  ],
  [
    "that exists stays after the service's 404 if a later page shows it",
    [["by id", missing, 99]],
    STILL_LISTED,
  ],
  ...gateways.flatMap(([what, reply]): typeof absences => [
    [`that is gone leaves the state after ${what}`, [["by id", reply, 99]]],
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
    /list.*cannot be read.*path prefix.*See "An endpoint is not found"/,
  ],
];

export const gone: Scenario[] = [
  ...commands.flatMap((command) =>
    absences.map(([what, replies, fails]) => {
      const exists = what.startsWith("that exists");
      return scenario(`${command}: an endpoint ${what}`, {
        from,
        service: { pageSize: what.includes("first page") ? 100 : 1 },
        later: true,
        before: (actor) => {
          // The list shows the newest first, so the endpoint is its last item.
          for (const name of ["a", "b"]) actor.seed(name, { url: at(name) });
          if (!exists) removed(actor);
          // A refresh reads the list first, and must not find the endpoint there.
          if (command === "refresh") actor.emulator.intercept("list", forbidden);
        },
        replies,
        command,
        fails,
        state: fails ? { o: "shop" } : {},
        live: exists ? ["a", "b", "shop"] : ["a", "b"],
      });
    }),
  ),
  scenario("a single 404 of the service drops nothing at a refresh, because the endpoint is read again", {
    service: { pageSize: 1 },
    from,
    later: true,
    before: (actor) => {
      actor.seed("a", { url: at("a") });
      actor.emulator.intercept("list", forbidden);
    },
    command: "refresh",
    replies: [["by id", missing]],
    reads: ["/endpoints", "/endpoints/shop", "/endpoints/shop"],
    state: { o: "shop" },
    live: ["a", "shop"],
  }),
  scenario("three seconds of the service's 404s drop nothing at a destroy", {
    from,
    later: true,
    before: ({ seed }) => seed("a", { url: at("a") }),
    command: "destroy",
    // The deletion's own 404 does not count as a read.
    replies: [["by id", missing, 2]],
    reads: ["/endpoints/shop", "/endpoints/shop"],
    fails: /DELETE \/endpoints\/ep_\w+: status 404/,
    next: [{ command: "destroy", writes: ["DELETE shop"] }],
    state: {},
    live: ["a"],
  }),
  ...commands.map((command) =>
    scenario(`${command}: with filters, the whole list is read after the service's 404s`, {
      settings: { listFilter: "on" },
      from,
      later: true,
      before: removed,
      command,
      reads: [
        ...(command === "refresh" ? ["/endpoints"] : []),
        ...["/endpoints/shop", "/endpoints/shop", "/endpoints"],
      ],
      state: {},
    }),
  ),
  ...["on", "off"].map((listFilter) =>
    scenario(
      `an endpoint stays in the state if an invalid item of the list has its id: filters ${listFilter}`,
      {
        settings: { listFilter },
        from,
        later: true,
        before: ({ emulator, id }) =>
          emulator.intercept(
            "list",
            { status: 200, body: { endpoints: [{ id: id("shop"), port: "high" }] } },
            9,
          ),
        command: "refresh",
        replies: [["by id", missing, 9]],
        fails: STILL_LISTED,
        state: { o: "shop" },
      },
    ),
  ),
  ...commands.map((command) =>
    scenario(`${command}: an endpoint stays if an item of the list has no id that can be read`, {
      from,
      later: true,
      before: ({ emulator }) => emulator.intercept("list", { status: 200, body: { endpoints: [{}] } }, 9),
      command,
      replies: [["by id", missing, 9]],
      fails:
        /an item of the account's list cannot be read, and may be this endpoint\. See "An endpoint is not found"/,
      state: { o: "shop" },
    }),
  ),
  scenario("an endpoint that was deleted after the list was read is gone at the next refresh", {
    from: { o: described },
    later: true,
    before: (actor) => {
      const item = { id: actor.id("shop"), type: "cloud", url: at("shop") };
      actor.emulator.intercept("list", { status: 200, body: { endpoints: [item] } });
      removed(actor);
    },
    command: "refresh",
    fails: STILL_LISTED,
    next: [{ command: "refresh" }],
    state: {},
    live: [],
  }),
  scenario("an account without filters is listed once for all endpoints that are gone", {
    service: { pageSize: 1 },
    from: { o: "shop", p: "other" },
    later: true,
    before: ({ emulator, id, seed }) => {
      for (const name of ["shop", "other"]) emulator.remove(id(name));
      seed("a", { url: at("a") });
    },
    command: "refresh",
    order: ["o", "p"],
    engine: "serial",
    reads: ["/endpoints", ...Array(2).fill("/endpoints/shop"), ...Array(2).fill("/endpoints/other")],
    state: {},
    live: ["a"],
  }),
  scenario("refresh: an endpoint that exists stays after a 500", {
    from,
    command: "refresh",
    replies: [["any", { status: 500, body: "" }, 999]],
    fails: /status 500/,
    state: { o: "shop" },
  }),
  scenario("a refresh drops an endpoint that was deleted by hand, and `up` creates it again", {
    from: { o: "shop", p: "other" },
    later: true,
    before: removed,
    command: "refresh",
    next: [{ writes: ["POST shop"] }],
    state: { o: "shop#2", p: "other" },
    stacks: true,
  }),
  scenario("the deletion of an endpoint that was deleted by hand succeeds", {
    from,
    later: true,
    before: removed,
    command: "destroy",
  }),
  scenario("an update of an endpoint that was deleted by hand fails, and names `pulumi refresh`", {
    from,
    later: true,
    before: removed,
    program: { o: described },
    fails: /The endpoint ep_\w+ no longer exists.*pulumi refresh/,
    state: { o: "shop" },
    live: [],
  }),
  ...commands.map((command) =>
    scenario(`${command}: an endpoint leaves the state although the list lags behind its deletion`, {
      from,
      service: { listLag: 4_000 },
      later: true,
      before: (actor) => {
        removed(actor);
        actor.emulator.intercept("list", command === "refresh" ? forbidden : { status: 503, body: "" });
      },
      command,
      state: {},
    }),
  ),
  ...commands.map((command) =>
    scenario(`${command}: another account's key drops nothing`, {
      from,
      later: true,
      before: ({ emulator }) => emulator.addKey({ account: "other", ...otherKey }),
      overrides: otherKey,
      command,
      fails: WRONG_ACCOUNT,
      state: { o: "shop" },
    }),
  ),
  scenario("a rotated key drops nothing that is gone, and each error names the way out", {
    from: { o: "shop", p: "other", q: "third" },
    later: true,
    before: (actor) => {
      rotated(actor);
      removed(actor);
      actor.emulator.remove(actor.id("other"));
    },
    overrides: otherKey,
    command: "refresh",
    order: ["o", "p", "q"],
    fails: new RegExp(`${WRONG_ACCOUNT.source}.*\n.*${WRONG_ACCOUNT.source}`),
    // The refresh has recorded the new key for what lives.
    next: [
      {
        later: true,
        before: ({ emulator, id }) => emulator.remove(id("third")),
        overrides: otherKey,
        command: "refresh",
        fails: WRONG_ACCOUNT,
      },
    ],
    state: { o: "shop", p: "other" },
    live: [],
  }),
  scenario("an endpoint that a later page of the list shows stays, with a rotated key, too", {
    service: { pageSize: 1 },
    from,
    later: true,
    before: (actor) => {
      rotated(actor);
      actor.seed("a", { url: at("a") });
      actor.emulator.intercept("list", forbidden);
    },
    replies: [["by id", missing, 9]],
    overrides: otherKey,
    command: "refresh",
    fails: STILL_LISTED,
    state: { o: "shop" },
    live: ["a", "shop"],
  }),
  scenario("a refresh with a rotated key silently records the account for a later refresh", {
    from,
    before: rotated,
    overrides: otherKey,
    command: "refresh",
    says: [/^$/],
    next: [{ overrides: otherKey, later: true, before: removed, command: "refresh" }],
    state: {},
  }),
  scenario(
    "a preview without changes makes no request with another key, and says once a process what a refresh finds out",
    {
      from: { o: "shop", p: "other" },
      later: true,
      before: rotated,
      overrides: { apiKey: "none" },
      order: ["o", "p"],
      reads: [],
      says: [
        /written with another key[^\n]*`pulumi refresh --run-program`/,
        // Three processes: a preview, its `up`, and one more preview.
        /^(?!(?:[\s\S]*written){4})/,
      ],
    },
  ),
  scenario("an update with a rotated key records the account, so a later refresh can drop the endpoint", {
    from,
    before: rotated,
    overrides: otherKey,
    command: "refresh",
    next: [
      { overrides: otherKey },
      { overrides: otherKey, program: { o: described }, writes: ["PATCH shop description"] },
      { overrides: otherKey, later: true, before: removed, command: "refresh" },
    ],
    state: {},
  }),
];
