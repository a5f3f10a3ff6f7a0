import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { UserError } from "../../../provider/api/apiErrors";
import { MARK_FIELD } from "../../../provider/api/mark";
import { sweepCommand } from "../../../sdk/commands/sweep";
import { sweepReportSchema } from "../../../sdk/commands/sweep/sweepReport";
import { isLocked, openSweepStacks } from "../../../sdk/commands/sweep/sweepStacks";
import { Emulator } from "../../../sdk/testing/emulator";
import { temporaryFolder } from "../../folders";
import { runInProcess } from "./runCommand";
import {
  type FakeStack,
  MARK,
  type Marked,
  requestsTo,
  seedMarked,
  stateOf,
  sweep,
  type World,
  writesTo,
} from "./sweepRun";

let emulator: Emulator;
/** An unmarked endpoint. A stack that has it uses this account. */
let other: string;
beforeEach(async () => {
  emulator = await Emulator.start();
  other = emulator.seed({ type: "cloud", url: "https://other.example.com" }).id;
});
afterEach(() => emulator.close());

const one: World = { stacks: [{}] };
const seed = (given: Marked = {}) => seedMarked(emulator, given);
const metadataOf = (id: string) =>
  JSON.parse(emulator.endpoints.find((live) => live.id === id)?.metadata ?? "{}") as Record<string, object>;

test("without --yes the plan shows the id, URL, owner and age of each leftover, and nothing is written", async () => {
  const id = seed({ age: 3 * 86_400 + 60 });
  const ended = await sweep(emulator, one);
  expect(ended.code).toBe(7);
  expect(ended.stdout).toMatch(
    new RegExp(
      `1 endpoint with the mark platform/prod, in no state and older than 1h\n  ${id} \\(https://e\\d+\\.example\\.com\\) of e\\d+ of the stack shop/prod \\(platform/prod\\), created \\S+Z, 3d ago\n.*--yes deletes 1 endpoint`,
    ),
  );
  expect(ended.report).toMatchObject({ outcome: "planned", exitCode: 7, planned: [{ id }], left: [] });
  expect(requestsTo(emulator)).toEqual(["GET /endpoints"]);
});

test("with --yes each leftover is read by id and then deleted, and each deletion is logged with id, URL and owner", async () => {
  const ids = [seed(), seed({ of: "shop/dev" })];
  const ended = await sweep(emulator, { stacks: [{}, { key: "shop/dev" }] }, "--yes");
  expect(ended.code).toBe(0);
  expect(requestsTo(emulator)).toEqual([
    "GET /endpoints",
    ...[...ids].reverse().flatMap((id) => [`GET /endpoints/${id}`, `DELETE /endpoints/${id}`]),
  ]);
  expect(emulator.endpoints.map(({ id }) => id)).toEqual([other]);
  for (const id of ids)
    expect(ended.stderr).toMatch(
      new RegExp(`deleted ${id} \\(https://e\\d+\\S+\\) of e\\d+ of the stack shop/`),
    );
  expect(ended.report).toMatchObject({ outcome: "swept", planned: [{ deleted: true }, { deleted: true }] });
});

test("with nothing to sweep it exits with 0, also with --yes", async () => {
  expect(await sweep(emulator, one, "--yes")).toMatchObject({ code: 0, report: { outcome: "none" } });
  expect(requestsTo(emulator)).toEqual(["GET /endpoints"]);
});

