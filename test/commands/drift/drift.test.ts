import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { driftCommand, driftWith } from "../../../sdk/commands/drift";
import { addLines } from "../../../sdk/commands/drift/recovery";
import {
  type DriftReport,
  outcomeOf,
  reportSchema,
  type StackReport,
} from "../../../sdk/commands/drift/report";
import { type DriftStack, type Updates, updatesOf } from "../../../sdk/commands/drift/stack";
import { temporaryFolder } from "../../folders";
import { until } from "../../until";
import { pathWithPulumi, runInProcess } from "../runCommand";
import { runDrift } from "./driftRun";
import { begunCreate } from "./fixtures";
import { emulator, fakeStack } from "./stacks";

/* The drift command beyond `fixtures.ts`: order, interruption, and the length of a report. */

const NAMES = ["one", "two", "three", "four", "five", "six"];

/** A stack for each name. */
const six = (onRead: (name: string) => unknown) =>
  NAMES.map((name): DriftStack => {
    const { state, ...stack } = fakeStack([{ name }], { name });
    const read = async () => {
      await onRead(name);
      return state();
    };
    return { ...stack, state: read };
  });

test("four stacks are read at once, and each account is listed once, after all states", async () => {
  let [running, most] = [0, 0];
  const stacks = six(async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
    expect(emulator.requests).toEqual([]);
  });
  const ended = await runDrift(stacks);
  expect(ended.code).toBe(0);
  expect(most).toBe(4);
  expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints"]);
  expect(ended.stderr).toMatch(/6 of 6 stacks read/);
});

test("after an interruption, nothing more is read, no request is sent, and the rest is unchecked", async () => {
  const read: string[] = [];
  const stacks = six((name) => {
    read.push(name);
    if (name === "four") process.emit("SIGTERM", "SIGTERM");
  });
  const others = {
    get "organization/web/prod"() {
      read.push("another stack");
      return {};
    },
  };
  const listeners = process.listenerCount("SIGTERM");
  const ended = await runDrift(stacks, { others });
  expect(process.listenerCount("SIGTERM")).toBe(listeners);
  expect(ended.code).toBe(1);
  expect(read).toEqual(NAMES.slice(0, 4));
  expect(emulator.requests).toEqual([]);
  expect(ended.report.stacks.map(({ compared }) => compared)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(ended.stdout).toMatch(/unchecked one: .*: it was interrupted/);
  expect(ended.stderr).toContain("interrupted: the report names what is unchecked");
});

test("an interruption while the other stacks are read is no green report", async () => {
  const others = {
    get "organization/web/prod"() {
      process.emit("SIGTERM", "SIGTERM");
      return {};
    },
  };
  const ended = await runDrift(
    six(() => {}),
    { others },
  );
  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(/unchecked .*what other stacks have.*it was interrupted/s);
});

test("a missing stack is an invalid argument, in one line, and a missing stack of a file is unchecked, with what to remove", async () => {
  const folder = temporaryFolder();
  const missing = "error: no stack named 'nosuch' found";
  vi.stubEnv("PATH", pathWithPulumi(`[ "$2" != export ] || { echo "${missing}" >&2; exit 255; }\necho '{}'`));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\n");
  const file = join(folder, "stacks.yaml");
  writeFileSync(file, "projects: [{folder: ., stacks: [nosuch]}]");
  expect(await runInProcess(driftCommand, ["--cwd", folder, "--stack", "nosuch"])).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "pulumi-endpoints drift: no stack named 'nosuch' found: `pulumi stack ls --all` lists the stacks\n",
  });
  const listed = await runInProcess(driftCommand, ["--projects", file]);
  const [state, wayOut] = [
    "unchecked shop/nosuch: the stack's",
    "remove its settings file, Pulumi.nosuch.yaml",
  ];
  expect(listed).toMatchObject({ code: 1, stdout: expect.stringContaining(state) });
  expect(listed.stdout).toContain(wayOut);
});

