import { at, error, forbidden, type Scenario, scenario } from "./scenario";

/* Refused creates, most of them because the URL is taken. */

const shop = { url: at("shop") };
const pooled = { ...shop, poolingEnabled: true };
const theirs = { theirs: { ...shop, created_at: "2020-01-01T00:00:00Z" } };
/** The reply to a create whose URL is taken. */
const conflict = error(400, 18017);

/** The message of a create whose URL an endpoint has that this run does not know. It guesses nothing, and prints no line that adopts. */
export const TAKEN =
  /^(?!.*endpoints:adopt).*is served by ep_\w+, a cloud endpoint(, created at [^ ]+)?\. `npx pulumi-endpoints who-has ep_\w+( --stack \w+)?` names who has it\. Renamed\? Give it `aliases`\. See "A URL that is taken" in docs\/operations\.md of pulumi-endpoints\.$/m;
/** The message of a move to such a URL. */
export const MOVE_TAKEN =
  /^(?!.*(adopt|aliases)).*is served by ep_\w+, a cloud endpoint, created at [^ ]+\. `npx pulumi-endpoints who-has ep_\w+( --stack \w+)?` names who has it\. See "A URL that is taken"/m;
/** The message of a deletion that would delete the endpoint of `TAKEN`. */
const KEPT =
  /ep_\w+ was not deleted, because a new resource of this run wants its URL\. Renamed\? Give the new one `aliases`\. To have it deleted, take the old one out in a run of its own\. See "A URL that is taken"/;
/** The message about an endpoint of another resource of the program, which this run has checked. */
export const MET =
  /^(?!.*(endpoints:adopt|--target|--replace)).*is served by ep_\w+, .*\. Another resource of this stack has it: run the command again, once\. .*See "A URL that is taken"/m;