test.each<[string, (id: string) => FakeStack[]]>([
  ["an endpoint in a state", (id) => [{ has: [id] }]],
  ["an endpoint of the other provider", (id) => [{ has: ["ep_x", id] }]],
  ["an endpoint that another stack has", (id) => [{ has: [] }, { key: "web/dev", has: [id] }]],
  ["an endpoint that a program only reads", (id) => [{ has: [{ id, external: true }] }]],
  ["an endpoint whose deletion is pending", (id) => [{ has: [{ id, delete: true }] }]],
  ["an endpoint that a resource of any type has", (id) => [{ has: [{ id, type: "ngrok:index:Endpoint" }] }]],
  ["an endpoint of a known stack", (id) => [{}, { key: "old/x", isKnown: true, has: [id] }]],
])("%s stays", async (_, stacks) => {
  const id = seed();
  const ended = await sweep(
    emulator,
    { stacks: stacks(id).map((stack) => ({ ...stack, has: [...(stack.has ?? []), other] })) },
    "--yes",
  );
  expect(ended).toMatchObject({ code: 0, report: { outcome: "none", planned: [] } });
  expect(writesTo(emulator)).toEqual([]);
});
test.each<[string, Marked]>([
  ["without a mark", { metadata: '{"team": "shop"}' }],
  ["without metadata", { metadata: undefined }],
  ["with another namespace", { mark: "platform/prod2" }],
  ["with a namespace in other letters", { mark: "Platform/Prod" }],
  ["with the namespace as a part", { mark: "platform/prod/eu" }],
  ["of an agent", { type: "ephemeral" }],
  ["with a mark that names no stack", { of: "shop/" }],
])("an endpoint %s is no leftover", async (_, given) => {
  seed(given);
  const ended = await sweep(emulator, one, "--yes", "--older-than", "0s");
  expect(ended).toMatchObject({ code: 0, report: { planned: [], left: [] } });
  expect(writesTo(emulator)).toEqual([]);
});

test.each<[string, Marked, string[], string]>([
  ["whose mark was copied", { apart: 61 }, [], "may be a copy"],
  ["without a creation time", { created_at: undefined }, [], "may be a copy"],
  ["that is young", { age: 3_500 }, [], "younger than 1h"],
  ["that is younger than --older-than", { age: 86_000 }, ["--older-than", "24h"], "younger than 1d"],
  ["that is created in the future", { age: -60 }, ["--older-than", "0s"], "younger than 0s"],
])("an endpoint %s is left alone, with the reason", async (_, given, args, reason) => {
  const id = seed(given);
  const ended = await sweep(emulator, one, "--yes", ...args);
  expect(ended).toMatchObject({ code: 0, report: { planned: [], left: [{ id }] } });
  expect(ended.report.left[0]?.reason).toContain(reason);
  expect(ended.stdout).toContain("In no state either, but left alone:");
  expect(writesTo(emulator)).toEqual([]);
});

test("the age counts by the service's clock, and without one nothing is deleted", async () => {
  const ahead = await Emulator.start({ now: () => new Date(Date.now() + 7_200_000) });
  try {
    const id = seedMarked(ahead, { age: 0 });
    expect(await sweep(ahead, one)).toMatchObject({ code: 7, report: { planned: [{ id }] } });
    ahead.behave({ date: null });
    const ended = await sweep(ahead, one, "--yes");
    expect(ended).toMatchObject({ code: 0, report: { left: [{ reason: "its age is unknown" }] } });
    expect(writesTo(ahead)).toEqual([]);
  } finally {
    await ahead.close();
  }
});

test("an endpoint whose age the service's clock leaves open counts as the younger one", async () => {
  const now = () => new Date("2026-01-02T12:00:00.900Z");
  const service = await Emulator.start({ now });
  try {
    // The header `Date` has whole seconds.
    seedMarked(service, { created_at: "2026-01-02T11:00:00.500Z", age: 3_600, now: now().getTime() });
    expect(await sweep(service, one)).toMatchObject({ code: 0, report: { left: [{}] } });
  } finally {
    await service.close();
  }
});

test.each([
  ["0s", 5],
  ["90m", 90 * 60 + 5],
  ["24h", 86_405],
  ["2d", 2 * 86_400 + 5],
])("--older-than %s plans an endpoint that is a little older", async (age, seconds) => {
  seed({ age: seconds });
  seed({ age: seconds - 10 });
  const { report } = await sweep(emulator, one, "--older-than", age);
  expect(report.planned).toHaveLength(1);
  expect(report.left).toHaveLength(1);
});

test("an endpoint of --ignore stays", async () => {
  const id = seed();
  const file = join(temporaryFolder(), "ignore.yaml");
  writeFileSync(file, JSON.stringify([{ id, reason: "r" }]));
  expect(await sweep(emulator, one, "--yes", "--ignore", file)).toMatchObject({ code: 0 });
  expect(writesTo(emulator)).toEqual([]);
});

