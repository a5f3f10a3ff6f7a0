import { at, coded, type Scene, scene } from "./scene";

/* What one run takes over because the environment says so, and the endpoint that a skipped deletion left on a resource's URL. */

const shop = { url: at("shop") };
const pooled = { ...shop, poolingEnabled: true };
const adopts = (...names: string[]) => ({ ENDPOINTS_ADOPT: names.map((name) => `@${name}`).join(",") });
const ANNOUNCED = /https:\/\/shop\.example\.com: adopts ep_\w+ \(ENDPOINTS_ADOPT\) /;

export const consent: Scene[] = [
  scene("a killed run's endpoint is named with the line to paste, which takes it over", {
    leftBy: { o: "shop" },
    fails: /`ENDPOINTS_ADOPT=ep_\w+ pulumi up` takes over what a killed run/,
    next: [{ environment: adopts("shop"), says: [ANNOUNCED] }, {}],
    state: { o: "shop" },
  }),
  scene("a killed run's endpoints are taken over in one run, each by the resource on its URL, and changed", {
    leftBy: { one: "a", two: "b" },
    program: { one: { url: at("a"), description: "x" }, two: "b", three: "c" },
    environment: adopts("a", "b"),
    writes: ["PATCH a description", "POST c"],
    next: [{}],
  }),
  scene("in a pool, an equal endpoint is taken over before another one", {
    others: {
      other: { ...shop, pooling_enabled: true, description: "x" },
      equal: { ...shop, pooling_enabled: true },
    },
    program: { o: pooled },
    environment: adopts("other", "equal"),
    state: { o: "equal" },
  }),
  scene("in a pool, each resource takes over another endpoint", {
    leftBy: { one: pooled, two: pooled },
    environment: adopts("shop", "shop#2"),
    program: { one: pooled, two: pooled, three: pooled },
    writes: ["POST shop"],
    says: [/adopts (ep_\w+) \(ENDPOINTS_ADOPT\)[\s\S]*adopts (?!\1)ep_\w+ \(ENDPOINTS_ADOPT\)/],
    // Which one takes which is the engine's order.
    next: [{ command: "destroy", writes: ["DELETE shop", "DELETE shop#2", "DELETE shop#3"] }],
  }),
  scene("nothing is taken over on another URL, and an id that does not exist is told", {
    others: { theirs: { url: at("other") } },
    environment: { ENDPOINTS_ADOPT: "@theirs,ep_nobody" },
    writes: ["POST shop"],
    says: [/ENDPOINTS_ADOPT names ep_nobody, which does not exist in this account/],
    state: { o: "shop" },
  }),
  scene("an agent's endpoint is not taken over", {
    others: { agent: { type: "ephemeral", url: at("shop") } },
    environment: adopts("agent"),
    fails: /an endpoint of type ephemeral/,
    says: [/ENDPOINTS_ADOPT names ep_\w+, which is of type ephemeral/],
  }),
  scene("the endpoint of another resource is not taken over, in a pool either", {
    from: { o: pooled },
    program: { o: pooled, n: pooled },
    environment: adopts("shop"),
    order: ["o", "n"],
    writes: ["POST shop"],
    state: { o: "shop", n: "shop#2" },
  }),
  scene("only ids are taken", {
    environment: { ENDPOINTS_ADOPT: "https://shop.example.com" },
    fails: /ENDPOINTS_ADOPT takes the ids of endpoints \(ep_…\), separated by commas/,
  }),
  scene("a replacement deletes its endpoint, which the consent then cannot bring back", {
    from: { o: "shop" },
    environment: adopts("shop"),
    program: { o: "shop" },
    replace: ["o"],
    writes: ["DELETE shop", "POST shop"],
    live: ["shop#2"],
    state: { o: "shop#2" },
  }),
  scene("a create in a pool warns of an equal member that no entry has, with the way to keep it", {
    leftBy: { o: pooled },
    program: { o: pooled },
    writes: ["POST shop"],
    says: [
      /this run created ep_\w+, and the pool has an equal member, ep_\w+, created at .*`ENDPOINTS_ADOPT=ep_\w+ pulumi up --replace`/,
    ],
    next: [
      { environment: adopts("shop"), replace: ["o"], writes: ["DELETE shop#2"], says: [ANNOUNCED] },
      { command: "refresh" },
    ],
    state: { o: "shop" },
    live: ["shop"],
  }),
  scene("a create in a pool warns of no member that an entry of the run has", {
    from: { one: pooled },
    program: { one: pooled, two: pooled },
    order: ["one", "two"],
    writes: ["POST shop"],
    says: [/^(?![\s\S]*equal member)/],
    state: { one: "shop", two: "shop#2" },
  }),
];

