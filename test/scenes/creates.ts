import type { ScriptedReply } from "../../sdk/testing/emulator";
import { makeBusy, rival } from "../faults/serviceFaults";
import { at, type Hand, type Scene } from "./scene";

/* Creates: taken URLs, lost answers, and replies that cannot be read. */

const shop = { url: at("shop") };
const pooled = { ...shop, poolingEnabled: true };
const marks = { mark: "team/dev" };
/** A service that accepts a URL twice, so that no refusal reveals another endpoint. */
const trusting = { urlTaken: "allowed" } as const;

/** The next create gets this reply, after it took effect. */
const answered =
  (reply: object) =>
  ({ emulator }: Hand) =>
    emulator.intercept("create", { afterCommit: true, ...reply } as ScriptedReply);
/** The next create is lost without effect. */
const unsent = ({ emulator }: Hand) => emulator.intercept("create", { reset: true });
/** The next create takes effect, but its reply is lost. */
const lost = answered({ reset: true });

export const takenUrls: Scene[] = [
  {
    name: "a create on a stranger's URL fails, and names its endpoint, its time and all ways out",
    runs: [
      {
        byHand: ({ seed }) => seed("theirs", shop),
        program: { o: "shop" },
        writes: [],
        fails:
          /is served by ep_\w+, a cloud endpoint, created at [\s\S]*aliases[\s\S]*--target[\s\S]*adopt: "ep_|is served by ep_\w+, a cloud endpoint, created at [\s\S]*aliases[\s\S]*--target[\s\S]*set adopt/,
      },
    ],
    live: ["theirs"],
    state: {},
    stacks: true,
  },
  {
    name: "the message about a stranger's URL names all three causes, and the id to adopt",
    runs: [
      {
        byHand: ({ seed }) => seed("theirs", shop),
        program: { o: "shop" },
        writes: [],
        fails: /aliases[\s\S]*--target[\s\S]*--replace[\s\S]*deleteBeforeReplace[\s\S]*adopt: "ep_/,
        seconds: 10,
      },
    ],
    live: ["theirs"],
    state: {},
  },
  {
    name: "a create on an agent's URL fails at once, and does not advise to adopt it",
    runs: [
      {
        byHand: ({ seed }) => seed("theirs", { type: "ephemeral", ...shop }),
        program: { o: "shop" },
        writes: [],
        fails: /^(?![\s\S]*set adopt)[\s\S]*of type ephemeral[\s\S]*another url/,
        seconds: 1,
      },
    ],
    live: ["theirs"],
    state: {},
  },
  {
    // Trap 5.
    name: "with marks, a create on a URL with a stranger's mark fails at once, and names the owner",
    settings: marks,
    runs: [
      {
        byHand: ({ seed, clock }) => seed("theirs", { ...shop, ...markedFor("prod", clock.now()) }),
        program: { o: "shop" },
        writes: [],
        fails: /'front' of the stack shop\/prod \(team\/prod\)/,
        seconds: 1,
      },
    ],
    live: ["theirs"],
    state: {},
  },
  {
    // Trap 5.
    name: "with marks, a move to a URL with a stranger's mark fails at once",
    settings: marks,
    from: { o: "a" },
    runs: [
      {
        byHand: ({ seed, clock }) => seed("theirs", { ...shop, ...markedFor("prod", clock.now()) }),
        program: { o: "shop" },
        writes: [],
        fails: /'front' of the stack shop\/prod/,
        seconds: 1,
      },
    ],
    live: ["a", "theirs"],
    state: { o: "a" },
  },
  ...(["18009", "422", "400-bare", "409-bare"] as const).map(
    (urlTaken): Scene => ({
      name: `a taken URL is found after a refusal of the form ${urlTaken}`,
      service: { urlTaken },
      runs: [
        {
          byHand: ({ seed }) => seed("theirs", shop),
          program: { o: "shop" },
          writes: [],
          fails: /is served by ep_/,
        },
      ],
      live: ["theirs"],
      state: {},
    }),
  ),
  ...([18006, 18016, 18017] as const).map(
    (code): Scene => ({
      name: `a URL that is refused with ${code} for some seconds, and that nobody has, is created`,
      runs: [
        {
          byHand: ({ emulator, clock }) => makeBusy(emulator, shop.url, { ms: 3_000, code }, clock),
          program: { o: "shop" },
          writes: ["POST shop"],
          seconds: 10,
        },
      ],
      live: ["shop"],
      state: { o: "shop" },
    }),
  ),
  {
    name: "a refusal for another reason fails with it, and is not repeated",
    runs: [
      {
        byHand: ({ emulator }) =>
          emulator.intercept("create", { status: 400, body: { error_code: "ERR_NGROK_2201", msg: "x" } }, 9),
        program: { o: "shop" },
        writes: [],
        fails: /ERR_NGROK_2201/,
      },
    ],
    live: [],
    state: {},
  },
  {
    name: "a taken URL whose holder cannot be looked up fails with a way out",
    runs: [
      {
        byHand: ({ seed, emulator }) => {
          seed("theirs", shop);
          emulator.intercept("list", { status: 403, body: "" }, 99);
        },
        program: { o: "shop" },
        writes: [],
        fails: /ERR_NGROK_180[\s\S]*another url/,
      },
    ],
    live: ["theirs"],
    state: {},
  },
  {
    name: "without marks, the endpoint that a killed run left is named, and its adoption ends it",
    runs: [
      { program: { o: "shop" }, killed: true },
      { writes: [], fails: /is served by ep_[\s\S]*adopt/ },
      { program: { o: { ...shop, adopt: "@shop" } }, writes: [] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
];

/** Replies to a create that took effect. */
const lostReplies: [string, object, number][] = [
  ["a reset connection", { reset: true }, 0],
  ["no reply in time", { hang: true }, 0],
  ["a body that ends early", { cut: "end" }, 201],
  ["an empty body", { body: "" }, 201],
  ["an HTML page", { status: 200, body: "<html>" }, 200],
  ["a proxy's 502", { status: 502, body: "<html>" }, 502],
  ["the service's 500", { status: 500, body: { error_code: "ERR_NGROK_20000", msg: "x" } }, 500],
  ["a reply without an id", { status: 201, body: shop }, 201],
  ["a proxy's 429", { status: 429, body: "<html>" }, 429],
  ["a 408", { status: 408, body: "" }, 408],
];

export const lostCreates: Scene[] = [
  ...[{}, marks].flatMap((settings) =>
    lostReplies.map(
      ([what, reply, status]): Scene => ({
        name: `${"mark" in settings ? "with marks, a" : "a"} lost create finds its endpoint after ${what}`,
        settings: settings as Record<string, string>,
        runs: [
          {
            byHand: answered(reply),
            program: { o: { ...shop, description: "x" } },
            // Replies of the form 4xx look like refusals.
            ...(status < 400 || status >= 500
              ? { writes: [`POST shop${status === 0 || status >= 500 ? ` ${status}` : ""}`] }
              : { writes: [] }),
          },
          { writes: [] },
        ],
        live: ["shop"],
        state: { o: "shop" },
      }),
    ),
  ),
  {
    name: "a lost create that finds its endpoint warns that it may be another's, and names marks",
    runs: [
      { byHand: lost, program: { o: "shop" }, says: [/same content within two seconds.*endpoints:mark/] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  ...[
    ["", {}, shop],
    ["with marks, ", marks, shop],
    ["with marks, in a pool, ", marks, pooled],
  ].map(
    ([when, settings, o]): Scene => ({
      name: `${when}a create that was lost without effect is sent again`,
      settings: settings as Record<string, string>,
      runs: [{ byHand: unsent, program: { o: o as typeof shop }, writes: ["POST shop", "POST shop 0"] }],
      live: ["shop"],
      state: { o: "shop" },
    }),
  ),
  {
    name: "lost creates of two resources each find their own endpoint",
    runs: [
      {
        byHand: (hand) => [lost(hand), lost(hand)],
        program: { one: "a", two: "b" },
        writes: ["POST a 0", "POST b 0"],
      },
    ],
    live: ["a", "b"],
    state: { one: "a", two: "b" },
  },
  {
    name: "a lost create finds its endpoint in a list that lags",
    service: { listLag: 4_000 },
    runs: [{ byHand: lost, program: { o: "shop" }, writes: ["POST shop 0"] }],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "a lost create fails with the ids, and is not sent again, if somebody created an equal endpoint at the same time",
    service: trusting,
    runs: [
      {
        byHand: ({ emulator }) => rival(emulator, "before", { reply: { afterCommit: true, reset: true } }),
        program: { o: "shop" },
        writes: ["POST shop 0"],
        fails: /ep_\w+, ep_\w+[\s\S]*adopt/,
      },
    ],
    live: ["shop", "shop#2"],
    state: {},
  },
  {
    name: "with marks, a lost create finds its own endpoint beside an equal one",
    service: trusting,
    settings: marks,
    runs: [
      {
        byHand: ({ emulator }) =>
          rival(emulator, "before", {
            fields: { metadata: "theirs" },
            reply: { afterCommit: true, reset: true },
          }),
        program: { o: "shop" },
        writes: ["POST shop 0"],
      },
    ],
    live: ["shop", "shop#2"],
    state: { o: "shop#2" },
  },
  ...[1_000, 3_000].map((age): Scene => {
    const byHand = (hand: Hand) => {
      hand.seed("theirs", { ...shop, created_at: new Date(hand.clock.now() - age).toISOString() });
      unsent(hand);
    };
    const run = { byHand, program: { o: "shop" }, writes: ["POST shop 0"] };
    const scene = { service: trusting, live: ["theirs"] };
    return age < 2_000
      ? {
          ...scene,
          name: "a create that is lost without effect takes an equal endpoint that is a second older, and warns",
          runs: [{ ...run, says: [/within two seconds/] }],
          state: { o: "theirs" },
        }
      : {
          ...scene,
          name: "a create that is lost without effect does not take an equal endpoint that is three seconds older",
          runs: [{ ...run, fails: /ep_\w+[\s\S]*adopt/ }],
          state: {},
        };
  }),
  {
    name: "a lost create does not take an endpoint with its URL and other content, and is not sent again",
    service: trusting,
    runs: [
      {
        byHand: (hand) => {
          hand.seed("theirs", { ...shop, description: "theirs" });
          unsent(hand);
        },
        program: { o: "shop" },
        writes: ["POST shop 0"],
        fails: /ep_\w+[\s\S]*adopt/,
      },
    ],
    live: ["theirs"],
    state: {},
  },
  ...[
    ["the service's clock is unknown", { date: null }],
    ["the endpoint's age is unknown", { createdAt: null }],
  ].map(
    ([why, behaviour]): Scene => ({
      name: `a lost create fails with the id, and is not sent again, if ${why}`,
      service: { ...trusting, ...(behaviour as object) },
      runs: [{ byHand: lost, program: { o: "shop" }, writes: ["POST shop 0"], fails: /ep_\w+[\s\S]*adopt/ }],
      live: ["shop"],
      state: {},
    }),
  ),
  {
    name: "a lost create fails, and is not sent again, if the list cannot be read",
    runs: [
      {
        byHand: (hand) => {
          lost(hand);
          hand.emulator.intercept("list", { status: 403, body: "" }, 99);
        },
        program: { o: "shop" },
        writes: ["POST shop 0"],
        fails: /could not find out[\s\S]*adopt/,
      },
    ],
    live: ["shop"],
    state: {},
  },
  {
    name: "without marks, a pooled create that was lost without effect fails, and names marks",
    runs: [{ byHand: unsent, program: { o: pooled }, writes: ["POST shop 0"], fails: /endpoints:mark/ }],
    live: [],
    state: {},
  },
  {
    name: "without marks, a pooled create that was lost fails with the ids, since members may be equal",
    runs: [{ byHand: lost, program: { o: pooled }, writes: ["POST shop 0"], fails: /ep_\w+[\s\S]*adopt/ }],
    live: ["shop"],
    state: {},
  },
  {
    name: "with marks, a pooled create that was lost finds its endpoint beside an equal member",
    settings: marks,
    runs: [
      {
        byHand: (hand) => {
          hand.seed("theirs", { ...shop, pooling_enabled: true });
          lost(hand);
        },
        program: { o: pooled },
        writes: ["POST shop 0"],
      },
    ],
    live: ["shop", "theirs"],
    state: { o: "shop" },
  },
  {
    // Trap 4.
    name: "with marks, a lost create that finds its own leftover on the URL takes it over",
    settings: marks,
    service: trusting,
    runs: [
      { program: { o: "shop" }, killed: true },
      { byHand: unsent, writes: ["PATCH shop metadata", "POST shop 0"] },
      { writes: [] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
];

export const badReplies: Scene[] = [
  ...[{}, marks].flatMap((settings) =>
    [shop, pooled].map(
      (o): Scene => ({
        // Trap 10, in a pool.
        name: `a reply with a garbled input is about our endpoint${o === pooled ? ", in a pool" : ""}${"mark" in settings ? ", with marks" : ""}`,
        settings: settings as Record<string, string>,
        runs: [
          {
            byHand: answered({ body: (real: object) => ({ ...real, bindings: 1 }) }),
            program: { o: { ...o, description: "x" } },
            writes: ["POST shop"],
          },
          { writes: [] },
          { command: "refresh", writes: [] },
          { writes: [] },
        ],
        live: ["shop"],
        state: { o: "shop" },
      }),
    ),
  ),
  {
    name: "a reply with a garbled output is about our endpoint",
    runs: [
      {
        byHand: answered({ body: (real: object) => ({ ...real, port: "high" }) }),
        program: { o: "shop" },
        writes: ["POST shop"],
      },
      { command: "refresh", writes: [] },
      { writes: [] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "a reply with a garbled input is stored without a read, which could fail",
    runs: [
      {
        byHand: (hand) => {
          answered({ body: (real: object) => ({ ...real, description: 5 }) })(hand);
          hand.emulator.intercept("read", { status: 403, body: "" }, 9);
        },
        program: { o: { ...shop, description: "x" } },
        writes: ["POST shop"],
      },
      { writes: [] },
    ],
    live: ["shop"],
    state: { o: "shop" },
    stored: { o: { description: "x" } },
  },
  ...[
    ["another URL", { url: at("other") }],
    ["another type", { type: "ephemeral" }],
    ["an id that is no text", { id: 5 }],
  ].map(
    ([what, change]): Scene => ({
      name: `a create finds its endpoint after a reply with ${what}`,
      runs: [
        {
          byHand: answered({ body: (real: object) => ({ ...real, ...(change as object) }) }),
          program: { o: "shop" },
          writes: ["POST shop"],
        },
      ],
      live: ["shop"],
      state: { o: "shop" },
    }),
  ),
  {
    name: "a create finds its endpoint after a reply about a stranger's",
    runs: [
      {
        byHand: (hand) => {
          const theirs = hand.seed("theirs", { url: at("other") });
          const body = hand.emulator.endpoints.find(({ id }) => id === theirs) ?? {};
          answered({ status: 201, body })(hand);
        },
        program: { o: "shop" },
        writes: ["POST shop"],
      },
    ],
    live: ["shop", "theirs"],
    state: { o: "shop" },
  },
  {
    // Trap 2.
    name: "a create whose reply named an endpoint on another URL is never sent again, and fails with its id",
    service: trusting,
    runs: [
      {
        byHand: (hand) => {
          const before = () => void hand.seed("made", { url: `${shop.url}:8443` });
          const body = () => ({ ...hand.emulator.endpoints[0] });
          hand.emulator.intercept("create", { before, status: 201, body });
        },
        program: { o: "shop" },
        writes: ["POST shop"],
        fails: /ep_\w+[\s\S]*adopt/,
      },
    ],
    live: ["made"],
    state: {},
  },
  {
    // Trap 2: whatever becomes of the id.
    name: "a create whose reply named an id that the service does not know is never sent again, and fails with the id",
    runs: [
      {
        byHand: ({ emulator }) =>
          emulator.intercept("create", { status: 201, body: { id: "ep_named", type: "cloud" } }),
        program: { o: "shop" },
        writes: ["POST shop"],
        fails: /ep_named/,
      },
    ],
    live: [],
    state: {},
  },
  {
    name: "with marks, a create does not take an endpoint whose reply lacks its mark",
    settings: marks,
    runs: [
      {
        byHand: (hand) => {
          const theirs = hand.seed("theirs", shop);
          const body = hand.emulator.endpoints.find(({ id }) => id === theirs) ?? {};
          hand.emulator.intercept("create", { status: 201, body });
        },
        program: { o: "shop" },
        fails: /is served by ep_|ep_\w+[\s\S]*adopt/,
      },
    ],
    live: ["theirs"],
    state: {},
  },
];

/** The fields of an endpoint with the mark of `front` in another stack. */
export function markedFor(stack: string, now: number, nonce = "0011") {
  const time = new Date(now - 60_000).toISOString();
  const urn = `urn:pulumi:${stack}::shop::endpoints:index:CloudEndpoint::front`;
  const mark = { namespace: `team/${stack}`, urn, nonce, time };
  return { created_at: time, metadata: JSON.stringify({ "pulumi-endpoints": mark }) };
}
