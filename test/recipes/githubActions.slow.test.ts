import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { methods } from "../requests";
import {
  cli,
  deployableRepository,
  environmentsProject,
  type Machine,
  machine,
  PROJECTS,
  pythonRepository,
  type Ran,
  recipes,
  repository,
  withCommands,
} from "./recipeMachine";

const text = z.record(z.string(), z.coerce.string());
const step = z.object({
  name: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  "working-directory": z.string().optional(),
  env: text.default({}),
  run: z.string().default(""),
});
const concurrency = z.object({ group: z.string(), "cancel-in-progress": z.boolean() });
const workflow = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions: text,
  concurrency: concurrency.optional(),
  jobs: z.record(
    z.string(),
    z.object({
      if: z.string().optional(),
      uses: z.string().optional(),
      with: z.record(z.string(), z.unknown()).default({}),
      environment: z.string().optional(),
      permissions: text,
      strategy: z.record(z.string(), z.unknown()).optional(),
      concurrency: concurrency.optional(),
      steps: z.array(step).default([]),
    }),
  ),
});
const read = (name: string) =>
  workflow.parse(parse(readFileSync(join(recipes, "github-actions", `${name}.yml`), "utf8")));

const caller = read("endpoints");
const called = { preview: read("preview"), up: read("up"), drift: read("drift") };
const jobs = [caller, ...Object.values(called)].flatMap(({ jobs }) => Object.values(jobs));
const steps = jobs.flatMap((job) => job.steps);

/** Runs the script of a step with this name as GitHub does: `bash` with `-e` and `-o pipefail`. */
function runStep(
  runner: Machine,
  name: string,
  env: Record<string, string>,
  { folder = ".", cancel }: { folder?: string; cancel?: AbortSignal } = {},
): Promise<Ran> {
  const script = steps.find((step) => step.name === name)?.run ?? `exit "there is no step ${name}"`;
  const given = {
    GH_TOKEN: "a token",
    GH_REPO: "acme/shop",
    GITHUB_REPOSITORY: "acme/shop",
    GITHUB_OUTPUT: join(runner.scratch, "output"),
    GITHUB_STEP_SUMMARY: join(runner.scratch, "summary"),
    RUNNER_TEMP: runner.scratch,
    PROJECTS: "stacks.yaml",
    STACK: "prod",
    RUN_URL: "https://run",
  };
  const bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", `cd ${folder}\n${script}`];
  return runner.run(bash, { ...given, ...env }, cancel);
}

/** The outputs of a step that succeeds. */
async function outputsOf(runner: Machine, name: string, env: Record<string, string> = {}) {
  const file = join(runner.scratch, "output");
  writeFileSync(file, "");
  expect(await runStep(runner, name, env)).toMatchObject({ code: 0 });
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => [line.split("=", 1)[0] ?? "", line.replace(/^\w+=/, "")]));
}

describe("the workflows for GitHub Actions", () => {
  test("give each job only the permissions that it uses", () => {
    for (const { permissions } of [caller, ...Object.values(called)]) expect(permissions).toEqual({});
    expect(jobs.map(({ permissions }) => permissions)).toEqual([
      { contents: "read" },
      { contents: "read", "pull-requests": "write" },
      { contents: "read" },
      { contents: "read", issues: "write" },
      { contents: "read" },
      { "pull-requests": "write" },
      { contents: "read" },
      { contents: "read", issues: "write" },
    ]);
  });

  test("are called with inputs that they have, and with the permissions of their jobs", () => {
    for (const [name, { on, jobs }] of Object.entries(called)) {
      const call = caller.jobs[name];
      expect(call?.uses).toBe(`./.github/workflows/${name}.yml`);
      expect(Object.keys(call?.with ?? {}).sort()).toEqual(Object.keys(inputsOf(on["workflow_call"])).sort());
      expect(call?.permissions).toEqual(
        Object.assign({}, ...Object.values(jobs).map((job) => job.permissions)),
      );
    }
  });

  test("never cancel an up, and never let a drift check or the failure of another stack end one", () => {
    const { up } = called.up.jobs;
    for (const queue of [called.up.concurrency, up?.concurrency, called.drift.concurrency])
      expect(queue?.["cancel-in-progress"]).toBe(false);
    expect(up?.strategy?.["fail-fast"]).toBe(false);
    expect(called.drift.concurrency?.group).toMatch(/^drift-/);
    expect(called.up.concurrency?.group).toMatch(/^up-/);
    expect(up?.concurrency?.group).toBe(`stack-\${{ matrix.project }}-\${{ matrix.stack }}`);
  });

  test("never run a fork's program with a key", () => {
    expect(Object.keys(caller.on)).toEqual(["pull_request", "push", "schedule", "workflow_dispatch"]);
    for (const { on } of Object.values(called)) expect(Object.keys(on)).toEqual(["workflow_call"]);
    expect(caller.jobs["preview"]?.if).toContain(
      "github.event.pull_request.head.repo.full_name == github.repository",
    );
    expect(JSON.stringify(caller)).not.toContain("secrets.");
  });

  test("give each key only to steps of the job with its protected environment", () => {
    const holders = (key: string) =>
      jobs.filter((job) => JSON.stringify(job).includes(key)).map((job) => job.environment);
    expect(holders("secrets.ENDPOINTS_WRITE_KEY")).toEqual([`\${{ inputs.environment }}`]);
    expect(holders("secrets.ENDPOINTS_READ_KEY")).toEqual([`\${{ inputs.environment }}`]);
    const environments = Object.values(caller.jobs).flatMap((job) => job.with["environment"] ?? []);
    expect(environments).toEqual(["endpoints", "endpoints-drift"]);
    for (const step of steps) expect(JSON.stringify({ ...step, env: {} })).not.toContain("secrets.");
  });

  test("put no expression into a script, pin every action to a commit, and do not persist credentials", () => {
    for (const { run } of steps) expect(run).not.toContain("${{");
    for (const uses of steps.flatMap((step) => step.uses ?? [])) expect(uses).toMatch(/@[0-9a-f]{40}$/);
    const checkouts = steps.filter((step) => step.uses?.startsWith("actions/checkout@"));
    expect(checkouts.map((step) => step.with)).toEqual(Array(4).fill({ "persist-credentials": false }));
  });
});

