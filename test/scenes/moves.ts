import { at, type Scene } from "./scene";

/* Renames, moves of URLs between resources, and moves between the two providers. */

const shop = { url: at("shop") };
const adopted = { ...shop, adopt: true };
const NAMED_CAUSES = /aliases[\s\S]*--target/;

export const renames: Scene[] = [
  {
    name: "a rename without an alias fails, names aliases and `--target`, and changes nothing",
    from: { o: "shop" },
    runs: [{ program: { n: "shop" }, writes: [], fails: NAMED_CAUSES }],
    live: ["shop"],
    state: { o: "shop" },
    stacks: true,
  },
  {
    name: "a rename with an alias sends nothing",
    from: { o: "shop" },
    runs: [{ program: { n: { ...shop, options: { alias: "o" } } }, writes: [] }, { writes: [] }],
    live: ["shop"],
    state: { n: "shop" },
    stacks: true,
  },
  {
    name: "a rename with an alias and a change is one PATCH",
    from: { o: "shop" },
    runs: [
      {
        program: { n: { ...shop, description: "x", options: { alias: "o" } } },
        writes: ["PATCH shop description"],
      },
    ],
    live: ["shop"],
    state: { n: "shop" },
  },
  {
    name: "a rename with `adopt` keeps the endpoint in one run, and its old entry goes without it",
    from: { o: "shop" },
    runs: [
      {
        program: { n: adopted },
        writes: [],
        says: [/belongs to another resource of this stack, so it was not/],
      },
    ],
    live: ["shop"],
    state: { n: "shop" },
    stacks: true,
  },
  {
    name: "a rename that adopts by id, with a change, is one PATCH",
    from: { o: "shop" },
    runs: [
      {
        program: { n: { ...shop, adopt: "@shop", description: "x" } },
        writes: ["PATCH shop description"],
      },
      { writes: [] },
    ],
    live: ["shop"],
    state: { n: "shop" },
  },
  {
    name: "`up --target` of the new name, a refresh, and then a full `up` keep the endpoint",
    from: { o: "shop" },
    runs: [
      { program: { n: adopted }, target: ["n"], writes: [] },
      { command: "refresh", writes: [] },
      { writes: [] },
      { command: "refresh", writes: [] },
    ],
    live: ["shop"],
    state: { n: "shop" },
  },
  {
    name: "of two entries with one endpoint, which adopted it in two runs, the last deletion deletes it",
    from: { o: "shop" },
    runs: [
      { program: { n: adopted }, target: ["n"], writes: [] },
      { command: "refresh", writes: [] },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
    live: [],
    state: {},
  },
  {
    // Trap 6.
    name: "`up --continue-on-error`: a refused take-over does not let the old entry delete the endpoint",
    from: { o: "shop" },
    runs: [
      {
        byHand: ({ emulator }) => emulator.intercept("update", { status: 422, body: "" }, 9),
        program: { n: { ...adopted, description: "x" } },
        continueOnError: true,
        writes: [],
        fails: /was not deleted/,
      },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    name: "the deletion of a removed resource frees its URL with `--target`, as the message says",
    from: { removed: "shop" },
    runs: [
      { program: { fresh: "shop" }, writes: [], fails: /--target/ },
      { program: {}, target: ["removed"], writes: ["DELETE shop"] },
      { program: { fresh: "shop" }, writes: ["POST shop"] },
    ],
    live: ["shop#2"],
    state: { fresh: "shop#2" },
  },
  {
    // Trap 1.
    name: "an entry without a token, as of an older state, deletes its endpoint",
    from: { o: "shop" },
    runs: [
      { byHand: withoutToken, command: "refresh", writes: [] },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
    live: [],
    state: {},
  },
  {
    // Trap 1.
    name: "an entry without a token is replaced, and its endpoint deleted",
    from: { o: "shop" },
    runs: [
      {
        byHand: withoutToken,
        program: { o: { url: "tls://secure.example.com" } },
        writes: ["DELETE shop", "POST secure"],
      },
    ],
    live: ["secure"],
    state: { o: "secure" },
  },
  {
    // Trap 1: the update gives the entry its token.
    name: "an entry without a token gets one with the next update, and then deletes its endpoint",
    from: { o: "shop" },
    runs: [
      {
        byHand: withoutToken,
        program: { o: { ...shop, description: "x" } },
        writes: ["PATCH shop description"],
      },
      { program: {}, writes: ["DELETE shop"] },
    ],
    live: [],
    state: {},
  },
];

export const moves: Scene[] = [
  {
    name: "another URL is one PATCH",
    from: { o: "a" },
    runs: [{ program: { o: "b" }, writes: ["PATCH a url=b"] }, { writes: [] }],
    live: ["a=b"],
    state: { o: "a" },
  },
  {
    name: "another scheme is a replacement",
    from: { o: "a" },
    runs: [{ program: { o: { url: "tls://b.example.com" } }, writes: ["DELETE a", "POST b"] }],
    live: ["b"],
    state: { o: "b" },
  },
  {
    name: "a forced replacement deletes first, and creates again",
    from: { o: "a" },
    runs: [{ program: { o: "a" }, replace: ["o"], writes: ["DELETE a", "POST a"] }],
    live: ["a#2"],
    state: { o: "a#2" },
    stacks: true,
  },
  {
    name: "a list by index that grows at its front moves each URL in one run",
    from: { l0: "y", l1: "z" },
    runs: [
      { program: { l0: "x", l1: "y", l2: "z" }, writes: ["PATCH y url=x", "PATCH z url=y", "POST z"] },
      { writes: [] },
    ],
    live: ["y=x", "z#2", "z=y"],
    state: { l0: "y", l1: "z", l2: "z#2" },
    engine: "parallel",
    stacks: true,
  },
  {
    name: "a chain of moves works in one run",
    from: { l0: "a", l1: "b", l2: "c" },
    runs: [
      { program: { l0: "b", l1: "c", l2: "d" }, writes: ["PATCH a url=b", "PATCH b url=c", "PATCH c url=d"] },
      { writes: [] },
    ],
    live: ["a=b", "b=c", "c=d"],
    state: { l0: "a", l1: "b", l2: "c" },
    engine: "parallel",
  },
  {
    name: "at `--parallel 1` a chain of moves works if the first to be asked leaves first",
    from: { one: "a", two: "b" },
    runs: [{ program: { one: "b", two: "c" }, writes: ["PATCH a url=b", "PATCH b url=c"] }],
    live: ["a=b", "b=c"],
    state: { one: "a", two: "b" },
    engine: "serial",
    order: ["two", "one"],
  },
  {
    name: "at `--parallel 1` a chain of moves fails with the causes if the first to be asked needs the second one's URL",
    from: { one: "a", two: "b" },
    runs: [{ program: { one: "b", two: "c" }, writes: [], fails: /--target[\s\S]*--replace/, seconds: 10 }],
    live: ["a", "b"],
    state: { one: "a", two: "b" },
    engine: "serial",
    order: ["one", "two"],
  },
  {
    name: "a swap fails, names the ways out, and changes nothing",
    from: { one: "a", two: "b" },
    runs: [{ program: { one: "b", two: "a" }, writes: [], fails: /--target|--replace/, seconds: 30 }],
    live: ["a", "b"],
    state: { one: "a", two: "b" },
    stacks: true,
  },
  {
    name: "a swap fails with the ways out of a taken URL, and never names `adopt`",
    from: { one: "a", two: "b" },
    runs: [
      {
        program: { one: "b", two: "a" },
        writes: [],
        fails: /^(?![\s\S]*adopt)[\s\S]*--target[\s\S]*--replace[\s\S]*deleteBeforeReplace/,
        seconds: 30,
      },
    ],
    live: ["a", "b"],
    state: { one: "a", two: "b" },
  },
  {
    name: "a swap works with `--replace` of one",
    from: { one: "a", two: "b" },
    runs: [
      {
        program: { one: "b", two: "a" },
        replace: ["one"],
        writes: ["DELETE a", "PATCH b url=a", "POST b"],
      },
      { writes: [] },
    ],
    live: ["b#2", "b=a"],
    state: { one: "b#2", two: "b" },
    engine: "parallel",
    stacks: true,
  },
  {
    name: "a create waits for the deletion of a replaced endpoint on its URL",
    from: { o: "a" },
    runs: [
      {
        program: { o: { url: "tls://b.example.com" }, p: "a" },
        writes: ["DELETE a", "POST a", "POST b"],
      },
      { writes: [] },
    ],
    live: ["a#2", "b"],
    state: { o: "b", p: "a#2" },
    engine: "parallel",
  },
  {
    name: "a list by index that drops its first URL fails, since deletions come last; `--target` of the removed one helps",
    from: { l0: "a", l1: "b" },
    runs: [
      { program: { l0: "b" }, writes: [], fails: /--target/ },
      { target: ["l1"], writes: ["DELETE b"] },
      { writes: ["PATCH a url=b"] },
    ],
    live: ["a=b"],
    state: { l0: "a" },
  },
  {
    name: "a move with `--target` to a URL whose owner is no target fails, and names `--target`",
    from: { one: "a", two: "b" },
    runs: [{ program: { one: "b", two: "c" }, target: ["one"], writes: [], fails: /--target/ }],
    live: ["a", "b"],
    state: { one: "a", two: "b" },
  },
  {
    name: "a move to a stranger's URL fails, and never names `adopt`",
    from: { o: "a" },
    runs: [
      {
        byHand: ({ seed }) => seed("theirs", { url: at("b") }),
        program: { o: "b" },
        writes: [],
        fails: /^(?![\s\S]*adopt)[\s\S]*is served by ep_/,
      },
    ],
    live: ["a", "theirs"],
    state: { o: "a" },
  },
  {
    name: "a move to a URL that is just being freed succeeds",
    from: { o: "a" },
    runs: [
      {
        byHand: ({ emulator }) => emulator.busy(at("b"), { ms: 3_000, code: 18016 }),
        program: { o: "b" },
        writes: ["PATCH a url=b"],
      },
    ],
    live: ["a=b"],
    state: { o: "a" },
  },
];

const other = { provider: "other" } as const;

export const betweenProviders: Scene[] = [
  {
    name: "a move to the other provider, and back, sends nothing",
    from: { o: { ...shop, description: "x" } },
    runs: [
      { program: { o: { ...shop, description: "x", options: other } }, writes: [] },
      { command: "refresh", writes: [] },
      { program: { o: { ...shop, description: "x" } }, writes: [] },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
    live: [],
    state: {},
  },
  {
    name: "a move to the other provider with a change is one PATCH",
    from: { o: "shop" },
    runs: [
      { program: { o: { ...shop, description: "x", options: other } }, writes: ["PATCH shop description"] },
    ],
    live: ["shop"],
    state: { o: "shop" },
  },
  {
    // Trap 8: the old entry is deleted by the other provider's process, which has not seen the adoption.
    name: "with marks, a rename that adopts and moves to the other provider keeps the endpoint, and then deletes it",
    settings: { mark: "team/dev" },
    from: { o: "shop" },
    runs: [
      { program: { n: { ...adopted, options: other } }, writes: ["PATCH shop metadata"] },
      { command: "refresh", writes: [] },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
    live: [],
    state: {},
  },
  {
    name: "URLs move between resources of both providers in one run",
    from: { one: "a", two: { url: at("b"), options: other } },
    runs: [
      {
        program: { one: "b", two: { url: at("c"), options: other } },
        writes: ["PATCH a url=b", "PATCH b url=c"],
      },
    ],
    live: ["a=b", "b=c"],
    state: { one: "a", two: "b" },
    engine: "parallel",
  },
];

function withoutToken({ editState }: Parameters<NonNullable<Scene["runs"][number]["byHand"]>>[0]) {
  return editState("o", ({ __entry: _, ...outputs }) => outputs);
}