test("an endpoint that the projects file ignores stays", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "shop"));
  writeFileSync(join(folder, "shop/Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  const ignored = [seed({ url: "https://canary.example.com" }), seed(), seed(), seed({ of: "shop/dev" })];
  emulator.edit(ignored[2] ?? "", {
    metadata: JSON.stringify({ ...metadataOf(ignored[2] ?? ""), keep: { x: 1 } }),
  });
  const swept = [seed({ url: "https://notcanary.example.org" }), seed()];
  const ignore = [
    { url: "https://canary.*", reason: "r" },
    { id: ignored[1], url: "https://*", reason: "r" },
    { id: swept[0], url: "https://canary.*", reason: "r" },
    { metadata: { keep: { x: 1 }, team: "shop" }, reason: "r" },
    { metadata: { keep: { x: 2 } }, reason: "r" },
    { mark: { namespace: MARK, stack: "dev" }, reason: "r" },
    { mark: { project: "web" }, reason: "r" },
  ];
  const projects = join(folder, "stacks.json");
  writeFileSync(
    projects,
    JSON.stringify({ projects: [{ folder: "shop", stacks: ["prod", "dev"] }], ignore }),
  );
  const world = { stacks: [{}, { key: "shop/dev" }] };
  const ended = await sweep(emulator, world, "--projects", projects, "--yes");
  expect(ended.code).toBe(0);
  expect(emulator.endpoints.map(({ id }) => id).sort()).toEqual([...ignored, other].sort());
});

const failing = async () => {
  throw new UserError("no such stack");
};