const inputsOf = (call: unknown) =>
  z.object({ inputs: z.record(z.string(), z.unknown()) }).parse(call).inputs;

/** What the step with the list of stacks passes to the other workflows. */
async function matrixOf(runner: Machine, env: Record<string, string> = {}): Promise<string> {
  const { matrix = "", jobs } = await outputsOf(runner, "List", { STACKS: "", JOBS: "4", ...env });
  expect(jobs).toBe(env["JOBS"] ?? "4");
  return matrix;
}

test("the file of projects becomes a job for each stack, which share the requests", async () => {
  const runner = machine(repository());
  const include = PROJECTS.map((name) => ({
    folder: name,
    project: name,
    stack: "prod",
    requestsPerWindow: 60,
  }));
  expect(JSON.parse(await matrixOf(runner))).toEqual({ include });
  const STACKS = "organization/shop/prod o/api/prod";
  expect(JSON.parse(await matrixOf(runner, { STACKS }))).toEqual({ include });
  const [, shop] = include;
  const one = { include: [{ ...shop, requestsPerWindow: 120 }] };
  expect(JSON.parse(await matrixOf(runner, { STACKS: "organization/shop/prod", JOBS: "1" }))).toEqual(one);
  expect(await runStep(runner, "List", { STACKS: "dev", JOBS: "4" })).toMatchObject({ code: 2 });
});

test.each(["preview", "up", "drift"] as const)(
  "the job %s runs a Python program from a fresh checkout, and installs it without a key",
  async (name) => {
    const report = `[ "$3" = drift ] && exit\nexec node_modules/.bin/pulumi-endpoints "$3" --projects stacks.yaml --json -`;
    const runner = pythonRepository({ npx: report });
    const steps = called[name].jobs[name]?.steps ?? [];
    const scripts = steps.filter(({ run, name }) => run && name !== "Issue" && name !== "Report");
    for (const { run, env, name, "working-directory": folder = "." } of scripts) {
      if (name === "Install" || /^(npm ci|pulumi install)/.test(run)) expect(Object.keys(env)).toEqual([]);
      const bash = ["bash", "-eo", "pipefail", "-c", `cd ${folder.replace(/\$.*/, "customers")}\n${run}`];
      const given = { ...env, PROJECTS: "stacks.yaml", STACK: "prod", ISSUE: "3" };
      const paths = {
        RUNNER_TEMP: runner.scratch,
        GITHUB_OUTPUT: "/dev/null",
        GITHUB_STEP_SUMMARY: "/dev/null",
      };
      const ran = await runner.run(bash, { ...given, ...paths });
      expect(ran, `${name}: ${ran.output}`).toMatchObject({ code: 0 });
      expect(ran.output).not.toContain("does not exist");
    }
    const ran = runner.calls().map((call) => call.split(" ", 2).join(" "));
    expect(ran.filter((call) => !call.startsWith("npx"))).toEqual([
      "npm ci",
      "pulumi install",
      name === "up" ? "pulumi up" : "pulumi preview",
    ]);
  },
);

