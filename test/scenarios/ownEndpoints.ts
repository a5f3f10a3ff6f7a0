import { ADOPTED, adopts } from "./adoptSetting";
import { at, type Scenario, scenario } from "./scenario";
import { TAKEN } from "./takenUrls";

/* A resource's own endpoint on its URL, after the engine skipped a deletion. */

const shop = { url: at("shop") };

const retained = { retainOnDelete: true } as const;
const kept = { ...shop, options: retained };
/** A replacement whose deletion the engine skipped: its create finds the resource's own endpoint on the URL. */
const deletionSkipped = {
  from: { o: kept },
  replace: ["o"],
  fails: TAKEN,
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
  scenario("the deletion of an entry without an id of its own deletes the endpoint", {
    from: { o: "shop" },
    before: ({ editState }) => editState("o", ({ __entryId: _, ...outputs }) => outputs),
    command: "destroy",
    writes: ["DELETE shop"],
  }),
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
  scenario("another scheme with `retainOnDelete` leaves the old endpoint, as the option asks", {
    from: { o: kept },
    program: { o: { ...kept, url: "http://shop.example.com" } },
    writes: ["POST shop"],
    next: [{}],
    state: { o: "shop#2" },
    live: ["shop", "shop#2"],
  }),
  scenario("after a skipped deletion, the message's command keeps the endpoint", {
    ...deletionSkipped,
    next: [
      {
        fails:
          /It is the resource's own, not deleted by Pulumi. Keep it: `pulumi up --config endpoints:adopt=ep_\w+( --stack dev)?`\. See/,
      },
      { overrides: adopts("shop"), says: [ADOPTED] },
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
      { overrides: adopts("shop") },
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
        overrides: adopts("shop"),
        replies: [["update", { status: 422, body: "" }, 9]],
        fails: /422/,
      },
      { overrides: adopts("shop"), writes: ["PATCH shop description"] },
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
            /There is no endpoint ep_\w+ to adopt in this account\. .*remove adopt to create a new endpoint/,
        },
        { program: { o: kept }, writes: ["POST shop"] },
      ],
      state: { o: "shop#2" },
    },
  ),
  scenario(
    "after a skipped deletion, `--replace` deletes the old entry of another language, and the endpoint stays",
    {
      ...skippedByBase,
      next: [
        {
          program: { base: "base", o: { ...shop, options: withBase } },
          replace: ["o"],
          overrides: adopts("shop"),
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
  scenario(
    "after a replacement that was killed in its create, the line of `who-has` takes the endpoint over",
    {
      from: { o: "a" },
      program: { o: secure },
      replies: [["create", { status: 422, body: "" }]],
      writes: ["DELETE a"],
      fails: /status 422/,
      next: [
        // What the killed create made.
        { before: ({ seed }) => seed("left", secure), fails: TAKEN },
        { overrides: adopts("left"), says: [/adopts ep_\w+ as it is/] },
        {},
      ],
      state: { o: "left" },
      live: ["left"],
    },
  ),
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
    fails: /belongs to another resource of this stack, or will/,
    state: { o: "shop" },
  }),
  scenario("`adopt` that stays in the program refuses a forced replacement, until it is removed", {
    from: { o: "shop" },
    program: { o: { ...shop, adopt: "@shop" } },
    replace: ["o"],
    fails:
      /ep_\w+ was not deleted, because this run adopts or imports it, .*To have it .* replaced, take its id out of adopt/,
    next: [{ program: { o: shop }, replace: ["o"], writes: ["DELETE shop", "POST shop"] }],
    state: { o: "shop#2" },
    live: ["shop#2"],
  }),
  scenario(
    "another scheme with `adopt` of the own endpoint fails at the preview, because it is deleted first",
    {
      from: { o: "shop" },
      program: { o: { url: "tls://secure.example.com", adopt: "@shop" } },
      fails: /adopt names ep_\w+, which the new scheme replaces; remove adopt/,
      state: { o: "shop" },
    },
  ),
  scenario("another scheme with `adopt` of another endpoint adopts that endpoint", {
    from: { o: "shop" },
    others: { theirs: { url: "tls://secure.example.com" } },
    program: { o: { url: "tls://secure.example.com", adopt: "@theirs" } },
    writes: ["DELETE shop"],
    next: [{}],
    state: { o: "theirs" },
    live: ["theirs"],
  }),
];