describe("a sweep refuses, and deletes nothing,", () => {
  test.each<[string, World & { args?: string[]; reason: RegExp | RegExp[]; code?: number }]>([
    [
      "if a mark names a stack that is not given",
      {
        stacks: [{ key: "shop/dev" }],
        reason: /shop\/prod: the mark of ep_\w+ names this stack, and its state was not read/,
      },
    ],
    [
      "if a mark names a stack that is only known",
      {
        stacks: [{ key: "shop/dev" }, { isKnown: true }],
        reason: /shop\/prod: the mark of ep_\w+ names this stack/,
      },
    ],
    [
      "if states cannot be read, and names all of them",
      {
        stacks: [
          { state: failing },
          { key: "shop/dev", state: failing },
          { key: "web/x", isKnown: true, state: failing },
        ],
        reason: [/shop\/prod: no such stack/, /shop\/dev: no such stack/, /web\/x: no such stack/],
      },
    ],
    [
      "if operations are pending",
      { stacks: [{ pending: [{}] }], reason: /shop\/prod: operations are pending/ },
    ],
    [
      "if operations of a known stack are pending",
      {
        stacks: [{}, { key: "web/x", isKnown: true, pending: [{}] }],
        reason: /web\/x: operations are pending/,
      },
    ],
    [
      "if a run is in progress",
      { stacks: [{}], running: () => [["shop/prod", "it is locked"]], reason: /shop\/prod: it is locked/ },
    ],
    [
      "if a stack in --gone is given",
      {
        stacks: [{}],
        listed: [],
        args: ["--gone", "shop/prod"],
        reason: /--gone shop\/prod: this stack exists/,
      },
    ],
    [
      "if a stack in --gone is listed by a backend",
      {
        stacks: [{ key: "web/x" }],
        listed: ["shop/prod"],
        args: ["--gone", "organization/shop/prod"],
        reason: /--gone shop\/prod: this stack exists/,
      },
    ],
    [
      "if a stack in --gone may have another name now",
      {
        stacks: [{ key: "web/x" }],
        listed: ["web/x", "shop/production"],
        args: ["--gone", "shop/prod"],
        reason: /^refused: shop\/production: it may be shop\/prod under a new name/m,
      },
    ],
    [
      "if a stack in --gone may have another project's name now",
      {
        stacks: [{ key: "web/x" }],
        listed: ["web/x", "site/prod"],
        args: ["--gone", "shop/prod"],
        reason: /^refused: site\/prod: it may be shop\/prod under a new name/m,
      },
    ],
    [
      "if the account has none of a stack's endpoints",
      {
        stacks: [{}, { key: "shop/dev", has: ["ep_of_another_account"] }],
        reason: /shop\/dev: the account has none of its endpoints/,
      },
    ],
    [
      "if a stack never ran, although marks name it",
      {
        stacks: [{ state: () => ({ deployment: {} }), hasRun: async () => false }],
        reason: /shop\/prod: it never ran, but marks name it/,
      },
    ],
    [
      "if a history cannot be read",
      {
        stacks: [{ state: () => ({ deployment: {} }), hasRun: failing }],
        reason: /shop\/prod: no such stack/,
      },
    ],
    [
      "if a configuration cannot be read",
      { stacks: [{ config: failing }], reason: /the account: no such stack/ },
    ],
    [
      "if the key is refused",
      { stacks: [{ on: { baseUrl: "", apiKey: "wrong" } }], reason: /the account: .*401/, code: 3 },
    ],
  ])("%s", async (_, { args = [], reason, code = 1, ...world }) => {
    seed();
    const stacks = world.stacks.map(({ on, ...stack }) => ({
      ...stack,
      ...(on && { on: { ...on, baseUrl: emulator.baseUrl } }),
    }));
    const ended = await sweep(emulator, { ...world, stacks }, "--yes", ...args);
    expect(ended.code).toBe(code);
    for (const each of [reason].flat()) expect(ended.stdout).toMatch(each);
    expect(ended.stdout).toContain("Nothing was deleted.");
    expect(ended.report).toMatchObject({ outcome: "refused", exitCode: code, planned: [] });
    expect(ended.report.refusals).toHaveLength([reason].flat().length);
    expect(writesTo(emulator)).toEqual([]);
  });

  test("if the list of stacks cannot be read", async () => {
    seed();
    const running = () => {
      throw new UserError("no backend");
    };
    const ended = await sweep(emulator, { stacks: [{}], running }, "--yes");
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain("the list of stacks: no backend");
    expect(writesTo(emulator)).toEqual([]);
  });

  test("if the account's list fails, or a part of it", async () => {
    for (let index = 0; index < 3; index++) seed();
    emulator.behave({ pageSize: 2 });
    emulator.intercept(
      ({ method, query }) => method === "GET" && `${query["before_id"] ?? ""}` !== "",
      { status: 500 },
      99,
    );
    const ended = await sweep(emulator, one, "--yes");
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/the account: GET \/endpoints: .*500/);
    expect(writesTo(emulator)).toEqual([]);
  });

  test("if the stacks use different accounts", async () => {
    const apiKey = emulator.addKey({ account: "second" });
    seed();
    emulator.seed({ type: "cloud" }, "second");
    const second = { key: "shop/dev", on: { baseUrl: emulator.baseUrl, apiKey } };
    const ended = await sweep(emulator, { stacks: [{}, second] }, "--yes");
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain("shop/prod and shop/dev use different accounts");
    // An account without endpoints is another account, too.
    for (const { id } of emulator.endpointsOf("second")) emulator.remove(id);
    expect(await sweep(emulator, { stacks: [{}, second] }, "--yes")).toMatchObject({ code: 1 });
    expect(await sweep(emulator, { stacks: [second, {}] }, "--yes")).toMatchObject({ code: 1 });
    expect(writesTo(emulator)).toEqual([]);
  });

  test.each<[string, World, RegExp]>([
    [
      "if a state gains the endpoint after the plan",
      { stacks: [{ state: (reading) => stateOf(reading > 1 ? [other, "ep_x"] : [other]) }] },
      /shop\/prod: its state has changed since the plan/,
    ],
    [
      "if a state has changed at all",
      { stacks: [{ state: (reading) => stateOf([{ id: other, inputs: { reading } }]) }] },
      /shop\/prod: its state has changed since the plan/,
    ],
    [
      "if a run begins after the plan",
      { stacks: [{}], running: (reading) => (reading > 1 ? [["shop/prod", "a run is in progress"]] : []) },
      /shop\/prod: a run is in progress/,
    ],
    [
      "if operations are pending after the plan",
      { stacks: [{ state: (reading) => stateOf([], reading > 1 ? [{}] : []) }] },
      /shop\/prod: operations are pending/,
    ],
    [
      "if a state cannot be read any more",
      { stacks: [{ state: (reading) => (reading > 1 ? failing() : stateOf([])) }] },
      /shop\/prod: no such stack/,
    ],
  ])("%s", async (_, world, reason) => {
    const id = seed();
    const ended = await sweep(emulator, world, "--yes");
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(reason);
    expect(ended.report).toMatchObject({ outcome: "refused", planned: [{ id }] });
    expect(ended.report.planned[0]).not.toHaveProperty("deleted");
    expect(writesTo(emulator)).toEqual([]);
  });
});

