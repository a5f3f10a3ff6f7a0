import type { ScriptedReply } from "../../sdk/testing/emulator";
import { at, error, forbidden, type Props, type Scenario, scenario } from "./scenario";
import { MET, MOVE_TAKEN, TAKEN } from "./takenUrls";

/* Renames, moves of URLs between resources, and moves between the two providers. */

const shop = { url: at("shop") };
const adopted = { ...shop, adopt: "@shop" };

export const renames: Scenario[] = [
  scenario("a rename without an alias fails, names aliases and the page, and an alias keeps the endpoint", {
    from: { o: "shop" },
    program: { n: "shop" },
    fails: TAKEN,
    next: [{ program: { n: { ...shop, options: { alias: "o" } } } }, { program: { n: "shop" } }],
    state: { n: "shop" },
  }),
  scenario(
    "a run that refreshes tells no more of a rename without an alias, and an alias keeps the endpoint",
    {
      from: { o: "shop" },
      program: { n: "shop" },
      refresh: true,
      fails: TAKEN,
      next: [{ program: { n: { ...shop, options: { alias: "o" } } }, refresh: true }],
      state: { n: "shop" },
    },
  ),
  scenario("a rename with an alias sends nothing", {
    from: { o: "shop" },
    program: { n: { ...shop, options: { alias: "o" } } },
    next: [{}],
  }),
  scenario("a rename with an alias and a change is one PATCH", {
    from: { o: "shop" },
    program: { n: { ...shop, description: "x", options: { alias: "o" } } },
    writes: ["PATCH shop description"],
  }),
  scenario("a rename with `adopt` keeps the endpoint in one run, and only drops the old entry", {
    from: { o: "shop" },
    program: { n: adopted },
    says: [/belongs to another resource of this stack, so it was not/],
    stacks: true,
  }),
  scenario("a rename that adopts by id, with a change, is one PATCH", {
    from: { o: "shop" },
    program: { n: { ...shop, adopt: "@shop", description: "x" } },
    writes: ["PATCH shop description"],
    next: [{}],
  }),
  scenario("`up --target` of the new name, a refresh, and then a full `up` keep the endpoint", {
    from: { o: "shop" },
    program: { n: adopted },
    target: ["n"],
    next: [{ command: "refresh" }, {}, { command: "refresh" }],
  }),
  scenario("if two entries have one endpoint, the last deletion of the two deletes the endpoint", {
    from: { o: "shop" },
    program: { n: adopted },
    target: ["n"],
    next: [{ command: "refresh" }, { command: "destroy", writes: ["DELETE shop"] }],
  }),
  scenario(
    "`up --continue-on-error`: after a refused adoption, the old entry's deletion keeps the endpoint",
    {
      from: { o: "shop" },
      before: ({ emulator }) => emulator.intercept("update", { status: 422, body: "" }, 9),
      program: { n: { ...adopted, description: "x" } },
      continueOnError: true,
      fails: /was not deleted/,
      state: { o: "shop" },
    },
  ),
  ...[
    { adopt: "@shop", overrides: {} },
    { adopt: "@shop", url: at("moved"), overrides: {} },
    { overrides: { adopt: "@shop" } },
  ].map(({ overrides, ...adopts }) =>
    scenario(
      `after an adoption that cannot read its endpoint, the old entry's deletion keeps the endpoint: ${JSON.stringify({ ...adopts, overrides })}`,
      {
        from: { o: "shop" },
        program: { first: "first", n: { ...shop, ...adopts } },
        overrides,
        before: ({ emulator }) =>
          emulator.intercept("create", {
            afterCommit: true,
            after: () => emulator.intercept(({ method }) => method === "GET", forbidden, 99),
          }),
        engine: "serial",
        order: ["first", "n", "o"],
        continueOnError: true,
        writes: ["POST first"],
        fails: /was not deleted, because this run adopts/,
        state: { o: "shop", first: "first" },
      },
    ),
  ),
  scenario("a new resource takes over the endpoint of a removed one by an alias, as the page says", {
    from: { removed: { ...shop, description: "old" } },
    program: { fresh: "shop" },
    fails: TAKEN,
    next: [
      { program: { fresh: { ...shop, options: { alias: "removed" } } }, writes: ["PATCH shop description"] },
    ],
    state: { fresh: "shop" },
  }),
  scenario("an entry of an older state, without `__entryId`, deletes its endpoint", {
    from: { o: "shop" },
    before: withoutEntryId,
    command: "refresh",
    next: [{ command: "destroy", writes: ["DELETE shop"] }],
  }),
  scenario("`stack rename` and then `destroy` delete every endpoint", {
    from: { one: "a", two: "b" },
    before: ({ renameStack }) => renameStack("dev", "prod"),
    stack: "prod",
    command: "destroy",
    writes: ["DELETE a", "DELETE b"],
    reads: [],
  }),
  scenario("after `stack rename`, `up` changes nothing, and later runs update and delete", {
    from: { o: { ...shop, metadata: { a: 1 } } },
    before: ({ renameStack }) => renameStack("dev", "prod"),
    stack: "prod",
    next: [
      { stack: "prod", command: "refresh" },
      { stack: "prod", program: { o: { ...shop, metadata: { a: 2 } } }, writes: ["PATCH shop metadata"] },
      { stack: "prod", program: {}, writes: ["DELETE shop"] },
    ],
  }),
  scenario("the replacement of an entry without `__entryId` deletes the old endpoint", {
    from: { o: "shop" },
    before: withoutEntryId,
    program: { o: { url: "tls://secure.example.com" } },
    writes: ["DELETE shop", "POST secure"],
  }),
  scenario("an entry without `__entryId` gets an id with the next update, and then deletes its endpoint", {
    from: { o: "shop" },
    before: withoutEntryId,
    program: { o: { ...shop, description: "x" } },
    writes: ["PATCH shop description"],
    next: [{ program: {}, writes: ["DELETE shop"] }],
  }),
];