export const takenUrls: Scenario[] = [
  scenario(
    "a create on a stranger's URL fails after some seconds, with its endpoint and the command that names who has it",
    {
      others: theirs,
      fails: TAKEN,
      seconds: 10,
    },
  ),
  scenario("the plugin, which knows the stack, names it in the command that looks", {
    others: theirs,
    stack: "prod",
    only: "plugin",
    fails: /`npx pulumi-endpoints who-has ep_\w+ --stack prod` names who has it/,
  }),
  ...(["18009", "422", "400-bare", "409-bare"] as const).map((urlTaken) =>
    scenario(`a taken URL is found after a refusal of the form ${urlTaken}`, {
      service: { urlTaken },
      others: theirs,
      fails: /is served by ep_/,
    }),
  ),
  ...(
    [
      { type: "ephemeral", ...shop },
      { type: "edge", public_url: shop.url },
    ] as const
  ).map((endpoint) =>
    scenario(`a create on the URL of an endpoint of type ${endpoint.type} fails, and names no \`aliases\``, {
      others: { theirs: endpoint },
      replies: [["create", conflict, 9]],
      fails:
        /^(?!.*(adopt|aliases)).*of type (ephemeral|edge).*who-has ep_\w+( --stack dev)?` names who has it\. See/,
      seconds: 10,
    }),
  ),
  scenario("a move to the URL of a resource that keeps it fails after some seconds", {
    from: { o: "shop", m: "a" },
    program: { o: "shop", m: "shop" },
    order: ["o", "m"],
    only: "dynamic",
    fails: MET,
    seconds: 10,
    next: [{ fails: MET }],
    state: { o: "shop", m: "a" },
  }),
  scenario(
    "a replacement that creates first meets its own endpoint, and says after some seconds what helps",
    {
      from: { o: "shop" },
      program: { o: { ...shop, options: { deleteBeforeReplace: "unset" } } },
      replace: ["o"],
      fails: /is served by ep_.*See "A URL that is taken"/,
      seconds: 10,
      state: { o: "shop" },
    },
  ),
  scenario("a filtered list that shows only a member of a pool hides no other endpoint on the URL", {
    settings: { listFilter: "on" },
    service: { filters: "incomplete" },
    others: { member: { ...shop, pooling_enabled: true, created_at: "2020-01-01T00:00:00Z" }, theirs: shop },
    program: { o: pooled },
    replies: [["create", conflict, 9]],
    fails: /^(?!.*2020).*is served by ep_\w+, a cloud endpoint/,
  }),
  ...([18006, 18016, 18017] as const).flatMap((code) => [
    scenario(`a URL that is refused with ${code} for some seconds, and that nobody has, is created`, {
      replies: [["create", error(400, code), 6]],
      writes: ["POST shop"],
      seconds: 10,
    }),
    scenario(`a create that is refused with ${code} for longer fails with that`, {
      replies: [["create", error(400, code), 8]],
      fails: new RegExp(`ERR_NGROK_${code}`),
      seconds: 10,
    }),
  ]),
  ...[conflict, error(422, 19999)].map((refusal) =>
    scenario(`a URL that its holder leaves before the last look is created: ${JSON.stringify(refusal)}`, {
      others: theirs,
      before: ({ emulator, id }) => {
        emulator.intercept("create", refusal, 6);
        emulator.intercept("create", { ...refusal, before: () => emulator.remove(id("theirs")) });
      },
      writes: ["POST shop"],
      seconds: 10,
      live: ["shop"],
    }),
  ),
  ...(
    [
      [401, /status 401/],
      [403, /status 403/],
      [404, /^(?!.*\bid\b).*POST \/endpoints: status 404.*endpoints:baseUrl .*path prefix/],
    ] as const
  ).map(([status, fails]) =>
    scenario(
      `a create that is refused with ${status} fails at once, without another create or a list request`,
      {
        replies: [["create", { status, body: "" }]],
        reads: [],
        fails,
      },
    ),
  ),
  ...[217, 249, 2201, 15005, 18002, 18012, 18022].flatMap((code) =>
    [400, 422].map((status) =>
      scenario(`a refusal for another reason fails with it after one look: ${status}, ${code}`, {
        replies: [["create", error(status, code)]],
        reads: ["/endpoints"],
        fails: new RegExp(`ERR_NGROK_${code}`),
        seconds: 1,
      }),
    ),
  ),
  ...[18001, 18014, 19999].map((code) =>
    scenario(`a refusal that may mean a taken URL is followed by a list request: ${code}`, {
      replies: [["create", error(422, code), 9]],
      reads: ["/endpoints"],
      fails: new RegExp(`ERR_NGROK_${code}`),
    }),
  ),
  scenario("a move that is refused for another reason fails with it after one look", {
    from: { o: "a" },
    program: { o: "b" },
    replies: [["update", error(400, 18005)]],
    reads: ["/endpoints"],
    fails: /ERR_NGROK_18005/,
    seconds: 1,
    state: { o: "a" },
  }),
  ...[
    forbidden,
    { status: 200, body: "" },
    { status: 200, body: { endpoints: [], next_page_uri: null } },
  ].map((list) =>
    scenario(`a refusal without a code has a next step if the list shows nothing: ${JSON.stringify(list)}`, {
      others: theirs,
      replies: [
        ["create", { status: 409, body: "" }, 9],
        ["list", list, 99],
      ],
      fails: /status 409.*([Rr]un the command again|before the next run)/,
    }),
  ),
  ...[{}, { refresh: true as const }].map((options) =>
    scenario(
      `after a rename without an alias, \`--continue-on-error\` keeps the endpoint, and both ways out work: ${JSON.stringify(options)}`,
      {
        from: { o: "shop" },
        program: { n: "shop" },
        continueOnError: true,
        ...options,
        fails: TAKEN,
        says: [KEPT],
        next: [
          { program: { n: { ...shop, options: { alias: "o" } } } },
          { program: { m: "shop" }, continueOnError: true, ...options, fails: TAKEN, says: [KEPT] },
          { program: {}, writes: ["DELETE shop"] },
          { program: { m: "shop" }, writes: ["POST shop"] },
        ],
        state: { m: "shop#2" },
        live: ["shop#2"],
      },
    ),
  ),
  scenario("`--continue-on-error` deletes the endpoint that kept a resource from moving to its URL", {
    from: { o: "shop", m: "a" },
    program: { m: "shop" },
    continueOnError: true,
    fails: MOVE_TAKEN,
    writes: ["DELETE shop"],
    next: [{ writes: ["PATCH a url=shop"] }],
    state: { m: "a=shop" },
    live: ["a=shop"],
  }),
  scenario("the line of `who-has` does not help a resource that moves, and helps it under a new name", {
    from: { m: "a" },
    others: theirs,
    program: { m: "shop" },
    fails: MOVE_TAKEN,
    next: [
      { overrides: { adopt: "@theirs" }, fails: MOVE_TAKEN },
      { program: { n: "shop" }, overrides: { adopt: "@theirs" }, writes: ["DELETE a"] },
      {},
    ],
    state: { n: "theirs" },
    live: ["theirs"],
  }),
  scenario("the endpoint that a killed run left is named, and nothing tells it from another stack's", {
    fromKilled: { o: "shop" },
    fails: TAKEN,
    // What `who-has` prints after it has read the other states.
    next: [{ overrides: { adopt: "@shop" } }],
    state: { o: "shop" },
  }),
];