describe("the comment on a pull request", () => {
  const comment = async (runner: Machine, COMMIT: string, previews: (string | Error | undefined)[]) => {
    const include = previews.map((_, at) => ({ project: `p${at}`, stack: "prod" }));
    const folder = join(runner.scratch, "previews");
    rmSync(folder, { recursive: true, force: true });
    previews.forEach((preview, at) => {
      if (preview === undefined) return;
      const one = join(folder, `preview-${at}`);
      mkdirSync(one, { recursive: true });
      writeFileSync(join(one, "preview.txt"), preview instanceof Error ? preview.message : preview);
      if (typeof preview === "string") writeFileSync(join(one, "succeeded"), "");
    });
    const env = { PULL_REQUEST: "7", COMMIT, WORKFLOW: "endpoints", MATRIX: JSON.stringify({ include }) };
    expect(await runStep(runner, "Comment", env)).toEqual({ code: 0, output: "" });
  };
  const changed =
    "~ shop: </pre><script>alert(1)</script> & @everyone\nResources:\n    ~ 1 to update\n    2 unchanged\n";

  test("has the changes of each stack, is written once, and is updated after later previews", async () => {
    const others = [
      { id: 1, user: { login: "somebody" }, body: "<!-- endpoints preview of endpoints --> as the bot says" },
      { id: 2, user: { login: "github-actions[bot]" }, body: "<!-- endpoints preview of dev -->" },
      { id: 3, user: { login: "github-actions[bot]" }, body: "coverage" },
    ];
    const runner = github(machine(repository()), { comments: others });
    const none = "Resources:\n    3 unchanged\n";
    await comment(runner, "1st", [changed, none, new Error("it failed"), undefined, none]);
    const body = runner.state().comments[3]?.body ?? "";
    expect(body).toMatch(
      /^<!-- endpoints preview of endpoints -->\n\*\*Preview for 1st: 1 with changes, 2 without, 2 failed\*\*/,
    );
    expect(body.match(/<summary>.*<\/summary>/g)).toEqual([
      "<summary><code>p0 prod</code>: ~ 1 to update </summary>",
      "<summary><code>p2 prod</code>: failed</summary>",
      "<summary><code>p3 prod</code>: failed</summary>",
    ]);
    expect(body).toContain("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; @everyone\n");
    expect(body).toContain("it failed");
    expect(body).toContain("the job failed before it");
    expect(body).toContain("Without changes: <code>p1 prod</code> <code>p4 prod</code>");

    await comment(runner, "2nd", [none]);
    expect(runner.state().comments).toEqual([
      ...others.map(({ id, body }) => ({ id, body })),
      { id: 103, body: expect.stringContaining("0 with changes, 1 without, 0 failed") },
    ]);
  });

  test.each([1, 60])(
    "is cut to the length that GitHub accepts, with a part of each of %d stacks",
    async (stacks) => {
      const runner = github(machine(repository()));
      await comment(runner, "1st", Array(stacks).fill("+ & ".repeat(100_000 / stacks) + changed));
      const body = runner.state().comments[0]?.body ?? "";
      expect(body.length).toBeLessThan(65_536);
      expect(body.match(/<\/pre>\n<\/details>\n/g)).toHaveLength(stacks);
    },
  );
});

