import { gatewayReply, type ScriptedReply } from "../../sdk/testing/emulator";
import { type Actor, at, committed, error, forbidden, type Scenario, scenario } from "./scenario";
import { TAKEN } from "./takenUrls";

/* Creates whose answer is lost, or cannot be read. */

const shop = { url: at("shop") };
const pooled = { ...shop, poolingEnabled: true };
/** A service that accepts a URL twice: no refusal reveals another endpoint. */
const acceptsEqualUrls = { urlTaken: "allowed" } as const;

/** The lost reply to a create that takes effect, and to a create without effect. */
const lost = committed({ reset: true });
const unsent: ScriptedReply = { reset: true };
const noList = ["list", forbidden, 99] as const;
/** The reply to a create whose URL is taken. */
const conflict = error(400, 18017);

const UNCERTAIN =
  /may have made an endpoint for https:\/\/shop\.example\.com, and another attempt could .* Look with `npx pulumi-endpoints who-has https:\/\/shop\.example\.com( --stack \w+)?` before the next run\. See "The answer/;

/** Replies to a create that took effect, and the recorded writes. A 4xx counts as a refusal, so its write is left out. */
const lostReplies: [string, object, string[]][] = [
  ["a reset connection", { reset: true }, ["POST shop 0"]],
  ["no reply in time", { hang: true }, ["POST shop 0"]],
  ["a body that ends early", { cut: "end" }, ["POST shop"]],
  ["a body that is reset", { cut: "reset" }, ["POST shop"]],
  ["an empty body", { body: "" }, ["POST shop"]],
  ["an HTML page", gatewayReply("html", 200), ["POST shop"]],
  ["a proxy's 502", gatewayReply("html", 502), ["POST shop 502"]],
  ["the service's 500", error(500, 20000), ["POST shop 500"]],
  ["a proxy's 429", gatewayReply("html", 429), []],
  ["a 408", { status: 408, body: "" }, []],
  ["a reply without an id", { status: 201, body: shop }, ["POST shop"]],
  ["a reply with another URL", { body: (real: object) => ({ ...real, url: at("b") }) }, ["POST shop"]],
  ["a reply with another type", { body: (real: object) => ({ ...real, type: "edge" }) }, ["POST shop"]],
  ["a reply with an id that is no text", { body: (real: object) => ({ ...real, id: 5 }) }, ["POST shop"]],
];

/** An equal endpoint appears during a create that is lost without effect. */
const appears =
  (fields: (now: number) => object) =>
  ({ emulator, seed, clock }: Actor) => {
    const before = () => void seed("theirs", { ...shop, ...fields(clock.now()) });
    emulator.intercept("create", { before, ...unsent });
  };
const DAY = 86_400_000;
const created = (time: number) => ({ created_at: new Date(time).toISOString() });

/** Equal endpoints beside a create without effect, and the error if the create does not take the endpoint. */
const equalEndpoints: [string, (now: number) => object, RegExp?][] = [
  ["from a second before it", (now) => created(now - 1_000)],
  ["from a second after it", (now) => created(now + 1_000)],
  ["from five seconds before it", (now) => created(now - 5_000), TAKEN],
  ["from five seconds after it", (now) => created(now + 5_000), UNCERTAIN],
  ["with another description", () => ({ description: "theirs" }), TAKEN],
  [
    "whose creation time lacks its zone, which is UTC",
    (now) => ({ created_at: new Date(now).toISOString().replace("Z", "") }),
  ],
  [
    "from an hour before it, in a time without its zone",
    (now) => ({ created_at: new Date(now - 3_600_000).toISOString().replace("Z", "") }),
    TAKEN,
  ],
  ["without a creation time", () => ({ created_at: undefined }), UNCERTAIN],
  ["with an invalid creation time", () => ({ created_at: "yesterday" }), UNCERTAIN],
];