test("an interruption ends a listing that waits for the rate limit", async () => {
  const headers = { "retry-after": "300" };
  emulator.intercept(({ path }) => path === "/endpoints", { status: 429, headers, body: {} });
  const ended = await runDrift([fakeStack([{ name: "a" }])], {
    async during({ stderr }) {
      await until(() => stderr().includes("requests wait 300 s"));
      process.emit("SIGTERM", "SIGTERM");
    },
  });
  expect(emulator.requests).toHaveLength(1);
  expect(ended.stdout).toMatch(/the account's endpoints: it was interrupted/);
});

const FAILED = { kind: "update", environment: {}, result: "failed" };
const IN_PROGRESS = { ...FAILED, result: "in-progress" };
const SUCCEEDED = { ...FAILED, result: "succeeded" };
const TARGETED = { ...SUCCEEDED, environment: { "pulumi.flag.target": "set" } };
const SAME = { ...SUCCEEDED, kind: "refresh", resourceChanges: { same: 3 } };
const WRITING = { ...SAME, resourceChanges: { same: 1, update: 2 } };
const DELETING = { ...SAME, resourceChanges: { delete: 1 } };

const EXCLUDING = { ...SUCCEEDED, environment: { "pulumi.flag.exclude": "set" } };
const REPLACING = { ...SUCCEEDED, environment: { "pulumi.flag.target-replace": "set" } };

const REFRESHING = { ...TARGETED, environment: { ...TARGETED.environment, "pulumi.flag.refresh": "set" } };

const CLEAN: Updates = { result: "succeeded", isRewritten: false };
const REWRITTEN: Updates = { ...CLEAN, isRewritten: true };

test.each<[string, Updates, object[]]>([
  ["refreshes only", CLEAN, [SAME, SAME]],
  ["a failed up", { result: "failed", isRewritten: false }, [FAILED, WRITING, SUCCEEDED]],
  ["a destroy after a failed up", CLEAN, [{ ...SUCCEEDED, kind: "destroy" }, FAILED]],
  ...[TARGETED, EXCLUDING, REPLACING].map((partial): [string, Updates, object[]] => [
    "ups of a part after a failed up",
    { result: "failed", isRewritten: false },
    [partial, SAME, partial, FAILED, SUCCEEDED],
  ]),
  [
    "a failed up with targets",
    { result: "failed", isRewritten: false },
    [{ ...TARGETED, result: "failed" }, SUCCEEDED],
  ],
  [
    "many refreshes after a failed up",
    { result: "failed", isRewritten: false },
    [...Array(250).fill(SAME), FAILED],
  ],
  [
    "an up in progress after a refresh that wrote",
    { result: "in-progress", isRewritten: false },
    [IN_PROGRESS, WRITING, SUCCEEDED, FAILED],
  ],
  [
    "an up of a part in progress",
    { result: "in-progress", isRewritten: false },
    [{ ...IN_PROGRESS, environment: TARGETED.environment }, SUCCEEDED],
  ],
  ["an up without a result", { result: "unknown", isRewritten: false }, [{ ...FAILED, result: undefined }]],
  ["an up after a refresh that wrote", CLEAN, [SUCCEEDED, WRITING, SUCCEEDED]],
  ["a refresh that wrote", REWRITTEN, [SAME, WRITING, SUCCEEDED, WRITING]],
  ["a refresh that wrote and then failed", REWRITTEN, [{ ...WRITING, result: "failed" }, SUCCEEDED]],
  ["a refresh that deleted", REWRITTEN, [SAME, DELETING, SUCCEEDED]],
  ["an up of a part with a refresh", REWRITTEN, [TARGETED, REFRESHING, SUCCEEDED]],
  [
    "an up with a refresh",
    CLEAN,
    [{ ...REFRESHING, environment: { "pulumi.flag.refresh": "set" } }, WRITING],
  ],
  ["an up of a part after it", REWRITTEN, [TARGETED, EXCLUDING, REPLACING, WRITING, SUCCEEDED]],
  ["a refresh after an import", REWRITTEN, [WRITING]],
])(
  "the history of %s tells whether the state may differ from the program",
  async (_, updates, newestFirst) => {
    const history = async (size: number, page: number) => newestFirst.slice((page - 1) * size, page * size);
    expect(await updatesOf(history)).toEqual(updates);
  },
);

test.each(["--json", "--html"])("drift says why it cannot write the file of %s", async (option) => {
  const command = driftWith({
    ...{ open: async () => [], backendsOf: async () => [] },
    readStates: async () => ({ stacks: [], unread: [] }),
  });
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "Pulumi.yaml"), "name: shop\n");
  const args = ["--cwd", cwd, "--stack", "prod", option, "/dev/full"];
  const { code, stderr } = await runInProcess(command, args);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^pulumi-endpoints drift: \/dev\/full cannot be written: the disk is full\n$/);
});

