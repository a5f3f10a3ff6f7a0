import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { driftWith } from "../../../sdk/commands/drift";
import { outcomeOf, reportSchema } from "../../../sdk/commands/drift/report";
import {
  type DriftStack,
  lastUpdateFailed,
  onInterruption,
  REPAIR_MESSAGE,
} from "../../../sdk/commands/drift/stack";
import { temporaryFolder } from "../../folders";
import { startInProcess } from "../runCommand";
import { drift } from "./driftRun";
import { emulator, fakeStack } from "./stacks";

/* What no row of `worlds.ts` shows: order and interruption, the length of a report, and how stacks are opened. */

test("four stacks are read at once, and each account is listed once, after all states", async () => {
  let [running, most] = [0, 0];
  const stacks = ["a", "b", "c", "d", "e", "f"].map((name) => {
    const stack = fakeStack([{ name }], { name });
    const state: DriftStack["state"] = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      expect(emulator.requests).toEqual([]);
      return stack.state();
    };
    return { ...stack, state };
  });
  const ended = await drift(stacks);
  expect(ended.code).toBe(0);
  expect(most).toBe(4);
  expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints"]);
  expect(ended.stderr).toMatch(/6 of 6 stacks read/);
});

test("after an interruption, nothing more is read, no request is sent, and the rest is unchecked", async () => {
  const read: string[] = [];
  const names = ["one", "two", "three", "four", "five", "six"];
  const stacks = names.map((name) => {
    const stack = fakeStack([{ name }], { name });
    const state: DriftStack["state"] = () => {
      read.push(name);
      if (name === "four") process.emit("SIGTERM", "SIGTERM");
      return stack.state();
    };
    return { ...stack, state };
  });
  const known = {
    get "organization/web/prod"() {
      read.push("the known stack");
      return [];
    },
  };
  const ended = await drift(stacks, { known });
  expect(ended.code).toBe(1);
  expect(read).toEqual(names.slice(0, 4));
  expect(emulator.requests).toEqual([]);
  expect(ended.report.stacks.map(({ compared }) => compared)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(ended.stdout).toMatch(/unchecked one: .*: it was interrupted/);
});

test("an interruption ends a listing that waits for the rate limit", async () => {
  const headers = { "retry-after": "300" };
  emulator.intercept(({ path }) => path === "/endpoints", { status: 429, headers, body: {} });
  const running = drift([fakeStack([{ name: "a" }])]);
  await vi.waitFor(() => expect(emulator.requests).toHaveLength(1), 10_000);
  // Lets the wait begin.
  await new Promise((resolve) => setTimeout(resolve, 200));
  process.emit("SIGTERM", "SIGTERM");
  const ended = await running;
  expect(emulator.requests).toHaveLength(1);
  expect(ended.stdout).toMatch(/the account's endpoints: it was interrupted/);
});

test("the first signal stops the command, and its listener is removed after the run", () => {
  const before = process.listenerCount("SIGTERM");
  const logged: string[] = [];
  const { stopped, forward, end } = onInterruption((message) => logged.push(message));
  expect([stopped.aborted, forward.aborted]).toEqual([false, false]);
  process.emit("SIGTERM", "SIGTERM");
  expect([stopped.aborted, forward.aborted]).toEqual([true, true]);
  expect(logged).toEqual([expect.stringContaining("waiting for Pulumi to complete")]);
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  end();
  expect(process.listenerCount("SIGTERM")).toBe(before);
});

const FAILED = { kind: "update", message: "", result: "failed" };
const SUCCEEDED = { ...FAILED, result: "succeeded" };
const REFRESH = { ...SUCCEEDED, kind: "refresh" };
const REPAIR = { ...SUCCEEDED, message: REPAIR_MESSAGE };

test.each<[string, boolean, object[]]>([
  ["no run at all", false, []],
  ["refreshes only", false, [REFRESH, { ...REFRESH, result: "failed" }]],
  ["a failed up", true, [FAILED, SUCCEEDED]],
  ["a failed destroy", true, [{ ...FAILED, kind: "destroy" }, SUCCEEDED]],
  ["a destroy after a failed up", false, [{ ...SUCCEEDED, kind: "destroy" }, FAILED]],
  ["repairs after a failed up", true, [REPAIR, REFRESH, REPAIR, FAILED, SUCCEEDED]],
  ["a failed repair", true, [{ ...REPAIR, result: "failed" }, SUCCEEDED]],
  ["an up with another message", false, [{ ...SUCCEEDED, message: "drift --fix" }, FAILED]],
  ["many refreshes after a failed up", true, [...Array(250).fill(REFRESH), FAILED]],
])("the history of %s tells whether the last update failed", async (_, isFailed, newestFirst) => {
  const history = async (size: number, page: number) => newestFirst.slice((page - 1) * size, page * size);
  expect(await lastUpdateFailed(history)).toBe(isFailed);
});

test("the line of a report that deletes an unmanaged endpoint works in a shell, with the header of the settings", async () => {
  const { id } = emulator.seed({ type: "cloud" });
  const body = { endpoints: emulator.endpoints };
  emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
  const settings = new Map([
    ["endpoints:baseUrl", emulator.baseUrl],
    ["endpoints:apiKey", emulator.apiKey],
    ["endpoints:versionHeader", "X-Version"],
  ]);
  const { report } = await drift([fakeStack([], { config: async () => (key) => settings.get(key) })]);
  const [{ deleteCommand = "" } = {}] = report.accounts[0]?.unmanaged ?? [];
  expect(deleteCommand).toBe(
    `curl --fail-with-body -X DELETE -H "Authorization: Bearer $ENDPOINTS_API_KEY" -H 'X-Version: 2' ${emulator.baseUrl}/endpoints/${id}`,
  );
  const env = { ...process.env, ENDPOINTS_API_KEY: emulator.apiKey };
  await promisify(execFile)("sh", ["-c", deleteCommand.replace("X-Version", "Service-Version")], { env });
  expect(emulator.endpoints).toEqual([]);
});

test("the text has the first fifty findings of a section, and JSON and page have all", async () => {
  for (let index = 0; index < 53; index++)
    emulator.seed({ type: "cloud", url: `https://loose-${index}.example.com` });
  const { code, stdout, report, page } = await drift([fakeStack([])]);
  expect(code).toBe(0);
  expect(stdout.match(/https:\/\/loose-/g)).toHaveLength(50);
  expect(stdout).toContain("and 3 more (listed in --json and --html)");
  expect(report.accounts[0]?.unmanaged).toHaveLength(53);
  expect(page.match(/https:\/\/loose-/g)).toHaveLength(53);
});

test("a project in another folder is opened there", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: web\nruntime: nodejs\n");
  const opened: unknown[] = [];
  const open = async (projects: unknown[]) => {
    opened.push(...projects);
    return [fakeStack([])];
  };
  const command = driftWith({ open, readKnown: async () => [] });
  const stacks = ["--stack", "organization/web/dev", "--stack", "prod"];
  expect(await startInProcess(command, ["--cwd", folder, ...stacks]).code).toBe(0);
  expect(opened).toEqual([{ folder, name: "web", stacks: ["organization/web/dev", "prod"] }]);
});

const docs = readFileSync(join(import.meta.dirname, "../../../docs/drift.md"), "utf8");

test("the documentation has a valid report, with the exit code of its outcome, and describes every outcome", () => {
  const [, example = ""] = /```json\n([\s\S]*?)```/.exec(docs) ?? [];
  const report = reportSchema.strict().parse(JSON.parse(example));
  expect(outcomeOf(report)).toEqual({ outcome: report.outcome, exitCode: report.exitCode });
  for (const outcome of reportSchema.shape.outcome.options) expect(docs).toContain(`\`${outcome}\``);
});
