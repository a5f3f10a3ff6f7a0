import { at, forbidden, type Scenario, scenario } from "./scenario";

/* Adoptions of existing endpoints by `adopt` in the program. */

const shop = { url: at("shop") };
const described = { ...shop, description: "x" };
const pooled = { ...shop, poolingEnabled: true };
const adopted = { ...shop, adopt: "@theirs" };
const theirs = { theirs: shop };
const member = { ...shop, pooling_enabled: true };
const SHARED =
  /ep_\w+ belongs to two resources of this stack, which `npx pulumi-endpoints who-has ep_\w+( --stack \w+)?` names\. See "Two resources share/;
const IGNORED =
  /adopt names ep_\w+, but this resource already has ep_\w+, so it adopts nothing\. Remove adopt, or give it to a resource/;

export const adoption: Scenario[] = [
  scenario("an endpoint that is as the program wants it is adopted without a write", {
    others: { theirs: described },
    program: { o: { ...adopted, description: "x" } },
    says: [/adopts ep_\w+ as it is/],
    next: [{}],
    state: { o: "theirs" },
  }),
  scenario("an adoption says at the preview what it changes, and changes only that", {
    others: { theirs: { ...described, metadata: '{ "a":1}', traffic_policy: '{ "a": [] }' } },
    program: { o: { ...adopted, metadata: { a: 1 }, trafficPolicy: { a: [] } } },
    writes: ["PATCH theirs description"],
    says: [/adopts ep_\w+ and changes description; nothing else may have it: another provider or stack/],
    state: { o: "theirs" },
    fields: { theirs: { metadata: '{ "a":1}' } },
    stacks: true,
  }),
  scenario("an adoption whose `adopt` leaves the program later changes nothing", {
    others: theirs,
    program: { o: adopted },
    next: [{ program: { o: "shop" } }, { command: "refresh" }, {}],
    state: { o: "theirs" },
  }),
  scenario("an adoption by id changes the URL", {
    others: { theirs: { url: at("old") } },
    program: { o: adopted },
    writes: ["PATCH theirs url=shop"],
    state: { o: "theirs=shop" },
  }),
  scenario("`adopt: true` fails at the preview, and says where the id is", {
    others: theirs,
    program: { o: { ...shop, adopt: true } },
    fails:
      /adopt must be an endpoint's id \(ep_…\), which the message of a taken URL, `npx pulumi-endpoints drift`/,
  }),
  scenario("an adoption whose outcome cannot be read leaves the endpoint with its old resource", {
    from: { o: "shop" },
    program: { n: { ...adopted, adopt: "@shop", description: "x" } },
    before: ({ emulator }) =>
      emulator.intercept("update", {
        afterCommit: true,
        before: () => void emulator.intercept("read", forbidden, 9),
        status: 200,
        body: "<html>",
      }),
    continueOnError: true,
    writes: ["PATCH shop description"],
    fails: /ep_\w+ was not deleted, because this run adopts/,
    state: { o: "shop" },
  }),
  scenario("a refused adoption keeps the endpoint from the deletion of its old entry", {
    from: { o: "shop" },
    program: { n: { url: at("moved"), adopt: "@shop" } },
    refresh: true,
    continueOnError: true,
    fails: /belongs to another resource of this stack[\s\S]*was not deleted, because this run adopts/,
    state: { o: "shop" },
  }),
  scenario("a member of a pool is adopted by its id", {
    others: { one: member, two: member },
    program: { o: { ...pooled, adopt: "@two" } },
    state: { o: "two" },
    live: ["one", "two"],
  }),
  ...(
    [
      [
        "an unknown id",
        { ...shop, adopt: "ep_nobody" },
        /no endpoint ep_nobody to adopt in this account.*remove adopt/,
      ],
      ["an agent's endpoint", { ...shop, adopt: "@agent" }, /of type ephemeral/],
      ["an endpoint with another scheme", { url: "tls://shop.example.com", adopt: "@theirs" }, /scheme/],
    ] as const
  ).map(([what, o, fails]) =>
    scenario(`the adoption of ${what} fails at the preview`, {
      others: { ...theirs, agent: { type: "ephemeral", url: at("agent") } },
      program: { o },
      fails,
    }),
  ),
  scenario("the adoption of an endpoint that another resource of the program keeps fails at the preview", {
    from: { o: "shop" },
    program: { o: "shop", z: "new", n: { url: at("other"), adopt: "@shop" } },
    order: ["o", "z", "n"],
    fails: /belongs to another resource of this stack, or will/,
    state: { o: "shop" },
  }),
  scenario("no resource adopts the endpoint of another resource of the program", {
    from: { o: "shop" },
    program: { o: "shop", n: { url: at("other"), adopt: "@shop" } },
    fails: /belongs to another resource of this stack, or will/,
    state: { o: "shop" },
  }),
  scenario("no resource adopts an endpoint that another resource replaces by a new scheme", {
    from: { o: "shop" },
    program: { o: { url: "http://shop.example.com" }, n: { ...shop, adopt: "@shop" } },
    fails: /belongs to another resource of this stack, or will/,
    state: { o: "shop" },
  }),
  scenario("no two resources adopt the same endpoint", {
    others: theirs,
    program: { one: adopted, two: { ...adopted, url: at("b") } },
    order: ["one", "two"],
    only: "dynamic",
    fails: /belongs to another resource of this stack, or will/,
  }),
  scenario("nothing is changed if two resources of the program have the same endpoint", {
    from: { o: "shop" },
    only: "dynamic",
    program: { n: { ...shop, adopt: "@shop" } },
    target: ["n"],
    next: [
      {
        program: { o: described, n: { ...described, url: at("moved") } },
        fails: SHARED,
      },
    ],
    state: { o: "shop", n: "shop" },
  }),
  scenario("the replacement of an adopted endpoint deletes it, and creates another", {
    others: theirs,
    program: { o: adopted },
    next: [{ program: { o: "shop" }, replace: ["o"], writes: ["DELETE theirs", "POST shop"] }],
    live: ["shop"],
  }),
  scenario("two entries of a pool's member are not changed once the run has met both", {
    from: { o: pooled },
    program: { n: { ...pooled, adopt: "@shop" } },
    target: ["n"],
    next: [
      { program: { n: pooled }, target: ["n"] },
      {
        program: { o: { ...pooled, description: "x" }, n: { ...pooled, description: "x" } },
        refresh: true,
        fails: SHARED,
      },
    ],
    state: { o: "shop", n: "shop" },
  }),
  scenario("`adopt` of a resource that has an endpoint does nothing, and a warning says so until it goes", {
    from: { o: "shop" },
    others: { left: { url: at("left") } },
    program: { o: { ...shop, adopt: "@left" } },
    says: [IGNORED],
    next: [{ program: { o: "shop" }, says: [/^(?![\s\S]*adopt)/] }],
    state: { o: "shop" },
    live: ["shop", "left"],
  }),
  scenario("`adopt` that fell on a member that exists goes to the resource that the preview creates", {
    from: { one: pooled },
    others: { left: member },
    program: { one: { ...pooled, adopt: "@left" }, two: pooled },
    says: [IGNORED],
    killed: true,
    before: ({ emulator }) => emulator.intercept("create", { status: 422, body: "" }),
    fails: /422/,
    next: [
      { program: { one: pooled, two: { ...pooled, adopt: "@left" } } },
      { program: { one: pooled, two: pooled } },
    ],
    state: { one: "shop", two: "left" },
  }),
  scenario("a refused adoption leaves nothing in the state", {
    others: theirs,
    program: { o: { ...adopted, description: "x" } },
    replies: [["update", { status: 422, body: "" }, 9]],
    fails: /422/,
  }),
];