test("the text has a few unmanaged endpoints, and JSON and page have all", async () => {
  for (let index = 0; index < 53; index++)
    emulator.seed({ type: "cloud", url: `https://loose-${index}.example.com` });
  const { code, stdout, report, page } = await runDrift([fakeStack([])]);
  expect(code).toBe(0);
  expect(stdout.match(/https:\/\/loose-/g)).toHaveLength(5);
  expect(stdout).toContain("and 48 more: --json and --html list them");
  expect(report.accounts[0]?.unmanaged).toHaveLength(53);
  expect(page.match(/https:\/\/loose-/g)).toHaveLength(53);
});

test("what a killed run left has all ids in the line, however many", async () => {
  const names = Array.from({ length: 150 }, (_, index) => `${"a".repeat(27)}${index}`);
  const ids = names.map((name) => `ep_${name}`);
  for (const name of names)
    emulator.seed({ id: `ep_${name}`, type: "cloud", url: `https://${name}.example.com` });
  const begun = names.map((name) => begunCreate(name));
  const { stdout, page, report } = await runDrift([fakeStack([], { begun })]);
  const { adopt = [], command } = report.stacks[0]?.recovery ?? {};
  expect(adopt.toSorted()).toEqual(ids.toSorted());
  expect(command).toBe(
    `pulumi refresh --yes --clear-pending-creates --stack prod && pulumi up --config endpoints:adopt=${adopt.join(",")} --stack prod`,
  );
  for (const form of [stdout, page.replaceAll("&#38;", "&")]) expect(form).toContain(command);
});

test("1,000 endpoints cost one listing, and an edit of one costs no other request", async () => {
  const stack = fakeStack(
    Array.from({ length: 1000 }, (_, at) => ({
      name: `e${at}`,
      ...(at === 0 && { live: { description: "x" } }),
    })),
  );
  const ended = await runDrift([stack]);
  expect(ended.report.stacks[0]?.drifted.map(({ name }) => name)).toEqual(["e0"]);
  expect(new Set(emulator.requests.map(({ path }) => path))).toEqual(new Set(["/endpoints"]));
});

const docs = join(import.meta.dirname, "../../../docs");

const example = readFileSync(join(docs, "generate/drift.json"), "utf8");

test.each<[string, (report: DriftReport, stack: StackReport) => unknown]>([
  ["has not drifted", (_, stack) => stack.drifted.splice(0)],
  ["is undeployed", (_, stack) => Object.assign(stack, { undeployed: "its last update failed" })],
  ["is partly unchecked", (_, stack) => stack.unchecked.push({ what: "its history", reason: "" })],
  ["has endpoints that were not compared", (_, stack) => stack.endpoints++],
  [
    "has an endpoint of another resource",
    ({ shared }, stack) => shared.push({ id: "ep_a", resources: [{ stack: stack.name, name: "", urn: "" }] }),
  ],
])("no line puts back the drift of a stack that %s, because that comes first", (_, change) => {
  const report = reportSchema.parse(JSON.parse(example));
  const [stack] = report.stacks;
  if (!stack) throw new Error("the report has no stack");
  addLines(report);
  expect(stack.repair).toMatch(
    /^pulumi preview --expect-no-changes --refresh=false .* && pulumi up --refresh/,
  );
  change(report, stack);
  addLines(report);
  expect(stack.repair).toBeUndefined();
});

test("the report of the documentation's picture is valid, with the exit code of its outcome, and the reference describes every outcome", () => {
  const report = reportSchema.strict().parse(JSON.parse(example));
  expect(outcomeOf(report)).toEqual({ outcome: report.outcome, exitCode: report.exitCode });
  const reference = readFileSync(join(docs, "reference.md"), "utf8");
  for (const outcome of reportSchema.shape.outcome.options) expect(reference).toContain(`\`${outcome}\``);
});