export const moves: Scenario[] = [
  scenario("another URL is one PATCH", {
    from: { o: "a" },
    program: { o: "b" },
    writes: ["PATCH a url=b"],
    next: [{}],
    state: { o: "a=b" },
  }),
  scenario("another scheme is a replacement", {
    from: { o: "a" },
    program: { o: { url: "tls://b.example.com" } },
    writes: ["DELETE a", "POST b"],
  }),
  scenario("a forced replacement deletes first, and creates again", {
    from: { o: "a" },
    program: { o: "a" },
    replace: ["o"],
    writes: ["DELETE a", "POST a"],
    state: { o: "a#2" },
  }),
  scenario("a list by index that grows at its front moves each URL in one run", {
    from: { l0: "y", l1: "z" },
    program: { l0: "x", l1: "y", l2: "z" },
    writes: ["PATCH y url=x", "PATCH z url=y", "POST z"],
    next: [{}],
    state: { l0: "y=x", l1: "z=y", l2: "z#2" },
    engine: "parallel",
  }),
  scenario("a chain of moves works in one run", {
    from: { l0: "a", l1: "b", l2: "c" },
    program: { l0: "b", l1: "c", l2: "d" },
    writes: ["PATCH a url=b", "PATCH b url=c", "PATCH c url=d"],
    next: [{}],
    state: { l0: "a=b", l1: "b=c", l2: "c=d" },
    engine: "parallel",
  }),
  scenario("a move waits longer than five seconds while the request that frees its URL is repeated", {
    from: { one: "a", two: "b" },
    program: { one: "b", two: "c" },
    before: ({ emulator, id }) => {
      const ofTwo = ({ method, path }: { method: string; path: string }) =>
        method === "PATCH" && path.endsWith(id("b"));
      emulator.intercept(ofTwo, { status: 503, body: "" }, 5);
    },
    writes: ["PATCH a url=b", ...Array(5).fill("PATCH b url=c 503"), "PATCH b url=c"],
    state: { one: "a=b", two: "b=c" },
    engine: "parallel",
    order: ["two", "one"],
  }),
  scenario("a move whose URL stays refused, although its holder has moved away, fails after a few tries", {
    from: { one: "a", two: "b" },
    program: { one: "c", two: "a" },
    before: ({ emulator, id }) => {
      const of = (method: string, name: string) => (request: { method: string; path: string }) =>
        request.method === method && request.path.endsWith(id(name));
      const stale = (real: object) => ({ ...real, url: at("a") });
      const stalePage = (page: { endpoints: { id: string }[] }) => ({
        ...page,
        endpoints: page.endpoints.map((item) => (item.id === id("a") ? stale(item) : item)),
      });
      emulator.intercept(of("PATCH", "b"), error(400, 18017), 99);
      emulator.intercept(of("GET", "a"), { afterCommit: true, body: stale } as ScriptedReply, 99);
      emulator.intercept("list", { afterCommit: true, body: stalePage } as ScriptedReply, 99);
    },
    writes: ["PATCH a url=c"],
    fails: MET,
    state: { one: "a=c", two: "b" },
    engine: "parallel",
    order: ["one", "two"],
  }),
  scenario("at `--parallel 1`, a chain of moves works if the engine begins with the free URL", {
    from: { one: "a", two: "b" },
    program: { one: "b", two: "c" },
    writes: ["PATCH a url=b", "PATCH b url=c"],
    state: { one: "a=b", two: "b=c" },
    engine: "serial",
    order: ["two", "one"],
  }),
  scenario("at `--parallel 1`, a chain of moves fails if the engine begins with a URL that is not free yet", {
    from: { one: "a", two: "b" },
    program: { one: "b", two: "c" },
    fails: /is served by ep_\w+, .*(who-has ep_|run the command again, once)/,
    seconds: 10,
    state: { one: "a", two: "b" },
    engine: "serial",
    order: ["one", "two"],
  }),
  scenario("a swap fails twice without a change, and works by a third URL, as the page says", {
    from: { one: "a", two: "b" },
    program: { one: "b", two: "a" },
    fails: /^(?![\s\S]*(adopt|aliases|--replace|--target)).*run the command again, once/,
    seconds: 30,
    next: [
      { fails: /is served by ep_/ },
      { program: { one: "c", two: "a" }, writes: ["PATCH a url=c", "PATCH b url=a"] },
      { program: { one: "b", two: "a" }, writes: ["PATCH a url=b"] },
      {},
    ],
    state: { one: "a=b", two: "b=a" },
    order: ["one", "two"],
  }),
  scenario("with `--refresh`, a create waits for the endpoint that leaves its URL, too", {
    from: { o: "a" },
    program: { o: "b", n: "a" },
    refresh: true,
    order: ["n", "o"],
    writes: ["PATCH a url=b", "POST a"],
    state: { o: "a=b", n: "a#2" },
    engine: "parallel",
  }),
  scenario("a create waits for the deletion of a replaced endpoint on its URL", {
    from: { o: "a" },
    program: { o: { url: "tls://b.example.com" }, p: "a" },
    writes: ["DELETE a", "POST a", "POST b"],
    next: [{}],
    state: { o: "b", p: "a#2" },
    engine: "parallel",
  }),
  scenario(
    "a list that drops its first URL fails, since deletions come last, and the page's `--target` helps",
    {
      from: { l0: "a", l1: "b" },
      program: { l0: "b" },
      fails: MOVE_TAKEN,
      next: [{ target: ["l1"], writes: ["DELETE b"] }, { writes: ["PATCH a url=b"] }],
      state: { l0: "a=b" },
    },
  ),
  scenario("a move with `--target` to a URL whose owner is no target fails", {
    from: { one: "a", two: "b" },
    program: { one: "b", two: "c" },
    target: ["one"],
    fails: MOVE_TAKEN,
    state: { one: "a", two: "b" },
  }),
  scenario("a move to a stranger's URL fails, and never names `adopt`", {
    from: { o: "a" },
    before: ({ seed }) => seed("theirs", { url: at("b") }),
    program: { o: "b" },
    fails: MOVE_TAKEN,
    live: ["a", "theirs"],
    state: { o: "a" },
  }),
  scenario("a move to a URL that is just being freed succeeds", {
    from: { o: "a" },
    before: ({ emulator }) => emulator.intercept("update", error(400, 18016), 2),
    program: { o: "b" },
    writes: ["PATCH a url=b"],
    state: { o: "a=b" },
  }),
];