describe("the issue about drift", () => {
  const findIssue = (runner: Machine) => outputsOf(runner, "Issue");
  const report = async (runner: Machine, FOUND: string, drift: string) => {
    writeFileSync(join(runner.scratch, "drift.pre"), drift);
    const { number: ISSUE = "", marker: MARKER = "" } = await findIssue(runner);
    expect(await runStep(runner, "Report", { FOUND, ISSUE, MARKER })).toEqual({ code: 0, output: "" });
  };

  test("is opened once, edited without a comment, and closed when the drift is gone", async () => {
    const runner = github(machine(repository()));
    await report(runner, "drift", "shop: description");
    await report(runner, "drift", "shop: description\napi: deleted");
    expect(runner.state().issues).toMatchObject([
      { number: 1, state: "open", label: "endpoints-drift", body: expect.stringContaining("api: deleted") },
    ]);
    await report(runner, "nothing", "");
    await report(runner, "nothing", "");
    await report(runner, "drift", "shop: deleted");
    expect(runner.state().issues.map((issue) => issue.state)).toEqual(["closed", "open"]);
    expect(runner.calls().filter((call) => !/label|api/.test(call))).toEqual([
      "gh issue create",
      "gh issue edit",
      "gh issue close",
      "gh issue create",
    ]);
  });

  test("is never another author's, even if that starts with the same marker", async () => {
    const marker = "<!-- endpoints drift of stacks.yaml -->";
    const others = [
      { user: { login: "somebody" }, body: `${marker}\nas the bot says` },
      { user: { login: "github-actions[bot]" }, body: "of another workflow" },
      { user: { login: "somebody" }, body: null },
    ].map((issue, index) => ({ ...issue, number: index + 1, state: "open", label: "endpoints-drift" }));
    const runner = github(machine(repository()), { issues: others });
    for (const found of ["nothing", "drift", "drift", "nothing"]) await report(runner, found, "shop");
    const { issues } = runner.state();
    expect(issues.slice(0, 3)).toEqual(others.map(({ user: _, ...issue }) => issue));
    expect(issues.slice(3)).toMatchObject([{ state: "closed", body: expect.stringMatching(`^${marker}\n`) }]);
  });

  test("is not closed if a program differs from its state", async () => {
    const runner = github(machine(repository()));
    await report(runner, "drift", "shop: description");
    await report(runner, "undeployed", "~ shop");
    expect(runner.state().issues).toMatchObject([
      { state: "open", body: expect.stringMatching(/but these programs do not[\s\S]*<pre>\n~ shop\n/) },
    ]);
  });

  test("keeps what drifted and the outcome if it is cut to the length that GitHub accepts", async () => {
    const runner = github(machine(repository()));
    const outcome = "2 of 3 cloud endpoints drifted (1 changed, 1 deleted).";
    await report(runner, "drift", `Stack prod: drifted\n${"other text ".repeat(10_000)}\n\n${outcome}\n`);
    const [issue] = runner.state().issues;
    expect(issue?.body?.length).toBeLessThan(65_536);
    expect(issue?.body).toContain(`\n**${outcome}** The whole report`);
    expect(issue?.body).toContain("\n<pre>\nStack prod: drifted\nother text");
  });
});

describe("the drift check, with fakes of Pulumi and the commands", () => {
  const check = async (code: number, ISSUE: string) => {
    const runner = machine(repository());
    const list =
      '{"include":[{"folder":"a","project":"a","stack":"prod"},{"folder":"b","project":"b","stack":"prod"}]}';
    withCommands(runner, {
      npx: `[ "$3" = stacks ] && echo '${list}' && exit; echo "a <report>"; exit ${code}`,
      pulumi: 'echo "$*"; [ "$1" = install ] || [ "$3" = a ]',
    });
    if (ISSUE) await runStep(runner, "Install", {});
    const { code: ends } = await runStep(runner, "Check", { ISSUE });
    const summary = readFileSync(join(runner.scratch, "summary"), "utf8");
    const output = join(runner.scratch, "output");
    const found = existsSync(output) ? readFileSync(output, "utf8").trim() : "";
    return {
      ends,
      summary,
      found,
      previews: runner.calls().filter((call) => call.startsWith("pulumi preview")).length,
    };
  };

  test.each([
    [0, "", { ends: 0, found: "found=nothing", previews: 0 }],
    [8, "", { ends: 0, found: "found=nothing", previews: 0 }],
    [7, "3", { ends: 0, found: "found=drift", previews: 0 }],
    [0, "3", { ends: 0, found: "found=undeployed", previews: 2 }],
    [1, "3", { ends: 1, found: "", previews: 0 }],
  ])(
    "for the exit code %d and the issue %j has this outcome, and a summary",
    async (code, issue, outcome) => {
      const { summary, ...rest } = await check(code, issue);
      expect(rest).toEqual(outcome);
      expect(summary).toMatch(/^<pre>\na &lt;report&gt;\n\n<\/pre>\n/);
      if (outcome.previews > 0) expect(summary).toMatch(/<pre>\nb prod\npreview --cwd b --stack prod /);
    },
  );
});

test.each([
  ["Preview", 0],
  ["Check", 0],
  ["Check", 3],
])("the step %s prints its output without running commands in it (exit code %d)", async (step, code) => {
  const runner = machine(repository());
  const evil = "::error::evil\n ##[add-mask]evil\nno line break at the end";
  const body = `printf '%s' '${evil}'\nexit ${code}`;
  withCommands(runner, { npx: body, pulumi: body });
  const ran = await runStep(runner, step, {});
  expect(ran.code).toBe(code);
  const [, stop = "", within] = /^::stop-commands::(\S{30,})\n([\s\S]*)\n::\1::\n$/.exec(ran.output) ?? [];
  expect(within).toBe(evil);
  expect(evil).not.toContain(stop);
});

