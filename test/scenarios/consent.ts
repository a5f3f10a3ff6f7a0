import { at, error, forbidden, type Scenario, scenario } from "./scenario";

/* Adoptions for one run by ENDPOINTS_ADOPT, own endpoints after skipped deletions, and creates that a gateway refused. */

const shop = { url: at("shop") };
const pooled = { ...shop, poolingEnabled: true };
const adopts = (...names: string[]) => adoptsFor("shop/dev", ...names);
const adoptsFor = (stack: string, ...names: string[]) => ({
  ENDPOINTS_ADOPT: `${stack}:${names.map((name) => `@${name}`).join(",")}`,
});
const ANNOUNCED = /https:\/\/shop\.example\.com: adopts ep_\w+ .*\(ENDPOINTS_ADOPT\)/;

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

const retained = { retainOnDelete: true } as const;
const kept = { ...shop, options: retained };
/** A replacement whose deletion the engine skipped: its create finds the resource's own endpoint on the URL. */
const deletionSkipped = {
  from: { o: kept },
  replace: ["o"],
  fails: /ENDPOINTS_ADOPT=shop\/dev:ep_\w+ pulumi up --refresh/,
};

const secure = { url: "tls://secure.example.com" };
const withBase = { deletedWith: "base", deleteBeforeReplace: "unset" } as const;
/** A replacement by the provider's diff: the engine skipped its deletion, and its create failed. */
const skippedByBase = {
  from: { base: "base", o: { ...shop, options: withBase } },
  others: { theirs: secure },
  program: { base: "base", o: { ...secure, options: withBase } },
  replace: ["base"],
  order: ["base", "o"],
  writes: ["DELETE base", "POST base"],
  fails: /tls:\/\/secure\.example\.com is served by/,
  engine: "serial" as const,
};