const other = { provider: "other" } as const;

const bridged = {
  ...shop,
  description: "x",
  metadata: { team: "shop" },
  trafficPolicy: { on_http_request: [] },
};

/** The outputs of the bridge's `ngrok:index/cloudEndpoint:CloudEndpoint` (terraform-provider 0.10.0, ngrok 0.8.0). */
const asTheBridgeWrites = ({ url, description, createdAt, uri }: Props): Props => ({
  ...{ __pulumi_raw_state_delta: { obj: { ps: { bindings: { arr: {} } } } }, bindings: ["public"] },
  ...{ url, description, createdAt, updatedAt: createdAt, uri, type: "cloud", region: "", domainId: "rd_1" },
  ...{ metadata: '{"team": "shop"}', trafficPolicy: "on_http_request: []", poolingEnabled: false },
});

export const betweenProviders: Scenario[] = [
  scenario("a move to the other provider, and back, sends nothing", {
    from: { o: { ...shop, description: "x" } },
    program: { o: { ...shop, description: "x", options: other } },
    next: [
      { command: "refresh" },
      { program: { o: { ...shop, description: "x" } } },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
  }),
  scenario("a move to the other provider with a change is one PATCH", {
    from: { o: "shop" },
    program: { o: { ...shop, description: "x", options: other } },
    writes: ["PATCH shop description"],
  }),
  scenario("URLs move between resources of both providers in one run", {
    from: { one: "a", two: { url: at("b"), options: other } },
    program: { one: "b", two: { url: at("c"), options: other } },
    writes: ["PATCH a url=b", "PATCH b url=c"],
    state: { one: "a=b", two: "b=c" },
    engine: "parallel",
  }),
  scenario(
    "an endpoint comes from the Terraform provider's bridge without a request, has all outputs after a refresh and an `up`, and goes if it is deleted",
    {
      from: { o: bridged },
      before: ({ editState }) => editState("o", asTheBridgeWrites),
      reads: [],
      next: [
        { command: "refresh" },
        { outputs: { o: { publicUrl: at("shop"), trafficPolicy: '{"on_http_request":[]}' } } },
        { later: true, before: ({ emulator, id }) => emulator.remove(id("shop")), command: "refresh" },
      ],
      state: {},
    },
  ),
];

function withoutEntryId({ editState }: Parameters<NonNullable<Scenario["runs"][number]["before"]>>[0]) {
  return editState("o", ({ __entryId: _, ...outputs }) => outputs);
}