test("stacks with different keys of one account are swept together", async () => {
  seed();
  const on = { baseUrl: emulator.baseUrl, apiKey: emulator.addKey({ principal: "usr_colleague" }) };
  const ended = await sweep(emulator, { stacks: [{}, { key: "shop/dev", on }] }, "--yes");
  expect(ended.code).toBe(0);
  expect(writesTo(emulator)).toHaveLength(1);
});

test.each<[string, FakeStack]>([
  ["only reads", { has: [{ id: "ep_gone", external: true }] }],
  ["has to delete", { has: [{ id: "ep_gone", delete: true }] }],
  ["has in another account, and is only known,", { isKnown: true, has: ["ep_gone"] }],
])("an endpoint that a stack %s need not be in the account", async (_, stack) => {
  seed();
  expect(await sweep(emulator, { stacks: [{}, { key: "web/x", ...stack }] })).toMatchObject({ code: 7 });
});

test("stacks of two accounts without endpoints have nothing to sweep", async () => {
  emulator.remove(other);
  const on = { baseUrl: emulator.baseUrl, apiKey: emulator.addKey({ account: "second" }) };
  expect(await sweep(emulator, { stacks: [{}, { key: "shop/dev", on }] })).toMatchObject({ code: 0 });
});

test("what a stack in --gone left behind is swept, if no other stack is unread", async () => {
  const id = seed({ of: "shop/old" });
  const world = {
    stacks: [{ key: "web/x" }, { key: "shop/dev", isKnown: true }],
    listed: ["web/x", "shop/dev"],
  };
  const ended = await sweep(emulator, world, "--yes", "--gone", "shop/old");
  expect(ended).toMatchObject({ code: 0, report: { gone: ["shop/old"], planned: [{ id, deleted: true }] } });
});

test("an incomplete filter hides no stack that a mark names, because the whole list is read", async () => {
  seed({ of: "shop/hidden" });
  seed();
  emulator.behave({ filters: "incomplete" });
  expect((await sweep(emulator, one, "--yes")).stdout).toContain("shop/hidden");
  expect(writesTo(emulator)).toEqual([]);
});

describe("between the plan and the deletion,", () => {
  const by =
    (id: string) =>
    ({ method, path }: { method: string; path: string }) =>
      method === "GET" && path === `/endpoints/${id}`;
  const remarked = (id: string, change: object) => {
    const { [MARK_FIELD]: mark, ...rest } = metadataOf(id);
    return { metadata: JSON.stringify({ ...rest, [MARK_FIELD]: { ...mark, ...change } }) };
  };
  test.each<[string, (id: string) => object]>([
    ["adopted by the same resource", (id) => remarked(id, { nonce: "another" })],
    ["adopted by another resource", (id) => remarked(id, { urn: "urn:pulumi:dev::shop::x::y" })],
    ["marked by another namespace", (id) => remarked(id, { namespace: "other" })],
    ["marked with another time", (id) => remarked(id, { time: new Date().toISOString() })],
    ["adopted by a stack without marks", () => ({ metadata: "{}" })],
    ["moved to another URL", () => ({ url: "https://moved.example.com" })],
    ["given another creation time", () => ({ created_at: new Date().toISOString() })],
    ["made an agent's", () => ({ type: "ephemeral" })],
  ])("an endpoint that is %s stays, and the others are deleted", async (_, change) => {
    const ids = [seed(), seed(), seed()];
    const taken = ids[1] ?? "";
    emulator.intercept(by(taken), {
      afterCommit: true,
      before: () => void emulator.edit(taken, change(taken)),
    });
    const ended = await sweep(emulator, one, "--yes");
    expect(ended.code).toBe(1);
    expect(writesTo(emulator).sort()).toEqual([ids[0], ids[2]].map((id) => `DELETE /endpoints/${id}`).sort());
    expect(ended.report.planned.find(({ id }) => id === taken)).toMatchObject({
      deleted: false,
      reason: /has changed since the plan/,
    });
    expect(ended.report.outcome).toBe("unswept");
    expect(ended.stdout).toContain("Deleted: 2 of 3 endpoints.");
  });

  test("an endpoint that somebody else deletes counts as swept", async () => {
    const id = seed();
    emulator.intercept(by(id), { afterCommit: true, before: () => emulator.remove(id) });
    const ended = await sweep(emulator, one, "--yes");
    expect(ended).toMatchObject({
      code: 0,
      report: { planned: [{ deleted: true, reason: "it was already deleted" }] },
    });
    expect(writesTo(emulator)).toEqual([]);
  });
});

