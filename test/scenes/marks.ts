import { expect } from "vitest";
import {
  at,
  type Hand,
  markedFor,
  marks,
  omitsInList,
  type Props,
  type Scene,
  scene,
  withMarks,
} from "./scene";

/* Marks: what an earlier run left behind, and who owns an endpoint. */

const shop = { url: at("shop") };
const described = { ...shop, description: "x" };
const pooled = { ...shop, poolingEnabled: true };
const adopted = { ...shop, adopt: true };
const byId = { ...shop, adopt: "@theirs" };
const FRONT = /carries the mark of 'front' of the stack shop\/prod \(team\/prod\)/;

const markIn = (metadata = "{}"): Props => JSON.parse(metadata)["pulumi-endpoints"];
const liveOf = ({ emulator, id }: Hand, name = "shop") =>
  emulator.endpoints.find((live) => live.id === id(name));

/** Somebody changes the mark of our endpoint. */
const marking = (change: Props) => (hand: Hand) => {
  const { metadata = "{}" } = liveOf(hand) ?? {};
  const mark = { ...markIn(metadata), ...change };
  hand.emulator.edit(hand.id("shop"), {
    metadata: JSON.stringify({ ...JSON.parse(metadata), "pulumi-endpoints": mark }),
  });
};

/** Another resource's adoption of our endpoint writes its mark. */
const takenBy =
  (stack: string, mark: Props = {}, name = "shop") =>
  (hand: Hand) => {
    const time = liveOf(hand, name)?.created_at;
    const all = markIn(markedFor(stack, { nonce: "0022", time, ...mark }).metadata);
    hand.emulator.edit(hand.id(name), { metadata: JSON.stringify({ "pulumi-endpoints": all }) });
  };

const STAYS = /This stack forgets ep_\w+, which carries[\s\S]*not deleted/;

/** What keeps an endpoint with our mark from being our leftover. */
const noLeftovers: [string, (hand: Hand) => unknown][] = [
  [
    "of another age, whose mark is a copy",
    ({ emulator, id, clock }) =>
      emulator.edit(id("shop"), { created_at: new Date(clock.now() - 3_600_000).toISOString() }),
  ],
  ["of another stack", marking({ urn: "urn:pulumi:prod::shop::endpoints:index:CloudEndpoint::o" })],
  ["of another type", marking({ urn: "urn:pulumi:dev::shop::other:index:CloudEndpoint::o" })],
  ["of a component", marking({ urn: "urn:pulumi:dev::shop::my:Shop$endpoints:index:CloudEndpoint::o" })],
];