describe.skipIf(!cli)("the scripts of the workflows on the Pulumi CLI", () => {
  test("preview and deploy two projects, report drift of both in one issue, repair it and close the issue", async () => {
    const { machine, emulator, backend } = await deployableRepository();
    const runner = github(machine);
    const env = (key: string, more = {}) => ({ ...backend, ENDPOINTS_API_KEY: key, ...more });
    const folders = z
      .object({ include: z.array(z.object({ folder: z.string() })) })
      .parse(JSON.parse(await matrixOf(runner)))
      .include.map(({ folder }) => folder);
    const up = async (folder: string, repair: boolean) =>
      (await runStep(runner, "Up", env(emulator.apiKey, { REPAIR: `${repair}` }), { folder })).code;
    const check = async () => {
      const { number: ISSUE = "", marker: MARKER = "" } = await outputsOf(runner, "Issue");
      if (ISSUE) expect(await runStep(runner, "Install", {})).toMatchObject({ code: 0 });
      const { found: FOUND = "" } = await outputsOf(runner, "Check", env(emulator.apiKey, { ISSUE }));
      expect(await runStep(runner, "Report", { FOUND, ISSUE, MARKER })).toMatchObject({ code: 0 });
      return FOUND;
    };

    const preview = await runStep(runner, "Preview", env("invalid"), { folder: "api" });
    expect(preview.output).toContain("+ 3 to create");
    expect(emulator.requests).toEqual([]);
    for (const folder of folders) expect(await up(folder, false)).toBe(0);
    expect(emulator.endpoints).toHaveLength(4);

    const edit = (path: string, description: string) => {
      const endpoint = emulator.endpoints.find(({ url }) => url === `https://${path}.example.com`);
      emulator.edit(endpoint?.id ?? "", { description });
    };
    edit("shop.api", "edited in api");
    edit("shop.shop", "edited in shop");
    expect(await check()).toBe("drift");
    const [issue] = runner.state().issues;
    expect(issue?.body).toMatch(/\*\*2 of 4 cloud endpoints drifted \(2 changed\)\.\*\*/);
    for (const project of PROJECTS) expect(issue?.body).toContain(`"edited in ${project}"`);
    edit("shop.shop", "shop, prod");

    // A repair that fails after its refresh has copied the live values into the state.
    emulator.intercept("update", { status: 400, body: { msg: "not today" } });
    expect(await up("api", true)).not.toBe(0);
    expect(await check()).toBe("undeployed");
    expect(runner.state().issues).toMatchObject([
      { state: "open", body: expect.stringMatching(/<pre>\napi prod\n/) },
    ]);

    expect(await up("api", true)).toBe(0);
    expect(await check()).toBe("nothing");
    expect(runner.state().issues).toMatchObject([{ state: "closed" }]);
    expect(emulator.endpoints.map((one) => one.description)).not.toContain("edited in api");
    expect(JSON.stringify(runner.state())).not.toContain(emulator.apiKey);
  });

  test("lose no endpoint if a job is cancelled, since Pulumi gets the signal and finishes its operations", async () => {
    const { machine: runner, emulator, backend } = await environmentsProject();
    const env = { ...backend, ENDPOINTS_API_KEY: emulator.apiKey, REPAIR: "false" };
    const controller = new AbortController();
    const cancel = controller.signal;
    const isPost = ({ method }: { method: string }) => {
      if (method === "POST") setTimeout(() => controller.abort(), 500);
      return method === "POST";
    };
    emulator.intercept(isPost, { afterCommit: true, delayMs: 2_000 }, 2);
    const cancelled = await runStep(runner, "Up", env, { cancel });
    expect(cancelled.code).not.toBe(0);
    expect(cancelled.output).toContain("^C received; cancelling");

    expect(await runStep(runner, "Up", env)).toMatchObject({ code: 0 });
    expect(methods(emulator)).toEqual(["POST", "POST"]);
  });
});

const githubState = z.object({
  comments: z.array(z.object({ id: z.number(), body: z.string() })),
  issues: z.array(
    z.object({ number: z.number(), state: z.string(), label: z.string(), body: z.string().nullable() }),
  ),
});

/** The machine with a fake of GitHub that has these comments and issues. */
function github(
  runner: Machine,
  { comments = [] as unknown[], issues = [] as unknown[] } = {},
): Machine & { state(): z.infer<typeof githubState> } {
  const file = join(runner.scratch, "github.json");
  writeFileSync(file, JSON.stringify({ comments, issues }));
  runner.env["GITHUB_STATE"] = file;
  return { ...runner, state: () => githubState.parse(JSON.parse(readFileSync(file, "utf8"))) };
}