test("a list that still shows deleted endpoints makes no second deletion", async () => {
  const id = seed();
  emulator.behave({ listLag: 60_000 });
  emulator.remove(id);
  expect(await sweep(emulator, one, "--yes")).toMatchObject({
    code: 0,
    report: { planned: [{ id, deleted: true }] },
  });
  expect(writesTo(emulator)).toEqual([]);
});

test("a gateway's 404 is no deletion", async () => {
  const id = seed();
  emulator.intercept("read", { status: 404, body: "<html>" }, 9);
  const ended = await sweep(emulator, one, "--yes");
  expect(ended).toMatchObject({ code: 1, report: { planned: [{ id, deleted: false }] } });
  expect(writesTo(emulator)).toEqual([]);
});

test.each([
  [500, 1],
  [403, 3],
])("a deletion that fails with %i hides no other, and the exit code is %i", async (status, code) => {
  const ids = [seed(), seed(), seed()];
  emulator.intercept(
    ({ method, path }) => method === "DELETE" && path.endsWith(ids[1] ?? ""),
    { status },
    99,
  );
  const ended = await sweep(emulator, one, "--yes");
  expect(ended.code).toBe(code);
  expect(emulator.endpoints.map(({ id }) => id)).toEqual([other, ids[1]]);
  expect(ended.stderr).toMatch(new RegExp(`not deleted: ${ids[1]} .*: DELETE /endpoints/\\S+: .*${status}`));
  expect(ended.report.planned.map(({ deleted }) => deleted)).toEqual([true, false, true]);
  if (status === 403) expect(writesTo(emulator)).toHaveLength(3);
});

test("a deletion whose answer was lost counts as done", async () => {
  seed();
  emulator.intercept("delete", { afterCommit: true, reset: true });
  expect(await sweep(emulator, one, "--yes")).toMatchObject({ code: 0, report: { outcome: "swept" } });
  expect(emulator.endpoints.map(({ id }) => id)).toEqual([other]);
});

test("a deletion that had to wait is sent only after the endpoint was read again", async () => {
  const id = seed();
  emulator.intercept("delete", { status: 429, headers: { "Retry-After": "6" } });
  const isRead = ({ method, path }: { method: string; path: string }) =>
    method === "GET" && path.endsWith(id);
  emulator.intercept(isRead, { afterCommit: true });
  emulator.intercept(isRead, { afterCommit: true, before: () => void emulator.edit(id, { metadata: "{}" }) });
  const ended = await sweep(emulator, one, "--yes");
  expect(ended).toMatchObject({ code: 1, report: { planned: [{ id, deleted: false }] } });
  expect(writesTo(emulator)).toHaveLength(1);
  expect(emulator.endpoints).toHaveLength(2);
});

test("a backend whose locks cannot be seen is named, once", async () => {
  const { stderr } = await sweep(emulator, { stacks: [{}], hidden: ["s3://state", "s3://state"] });
  expect(stderr.match(/Locks in s3:\/\/state cannot be seen/g)).toHaveLength(1);
});

