import { at, type Scene, scene, withMarks } from "./scene";

/* Renames, moves of URLs between resources, and moves between the two providers. */

const shop = { url: at("shop") };
const adopted = { ...shop, adopt: true };
const NAMED_CAUSES = /aliases.*--target/;

export const renames: Scene[] = [
  scene("a rename without an alias fails, names aliases and `--target`, and changes nothing", {
    from: { o: "shop" },
    program: { n: "shop" },
    fails: NAMED_CAUSES,
    state: { o: "shop" },
    stacks: true,
  }),
  scene("a rename with an alias sends nothing", {
    from: { o: "shop" },
    program: { n: { ...shop, options: { alias: "o" } } },
    next: [{}],
    stacks: true,
  }),
  scene("a rename with an alias and a change is one PATCH", {
    from: { o: "shop" },
    program: { n: { ...shop, description: "x", options: { alias: "o" } } },
    writes: ["PATCH shop description"],
  }),
  scene("a rename with `adopt` keeps the endpoint in one run, and its old entry goes without it", {
    from: { o: "shop" },
    program: { n: adopted },
    says: [/belongs to another resource of this stack, so it was not/],
    stacks: true,
  }),
  scene("`up --target` of the new name, a refresh, and then a full `up` keep the endpoint", {
    from: { o: "shop" },
    program: { n: adopted },
    target: ["n"],
    next: [{ command: "refresh" }, {}, { command: "refresh" }],
  }),
  scene("of two entries with one endpoint, which adopted it in two runs, the last deletion deletes it", {
    from: { o: "shop" },
    program: { n: adopted },
    target: ["n"],
    next: [{ command: "refresh" }, { command: "destroy", writes: ["DELETE shop"] }],
  }),
  scene("`up --continue-on-error`: a refused take-over does not let the old entry delete the endpoint", {
    // Trap 6.
    from: { o: "shop" },
    byHand: ({ emulator }) => emulator.intercept("update", { status: 422, body: "" }, 9),
    program: { n: { ...adopted, description: "x" } },
    continueOnError: true,
    fails: /was not deleted/,
    state: { o: "shop" },
  }),
  scene("an entry without a token gets one with the next update, and then deletes its endpoint", {
    // Trap 1: the update gives the entry its token.
    from: { o: "shop" },
    byHand: withoutToken,
    program: { o: { ...shop, description: "x" } },
    writes: ["PATCH shop description"],
    next: [{ program: {}, writes: ["DELETE shop"] }],
  }),
];

export const moves: Scene[] = [
  scene("another URL is one PATCH", {
    from: { o: "a" },
    program: { o: "b" },
    writes: ["PATCH a url=b"],
    next: [{}],
    state: { o: "a=b" },
  }),
  scene("another scheme is a replacement", {
    from: { o: "a" },
    program: { o: { url: "tls://b.example.com" } },
    writes: ["DELETE a", "POST b"],
  }),
  scene("a forced replacement deletes first, and creates again", {
    from: { o: "a" },
    program: { o: "a" },
    replace: ["o"],
    writes: ["DELETE a", "POST a"],
    state: { o: "a#2" },
    stacks: true,
  }),
  scene("a list by index that grows at its front moves each URL in one run", {
    from: { l0: "y", l1: "z" },
    program: { l0: "x", l1: "y", l2: "z" },
    writes: ["PATCH y url=x", "PATCH z url=y", "POST z"],
    next: [{}],
    state: { l0: "y=x", l1: "z=y", l2: "z#2" },
    engine: "parallel",
    stacks: true,
  }),
  scene("a move waits for longer than five seconds while the other's own request is repeated", {
    from: { one: "a", two: "b" },
    program: { one: "b", two: "c" },
    byHand: ({ emulator, id }) => {
      const ofTwo = ({ method, path }: { method: string; path: string }) =>
        method === "PATCH" && path.endsWith(id("b"));
      emulator.intercept(ofTwo, { status: 503, body: "" }, 5);
    },
    writes: ["PATCH a url=b", ...Array(5).fill("PATCH b url=c 503"), "PATCH b url=c"],
    state: { one: "a=b", two: "b=c" },
    engine: "parallel",
    order: ["two", "one"],
  }),
  scene("at `--parallel 1` a chain of moves fails if the first to be asked needs the second one's URL", {
    from: { one: "a", two: "b" },
    program: { one: "b", two: "c" },
    fails: /--target.*--replace/,
    seconds: 10,
    state: { one: "a", two: "b" },
    engine: "serial",
    order: ["one", "two"],
  }),
  scene("a swap fails, names its ways out and never `adopt`, and changes nothing", {
    from: { one: "a", two: "b" },
    program: { one: "b", two: "a" },
    fails: /^(?![\s\S]*(adopt|aliases)).*--target.*--replace.*deleteBeforeReplace/,
    seconds: 30,
    state: { one: "a", two: "b" },
    stacks: true,
  }),
  scene("a swap works with `--replace` of one", {
    from: { one: "a", two: "b" },
    program: { one: "b", two: "a" },
    replace: ["one"],
    writes: ["DELETE a", "PATCH b url=a", "POST b"],
    next: [{}],
    state: { one: "b#2", two: "b=a" },
    engine: "parallel",
    stacks: true,
  }),
  scene("a create waits for the deletion of a replaced endpoint on its URL", {
    from: { o: "a" },
    program: { o: { url: "tls://b.example.com" }, p: "a" },
    writes: ["DELETE a", "POST a", "POST b"],
    next: [{}],
    state: { o: "b", p: "a#2" },
    engine: "parallel",
  }),
  scene("a list that drops its first URL fails, since deletions come last; `--target` of the removed helps", {
    from: { l0: "a", l1: "b" },
    program: { l0: "b" },
    fails: /--target/,
    next: [{ target: ["l1"], writes: ["DELETE b"] }, { writes: ["PATCH a url=b"] }],
    state: { l0: "a=b" },
  }),
  scene("a move to a stranger's URL fails, and never names `adopt`", {
    from: { o: "a" },
    byHand: ({ seed }) => seed("theirs", { url: at("b") }),
    program: { o: "b" },
    fails: /^(?![\s\S]*adopt).*is served by ep_/,
    live: ["a", "theirs"],
    state: { o: "a" },
  }),
];

const other = { provider: "other" } as const;

export const betweenProviders: Scene[] = [
  scene("a move to the other provider, and back, sends nothing", {
    from: { o: { ...shop, description: "x" } },
    program: { o: { ...shop, description: "x", options: other } },
    next: [
      { command: "refresh" },
      { program: { o: { ...shop, description: "x" } } },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
  }),
  withMarks("a rename that adopts and moves to the other provider keeps the endpoint", {
    // Trap 8: the old entry is deleted by the other provider's process, which has not seen the adoption.
    from: { o: "shop" },
    program: { n: { ...adopted, options: other } },
    writes: ["PATCH shop metadata"],
    next: [{ command: "refresh" }, { command: "destroy", writes: ["DELETE shop"] }],
  }),
  scene("URLs move between resources of both providers in one run", {
    from: { one: "a", two: { url: at("b"), options: other } },
    program: { one: "b", two: { url: at("c"), options: other } },
    writes: ["PATCH a url=b", "PATCH b url=c"],
    state: { one: "a=b", two: "b=c" },
    engine: "parallel",
  }),
];

function withoutToken({ editState }: Parameters<NonNullable<Scene["runs"][number]["byHand"]>>[0]) {
  return editState("o", ({ __entry: _, ...outputs }) => outputs);
}