export const lostCreates: Scenario[] = [
  scenario("what another run creates between a lost attempt and a refused one is not taken over", {
    before: ({ emulator, seed, clock }) => {
      emulator.intercept("create", unsent);
      emulator.intercept("create", {
        before: () =>
          void seed("theirs", {
            ...shop,
            description: "theirs",
            created_at: new Date(clock.now()).toISOString(),
          }),
        ...conflict,
      });
    },
    writes: ["POST shop 0"],
    fails: TAKEN,
    live: ["theirs"],
  }),
  ...lostReplies.map(([what, reply, writes]) =>
    scenario(`a lost create finds its endpoint after ${what}, with a warning`, {
      // Other scenarios keep the default limit: a busy machine may exceed a short limit.
      settings: "hang" in reply ? { timeoutSeconds: "0.2" } : {},
      program: { o: { ...shop, description: "x" } },
      replies: [["create", committed(reply)]],
      writes,
      says: [
        /the answer to the create was lost, but ep_\w+ has the same URL and content and appeared at that moment, so this run keeps it\. It might be another stack's: `npx pulumi-endpoints who-has ep_\w+( --stack \w+)?`/,
      ],
      next: [{}],
    }),
  ),
  ...equalEndpoints.map(([which, fields, fails]) =>
    scenario(`a create without effect ${fails ? "does not take" : "takes"} an equal endpoint ${which}`, {
      service: acceptsEqualUrls,
      before: appears(fields),
      writes: ["POST shop 0"],
      fails,
      ...(fails ? { live: ["theirs"] } : { says: [/appeared at that moment/], state: { o: "theirs" } }),
    }),
  ),
  scenario("a service whose clock is a day behind gives no older endpoint to a create without effect", {
    service: { ...acceptsEqualUrls, date: -DAY },
    before: appears((now) => created(now - 10_000)),
    writes: ["POST shop 0"],
    fails: UNCERTAIN,
    next: [{ command: "destroy" }],
    live: ["theirs"],
  }),
  scenario("what a lost create may have made is not called correct inputs while the list lags", {
    service: { urlTaken: "allowed", listLag: 60_000 },
    before: ({ emulator }) => {
      emulator.intercept("create", lost);
      emulator.intercept("create", error(400, 19999));
    },
    writes: ["POST shop 0"],
    fails: UNCERTAIN,
    live: ["shop"],
  }),
  scenario("a create that was lost without effect is sent again", {
    replies: [["create", unsent]],
    writes: ["POST shop", "POST shop 0"],
  }),
  scenario("a create is sent three times, if its answers are lost again and again", {
    replies: [["create", unsent, 99]],
    writes: ["POST shop 0", "POST shop 0", "POST shop 0"],
    fails: /no answer /,
    seconds: 36,
  }),
  scenario("a lost create finds the endpoint of its second attempt", {
    replies: [
      ["create", unsent],
      ["create", lost],
    ],
    writes: ["POST shop 0", "POST shop 0"],
  }),
  scenario("the second attempt of a create does not take an older endpoint on its URL", {
    before: ({ emulator, seed }) => {
      emulator.intercept("create", unsent);
      emulator.intercept("create", {
        before: () => void seed("theirs", { ...shop, ...created(0) }),
        ...conflict,
      });
    },
    writes: ["POST shop 0"],
    fails: TAKEN,
    live: ["theirs"],
  }),
  scenario("the second look for a lost create reads the whole list, because a filter may omit the endpoint", {
    settings: { listFilter: "on" },
    service: { ...acceptsEqualUrls, filters: "incomplete" },
    program: { one: "a", two: "b" },
    order: ["one", "two"],
    replies: [["create", lost, 2]],
    writes: ["POST a 0", "POST b 0"],
    says: [/the answer to the create was lost/],
    engine: "serial",
  }),
  scenario("a lost create looks at once, and ten seconds later", {
    replies: [["create", unsent]],
    writes: ["POST shop", "POST shop 0"],
    reads: ["/endpoints", "/endpoints"],
  }),
  scenario("lost creates of two resources each find their own endpoint", {
    program: { one: "a", two: "b" },
    replies: [["create", lost, 2]],
    writes: ["POST a 0", "POST b 0"],
  }),
  ...[lost, unsent].map((second) =>
    scenario(`two lost creates with equal inputs never get the same endpoint: ${JSON.stringify(second)}`, {
      program: { one: "shop", two: "shop" },
      only: "dynamic",
      engine: "parallel",
      order: ["one", "two"],
      replies: [
        ["create", lost],
        ["create", second],
      ],
      writes: ["POST shop 0", "POST shop 0"],
      fails: /belongs to another resource|is served by ep_/,
      state: { one: "shop" },
    }),
  ),
  scenario("a lost create finds its endpoint in a list that lags", {
    service: { listLag: 4_000 },
    replies: [["create", lost]],
    writes: ["POST shop 0"],
  }),
  ...[{ date: null }, { date: 600_000 }, { date: -DAY }, { createdAt: null }].map((behaviour) =>
    scenario(
      `a lost create takes nothing if the service's clock is not known: ${JSON.stringify(behaviour)}`,
      {
        service: { ...acceptsEqualUrls, ...behaviour },
        replies: [["create", lost]],
        writes: ["POST shop 0"],
        fails: behaviour.date === 600_000 ? TAKEN : UNCERTAIN,
        live: ["shop"],
      },
    ),
  ),
  scenario("a lost create fails, and is not sent again, if the list cannot be read", {
    replies: [["create", lost], [...noList]],
    writes: ["POST shop 0"],
    fails: UNCERTAIN,
    live: ["shop"],
  }),
  scenario(
    "a list item that cannot be read hides an endpoint from the look, but the service refuses its URL",
    {
      replies: [
        ["create", lost],
        ["list", { status: 200, body: { endpoints: [{ id: "ep_odd", ...shop, port: "high" }] } }, 9],
      ],
      writes: ["POST shop 0"],
      fails: /ERR_NGROK_18017/,
      live: ["shop"],
    },
  ),
  scenario("a pooled create that was lost without effect fails, and is not sent again", {
    program: { o: pooled },
    replies: [["create", unsent]],
    writes: ["POST shop 0"],
    fails: UNCERTAIN,
  }),
  scenario("a pooled create that was lost after its effect fails, since members may be equal", {
    program: { o: pooled },
    replies: [["create", lost]],
    writes: ["POST shop 0"],
    fails: UNCERTAIN,
    live: ["shop"],
  }),
];

