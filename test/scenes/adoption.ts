import { at, omitsInList, type Scene, scene } from "./scene";

/* What a resource takes over by `adopt`. */

const shop = { url: at("shop") };
const described = { ...shop, description: "x" };
const pooled = { ...shop, poolingEnabled: true };
const adopted = { ...shop, adopt: true };
const byId = { ...shop, adopt: "@theirs" };
const theirs = { theirs: shop };
const member = { ...shop, pooling_enabled: true };

export const adoption: Scene[] = [
  scene("an endpoint that is as the program wants it is adopted without a write", {
    others: { theirs: described },
    program: { o: { ...adopted, description: "x" } },
    says: [
      /adopts ep_\w+ \(adopt: true, whoever made it\) as it is/,
      /If another entry of this stack has .* with another provider.* this run deletes the endpoint/,
    ],
    next: [{}],
    state: { o: "theirs" },
  }),
  scene("an adoption says at the preview what it changes, and changes only that", {
    others: { theirs: { ...described, metadata: '{ "a":1}', traffic_policy: '{ "a": [] }' } },
    program: { o: { ...byId, metadata: { a: 1 }, trafficPolicy: { a: [] } } },
    writes: ["PATCH theirs description"],
    says: [/adopts ep_\w+ and changes description$/m],
    state: { o: "theirs" },
    fields: { theirs: { metadata: '{ "a":1}' } },
    stacks: true,
  }),
  scene("an adoption that leaves the program later is no change", {
    others: theirs,
    program: { o: adopted },
    next: [{ program: { o: "shop" } }, { command: "refresh" }, {}],
    state: { o: "theirs" },
  }),
  scene("an adoption by id changes the URL", {
    others: { theirs: { url: at("old") } },
    program: { o: byId },
    writes: ["PATCH theirs url=shop"],
    state: { o: "theirs=shop" },
  }),
  scene("`adopt: true` creates an endpoint if none has the URL, and says so", {
    program: { o: adopted },
    writes: ["POST shop"],
    says: [/no cloud endpoint to adopt/],
  }),
  scene("an unreadable item of the list is told, since it may be the one to adopt", {
    program: { o: adopted },
    replies: [["list", { status: 200, body: { endpoints: [{ id: "ep_2", port: "high" }] } }, 9]],
    writes: ["POST shop"],
    says: [/cannot be read.*ep_2.*port/],
  }),
  ...[adopted, byId].map((o) =>
    scene(`an adoption does not believe a list that omits an input: ${JSON.stringify(o)}`, {
      others: { theirs: described },
      program: { o: { ...o, description: "x" } },
      byHand: omitsInList("description"),
      state: { o: "theirs" },
    }),
  ),
  scene("`adopt: true` fails if several endpoints have the URL, and its id settles it", {
    others: { one: member, two: member },
    program: { o: { ...adopted, poolingEnabled: true } },
    fails: /ep_\w+, ep_/,
    next: [{ program: { o: { ...pooled, adopt: "@two" } } }],
    state: { o: "two" },
    live: ["one", "two"],
  }),
  ...[{ one: member, two: member }, { one: member }].map((others) =>
    scene(`\`adopt: true\` fails in a pool of ${Object.keys(others).length}, also if a filter omits one`, {
      settings: { listFilter: "on" },
      service: { filters: "incomplete" },
      others,
      program: { o: { ...adopted, poolingEnabled: true } },
      fails: /Several cloud endpoints can share .* which has ep_/,
    }),
  ),
  scene("`adopt: true` does not take the member of a pool whose list item omits that it is one", {
    others: { one: member },
    byHand: omitsInList("pooling_enabled"),
    program: { o: adopted },
    fails: /Several cloud endpoints can share/,
  }),
  ...(
    [
      ["an unknown id", { ...shop, adopt: "ep_nobody" }, /no endpoint ep_nobody.*remove adopt/],
      ["an agent's endpoint", { ...shop, adopt: "@agent" }, /of type ephemeral/],
      ["an endpoint with another scheme", { url: "tls://shop.example.com", adopt: "@theirs" }, /scheme/],
    ] as const
  ).map(([what, o, fails]) =>
    scene(`the adoption of ${what} fails at the preview`, {
      others: { ...theirs, agent: { type: "ephemeral", url: at("agent") } },
      program: { o },
      fails,
    }),
  ),
  scene("the adoption of an endpoint that another resource of the program keeps fails at the preview", {
    from: { o: "shop" },
    program: { o: "shop", z: "new", n: { url: at("other"), adopt: "@shop" } },
    order: ["o", "z", "n"],
    fails: /already belongs to another resource/,
    state: { o: "shop" },
  }),
  scene("no resource adopts the endpoint of another resource of the program", {
    from: { o: "shop" },
    program: { o: "shop", n: { url: at("other"), adopt: "@shop" } },
    fails: /already belongs to another resource/,
    state: { o: "shop" },
  }),
  ...["@shop", true].map((adopt) =>
    scene(`no resource adopts the endpoint that another one replaces, with another scheme: ${adopt}`, {
      from: { o: "shop" },
      program: { o: { url: "http://shop.example.com" }, n: { ...shop, adopt } },
      fails: /already belongs to another resource/,
      state: { o: "shop" },
    }),
  ),
  scene("no two resources adopt the same endpoint", {
    others: theirs,
    program: { one: byId, two: { ...byId, url: at("b") } },
    order: ["one", "two"],
    on: "dynamic",
    fails: /already belongs to another resource/,
    state: { one: "theirs" },
  }),
  scene("nothing is changed if two resources of the program have the same endpoint", {
    from: { o: "shop" },
    on: "dynamic",
    program: { n: adopted },
    target: ["n"],
    next: [
      {
        program: { o: described, n: described },
        fails: /belongs to two resources of this stack.*pulumi state delete/,
      },
    ],
    state: { o: "shop", n: "shop" },
  }),
  scene("the replacement of an adopted endpoint deletes it, and creates another", {
    others: theirs,
    program: { o: byId },
    next: [{ replace: ["o"], writes: ["DELETE theirs", "POST shop"] }],
    live: ["shop"],
  }),
  scene("a refused adoption leaves nothing in the state", {
    others: theirs,
    program: { o: { ...adopted, description: "x" } },
    replies: [["update", { status: 422, body: "" }, 9]],
    fails: /422/,
  }),
];