export const ownEndpoints: Scenario[] = [
  scenario("an entry without an id of its own keeps its endpoint when another entry of it is deleted", {
    from: { o: "shop" },
    before: ({ editState }) => editState("o", ({ __entryId: _, ...outputs }) => outputs),
    program: { n: { ...shop, adopt: "@shop" } },
    target: ["n"],
    next: [
      {
        program: { o: "shop" },
        says: [/belongs to another resource of this stack, so it was not deleted/],
      },
      {},
    ],
    state: { o: "shop" },
  }),
  ...[false, true].map((poolingEnabled) =>
    scenario(
      `another scheme with \`retainOnDelete\` names the endpoint that stays${poolingEnabled ? ", in a pool too" : ""}`,
      {
        from: { o: { ...kept, poolingEnabled } },
        program: { o: { ...kept, poolingEnabled, url: "http://shop.example.com" } },
        writes: ["POST shop"],
        says: [/the replaced endpoint ep_\w+ is still live\. .*retainOnDelete.*npx pulumi-endpoints drift/],
        next: [{}],
        state: { o: "shop#2" },
        live: ["shop", "shop#2"],
      },
    ),
  ),
  scenario("another scheme without `retainOnDelete` deletes the old endpoint, and warns of nothing", {
    from: { o: "shop" },
    program: { o: { url: "http://shop.example.com" } },
    writes: ["DELETE shop", "POST shop"],
    says: [/^(?![\s\S]*still live)/],
    state: { o: "shop#2" },
    live: ["shop#2"],
  }),
  scenario("after a skipped deletion, the message's command keeps the endpoint", {
    ...deletionSkipped,
    next: [
      {
        fails:
          /It is this resource's own endpoint, whose deletion Pulumi skipped.*ENDPOINTS_ADOPT=shop\/dev:ep_/,
      },
      { environment: adopts("shop"), says: [ANNOUNCED] },
      {},
      { program: { o: "shop" } },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
    state: {},
    live: [],
  }),
  scenario("after a skipped deletion, `adopt` in the program keeps the endpoint", {
    ...deletionSkipped,
    next: [
      { program: { o: { ...kept, adopt: "@shop" } } },
      { program: { o: "shop" } },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
    state: {},
    live: [],
  }),
  scenario("after a skipped deletion, an entry without `__entryId` keeps its endpoint, too", {
    ...deletionSkipped,
    before: ({ editState }) => editState("o", ({ __entryId: _, ...outputs }) => outputs),
    next: [
      { environment: adopts("shop") },
      { program: { o: "shop" } },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
    state: {},
    live: [],
  }),
  scenario("after a skipped deletion, an adoption fails if its change is refused, and works later", {
    ...deletionSkipped,
    next: [
      {
        program: { o: { ...kept, description: "x" } },
        environment: adopts("shop"),
        replies: [["update", { status: 422, body: "" }, 9]],
        fails: /422/,
      },
      { environment: adopts("shop"), writes: ["PATCH shop description"] },
    ],
    state: { o: "shop" },
  }),
  scenario(
    "after a skipped deletion, an endpoint that is gone is created again without `adopt`, as the message says",
    {
      ...deletionSkipped,
      next: [
        {
          before: ({ emulator, id }) => emulator.remove(id("shop")),
          program: { o: { ...kept, adopt: "@shop" } },
          fails:
            /There is no endpoint ep_\w+ to adopt\. .*remove adopt: then `pulumi up` creates a new endpoint/,
        },
        { program: { o: kept }, writes: ["POST shop"] },
      ],
      state: { o: "shop#2" },
    },
  ),
  scenario("with `--replace`, the engine deletes the old entry after the create, and the endpoint stays", {
    from: { o: { ...shop, options: { deleteBeforeReplace: "unset" } } },
    replace: ["o"],
    environment: adopts("shop"),
    says: [/belongs to another resource of this stack, so it was not deleted/],
    next: [{}],
    state: { o: "shop" },
  }),
  scenario(
    "after a skipped deletion, `--replace` deletes the old entry of another language, and the endpoint stays",
    {
      ...skippedByBase,
      next: [
        {
          program: { base: "base", o: { ...shop, options: withBase } },
          replace: ["o"],
          environment: adopts("shop"),
          says: [/belongs to another resource of this stack, so it was not deleted/],
        },
        {},
      ],
      state: { base: "base#2", o: "shop" },
      live: ["base#2", "shop", "theirs"],
    },
  ),
  scenario("after a skipped deletion, refresh and destroy leave the endpoint alone", {
    ...deletionSkipped,
    next: [
      { command: "refresh", reads: [] },
      { command: "destroy", reads: [] },
    ],
    state: {},
    live: ["shop"],
  }),
  scenario("after a replacement whose create failed, the next run creates, and deletes nothing", {
    from: { o: "a" },
    program: { o: secure },
    replies: [["create", { status: 422, body: "" }]],
    writes: ["DELETE a"],
    fails: /status 422/,
    next: [{ command: "refresh", reads: [] }, { writes: ["POST secure"] }, {}],
    state: { o: "secure" },
  }),
  scenario(
    "after a replacement whose create failed, `--replace` from another language creates the endpoint",
    {
      from: { o: "a" },
      program: { o: { ...secure, options: { deleteBeforeReplace: "unset" } } },
      replies: [["create", { status: 422, body: "" }]],
      writes: ["DELETE a"],
      fails: /status 422/,
      later: true,
      next: [{ replace: ["o"], writes: ["POST secure"] }, {}],
      state: { o: "secure" },
    },
  ),
  scenario("`adopt` with a resource's own id does not let another resource adopt that id", {
    from: { o: "shop" },
    program: { o: { ...shop, adopt: "@shop" }, n: { url: at("other"), adopt: "@shop" } },
    only: "dynamic",
    fails: /already belongs to another resource/,
    state: { o: "shop" },
  }),
  scenario("a replacement creates a new endpoint although `adopt` stays in the program", {
    from: { o: "shop" },
    program: { o: { ...shop, adopt: "@shop" } },
    replace: ["o"],
    writes: ["DELETE shop", "POST shop"],
    state: { o: "shop#2" },
  }),
  scenario("another scheme with `adopt` fails at the preview", {
    from: { o: "shop" },
    others: { theirs: { url: "tls://secure.example.com" } },
    program: { o: { url: "tls://secure.example.com", adopt: "@shop" } },
    fails: /adopt names the endpoint that the new scheme replaces/,
    state: { o: "shop" },
  }),
];

/** A gateway's refusal of a create that took effect. */
const gatewayRefusal = (status: number) =>
  ({ afterCommit: true, status, headers: { "content-type": "text/html" }, body: "<html>" }) as const;

export const unclearRefusals: Scenario[] = [
  ...[400, 409, 422].map((status) =>
    scenario(
      `outside of pools, a create that a gateway refused with ${status} finds its endpoint, with a warning`,
      {
        replies: [["create", gatewayRefusal(status)]],
        writes: [],
        says: [/the create was refused with status \d+\. But ep_\w+ has .*so this run keeps it/],
        next: [{}],
      },
    ),
  ),
  ...[400, 409, 422].map((status) =>
    scenario(`in a pool, a create that a gateway refused with ${status} is not sent again`, {
      program: { o: pooled },
      replies: [["create", gatewayRefusal(status)]],
      fails:
        /The reply has no code of the service, .* Look for an endpoint on https:\/\/shop\.example\.com before/,
      next: [{ environment: adopts("shop") }],
      state: { o: "shop" },
    }),
  ),
  ...[302, 400, 401, 403, 404, 405, 409, 413, 422, 425, 499].map((status) =>
    scenario(
      `in a pool, a create that a gateway refused with ${status} without an effect fails and is not repeated`,
      {
        program: { o: pooled },
        replies: [["create", { status, body: "" }]],
        writes: status < 400 ? [`POST shop ${status}`] : [],
        fails:
          /The reply has no code of the service, .* Look for an endpoint on https:\/\/shop\.example\.com before/,
      },
    ),
  ),
  scenario("in a pool, a create is sent again after a temporary refusal with the service's code", {
    program: { o: pooled },
    replies: [["create", error(400, 18016), 2]],
    writes: ["POST shop"],
  }),
  scenario("outside of pools, a 400 without a code fails at once", {
    replies: [["create", { status: 400, body: "" }]],
    fails: /status 400/,
    seconds: 1,
  }),
  ...(["409-bare", "400-bare"] as const).map((urlTaken) =>
    scenario(`a create waits for a URL that is freed in this run, after a refusal of the form ${urlTaken}`, {
      service: { urlTaken },
      from: { one: "a" },
      later: true,
      program: { one: "b", two: "a" },
      writes: ["PATCH a url=b", "POST a"],
      state: { one: "a=b", two: "a#2" },
      engine: "parallel",
    }),
  ),
  scenario("outside of pools, a 409 without a code that passes after some seconds is sent again", {
    replies: [["create", { status: 409, body: "" }, 3]],
    writes: ["POST shop"],
    seconds: 10,
  }),
  scenario("a create that a gateway refused finds its endpoint although the list shows it late", {
    service: { urlTaken: "409-bare", listLag: 4_000 },
    replies: [["create", gatewayRefusal(409)]],
    says: [/the create was refused with status 409\. But ep_\w+ has .*so this run keeps it/],
    next: [{}],
  }),
  scenario("ten minutes of the service's 429 do not widen the two seconds around a lost create", {
    service: { urlTaken: "allowed" },
    before: ({ emulator, seed, clock }) => {
      const limited = {
        status: 429,
        headers: { "Retry-After": "60" },
        body: { error_code: "ERR_NGROK_226" },
      };
      emulator.intercept("create", limited, 5);
      const born = new Date(clock.now() + 60_000).toISOString();
      emulator.intercept("create", {
        before: () => void seed("theirs", { ...shop, created_at: born }),
        reset: true,
      });
    },
    writes: ["POST shop 0"],
    fails: /is served by ep_/,
    live: ["theirs"],
  }),
];