const retains = { retains: true } as const;
const kept = { ...shop, options: retains };
/** A replacement whose deletion the engine skipped, so that the create met its own endpoint. */
const stuck = {
  from: { o: kept },
  replace: ["o"],
  fails: /ENDPOINTS_ADOPT=ep_\w+ pulumi up/,
};

const secure = { url: "tls://secure.example.com" };
const withBase = { deletedWith: "base", byDiff: true } as const;
/** A replacement without the option `deleteBeforeReplace`, whose deletion the engine skipped, and whose create failed. */
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

export const ownEndpoints: Scene[] = [
  scene("after a skipped deletion, the line of the message continues with the endpoint", {
    ...stuck,
    next: [
      { fails: /If it is this resource's own endpoint, whose deletion Pulumi skipped.*ENDPOINTS_ADOPT=ep_/ },
      { environment: adopts("shop"), says: [ANNOUNCED] },
      {},
      { program: { o: "shop" } },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
    state: {},
    live: [],
  }),
  ...[{ adopt: "@shop" }, { adopt: true }].map((adopt) =>
    scene(`after a skipped deletion, the program can ask for its own endpoint: ${JSON.stringify(adopt)}`, {
      ...stuck,
      next: [
        { program: { o: { ...kept, ...adopt } } },
        { program: { o: "shop" } },
        { command: "destroy", writes: ["DELETE shop"] },
      ],
      state: {},
      live: [],
    }),
  ),
  scene("an entry without a token asks for its own endpoint, too", {
    ...stuck,
    byHand: ({ editState }) => editState("o", ({ __entry: _, ...outputs }) => outputs),
    next: [
      { environment: adopts("shop") },
      { program: { o: "shop" } },
      { command: "destroy", writes: ["DELETE shop"] },
    ],
    state: {},
    live: [],
  }),
  scene("a refused change of the own endpoint fails, and works later", {
    ...stuck,
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
  scene("an own endpoint that the service no longer has is created anew", {
    ...stuck,
    next: [
      {
        byHand: ({ emulator, id }) => emulator.remove(id("shop")),
        program: { o: { ...kept, adopt: "@shop" } },
        writes: ["POST shop"],
      },
    ],
    state: { o: "shop#2" },
  }),
  scene("with `--replace`, the engine deletes the old entry after the create, and the endpoint stays", {
    from: { o: { ...shop, options: { byDiff: true } } },
    replace: ["o"],
    environment: adopts("shop"),
    says: [/belongs to another resource of this stack, so it was not deleted/],
    next: [{}],
    state: { o: "shop" },
  }),
  scene(
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
  scene("after a skipped deletion, refresh and destroy leave the endpoint alone", {
    ...stuck,
    next: [
      { command: "refresh", reads: [] },
      { command: "destroy", reads: [] },
    ],
    state: {},
    live: ["shop"],
  }),
  scene("after a replacement whose create failed, the next run creates, and deletes nothing", {
    from: { o: "a" },
    program: { o: secure },
    replies: [["create", { status: 422, body: "" }]],
    writes: ["DELETE a"],
    fails: /status 422/,
    next: [{ command: "refresh", reads: [] }, { writes: ["POST secure"] }, {}],
    state: { o: "secure" },
  }),
  scene(
    "after a replacement whose create failed, another language's `--replace` meets an endpoint that is gone",
    {
      from: { o: "a" },
      program: { o: { ...secure, options: { byDiff: true } } },
      replies: [["create", { status: 422, body: "" }]],
      writes: ["DELETE a"],
      fails: /status 422/,
      later: true,
      next: [{ replace: ["o"], writes: ["POST secure"] }, {}],
      state: { o: "secure" },
    },
  ),
  scene("`adopt` with an own id gives it to no other resource", {
    from: { o: "shop" },
    program: { o: { ...shop, adopt: true }, n: { url: at("other"), adopt: "@shop" } },
    fails: /already belongs to another resource/,
    state: { o: "shop" },
  }),
  scene("`adopt` that stays in the program does not keep a real replacement from its new endpoint", {
    from: { o: "shop" },
    program: { o: { ...shop, adopt: "@shop" } },
    replace: ["o"],
    writes: ["DELETE shop", "POST shop"],
    state: { o: "shop#2" },
  }),
  ...[true, "@shop"].map((adopt) =>
    scene(`another scheme with \`adopt: ${JSON.stringify(adopt)}\` fails at the preview`, {
      from: { o: "shop" },
      others: { theirs: { url: "tls://secure.example.com" } },
      program: { o: { url: "tls://secure.example.com", adopt } },
      fails: /because another scheme replaces|which the new scheme replaces|the new scheme replaces/,
      state: { o: "shop" },
    }),
  ),
];

/** A refusal that a gateway made after the service had created the endpoint. */
const unsigned = (status: number) =>
  ({ afterCommit: true, status, headers: { "content-type": "text/html" }, body: "<html>" }) as const;

export const unclearRefusals: Scene[] = [
  ...[400, 409, 422].map((status) =>
    scene(
      `outside of pools, a create that a gateway refused with ${status} finds its endpoint, with a warning`,
      {
        replies: [["create", unsigned(status)]],
        writes: [],
        says: [/after a refusal \(status \d+\), this run continues with ep_\w+/],
        next: [{}],
      },
    ),
  ),
  ...[400, 409, 422].map((status) =>
    scene(
      `in a pool, a create that a gateway refused with ${status} is not sent again, and names what it made`,
      {
        program: { o: pooled },
        replies: [["create", unsigned(status)]],
        fails: /may have created one of these.* ep_\w+.*ENDPOINTS_ADOPT=ep_\w+/,
        next: [{ environment: adopts("shop") }],
        state: { o: "shop" },
      },
    ),
  ),
  ...[302, 400, 401, 403, 404, 405, 409, 413, 422, 425, 499].map((status) =>
    scene(
      `in a pool, a create that a gateway refused with ${status} without an effect fails and is not repeated`,
      {
        program: { o: pooled },
        replies: [["create", { status, body: "" }]],
        writes: status < 400 ? [`POST shop ${status}`] : [],
        fails:
          /The reply has no code of the service; look for an endpoint on https:\/\/shop\.example\.com before/,
      },
    ),
  ),
  scene("in a pool, a refusal with the service's code that may pass is sent again", {
    program: { o: pooled },
    replies: [["create", coded(400, 18016), 2]],
    writes: ["POST shop"],
  }),
  scene("outside of pools, a 400 without a code fails at once", {
    replies: [["create", { status: 400, body: "" }]],
    fails: /status 400/,
    seconds: 1,
  }),
  ...(["409-bare", "400-bare"] as const).map((urlTaken) =>
    scene(`a create waits for a URL that is freed in this run, after a refusal of the form ${urlTaken}`, {
      service: { urlTaken },
      from: { one: "a" },
      later: true,
      program: { one: "b", two: "a" },
      writes: ["PATCH a url=b", "POST a"],
      state: { one: "a=b", two: "a#2" },
      engine: "parallel",
    }),
  ),
  scene("outside of pools, a 409 without a code that passes after some seconds is sent again", {
    replies: [["create", { status: 409, body: "" }, 3]],
    writes: ["POST shop"],
    seconds: 10,
  }),
  scene("a create that a gateway refused is found although a list shows it after three more attempts", {
    service: { urlTaken: "409-bare", listLag: 4_000 },
    replies: [["create", unsigned(409)]],
    says: [/after a refusal \(status 409\), this run continues with ep_\w+/],
    next: [{}],
  }),
  scene("a create's two seconds begin after ten minutes of 429 with the service's code", {
    service: { urlTaken: "allowed" },
    byHand: ({ emulator, seed, clock }) => {
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
