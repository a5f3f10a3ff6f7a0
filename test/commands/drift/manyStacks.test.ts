import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UserError } from "../../../provider/api/apiErrors";
import { driftWith } from "../../../sdk/commands/drift";
import { reportSchema } from "../../../sdk/commands/drift/report";
import type { DriftStack } from "../../../sdk/commands/drift/stack";
import { temporaryFolder } from "../../folders";
import { startInProcess } from "../runCommand";
import { drift } from "./driftRun";
import { emulator, fakeStack, TYPE } from "./stacks";

/* Many stacks of many projects on one account. */

/** Runs `drift --json -` on these stacks, with the ids that known stacks manage. */
async function report(stacks: DriftStack[], args: string[] = [], known: Record<string, string[]> = {}) {
  const readKnown = async (_: unknown, stack: string) => {
    const ids = known[stack];
    if (!ids) throw new UserError(`no stack named '${stack}' found`);
    return ids;
  };
  const command = driftWith({ open: async () => stacks, readKnown, env: {} });
  const run = startInProcess(command, [...args, "--json", "-"]);
  const code = await run.code;
  return { code, stderr: run.printed.stderr, ...reportSchema.parse(JSON.parse(run.printed.stdout)) };
}

const seed = (name: string, more: object = {}) =>
  emulator.seed({ type: "cloud", url: `https://${name}.example.com`, ...more });

/** A mark as a create of another project writes it. */
function marked(project: string, created_at: string) {
  const urn = `urn:pulumi:prod::${project}::${TYPE}::front`;
  const mark = { namespace: "platform", urn, nonce: "00", time: created_at };
  return { created_at, metadata: JSON.stringify({ "pulumi-endpoints": mark }) };
}

const written = (data: unknown) => {
  const file = join(temporaryFolder(), "ignore.json");
  writeFileSync(file, JSON.stringify(data));
  return file;
};

test("an endpoint of a known stack, of another project's mark, or on the list of ignored ones is not unmanaged", async () => {
  const [known, loose] = [seed("known"), seed("loose")];
  const other = seed("other", marked("blog", "2026-01-02T03:04:05Z"));
  const status = seed("status", { metadata: '{"team":"vendor"}' });
  const ignore = written([
    { url: "https://STATUS.*", metadata: { team: "vendor" }, reason: "the vendor's" },
    { id: "ep_gone", reason: "was deleted" },
  ]);
  const args = ["--known", "organization/web/prod", "--ignore", ignore, "--fail-on-unmanaged"];
  const ended = await report([fakeStack([])], args, { "organization/web/prod": [known.id] });
  const [account] = ended.accounts;
  expect(account?.unmanaged.map(({ id }) => id)).toEqual([loose.id]);
  expect(account?.others.map(({ id, createdFor }) => [id, createdFor])).toEqual([
    [other.id, "'front' of the stack blog/prod (platform)"],
  ]);
  expect(account?.ignored).toEqual([{ id: status.id, url: status.url, reason: "the vendor's" }]);
  expect(account?.known).toBe(1);
  expect(ended.unusedIgnores).toEqual([{ id: "ep_gone", reason: "was deleted" }]);
  expect(ended.code).toBe(7);
  emulator.remove(loose.id);
  expect((await report([fakeStack([])], args, { "organization/web/prod": [known.id] })).code).toBe(0);
});

test("a mark that was copied from another endpoint is no evidence, so its endpoint is unmanaged", async () => {
  const { metadata } = marked("blog", "2026-01-02T03:04:05Z");
  const copy = seed("copy", { metadata, created_at: "2026-03-02T03:04:05Z" });
  const { accounts } = await report([fakeStack([])]);
  expect(accounts[0]?.unmanaged.map(({ id }) => id)).toEqual([copy.id]);
});

test("all conditions of an ignored entry must hold", async () => {
  const of = seed("of", marked("shop", "2026-01-02T03:04:05Z"));
  const entries = [
    { id: of.id, url: "https://else.*", reason: "x" },
    { metadata: { team: "a" }, reason: "x" },
    { mark: { namespace: "platform", stack: "dev" }, reason: "x" },
  ];
  const ended = await report([fakeStack([])], ["--ignore", written(entries)]);
  expect(ended.unusedIgnores).toHaveLength(3);
  const meant = written([
    { mark: { namespace: "platform", project: "shop", stack: "prod" }, reason: "ours" },
  ]);
  const { accounts } = await report([fakeStack([])], ["--ignore", meant]);
  expect(accounts[0]?.ignored.map(({ reason }) => reason)).toEqual(["ours"]);
});

test("a known stack that cannot be read leaves open what is unmanaged", async () => {
  seed("loose");
  const ended = await report(
    [fakeStack([])],
    ["--known", "o/web/lost", "--ignore", written([{ id: "x", reason: "y" }])],
  );
  expect(ended.code).toBe(1);
  expect(ended.accounts[0]?.unmanaged).toEqual([]);
  expect(ended.unusedIgnores).toEqual([]);
  expect(ended.accounts[0]?.unchecked[0]).toMatchObject({
    what: "the known stack o/web/lost",
    reason: "no stack named 'o/web/lost' found",
  });
});

