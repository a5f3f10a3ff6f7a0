import { at, error, forbidden, type Scenario, scenario } from "./scenario";

/* Adoptions for one run by ENDPOINTS_ADOPT. */

const shop = { url: at("shop") };
const pooled = { ...shop, poolingEnabled: true };
/** The variable for the stack of the scenarios. */
export const adopts = (...names: string[]) => adoptsFor("shop/dev", ...names);
const adoptsFor = (stack: string, ...names: string[]) => ({
  ENDPOINTS_ADOPT: `${stack}:${names.map((name) => `@${name}`).join(",")}`,
});
export const ANNOUNCED = /https:\/\/shop\.example\.com: adopts ep_\w+ .*\(ENDPOINTS_ADOPT\)/;

export const consent: Scenario[] = [
  scenario("a killed run's endpoint is named with the line to paste, which takes it over", {
    fromKilled: { o: "shop" },
    fails:
      /no stack has ep_\w+, set adopt to this id, or run `ENDPOINTS_ADOPT=shop\/dev:ep_\w+ pulumi up --refresh`/,
    next: [{ environment: adopts("shop"), says: [ANNOUNCED] }, {}],
    state: { o: "shop" },
  }),
  scenario("a killed run's endpoints are taken over in one run, each by the resource on its URL", {
    fromKilled: { one: "a", two: "b" },
    program: { one: { url: at("a"), description: "x" }, two: "b", three: "c" },
    environment: adopts("a", "b"),
    writes: ["PATCH a description", "POST c"],
    next: [{}],
  }),
  scenario("in a pool, an equal endpoint is taken over before another one", {
    others: {
      other: { ...shop, pooling_enabled: true, description: "x" },
      equal: { ...shop, pooling_enabled: true },
    },
    program: { o: pooled },
    environment: adopts("other", "equal"),
    state: { o: "equal" },
  }),
  scenario("in a pool, each resource takes over another endpoint", {
    fromKilled: { one: pooled, two: pooled },
    environment: adopts("shop", "shop#2"),
    program: { one: pooled, two: pooled, three: pooled },
    writes: ["POST shop"],
    says: [
      /adopts one of ep_\w+, ep_\w+ \(ENDPOINTS_ADOPT\), unless other resources of this pool take them all/,
    ],
    // The engine's order decides which resource takes which endpoint.
    next: [{ command: "destroy", writes: ["DELETE shop", "DELETE shop#2", "DELETE shop#3"] }],
  }),
  scenario("nothing is taken over on another URL, and a warning names an id that does not exist", {
    others: { theirs: { url: at("other") } },
    environment: { ENDPOINTS_ADOPT: "shop/dev:@theirs,ep_nobody" },
    writes: ["POST shop"],
    says: [/ENDPOINTS_ADOPT names ep_nobody, which does not exist in this account/],
    state: { o: "shop" },
  }),
  scenario("an agent's endpoint is not taken over", {
    others: { agent: { type: "ephemeral", url: at("shop") } },
    environment: adopts("agent"),
    fails: /an endpoint of type ephemeral/,
    says: [/ENDPOINTS_ADOPT names ep_\w+, which is of type ephemeral/],
  }),
  scenario("the endpoint of another resource is not taken over, not even in a pool", {
    from: { o: pooled },
    program: { o: pooled, n: pooled },
    environment: adopts("shop"),
    order: ["o", "n"],
    writes: ["POST shop"],
    state: { o: "shop", n: "shop#2" },
  }),
  ...[
    ["the form without a stack", "ep_1 ep_2", "project/stack:ep_1,ep_2"],
    ["a URL", "https://shop.example.com", "project/stack:ep_1,ep_2"],
    ["a stack without an id", "shop/dev:", "shop/dev:ep_1,ep_2"],
  ].map(([what, written = "", right = ""]) =>
    scenario(`${what} fails with the form that is right`, {
      environment: { ENDPOINTS_ADOPT: written },
      fails: new RegExp(
        `takes the project and the stack .* the ids of endpoints: ENDPOINTS_ADOPT=${right}\\.`,
      ),
    }),
  ),
  scenario("a replacement does not delete an endpoint that ENDPOINTS_ADOPT names", {
    from: { o: "shop" },
    environment: adopts("shop"),
    program: { o: "shop" },
    replace: ["o"],
    says: [
      /whose endpoint is in ENDPOINTS_ADOPT \(ep_\w+\), this run only drops the entry, and the endpoint stays\. /,
    ],
    next: [{ command: "destroy", writes: ["DELETE shop"] }],
    state: {},
  }),
  scenario(
    "a move to the other provider, in a process of its own, deletes no endpoint that ENDPOINTS_ADOPT names",
    {
      from: { o: "shop" },
      program: { n: { ...shop, options: { provider: "other" } } },
      environment: adopts("shop"),
      says: [
        ANNOUNCED,
        /whose endpoint is in ENDPOINTS_ADOPT \(ep_\w+\), this run only drops the entry, and the endpoint stays\. /,
      ],
      next: [{ command: "refresh" }, {}],
      state: { n: "shop" },
    },
  ),
  ...["check of a new resource", "check of an old resource"].map((what, isOld) =>
    scenario(`a variable for another stack fails at the ${what}, with one message in full`, {
      from: isOld ? { o: "shop", p: "a" } : {},
      others: isOld ? {} : { theirs: shop },
      program: { o: "shop", p: "a" },
      environment: adoptsFor("shop/prod", isOld ? "shop" : "theirs"),
      fails:
        /^[^\n]*ENDPOINTS_ADOPT is for shop\/prod, and this is shop\/dev\. Remove the variable\.(\n(?!.*shop\/prod).*)*$/,
      next: isOld ? [{}] : [],
      state: isOld ? { o: "shop", p: "a" } : {},
    }),
  ),
  scenario("refresh and destroy ignore the variable's stack, and destroy keeps the variable's endpoints", {
    from: { o: "shop", p: "a" },
    environment: adoptsFor("shop/prod", "shop"),
    command: "refresh",
    next: [
      {
        environment: adoptsFor("shop/prod", "shop"),
        command: "destroy",
        writes: ["DELETE a"],
        says: [
          /only drops the entry, and the endpoint stays\. Afterwards, `npx pulumi-endpoints drift` names those/,
        ],
      },
    ],
    live: ["shop"],
  }),
  scenario("a variable that stays set takes nothing else over, and a warning names what the stack has", {
    fromKilled: { o: "shop" },
    environment: adopts("shop"),
    next: [
      {
        environment: adopts("shop"),
        says: [/ep_\w+, and perhaps more of what ENDPOINTS_ADOPT names, is already in this stack/],
      },
      { environment: adopts("shop"), program: { o: "shop", p: "a" }, writes: ["POST a"] },
    ],
    state: { o: "shop", p: "a" },
  }),
  scenario(
    "with `--target`, a left variable gives the endpoint of an entry that the run does not meet, and the next run deletes nothing",
    {
      from: { o: { ...shop, description: "x" } },
      program: { n: shop },
      target: ["n"],
      environment: adopts("shop"),
      writes: ["PATCH shop description"],
      says: [ANNOUNCED],
      next: [
        {
          environment: adopts("shop"),
          // The engine may ask for the deletion before or after it compares the new resource.
          says: [
            /only drops the entry, and the endpoint stays\. |belongs to another resource of this stack, so it was not/,
          ],
        },
        {},
      ],
      state: { n: "shop" },
      engine: "serial",
    },
  ),
  scenario("with a left variable, another scheme makes a new endpoint and names the old one that stays", {
    from: { o: "shop" },
    program: { o: { url: "http://shop.example.com" } },
    environment: adopts("shop"),
    writes: ["POST shop"],
    says: [
      /whose endpoint is in ENDPOINTS_ADOPT \(ep_\w+\), this run only drops the entry, and the endpoint stays\. /,
    ],
    next: [{}],
    state: { o: "shop#2" },
    live: ["shop", "shop#2"],
  }),
  ...[
    ["o", "n"],
    ["n", "o"],
  ].map((order) =>
    scenario(`an endpoint that moves away is not taken over by a new resource on its old URL: ${order}`, {
      from: { o: "shop" },
      program: { o: "moved", n: "shop" },
      environment: adopts("shop"),
      order,
      ...(order[0] === "o"
        ? { writes: ["PATCH shop url=moved", "POST shop"], state: { o: "shop=moved", n: "shop#2" } }
        : { fails: /already belongs to another resource/, state: { o: "shop" } }),
      engine: "parallel",
    }),
  ),
  scenario("an endpoint that moves away is not adopted by a new resource on its old URL", {
    from: { o: "shop" },
    program: { o: "moved", n: { ...shop, adopt: "@shop" } },
    fails: /already belongs to another resource/,
    state: { o: "shop" },
  }),
  scenario("with `--refresh`, a new resource cannot adopt the endpoint of a removed resource", {
    from: { o: "shop" },
    program: { n: { ...shop, adopt: "@shop" } },
    refresh: true,
    fails: /already belongs to another resource of this stack.*aliases/,
    state: { o: "shop" },
  }),
  scenario("in a pool, a member in the variable that differs is named, and a new member is created", {
    others: { differs: { ...shop, pooling_enabled: true, description: "x" } },
    program: { o: pooled },
    environment: adopts("differs"),
    writes: ["POST shop"],
    says: [
      /no endpoint in ENDPOINTS_ADOPT equals .* The differences: ep_\w+ in description\. If one of the endpoints is/,
    ],
    state: { o: "shop" },
  }),
  scenario("in a pool, `adopt` with the id in that warning takes the member over, and changes it", {
    others: { differs: { ...shop, pooling_enabled: true, description: "x" } },
    program: { o: { ...pooled, adopt: "@differs" } },
    environment: adopts("differs"),
    writes: ["PATCH differs description"],
    next: [{ program: { o: pooled } }],
    state: { o: "differs" },
  }),
  scenario("in a pool, one 404 for the member in the variable creates no second member", {
    fromKilled: { o: pooled },
    environment: adopts("shop"),
    replies: [["by id", error(404, 1)]],
    says: [ANNOUNCED, /^(?![\s\S]*does not exist)/],
    state: { o: "shop" },
  }),
  ...[
    ["x", "y"],
    ["y", "x"],
  ].map((order) =>
    scenario(`the variable gives an endpoint that a resource adopts by id to no other resource: ${order}`, {
      others: { theirs: shop },
      program: { x: { url: at("moved"), adopt: "@theirs" }, y: "shop" },
      environment: adopts("theirs"),
      order,
      engine: "parallel",
      ...(order[0] === "x"
        ? { writes: ["PATCH theirs url=moved", "POST shop"], state: { x: "theirs=moved", y: "shop" } }
        : { fails: /already belongs to another resource/, live: ["theirs"], state: {} }),
    }),
  ),
  scenario("no warning names an equal member of a pool that another resource adopts", {
    others: { theirs: { ...shop, pooling_enabled: true } },
    program: { o: { ...pooled, adopt: "@theirs" }, n: pooled },
    order: ["o", "n"],
    writes: ["POST shop"],
    says: [/^(?![\s\S]*equal endpoint)/],
    state: { o: "theirs", n: "shop" },
  }),
  scenario("with `--replace`, a member of a pool in the variable stays the resource's endpoint", {
    from: { o: pooled },
    program: { o: pooled },
    replace: ["o"],
    environment: adopts("shop"),
    says: [/only drops the entry/],
    next: [{}],
    state: { o: "shop" },
  }),
  scenario("a recovery of equal members of a pool that failed half-way succeeds when run again", {
    fromKilled: { one: pooled, two: pooled, three: pooled },
    program: { one: pooled, two: pooled, three: pooled },
    environment: adopts("shop", "shop#2", "shop#3"),
    replies: [["by id", forbidden, 1]],
    refresh: true,
    fails: /403/,
    continueOnError: true,
    next: [
      {
        environment: adopts("shop", "shop#2", "shop#3"),
        refresh: true,
      },
      {},
    ],
    state: { one: "shop", two: "shop#2", three: "shop#3" },
    engine: "serial",
    order: ["one", "two", "three"],
  }),
  scenario("after the state was lost, the variable takes over each equal member of a pool", {
    fromKilled: { one: pooled, two: pooled },
    program: { one: pooled, two: pooled },
    environment: adopts("shop", "shop#2"),
    refresh: true,
    next: [{}],
    state: { one: "shop", two: "shop#2" },
    engine: "serial",
    order: ["one", "two"],
  }),
  scenario("a create in a pool warns of an equal member that no resource has, and names `drift`", {
    fromKilled: { one: pooled },
    program: { one: pooled, two: pooled },
    writes: ["POST shop", "POST shop"],
    says: [/the pool already has an equal endpoint, ep_\w+, created at [^\n]*npx pulumi-endpoints drift/],
    state: { one: "shop#2", two: "shop#3" },
    live: ["shop", "shop#2", "shop#3"],
    engine: "serial",
    order: ["one", "two"],
  }),
  scenario("a create in a pool does not warn of a member that another resource has", {
    from: { one: pooled },
    program: { one: pooled, two: pooled },
    order: ["one", "two"],
    writes: ["POST shop"],
    says: [/^(?![\s\S]*equal endpoint)/],
    state: { one: "shop", two: "shop#2" },
  }),
];