/** Replies with the created endpoint whose other fields are missing or invalid. */
const garbled: [string, (real: object) => object][] = [
  [
    "lacks all but id, URL and type",
    ({ id, url, type }: { id?: string; url?: string; type?: string }) => ({ id, url, type }),
  ],
  [
    "garbles inputs",
    (real) => ({ ...real, bindings: 1, description: 5, metadata: true, traffic_policy: [] }),
  ],
  ["garbles outputs", (real) => ({ ...real, port: "high", created_at: 5, principal: 1 })],
];

export const badReplies: Scenario[] = [
  ...garbled.flatMap(([what, body]) =>
    [shop, pooled].map((o) =>
      scenario(`a create whose reply ${what} keeps its endpoint: ${JSON.stringify(o)}`, {
        program: { o: { ...o, description: "x", metadata: { a: 1 } } },
        replies: [
          ["create", committed({ body })],
          ["read", forbidden, 9],
        ],
        writes: ["POST shop"],
        next: [{}, { command: "refresh" }, { outputs: { o: { description: "x", metadata: '{"a":1}' } } }],
      }),
    ),
  ),
  scenario("a create does not keep the endpoint in its reply if that has another URL", {
    others: { theirs: { url: at("other") } },
    before: ({ emulator }) =>
      emulator.intercept("create", committed({ status: 201, body: emulator.endpoints[0] })),
    writes: ["POST shop"],
  }),
  scenario("a create does not keep the id in its reply if another resource has that id", {
    from: { p: "other" },
    program: { p: "other", o: "shop" },
    order: ["p", "o"],
    before: ({ emulator, id }) =>
      emulator.intercept(
        "create",
        committed({ status: 201, body: { id: id("other"), type: "cloud", ...shop } }),
      ),
    writes: ["POST shop"],
  }),
  scenario("a create whose reply named the id of another resource is never sent again", {
    from: { p: "other" },
    program: { p: "other", o: "shop" },
    order: ["p", "o"],
    before: ({ emulator, id }) =>
      emulator.intercept("create", { status: 201, body: { id: id("other"), type: "cloud", ...shop } }),
    writes: ["POST shop"],
    fails: UNCERTAIN,
    state: { p: "other" },
  }),
  scenario("a create whose reply named an endpoint on another URL is never sent again", {
    service: acceptsEqualUrls,
    before: ({ emulator, seed }) => {
      const before = () => void seed("made", { url: `${shop.url}:8443` });
      emulator.intercept("create", { before, status: 201, body: () => ({ ...emulator.endpoints[0] }) });
    },
    writes: ["POST shop"],
    fails: UNCERTAIN,
    live: ["made"],
  }),
  scenario("a create whose reply named an id that the service does not know is never sent again", {
    replies: [["create", { status: 201, body: { id: "ep_named", type: "cloud" } }]],
    writes: ["POST shop"],
    fails: UNCERTAIN,
  }),
];
