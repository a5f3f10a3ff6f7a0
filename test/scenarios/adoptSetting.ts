import { at, error, forbidden, type Scenario, scenario } from "./scenario";
import { TAKEN } from "./takenUrls";

/* Adoptions by the stack's configuration, `endpoints:adopt`. */

const shop = { url: at("shop") };
const pooled = { ...shop, poolingEnabled: true };
/** The stack's configuration with the ids of these endpoints. */
export const adopts = (...names: string[]) => ({ adopt: names.map((name) => `@${name}`).join(",") });
export const ADOPTED =
  /https:\/\/shop\.example\.com: adopts ep_\w+ .*; nothing else may have it.*from endpoints:adopt; if the file of this stack was copied/;
export const LEFT =
  /endpoints:adopt names endpoints that this stack has: run `pulumi config rm endpoints:adopt`/;
const NOT_DELETED =
  /ep_\w+ was not deleted, because this run adopts or imports it, .*`pulumi config rm endpoints:adopt`/;
const NEEDS_PROGRAM =
  /endpoints:adopt names ep_\w+, a member of the pool .*: take it out \(`pulumi config rm endpoints:adopt`\)\. See "Adopt members of a pool"/;

export const adoptSetting: Scenario[] = [
  scenario("a killed run's endpoint is named, and the line of `who-has` takes it over", {
    fromKilled: { o: "shop" },
    fails: TAKEN,
    next: [
      { overrides: adopts("shop"), says: [ADOPTED] },
      // The command has written the setting into the stack's file.
      { overrides: adopts("shop"), says: [LEFT] },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
    state: {},
    live: [],
  }),
  scenario("a killed run's endpoints are taken over in one run, each by the resource on its URL", {
    fromKilled: { one: "a", two: "b" },
    program: { one: { url: at("a"), description: "x" }, two: "b", three: "c" },
    overrides: adopts("a", "b"),
    writes: ["PATCH a description", "POST c"],
    // A process tells each adoption, and warns once.
    says: [
      /: adopts ep_.*; nothing else may have it.*\n\S+ adopts ep_\w+ (as it is|and changes description)$/m,
    ],
    next: [{ overrides: adopts("a", "b"), says: [LEFT] }],
  }),
  scenario("a line that failed half-way takes over the rest when it is run again", {
    fromKilled: { one: "a", two: "b" },
    program: { one: "a", two: { url: at("b"), description: "x" } },
    overrides: adopts("a", "b"),
    replies: [["update", forbidden]],
    fails: /403/,
    order: ["one", "two"],
    next: [{ overrides: adopts("a", "b"), writes: ["PATCH b description"] }, {}],
    state: { one: "a", two: "b" },
  }),
  scenario("the setting may be a list, as `--path` writes it", {
    fromKilled: { o: "shop" },
    overrides: { adopt: '["@shop"]' },
    state: { o: "shop" },
  }),
  scenario("ids on another URL, of an agent, and of nothing are ignored", {
    others: { theirs: { url: at("other") }, agent: { type: "ephemeral", url: at("agent") } },
    program: { o: "shop" },
    overrides: { adopt: "@theirs,@agent,ep_nobody" },
    writes: ["POST shop"],
    says: [/^(?![\s\S]*ep_nobody)/],
    state: { o: "shop" },
  }),
  scenario("an agent's endpoint on the URL is not taken over", {
    // An endpoint with all that the resource has.
    others: { agent: { type: "ephemeral", bindings: ["public"], ...shop } },
    overrides: adopts("agent"),
    fails: /an endpoint of type ephemeral/,
    next: [{ command: "destroy", overrides: adopts("agent") }],
  }),
  scenario("to choose among many ids, each is read once a process", {
    program: { one: "a", two: "b", three: "c" },
    overrides: { adopt: "ep_1,ep_2" },
    order: ["one", "two", "three"],
    // The preview and the run are a process each.
    reads: Array(2).fill(["/endpoints", "/endpoints/unknown ep_1", "/endpoints/unknown ep_2"]).flat(),
    writes: ["POST a", "POST b", "POST c"],
  }),

  scenario(
    "a listed member of a pool is refused, because its URL does not tell which resource it belongs to",
    {
      fromKilled: { one: pooled },
      program: { one: pooled },
      overrides: adopts("shop"),
      fails: NEEDS_PROGRAM,
      next: [{ overrides: { adopt: undefined }, program: { one: { ...pooled, adopt: "@shop" } } }],
      state: { one: "shop" },
    },
  ),
  scenario("a listed member that a resource has keeps another one from being added, until the setting goes", {
    from: { one: pooled },
    program: { one: pooled, two: pooled },
    overrides: adopts("shop"),
    order: ["two", "one"],
    fails: NEEDS_PROGRAM,
    next: [{ overrides: { adopt: undefined }, writes: ["POST shop"] }, {}],
    state: { one: "shop", two: "shop#2" },
  }),
  scenario("a listed member that the stack has does not keep its pool from growing", {
    from: { one: pooled },
    program: { one: pooled, two: pooled },
    overrides: adopts("shop"),
    order: ["one", "two"],
    writes: ["POST shop"],
    says: [LEFT],
    state: { one: "shop", two: "shop#2" },
  }),
  scenario(
    "a pooled resource on the URL of an endpoint without a pool fails, and `adopt` of the program takes it over",
    {
      others: { theirs: shop },
      program: { o: pooled },
      fails: TAKEN,
      next: [{ program: { o: { ...pooled, adopt: "@theirs" } }, writes: ["PATCH theirs pooling_enabled"] }],
      state: { o: "theirs" },
    },
  ),
  scenario("a pool's member keeps its URL from a resource without a pool, and `adopt` takes it over", {
    others: { member: { ...shop, pooling_enabled: true } },
    overrides: adopts("member"),
    fails: TAKEN,
    next: [{ program: { o: { ...shop, adopt: "@member" } } }],
    state: { o: "member" },
  }),
  scenario("`adopt` in the program takes a member over, also one that a killed run left", {
    fromKilled: { one: pooled, two: pooled },
    program: { one: { ...pooled, adopt: "@shop" }, two: { ...pooled, adopt: "@shop#2" } },
    next: [{ program: { one: pooled, two: pooled } }],
    state: { one: "shop", two: "shop#2" },
  }),
  scenario("a setting that is no list of ids fails, and says how to remove it", {
    overrides: { adopt: "https://shop.example.com" },
    fails: /endpoints:adopt is no list of endpoints' ids, .*run `pulumi config rm endpoints:adopt`/,
  }),
  scenario("the setting takes over by id what the key may not list", {
    fromKilled: { o: "shop" },
    overrides: adopts("shop"),
    replies: [["list", forbidden, 9]],
    state: { o: "shop" },
  }),
  scenario("the setting takes over by id what a filtered list omits", {
    settings: { listFilter: "on" },
    service: { filters: "incomplete" },
    fromKilled: { one: "a", two: "b", three: "c" },
    program: { one: "a", two: "b", three: "c" },
    overrides: adopts("a", "b", "c"),
  }),
  scenario("the setting fails the preview if its endpoints cannot be read", {
    fromKilled: { o: "shop" },
    overrides: adopts("shop"),
    replies: [["any", forbidden, 9]],
    fails: /cannot adopt https:\/\/shop\.example\.com: .*403/,
    next: [{ overrides: adopts("shop") }],
    state: { o: "shop" },
  }),
  scenario("a secret URL is in no message of an adoption", {
    others: { theirs: { url: at("canary") } },
    program: { o: { url: at("canary"), options: { secret: ["url"] } } },
    overrides: adopts("theirs"),
    says: [/\[secret\]: adopts ep_\w+ as it is/],
    state: { o: "theirs" },
  }),
  scenario("a setting that stays gives a new resource nothing that the stack has", {
    from: { o: "shop" },
    program: { o: "shop", p: "a" },
    overrides: adopts("shop"),
    writes: ["POST a"],
    says: [LEFT],
    state: { o: "shop", p: "a" },
  }),
  scenario("a setting that stays does not keep an endpoint from `destroy`, and the next `up` creates anew", {
    from: { o: "shop" },
    overrides: adopts("shop"),
    command: "destroy",
    writes: ["DELETE shop"],
    next: [{ command: "up", overrides: adopts("shop"), writes: ["POST shop"] }],
    state: { o: "shop#2" },
    live: ["shop#2"],
  }),
  scenario("a setting that stays does not keep an endpoint from a new scheme", {
    from: { o: "shop" },
    program: { o: { url: "http://shop.example.com" } },
    overrides: adopts("shop"),
    writes: ["DELETE shop", "POST shop"],
    says: [LEFT],
    state: { o: "shop#2" },
    live: ["shop#2"],
    stacks: true,
  }),
  scenario("a setting that stays does not keep an endpoint from `replaceWith`", {
    from: { base: "base", o: "shop" },
    program: { base: "base", o: { ...shop, options: { replaceWith: "base" } } },
    replace: ["base"],
    order: ["base", "o"],
    overrides: adopts("shop"),
    writes: ["DELETE base", "POST base", "DELETE shop", "POST shop"],
    state: { base: "base#2", o: "shop#2" },
    live: ["base#2", "shop#2"],
  }),
  scenario("a setting that stays refuses `--replace` of its resource, and the message names the setting", {
    from: { o: "shop" },
    program: { o: "shop" },
    replace: ["o"],
    overrides: adopts("shop"),
    fails: NOT_DELETED,
    next: [{ replace: ["o"], overrides: { adopt: undefined }, writes: ["DELETE shop", "POST shop"] }],
    state: { o: "shop#2" },
    live: ["shop#2"],
    stacks: true,
  }),
  scenario("with `--replace`, the engine deletes the old entry after the create, and the endpoint stays", {
    from: { o: { ...shop, options: { deleteBeforeReplace: "unset" } } },
    replace: ["o"],
    overrides: adopts("shop"),
    says: [/belongs to another resource of this stack, so it was not deleted/],
    next: [{}],
    state: { o: "shop" },
  }),
  scenario("an endpoint of the stack that moves away stays with its resource", {
    from: { o: "shop" },
    program: { o: "moved", n: "shop" },
    overrides: adopts("shop"),
    order: ["o", "n"],
    engine: "parallel",
    writes: ["PATCH shop url=moved", "POST shop"],
    state: { o: "shop=moved", n: "shop#2" },
  }),
  scenario("a new resource that Pulumi takes first fails on the URL of an endpoint that moves away", {
    from: { o: "shop" },
    program: { o: "moved", n: "shop" },
    overrides: adopts("shop"),
    order: ["n", "o"],
    fails: /belongs to another resource of this stack, or will .*pulumi config rm endpoints:adopt/,
    next: [{ overrides: { adopt: undefined }, writes: ["PATCH shop url=moved", "POST shop"] }],
    engine: "parallel",
    state: { o: "shop=moved", n: "shop#2" },
  }),
  scenario("a rename without an alias keeps the endpoint, which belongs to the new resource", {
    from: { o: { ...shop, description: "x" } },
    program: { n: shop },
    overrides: adopts("shop"),
    writes: ["PATCH shop description"],
    says: [ADOPTED, /belongs to another resource of this stack, so it was not deleted/],
    next: [{}],
    state: { n: "shop" },
  }),
  scenario("a take-over that fails keeps the endpoint from deletion", {
    from: { o: { ...shop, description: "x" } },
    program: { n: shop },
    overrides: adopts("shop"),
    replies: [["update", error(422, 18005), 9]],
    continueOnError: true,
    fails: NOT_DELETED,
    state: { o: "shop" },
  }),
  scenario("a rename without an alias names aliases first in a run that refreshes", {
    from: { o: "shop" },
    program: { n: "shop" },
    overrides: adopts("shop"),
    refresh: true,
    fails: TAKEN,
    next: [{ fails: TAKEN }, { program: { n: { ...shop, options: { alias: "o" } } } }],
    state: { n: "shop" },
  }),
  scenario(
    "with `--target`, an adoption may share the endpoint of an entry, and the next run deletes nothing",
    {
      from: { o: { ...shop, description: "x" } },
      program: { n: shop },
      target: ["n"],
      overrides: adopts("shop"),
      writes: ["PATCH shop description"],
      next: [
        {
          overrides: adopts("shop"),
          says: [/belongs to another resource of this stack, so it was not deleted/],
        },
        {},
      ],
      state: { n: "shop" },
      engine: "serial",
    },
  ),
];
