import { markedFor } from "./creates";
import { at, type Scene } from "./scene";

/* Who owns an endpoint: adoption, and marks. */

const shop = { url: at("shop") };
const adopted = { ...shop, adopt: true };
const marks = { mark: "team/dev" };

export const adoption: Scene[] = [
  {
    name: "an endpoint that is as the program wants it is adopted without a write",
    runs: [
      {
        byHand: ({ seed }) => seed("theirs", { ...shop, description: "x" }),
        program: { o: { ...adopted, description: "x" } },
        writes: [],
        says: [/adopts ep_\w+ as it is/],
      },
      { writes: [] },
    ],
    live: ["theirs"],
    state: { o: "theirs" },
  },
  {
    name: "an adoption says at the preview what it changes, and changes only that",
    runs: [
      {
        byHand: ({ seed }) => seed("theirs", { ...shop, description: "x", metadata: '{"a":1}' }),
        program: { o: { ...shop, adopt: "@theirs", metadata: { a: 1 } } },
        writes: ["PATCH theirs description"],
        says: [/adopts ep_\w+ and changes description/],
      },
    ],
    live: ["theirs"],
    state: { o: "theirs" },
    fields: { theirs: { metadata: '{"a":1}' } },
    stacks: true,
  },
  {
    name: "an adoption that leaves the program later is no change",
    runs: [
      { byHand: ({ seed }) => seed("theirs", shop), program: { o: adopted }, writes: [] },
      { program: { o: "shop" }, writes: [] },
      { command: "refresh", writes: [] },
      { writes: [] },
    ],
    live: ["theirs"],
    state: { o: "theirs" },
  },
  {
    name: "`adopt: true` creates an endpoint if none has the URL, and says so",
    runs: [{ program: { o: adopted }, writes: ["POST shop"], says: [/no cloud endpoint to adopt/] }],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "`adopt: true` fails if several endpoints have the URL, and its id settles it",
    runs: [
      {
        byHand: ({ seed }) => {
          for (const name of ["one", "two"]) seed(name, { ...shop, pooling_enabled: true });
        },
        program: { o: { ...adopted, poolingEnabled: true } },
        writes: [],
        fails: /ep_\w+, ep_/,
      },
      { program: { o: { ...shop, poolingEnabled: true, adopt: "@two" } }, writes: [] },
    ],
    live: ["one", "two"],
    state: { o: "two" },
  },
  ...[["one", "two"], ["one"]].map(
    (members): Scene => ({
      name: `\`adopt: true\` fails in a pool of ${members.length}, although a filter omits a member`,
      settings: { listFilter: "on" },
      service: { filters: "incomplete" },
      runs: [
        {
          byHand: ({ seed }) => {
            for (const name of members) seed(name, { ...shop, pooling_enabled: true });
          },
          program: { o: { ...adopted, poolingEnabled: true } },
          writes: [],
          fails: /Several cloud endpoints can share .* which has ep_/,
        },
      ],
      live: members,
      state: {},
    }),
  ),
  ...[
    ["an unknown id", { ...shop, adopt: "ep_nobody" }, /no endpoint ep_nobody/],
    ["an agent's endpoint", { ...shop, adopt: "@agent" }, /of type ephemeral/],
    ["an endpoint with another scheme", { url: "tls://shop.example.com", adopt: "@theirs" }, /scheme/],
  ].map(
    ([what, o, fails]): Scene => ({
      name: `the adoption of ${what} fails at the preview`,
      runs: [
        {
          byHand: ({ seed }) => {
            seed("theirs", shop);
            seed("agent", { type: "ephemeral", url: at("agent") });
          },
          program: { o: o as typeof shop },
          writes: [],
          fails: fails as RegExp,
        },
      ],
      live: ["agent", "theirs"],
      state: {},
    }),
  ),
  {
    name: "no resource adopts the endpoint of another resource of the program",
    from: { o: "shop" },
    runs: [
      {
        program: { o: "shop", n: { url: at("other"), adopt: "@shop" } },
        writes: [],
        fails: /already belongs to another resource/,
      },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "the replacement of an adopted endpoint deletes it, and creates another",
    runs: [
      { byHand: ({ seed }) => seed("theirs", shop), program: { o: { ...shop, adopt: "@theirs" } } },
      {
        program: { o: { ...shop, adopt: "@theirs" } },
        replace: ["o"],
        writes: ["DELETE theirs", "POST shop"],
      },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "a refused adoption leaves nothing in the state",
    runs: [
      {
        byHand: ({ seed, emulator }) => {
          seed("theirs", shop);
          emulator.intercept("update", { status: 422, body: "" }, 9);
        },
        program: { o: { ...adopted, description: "x" } },
        writes: [],
        fails: /422/,
      },
    ],
    live: ["theirs"],
    state: {},
  },
];

/** The mark that another resource's adoption of our endpoint has written. */
const takenBy =
  (stack: string): NonNullable<Scene["runs"][number]["byHand"]> =>
  ({ emulator, id, clock }) => {
    const ours = emulator.endpoints.find((live) => live.id === id("shop"));
    const { metadata } = markedFor(stack, clock.now(), "0022");
    const mark = JSON.parse(metadata)["pulumi-endpoints"];
    emulator.edit(id("shop"), {
      metadata: JSON.stringify({ "pulumi-endpoints": { ...mark, time: ours?.created_at } }),
    });
  };

export const markedEndpoints: Scene[] = [
  {
    name: "with marks, the endpoint that a killed run left is taken over, and made as the program wants it",
    settings: marks,
    runs: [
      { program: { o: "shop" }, killed: true },
      { program: { o: { ...shop, description: "x" } }, writes: ["PATCH shop description metadata"] },
      { writes: [] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    // Trap 3: without the service's clock, the mark would have a time that is not that of its endpoint.
    name: "with marks, the endpoint of a killed run is taken over although the service's clock is two hours ahead",
    settings: marks,
    service: { date: 7_200_000, createdAt: 7_200_000 },
    runs: [
      { program: { o: "shop" }, killed: true, writes: ["POST shop"] },
      { writes: ["PATCH shop metadata"] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "with marks, a pooled resource takes over the endpoint that a killed run left, and makes no second one",
    settings: marks,
    runs: [
      { program: { o: { ...shop, poolingEnabled: true } }, killed: true },
      { writes: ["PATCH shop metadata"] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "with marks, the leftover of a resource with another name is not taken over, and the message names its alias",
    settings: marks,
    runs: [
      { program: { o: "shop" }, killed: true },
      { program: { n: "shop" }, writes: [], fails: /aliases: \["urn:[^"]+::o"\]/ },
    ],
    live: ["shop"],
    state: {},
  },
  {
    name: "with marks, an endpoint with a copy of our mark is not taken over",
    settings: marks,
    runs: [
      { program: { o: "shop" }, killed: true },
      {
        byHand: ({ emulator, id, clock }) =>
          emulator.edit(id("shop"), { created_at: new Date(clock.now() - 3_600_000).toISOString() }),
        writes: [],
        fails: /is served by ep_/,
      },
    ],
    live: ["shop"],
    state: {},
  },
  {
    // Trap 7.
    name: "with marks, everything goes after `stack rename` and `destroy`",
    settings: marks,
    from: { one: "a", two: "b" },
    runs: [
      {
        byHand: ({ renameStack }) => renameStack("dev", "prod"),
        stack: "prod",
        command: "destroy",
        writes: ["DELETE a", "DELETE b"],
      },
    ],
    live: [],
    state: {},
  },
  {
    // Trap 7.
    name: "with marks, `up` after `stack rename` changes nothing, and later updates and deletes",
    settings: marks,
    from: { o: { ...shop, metadata: { a: 1 } } },
    runs: [
      { byHand: ({ renameStack }) => renameStack("dev", "prod"), stack: "prod", writes: [] },
      { stack: "prod", command: "refresh", writes: [] },
      {
        stack: "prod",
        program: { o: { ...shop, metadata: { a: 2 } } },
        writes: ["PATCH shop metadata"],
      },
      { stack: "prod", program: {}, writes: ["DELETE shop"] },
    ],
    live: [],
    state: {},
  },
  {
    // Trap 9.
    name: "with marks, a take-over that was killed protects the endpoint from `destroy --target` of the old entry",
    settings: marks,
    from: { o: "shop" },
    runs: [
      { program: { n: adopted }, killed: true, writes: ["PATCH shop metadata"] },
      { command: "destroy", target: ["o"], writes: [], says: [/ep_\w+[\s\S]*not deleted/] },
      { writes: ["PATCH shop metadata"] },
    ],
    live: ["shop"],
    state: { n: "shop" },
  },
  {
    name: "with marks, the old entries of a list that was adopted by new ones go without their endpoints",
    settings: marks,
    from: { a: "a", b: "b" },
    runs: [
      {
        program: { c: { url: at("a"), adopt: true }, d: { url: at("b"), adopt: true } },
        target: ["c", "d"],
        writes: ["PATCH a metadata", "PATCH b metadata"],
      },
      { command: "destroy", target: ["a", "b"], writes: [] },
      { command: "refresh", writes: [] },
    ],
    live: ["a", "b"],
    state: { c: "a", d: "b" },
    order: ["c", "d", "a", "b"],
  },
  ...["dev", "prod"].map(
    (stack): Scene => ({
      name: `a deletion does not delete an endpoint with a newer mark of ${stack === "dev" ? "this" : "another"} stack`,
      settings: marks,
      from: { o: "shop" },
      runs: [
        {
          byHand: takenBy(stack),
          command: "destroy",
          writes: [],
          says: [/ep_\w+, which carries[\s\S]*not deleted/],
        },
      ],
      live: ["shop"],
      state: {},
    }),
  ),
  ...(["refresh", "up"] as const).map(
    (command): Scene => ({
      name: `${command} warns of an endpoint with the newer mark of another stack, and of the ways out`,
      settings: marks,
      from: { o: { ...shop, description: "a" } },
      runs: [
        {
          byHand: takenBy("prod"),
          command,
          program: { o: { ...shop, description: "b" } },
          says: [/ep_\w+[\s\S]*shop\/prod \(team\/prod\)[\s\S]*adopt/],
        },
      ],
      live: ["shop"],
      state: { o: "shop" },
    }),
  ),
  ...[
    ["is missing", undefined],
    ["is a copy of another endpoint's", "copied"],
  ].map(
    ([how, copied]): Scene => ({
      name: `a deletion deletes an endpoint whose mark ${how}`,
      settings: marks,
      from: { o: "shop" },
      runs: [
        {
          byHand: ({ emulator, id, clock }) =>
            emulator.edit(id("shop"), {
              metadata: copied && markedFor("dev", clock.now() - 3_600_000).metadata,
            }),
          command: "destroy",
          writes: ["DELETE shop"],
        },
      ],
      live: [],
      state: {},
    }),
  ),
  {
    name: "`adopt: true` does not take an endpoint with another stack's mark",
    settings: marks,
    runs: [
      {
        byHand: ({ seed, clock }) => seed("theirs", { ...shop, ...markedFor("prod", clock.now()) }),
        program: { o: adopted },
        writes: [],
        fails: /'front' of the stack shop\/prod \(team\/prod\)/,
      },
    ],
    live: ["theirs"],
    state: {},
  },
  ...[marks, {}].map(
    (settings): Scene => ({
      name: `${"mark" in settings ? "with" : "without"} marks, adopt with an id takes an endpoint with another stack's mark, says so at the preview, and removes that mark`,
      settings: settings as Record<string, string>,
      runs: [
        {
          byHand: ({ seed, clock }) => seed("theirs", { ...shop, ...markedFor("prod", clock.now()) }),
          program: { o: { ...shop, adopt: "@theirs" } },
          writes: ["PATCH theirs metadata"],
          says: [/adopts ep_\w+[\s\S]*its mark/],
        },
        { writes: [] },
      ],
      live: ["theirs"],
      state: { o: "theirs" },
    }),
  ),
  {
    name: "after a take-over by another stack, the old stack is warned, and its `destroy` leaves the endpoint",
    settings: marks,
    from: { o: "shop" },
    runs: [
      { stack: "prod", program: { p: { ...shop, adopt: "@shop" } }, writes: ["PATCH shop metadata"] },
      { command: "refresh", writes: [], says: [/ep_\w+[\s\S]*p' of the stack shop\/prod/] },
      { command: "destroy", writes: [], says: [/p' of the stack shop\/prod[\s\S]*not deleted/] },
      { stack: "prod", command: "refresh", writes: [] },
    ],
    live: ["shop"],
    state: { p: "shop" },
  },
  {
    name: "every change of metadata sends the mark, and a change of another field does not",
    settings: marks,
    from: { o: { ...shop, metadata: { a: 1 } } },
    runs: [
      {
        program: { o: { ...shop, metadata: { a: 1 }, description: "x" } },
        writes: ["PATCH shop description"],
      },
      { program: { o: { ...shop, metadata: { a: 2 }, description: "x" } }, writes: ["PATCH shop metadata"] },
      {
        byHand: ({ emulator, id }) => emulator.edit(id("shop"), { metadata: '{"a":2}' }),
        command: "refresh",
      },
      { writes: [] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "metadata that cannot hold a mark is created without one, which is told",
    settings: marks,
    runs: [
      { program: { o: { ...shop, metadata: "text" } }, writes: ["POST shop"], says: [/without a mark/] },
    ],
    live: ["shop"],
    state: { o: "shop" },
    fields: { shop: { metadata: "text" } },
  },
  {
    name: "the key of marks in a program's own metadata is a mistake",
    runs: [
      {
        program: { o: { ...shop, metadata: { "pulumi-endpoints": 1 } } },
        writes: [],
        fails: /metadata must not have the key pulumi-endpoints/,
      },
    ],
    live: [],
    state: {},
  },
];