export const leftovers: Scene[] = [
  ...[shop, pooled].flatMap((o) => [
    withMarks(`a killed run's endpoint is taken over, and gets the program's inputs: ${JSON.stringify(o)}`, {
      leftBy: { o },
      later: true,
      program: { o: { ...o, description: "x" } },
      writes: ["PATCH shop description metadata"],
      says: [/takes over ep_\w+, which an earlier run of this stack created \(endpoints:mark\)/],
      next: [{}],
    }),
    ...noLeftovers.map(([what, byHand]) =>
      withMarks(`an endpoint ${what} is no leftover: ${JSON.stringify(o)}`, {
        leftBy: { o },
        byHand,
        ...(o === pooled
          ? { writes: ["POST shop"], live: ["shop", "shop#2"], state: { o: "shop#2" } }
          : { fails: /is served by ep_/, live: ["shop"] }),
      }),
    ),
  ]),
  withMarks("an endpoint whose mark has an unknown time is no leftover, and its owner is named", {
    leftBy: { o: "shop" },
    byHand: marking({ time: "unknown" }),
    fails: /is served by ep_\w+.*created for 'o' of the stack shop\/dev/,
    live: ["shop"],
  }),
  withMarks("a create in a pool fails if a mark of its own has an unknown time: it may be its leftover", {
    leftBy: { o: pooled },
    byHand: marking({ time: "unknown" }),
    fails: /Several cloud endpoints can share .*ep_\w+\. Set adopt/,
    live: ["shop"],
  }),
  withMarks("a killed run's endpoint in a pool is taken over although the list omits metadata", {
    leftBy: { o: pooled },
    later: true,
    byHand: omitsInList("metadata"),
    writes: ["PATCH shop metadata"],
    state: { o: "shop" },
  }),
  // By another clock, the mark would have another time than its endpoint.
  withMarks("a killed run's endpoint is taken over although the service's clock is two hours ahead", {
    service: { date: 7_200_000, createdAt: 7_200_000 },
    leftBy: { o: "shop" },
    writes: ["PATCH shop metadata"],
  }),
  withMarks("a killed run's endpoint is taken over although the create had to wait", {
    settings: { ...marks, retryForSeconds: "600" },
    replies: [
      ["create", { status: 429, headers: { "Retry-After": "100" }, body: { error_code: "ERR_NGROK_226" } }],
    ],
    killed: true,
    writes: ["POST shop"],
    next: [{ writes: ["PATCH shop metadata"] }],
  }),
  withMarks(
    "a destroy right after an adoption deletes the endpoint, whose list item still has the old mark",
    {
      service: { listLag: 4_000 },
      from: { o: "shop" },
      later: true,
      program: { n: { ...shop, adopt: "@shop" } },
      writes: ["PATCH shop metadata"],
      next: [{ command: "destroy", writes: ["DELETE shop"] }],
      live: [],
    },
  ),
  withMarks("a refresh right after an adoption warns of nobody: its list item still has the old mark", {
    service: { listLag: 4_000 },
    from: { o: "shop" },
    later: true,
    program: { n: { ...shop, adopt: "@shop" } },
    writes: ["PATCH shop metadata"],
    next: [{ command: "refresh", says: [/^(?![\s\S]*took it over)/] }],
    state: { n: "shop" },
  }),
  withMarks("the leftover of a resource with another name stays, and its alias is named", {
    leftBy: { o: "shop" },
    program: { n: "shop" },
    fails: /aliases: \["urn:[^"]+::o"\].*pulumi up --target.*somebody else/,
    live: ["shop"],
  }),
  withMarks("several leftovers in a pool are named, and none is taken over", {
    leftBy: { o: pooled },
    byHand: (hand) => {
      const { id: _, ...fields } = liveOf(hand) ?? {};
      hand.seed("copy", fields as Props);
    },
    fails: /Several cloud endpoints can share .*ep_\w+, ep_\w+\. Set adopt/,
    live: ["copy", "shop"],
  }),
  withMarks("a forced replacement in a pool that creates first keeps its own endpoint, and says so", {
    from: { o: { ...pooled, options: { createsFirst: true } } },
    later: true,
    replace: ["o"],
    writes: ["PATCH shop metadata"],
    says: [/takes over ep_/, /belongs to another resource of this stack, so it was not deleted/],
    state: { o: "shop" },
  }),
  withMarks("a create in a pool tells of an unreadable item, since it may be a leftover", {
    program: { o: pooled },
    replies: [
      [
        "list",
        { status: 200, body: { endpoints: [{ id: "ep_odd", type: "cloud", ...shop, port: "high" }] } },
      ],
    ],
    writes: ["POST shop"],
    says: [/cannot be read.*ep_odd/],
  }),
  withMarks("a move does not take over the leftover of its own resource", {
    leftBy: { o: "shop" },
    program: { o: "a" },
    writes: ["POST a"],
    next: [{ program: { o: "shop" }, fails: /is served by ep_/ }],
    live: ["a", "shop"],
    state: { o: "a" },
  }),
];