test.each([
  ["https://app.pulumi.com/me", false],
  ["s3://state", true],
  ["azblob://state", true],
  ["", false],
])("the backend %j reports runs in progress, and hides its locks: %s", async (url, isHidden) => {
  const folder = temporaryFolder();
  const stacks = [
    { name: "acme/prod", current: false, updateInProgress: true },
    { name: "me/web/dev", current: false, updateInProgress: false },
  ];
  const replies = { version: "v3.260.0", whoami: { user: "me", url }, stack: stacks };
  const cases = Object.entries(replies).map(
    ([verb, reply]) => `${verb}) echo '${typeof reply === "string" ? reply : JSON.stringify(reply)}';;`,
  );
  writeFileSync(join(folder, "pulumi"), `#!/bin/sh\ncase $1 in ${cases.join(" ")} esac\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${folder}:/usr/bin:/bin`);
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  const projects = [{ folder, name: "shop", stacks: ["acme/prod"] }];
  const opened = await openSweepStacks({ projects, known: ["me/web/dev"], ignored: [] });
  expect(opened.stacks.map(({ key, isKnown }) => [key, isKnown])).toEqual([
    ["shop/prod", false],
    ["web/dev", true],
  ]);
  expect(opened.hidden).toEqual(isHidden ? [url] : []);
  expect(await opened.look()).toEqual({
    listed: ["shop/prod", "web/dev"],
    running: new Map([["shop/prod", "a run is in progress"]]),
  });
});

test.each([
  ["file:///{}", "organization/shop/prod/1.json", true],
  ["file:///{}?no_tmp_dir=true", "organization/shop/prod/1.json", true],
  ["file://..", "organization/shop/prod/1.json", true],
  ["file://./../", "prod/1.json", true],
  ["file://~", "organization/shop/prod/1.json", false],
  ["file:///{}", "organization/shop/dev/1.json", false],
  ["file:///{}", "organization/shop/prod/1.attrs", false],
  ["https://app.pulumi.com/me", "organization/shop/prod/1.json", false],
])("a lock is seen in a backend at %s with the lock %s: %s", (url, lock, isSeen) => {
  const root = temporaryFolder();
  const path = join(root, ".pulumi/locks", lock);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "{}");
  expect(isLocked(url.replace("/{}", root), join(root, "project"), "shop/prod")).toBe(isSeen);
});

test("--json - prints the report instead of the text", async () => {
  seed({ url: "https://a.example.com" });
  const { stdout, stderr } = await sweep(emulator, one, "--json", "-", "--yes");
  expect(sweepReportSchema.parse(JSON.parse(stdout))).toMatchObject({
    version: 1,
    mark: MARK,
    olderThan: 3600,
    outcome: "swept",
    stacks: ["shop/prod"],
    service: emulator.baseUrl,
  });
  expect(stderr).toContain("in no state and older than 1h");
});

test("texts of the account can neither break a line nor start a command of a pipeline", async () => {
  const id = seed();
  const urn = "urn:pulumi:prod::shop::x::name\n##[error]\u202e";
  const mark = { ...metadataOf(id)[MARK_FIELD], urn };
  emulator.edit(id, { metadata: JSON.stringify({ [MARK_FIELD]: mark }) });
  const json = await sweep(emulator, one, "--json", "-");
  expect(json.report.planned[0]?.owner).toContain("##[error]");
  const text = await sweep(emulator, one, "--yes");
  expect(text.stderr).toContain("deleted");
  expect(json.stdout + json.stderr + text.stdout + text.stderr).not.toContain("##[");
  expect(json.stderr + text.stdout + text.stderr).not.toMatch(/\p{Cf}/u);
});

test.each([
  [[], /--mark must give/],
  [["--mark", ""], /--mark must give/],
  [["--mark", MARK, "--older-than", "1"], /--older-than takes 0s, 90m, 24h or 2d, not 1/],
  [["--mark", MARK, "--older-than", "-1h"], /older-than/],
  [["--mark", MARK, "--older-than", "1w"], /--older-than takes/],
  [["--mark", MARK, "--gone", "prod"], /--gone takes a project and a stack/],
  [["--mark", MARK, "--gone", "a/b/c/d"], /--gone takes a project and a stack/],
  [["--mark", MARK, "--gone", "/prod"], /--gone takes a project and a stack/],
  [["--mark", MARK, "--stack", ""], /--stack must not be empty/],
  [["--mark", MARK, "--cwd", "/no/such/folder"], /folder that does not exist/],
  [["--mark", MARK, "--json", "/no/such/folder/f"], /folder that does not exist/],
  [["prod"], /prod/],
])("sweep %j is a usage error", async (args, reason) => {
  const { code, stderr } = await runInProcess(sweepCommand, args);
  expect(code).toBe(2);
  expect(stderr).toMatch(reason);
});