test("drifted and unmanaged endpoints say when they were last changed, and who owns them", async () => {
  const seen = { updated_at: "2026-02-03T04:05:06Z", principal: { id: "usr_1", uri: "" } };
  const { id, url = "" } = seed("a", { ...seen, description: "by hand" });
  seed("loose", seen);
  const ended = await drift([fakeStack([{ name: "a", id, inputs: { url } }])]);
  const told = { updatedAt: "2026-02-03T04:05:06.000Z", principal: "usr_1" };
  expect(ended.report.stacks[0]?.drifted[0]).toMatchObject(told);
  expect(ended.report.accounts[0]?.unmanaged[0]).toMatchObject(told);
  for (const form of [ended.stdout, ended.page])
    expect(form.match(/changed 2026-02-03 04:05/g)).toHaveLength(2);
});

test("four stacks are read at once, and told in the order of their findings", async () => {
  let [running, most] = [0, 0];
  const stacks = ["a", "b", "c", "d", "e", "f"].map((name) => {
    const live = name === "e" ? { live: { description: "by hand" } } : {};
    const stack = fakeStack([{ name, ...live }], { name });
    const state = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      return stack.state();
    };
    return { ...stack, state };
  });
  const ended = await drift(stacks);
  expect(most).toBe(4);
  expect(ended.report.stacks.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e", "f"]);
  expect(ended.stdout).toMatch(/^Stack e: 1 of 1 cloud endpoint drifted/);
  expect(ended.stdout).toContain("5 other stacks: no drift in 5 cloud endpoints");
  expect(ended.stdout).not.toContain("Stack a");
  expect(ended.stderr).toMatch(/6 of 6 stacks read/);
  expect(ended.page).toContain("<details>\n<summary>5 other stacks: no drift in 5 cloud endpoints</summary>");
  // One listing of the account serves all.
  expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints"]);
});

test("one failing stack hides no other, and a cause that stacks share is told once with their number", async () => {
  const fail = (reason: string) => async () => {
    throw new UserError(reason);
  };
  const stacks = [
    fakeStack([{ name: "a", live: { description: "by hand" } }], { name: "good" }),
    ...["p", "q", "r", "s"].map((name) => fakeStack([], { name, state: fail("the passphrase must be set") })),
    fakeStack([], { name: "t", state: fail("no stack named 't' found") }),
  ];
  const { stdout, report, page, code } = await drift(stacks);
  expect(code).toBe(1);
  expect(report.stacks[0]?.drifted).toHaveLength(1);
  // No form may claim anything of the stacks whose cause is told elsewhere.
  expect(page).toContain("<summary>4 stacks with only these causes: nothing compared</summary>");
  const unread = /<h3><bdi>[pqrs]<\/bdi><\/h3>\n<p class="quiet"><bdi>nothing compared/g;
  expect(page.match(unread)).toHaveLength(4);
  for (const form of [stdout, page]) {
    expect(form).not.toMatch(/no drift/i);
    expect(form.match(/the passphrase must be set/g)).toHaveLength(1);
    expect(form).toContain("4 stacks: p, q, r and 1 more");
  }
  expect(stdout).toMatch(
    /Stack t: nothing compared\n {2}unchecked the stack's state: no stack named 't' found/,
  );
  expect(stdout.indexOf("Stack good")).toBeLessThan(stdout.indexOf("the passphrase"));
});

test("the text has the first twenty unmanaged endpoints, and the JSON has all", async () => {
  for (let index = 0; index < 23; index++) seed(`loose-${index}`);
  const { stdout, report, page } = await drift([fakeStack([])]);
  expect(stdout.match(/https:\/\/loose-/g)).toHaveLength(20);
  expect(stdout).toContain("3 more unmanaged (listed in --json and --html)");
  expect(report.accounts[0]?.unmanaged).toHaveLength(23);
  expect(page.match(/https:\/\/loose-/g)).toHaveLength(23);
});

test("a project in another folder is opened there", async () => {
  const root = temporaryFolder();
  for (const name of ["api", "web"]) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, "Pulumi.yaml"), `name: ${name}\nruntime: nodejs\n`);
  }
  const opened: unknown[] = [];
  const open = async (projects: unknown[]) => {
    opened.push(...projects);
    return [fakeStack([])];
  };
  const command = driftWith({ open, readKnown: async () => [], env: {} });
  const folders = ["api", "web"].flatMap((name) => ["--cwd", join(root, name)]);
  expect(
    await startInProcess(command, [...folders, "--stack", "organization/web/dev", "--stack", "prod"]).code,
  ).toBe(0);
  expect(opened).toEqual([
    { folder: join(root, "api"), name: "api", stacks: ["prod"] },
    { folder: join(root, "web"), name: "web", stacks: ["organization/web/dev", "prod"] },
  ]);
});