export const markedEndpoints: Scene[] = [
  withMarks("everything goes after `stack rename` and `destroy`", {
    from: { one: "a", two: "b" },
    byHand: ({ renameStack }) => renameStack("dev", "prod"),
    stack: "prod",
    command: "destroy",
    writes: ["DELETE a", "DELETE b"],
  }),
  withMarks("`up` after `stack rename` changes nothing, and later updates and deletes", {
    from: { o: { ...shop, metadata: { a: 1 } } },
    byHand: ({ renameStack }) => renameStack("dev", "prod"),
    stack: "prod",
    next: [
      { stack: "prod", command: "refresh" },
      { stack: "prod", program: { o: { ...shop, metadata: { a: 2 } } }, writes: ["PATCH shop metadata"] },
      { stack: "prod", program: {}, writes: ["DELETE shop"] },
    ],
  }),
  withMarks(
    "a new stack with the old name of a renamed one takes its endpoint over, and warns of just that",
    {
      from: { o: "shop" },
      byHand: ({ renameStack }) => renameStack("dev", "retired"),
      writes: ["PATCH shop metadata"],
      says: [/takes over ep_\w+.*a stack that was renamed.*pulumi state delete/],
      next: [
        {
          stack: "retired",
          command: "refresh",
          says: [/This stack has ep_\w+.*another resource took it over/],
        },
      ],
    },
  ),
  withMarks("a killed take-over protects the endpoint from `destroy --target` of the old entry", {
    from: { o: "shop" },
    program: { n: adopted },
    killed: true,
    writes: ["PATCH shop metadata"],
    next: [
      {
        command: "destroy",
        target: ["o"],
        says: [STAYS],
      },
      { writes: ["PATCH shop metadata"] },
    ],
  }),
  withMarks("the old entries of a list that was adopted by new ones go without their endpoints", {
    from: { a: "a", b: "b" },
    program: { c: { url: at("a"), adopt: true }, d: { url: at("b"), adopt: true } },
    target: ["c", "d"],
    writes: ["PATCH a metadata", "PATCH b metadata"],
    next: [
      { command: "destroy", target: ["a", "b"], reads: ["/endpoints/a", "/endpoints/b"] },
      { command: "refresh" },
    ],
    order: ["c", "d", "a", "b"],
  }),
  withMarks("a deletion sees a take-over that came after an earlier reading of the list", {
    others: { theirs: { url: at("b") } },
    from: { a: "a" },
    later: true,
    program: { b: { url: at("b"), adopt: true, description: "x" } },
    byHand: (hand) =>
      hand.emulator.intercept("update", { afterCommit: true, after: () => takenBy("dev", {}, "a")(hand) }),
    writes: ["PATCH theirs description"],
    says: [STAYS],
    state: { b: "theirs" },
    live: ["a", "theirs"],
  }),
  ...[takenBy("dev"), takenBy("prod"), takenBy("prod", { time: "unknown" })].map((byHand, index) =>
    withMarks(
      `a newer mark protects an endpoint from deletion: ${["this stack's", "another's", "of no time"][index]}`,
      {
        from: { o: "shop" },
        byHand,
        command: "destroy",
        says: [STAYS],
        live: ["shop"],
      },
    ),
  ),
  ...(["refresh", "up"] as const).flatMap((command) =>
    [marks, {}].map((settings) =>
      scene(`${command} warns of another stack's newer mark: ${JSON.stringify(settings)}`, {
        settings,
        from: { o: { ...shop, description: "a" } },
        byHand: takenBy("prod"),
        command,
        program: { o: described },
        writes: command === "up" ? ["PATCH shop description"] : [],
        says: [
          /ep_\w+, which carries the mark of 'front' of the stack shop\/prod \(team\/prod\): another resource took it over.*pulumi state delete.*set adopt: "ep_/,
        ],
      }),
    ),
  ),
  ...(["refresh", "up", "destroy"] as const).map((command) =>
    withMarks(
      `${command} sees the newer mark of another stack, also if the list omits metadata, and keeps it`,
      {
        from: { o: "shop" },
        byHand: (hand) => {
          takenBy("prod")(hand);
          omitsInList("metadata")(hand);
        },
        command,
        program: { o: { ...shop, metadata: { a: 1 } } },
        writes: command === "up" ? ["PATCH shop metadata"] : [],
        says: [FRONT],
        fields: { shop: { metadata: expect.stringContaining("team/prod") } },
        live: ["shop"],
      },
    ),
  ),
  withMarks(
    "a destroy keeps what another stack has just taken over, although the list does not show it yet",
    {
      service: { listLag: 4_000 },
      from: { o: "shop" },
      later: true,
      byHand: takenBy("prod"),
      command: "destroy",
      says: [/This stack forgets ep_\w+, which carries[\s\S]*not deleted/],
      live: ["shop"],
    },
  ),
  scene("an endpoint of a time before marks stays ours if a run is killed after it has marked it", {
    from: { o: { ...shop, metadata: { a: 1 } } },
    settings: {},
    with: marks,
    program: { o: { ...shop, metadata: { a: 2 } } },
    killed: true,
    writes: ["PATCH shop metadata"],
    next: [
      { with: marks, command: "refresh", says: [/^(?![\s\S]*took it over)/] },
      { with: marks, command: "destroy", writes: ["DELETE shop"] },
    ],
    live: [],
  }),
  withMarks(
    "an adoption whose metadata cannot hold a mark says that the other stack can delete the endpoint",
    {
      others: { theirs: { ...shop, ...markedFor("prod") } },
      program: { o: { ...byId, metadata: "text" } },
      writes: ["PATCH theirs metadata"],
      says: [/https:\/\/shop.example.com: has no mark \(endpoints:mark\), because its metadata is text/],
      state: { o: "theirs" },
    },
  ),
  ...[undefined, markedFor("dev").metadata].map((metadata) =>
    withMarks(`a deletion deletes an endpoint whose mark is ${metadata ? "a copy" : "missing"}`, {
      from: { o: "shop" },
      byHand: ({ emulator, id }) => emulator.edit(id("shop"), { metadata }),
      command: "destroy",
      writes: ["DELETE shop"],
    }),
  ),
  ...[marks, {}].flatMap((settings) => [
    ...[{}, { time: "unknown" }].map((mark) =>
      scene(
        `another stack's endpoint is not adopted by its URL: ${JSON.stringify({ ...settings, ...mark })}`,
        {
          settings,
          others: { theirs: { ...shop, ...markedFor("prod", mark) } },
          program: { o: adopted },
          fails:
            /The endpoint with this URL is ep_\w+, which carries the mark of 'front' of the stack shop\/prod \(team\/prod\).*pulumi state delete.*set adopt: "ep_\w+"\.$/,
        },
      ),
    ),
    scene(`\`adopt: true\` takes an endpoint with a copy of a mark: ${JSON.stringify(settings)}`, {
      settings,
      others: { theirs: { ...shop, ...markedFor("prod"), created_at: "2020-01-01T00:02:00Z" } },
      program: { o: adopted },
      writes: ["PATCH theirs metadata"],
      state: { o: "theirs" },
    }),
    scene(`adopt with an id takes another stack's endpoint, and says so: ${JSON.stringify(settings)}`, {
      settings,
      others: { theirs: { ...shop, ...markedFor("prod") } },
      program: { o: byId },
      writes: ["PATCH theirs metadata"],
      says: [
        /adopts ep_\w+, which carries the mark of 'front' of the stack shop\/prod.*, and changes its mark/,
      ],
      next: [
        { program: { o: "shop" } },
        { command: "refresh" },
        { command: "destroy", writes: ["DELETE theirs"] },
      ],
      live: [],
    }),
  ]),
  scene("a stack without marks removes a mark", {
    others: { theirs: { ...shop, ...markedFor("prod") } },
    program: { o: byId },
    writes: ["PATCH theirs metadata"],
    state: { o: "theirs" },
    fields: { theirs: expect.not.objectContaining({ metadata: expect.stringContaining("pulumi") }) },
  }),
  withMarks("an endpoint without a mark gets one by the first change of its metadata after its adoption", {
    others: { theirs: { ...shop, metadata: '{"a":1}' } },
    program: { o: { ...adopted, metadata: { a: 1 } } },
    next: [{ program: { o: { ...adopted, metadata: { a: 2 } } }, writes: ["PATCH theirs metadata"] }],
    state: { o: "theirs" },
    fields: { theirs: { metadata: expect.stringMatching(/"a":2.*"team\/dev"/) } },
  }),
  withMarks("after another stack's take-over, the old one is warned, and its `destroy` leaves the endpoint", {
    from: { o: "shop" },
    stack: "prod",
    program: { p: { ...shop, adopt: "@shop" } },
    writes: ["PATCH shop metadata"],
    next: [
      { command: "refresh", says: [/ep_\w+[\s\S]*p' of the stack shop\/prod/] },
      { command: "destroy", says: [/p' of the stack shop\/prod[\s\S]*not deleted/] },
      { stack: "prod", command: "refresh" },
    ],
  }),
  withMarks("every change of metadata sends the mark, and a change of another field does not", {
    from: { o: { ...shop, metadata: { a: 1 } } },
    program: { o: { ...described, metadata: { a: 1 } } },
    writes: ["PATCH shop description"],
    next: [
      { program: { o: { ...described, metadata: { a: 2 } } }, writes: ["PATCH shop metadata"] },
      {
        byHand: ({ emulator, id }) => emulator.edit(id("shop"), { metadata: '{"a":2}' }),
        command: "refresh",
      },
      {},
    ],
  }),
  withMarks("a create sends the mark, which neither inputs nor outputs show", {
    program: { o: { ...shop, metadata: { team: "shop" } } },
    writes: ["POST shop"],
    stored: { o: { metadata: '{"team":"shop"}' } },
    next: [{}, { command: "refresh", inputs: { o: { ...shop, metadata: { team: "shop" } } } }, {}],
    fields: {
      shop: {
        metadata: expect.stringMatching(
          /^\{"pulumi-endpoints":\{"namespace":"team\/dev","nonce":"[0-9a-f]{16}","time":"\d{4}-\d\d-\d\dT.*Z","urn":"urn:pulumi:dev::shop::[^"]+::o"\},"team":"shop"\}$/,
        ),
      },
    },
  }),
  ...[{}, { metadata: {} }].map((given) =>
    withMarks(`a mark alone is no metadata, also after somebody removed it: ${JSON.stringify(given)}`, {
      program: { o: { ...shop, ...given } },
      writes: ["POST shop"],
      stored: {
        o:
          "metadata" in given
            ? { metadata: "{}" }
            : expect.not.objectContaining({ metadata: expect.anything() }),
      },
      next: [
        {},
        { command: "refresh" },
        {},
        {
          byHand: ({ emulator, id }) => emulator.edit(id("shop"), { metadata: undefined }),
          command: "refresh",
        },
        {},
      ],
    }),
  ),
  withMarks("without the setting, a change of metadata keeps an existing mark, and adds no new one", {
    from: { o: { ...shop, metadata: { a: 1 } } },
    with: { mark: undefined },
    program: { o: { ...shop, metadata: { a: 2 } }, p: { url: at("p"), metadata: { a: 1 } } },
    writes: ["PATCH shop metadata", "POST p"],
    next: [
      {
        with: { mark: undefined },
        program: { o: { ...shop, metadata: { a: 2 } }, p: { url: at("p"), metadata: { a: 2 } } },
        writes: ["PATCH p metadata"],
      },
    ],
    fields: { shop: { metadata: expect.stringMatching(/"a":2.*"team\/dev"/) }, p: { metadata: '{"a":2}' } },
  }),
  withMarks("metadata that cannot hold a mark is created without one, which is told", {
    program: { o: { ...shop, metadata: "text" } },
    writes: ["POST shop"],
    says: [/has no mark \(endpoints:mark\), because its metadata is text/],
    fields: { shop: { metadata: "text" } },
  }),
  ...[{ "pulumi-endpoints": 1 }, '{"pulumi-endpoints":{"nonce":"1"}}'].map((metadata) =>
    scene(`the key of marks in a program's own metadata is a mistake: ${JSON.stringify(metadata)}`, {
      program: { o: { ...shop, metadata } },
      fails: /metadata must not have the key pulumi-endpoints, which is reserved/,
    }),
  ),
];
