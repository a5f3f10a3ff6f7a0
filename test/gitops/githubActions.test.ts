import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { copyOf } from "../engine/example";
import { methods } from "../requests";
import { cli, environmentsProject, type Machine, machine, type Ran, recipes } from "./recipeMachine";

const text = z.record(z.string(), z.string());
const step = z.object({
  name: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  env: text.default({}),
  run: z.string().default(""),
});
const workflow = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions: text,
  concurrency: z.object({ group: z.string(), "cancel-in-progress": z.boolean() }),
  env: text,
  jobs: z.record(
    z.string(),
    z.object({
      if: z.string().optional(),
      environment: z.string().optional(),
      permissions: text,
      steps: z.array(step),
    }),
  ),
});
const read = (name: string) =>
  workflow.parse(parse(readFileSync(join(recipes, "github-actions", name), "utf8")));

const workflows = { preview: read("preview.yml"), up: read("up.yml"), drift: read("drift.yml") };
const jobs = Object.values(workflows).flatMap(({ jobs }) => Object.values(jobs));
const steps = jobs.flatMap((job) => job.steps);

/** Runs the script of a step with this name as GitHub does: `bash` with `-e` and `-o pipefail`. */
function runStep(
  runner: Machine,
  name: string,
  env: Record<string, string>,
  cancel?: AbortSignal,
): Promise<Ran> {
  const script = steps.find((step) => step.name === name)?.run ?? `exit "there is no step ${name}"`;
  const given = {
    GH_TOKEN: "a token",
    GITHUB_REPOSITORY: "acme/shop",
    GITHUB_OUTPUT: join(runner.scratch, "output"),
    RUNNER_TEMP: runner.scratch,
    STACK: "prod",
  };
  const bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script];
  return runner.run(bash, { ...given, ...env }, cancel);
}

describe("the workflows for GitHub Actions", () => {
  test("give each job only the permissions that it uses", () => {
    for (const { permissions } of Object.values(workflows)) expect(permissions).toEqual({});
    expect(jobs.map(({ permissions }) => permissions)).toEqual([
      { contents: "read" },
      { contents: "read", "pull-requests": "write" },
      { contents: "read" },
      { contents: "read", issues: "write" },
    ]);
  });

  test("never cancel an up, and never let a drift check replace a waiting deployment", () => {
    expect(workflows.up.concurrency["cancel-in-progress"]).toBe(false);
    expect(workflows.drift.concurrency["cancel-in-progress"]).toBe(false);
    expect(workflows.drift.concurrency.group).not.toBe(workflows.up.concurrency.group);
  });

  test("never run a fork's program with a key", () => {
    const triggers = Object.values(workflows).flatMap(({ on }) => Object.keys(on));
    expect(triggers).not.toContain("pull_request_target");
    expect(triggers).not.toContain("workflow_run");
    const { check, preview } = workflows.preview.jobs;
    expect(preview?.if).toBe("github.event.pull_request.head.repo.full_name == github.repository");
    expect(JSON.stringify(check)).not.toContain("secrets.");
  });

  test("give each key only to steps of the job with its protected environment", () => {
    const holders = (key: string) =>
      jobs.filter((job) => JSON.stringify(job).includes(key)).map((job) => job.environment);
    expect(holders("secrets.ENDPOINTS_WRITE_KEY")).toEqual(["endpoints-prod"]);
    expect(holders("secrets.ENDPOINTS_READ_KEY")).toEqual(["endpoints-drift"]);
    for (const step of steps) expect(JSON.stringify({ ...step, env: {} })).not.toContain("secrets.");
    for (const { env } of Object.values(workflows)) expect(JSON.stringify(env)).not.toContain("secrets.");
  });

  test("put no expression into a script, pin every action to a commit, and do not persist credentials", () => {
    for (const { run } of steps) expect(run).not.toContain("${{");
    for (const uses of steps.flatMap((step) => step.uses ?? [])) expect(uses).toMatch(/@[0-9a-f]{40}$/);
    const checkouts = steps.filter((step) => step.uses?.startsWith("actions/checkout@"));
    expect(checkouts.map((step) => step.with)).toEqual(jobs.map(() => ({ "persist-credentials": false })));
  });
});

describe("the comment on a pull request", () => {
  const comment = async (runner: Machine, commit: string, preview: string) => {
    writeFileSync(join(runner.scratch, "preview.txt"), preview);
    const env = { PULL_REQUEST: "7", COMMIT: commit, OUTCOME: "success", RUN_URL: "https://run" };
    expect(await runStep(runner, "Comment", env)).toEqual({ code: 0, output: "" });
  };

  test("is written once and updated after later previews", async () => {
    const others = [
      { id: 1, user: { login: "somebody" }, body: "<!-- endpoints preview of prod --> as the bot says" },
      { id: 2, user: { login: "github-actions[bot]" }, body: "<!-- endpoints preview of dev -->" },
      { id: 3, user: { login: "github-actions[bot]" }, body: "coverage" },
    ];
    const runner = github(machine(copyOf("environments")), { comments: others });
    await comment(runner, "1st", "~ shop: </pre><script>alert(1)</script> & @everyone");
    const ours = runner.state().comments[3];
    expect(ours?.body).toMatch(
      /^<!-- endpoints preview of prod -->\n\*\*Preview of `prod` for 1st: success\*\*/,
    );
    expect(ours?.body).toContain("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; @everyone\n</pre>");

    await comment(runner, "2nd", "no changes");
    expect(runner.state().comments).toEqual([
      ...others.map(({ id, body }) => ({ id, body })),
      { id: ours?.id, body: expect.stringContaining("no changes") },
    ]);
  });

  test("is cut to the length that GitHub accepts", async () => {
    const runner = github(machine(copyOf("environments")));
    await comment(runner, "1st", "+ & ".repeat(100_000));
    expect(runner.state().comments[0]?.body.length).toBeLessThan(65_536);
    expect(runner.state().comments[0]?.body).toMatch(/<\/pre>\n\n<\/details>\n$/);
  });
});

const issueEnv = { GH_REPO: "acme/shop", LABEL: "endpoints-drift-prod", RUN_URL: "https://run" };

describe("the issue about drift", () => {
  const report = async (runner: Machine, found: string, drift: string) => {
    writeFileSync(join(runner.scratch, "drift.txt"), drift);
    expect(await runStep(runner, "Report", { ...issueEnv, FOUND: found })).toEqual({ code: 0, output: "" });
  };

  test("is opened once, edited without a comment, and closed when the drift is gone", async () => {
    const runner = github(machine(copyOf("environments")));
    await report(runner, "drift", "shop: description");
    await report(runner, "drift", "shop: description\napi: deleted <b>");
    expect(runner.state().issues).toMatchObject([
      {
        number: 1,
        state: "open",
        label: "endpoints-drift-prod",
        body: expect.stringContaining("api: deleted &lt;b&gt;"),
      },
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
    const marker = "<!-- endpoints drift of prod -->";
    const others = [
      { user: { login: "somebody" }, body: `${marker}\nas the bot says` },
      { user: { login: "github-actions[bot]" }, body: "of another workflow" },
      { user: { login: "somebody" }, body: null },
    ].map((issue, index) => ({ ...issue, number: index + 1, state: "open", label: "endpoints-drift-prod" }));
    const runner = github(machine(copyOf("environments")), { issues: others });
    for (const found of ["nothing", "drift", "drift", "nothing"]) await report(runner, found, "shop");
    const { issues } = runner.state();
    expect(issues.slice(0, 3)).toEqual(others.map(({ user: _, ...issue }) => issue));
    expect(issues.slice(3)).toMatchObject([{ state: "closed", body: expect.stringMatching(`^${marker}\n`) }]);
  });

  test("is not opened or closed if the program differs from the state", async () => {
    const runner = github(machine(copyOf("environments")));
    await report(runner, "undeployed", "~ shop");
    expect(runner.state().issues).toEqual([]);
    await report(runner, "drift", "shop: description");
    await report(runner, "undeployed", "~ shop");
    expect(runner.state().issues).toMatchObject([
      { state: "open", body: expect.stringMatching(/but the program does not[\s\S]*<pre>\n~ shop\n/) },
    ]);
  });
});

test.each([
  ["Preview", 0],
  ["Check", 0],
  ["Check", 3],
])("the step %s prints its output without running commands in it (exit code %d)", async (step, code) => {
  const runner = machine(copyOf("environments"));
  const evil = "::error::evil\n ##[add-mask]evil\nno line break at the end";
  const bin = join(runner.scratch, "bin");
  mkdirSync(bin);
  for (const name of ["npx", "pulumi"])
    writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s' '${evil}'\nexit ${code}\n`, { mode: 0o755 });
  const ran = await runStep(runner, step, { PATH: [bin, runner.env["PATH"]].join(delimiter) });
  expect(ran.code).toBe(code);
  const [, stop = "", within] = /^::stop-commands::(\S{30,})\n([\s\S]*)\n::\1::\n$/.exec(ran.output) ?? [];
  expect(within).toBe(evil);
  expect(evil).not.toContain(stop);
});

describe.skipIf(!cli)("the scripts of the workflows on the Pulumi CLI", () => {
  test("preview, deploy, report drift, repair it and close the issue", async () => {
    const { machine, emulator, backend } = await environmentsProject();
    const runner = github(machine);
    const env = (key: string, more = {}) => ({ ...backend, ENDPOINTS_API_KEY: key, ...more });
    const up = (repair: boolean) => runStep(runner, "Up", env(emulator.apiKey, { REPAIR: `${repair}` }));
    const check = async () => {
      writeFileSync(join(runner.scratch, "output"), "");
      expect(await runStep(runner, "Check", env(emulator.apiKey))).toMatchObject({ code: 0 });
      const [, FOUND = ""] = readFileSync(join(runner.scratch, "output"), "utf8").trim().split("=");
      expect(await runStep(runner, "Report", { ...issueEnv, FOUND })).toMatchObject({ code: 0 });
      return FOUND;
    };

    const preview = await runStep(runner, "Preview", env("invalid"));
    expect(preview.output).toContain("+ 3 to create");
    expect(emulator.requests).toEqual([]);
    expect(await up(false)).toMatchObject({ code: 0 });
    expect(emulator.endpoints).toHaveLength(2);

    emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
    expect(await check()).toBe("drift");
    expect(runner.state().issues).toMatchObject([
      { state: "open", body: expect.stringContaining("description") },
    ]);
    // A check with an invalid key fails, so that the next step does not run.
    expect((await runStep(runner, "Check", env("invalid"))).code).not.toBe(0);

    // A repair that fails after its refresh has copied the live values into the state.
    emulator.intercept("update", { status: 400, body: { msg: "not today" } });
    expect((await up(true)).code).not.toBe(0);
    expect(await check()).toBe("undeployed");
    expect(runner.state().issues).toMatchObject([{ state: "open" }]);

    expect(await up(true)).toMatchObject({ code: 0 });
    expect(emulator.endpoints.map((one) => one.description)).not.toContain("edited by hand");
    expect(await check()).toBe("nothing");
    expect(runner.state().issues).toMatchObject([{ state: "closed" }]);
    expect(JSON.stringify(runner.state())).not.toContain(emulator.apiKey);
  });

  test("lose no endpoint if a job is cancelled, since Pulumi gets the signal and finishes its operations", async () => {
    const { machine: runner, emulator, backend } = await environmentsProject();
    const env = { ...backend, ENDPOINTS_API_KEY: emulator.apiKey, REPAIR: "false" };
    const cancel = new AbortController();
    const isPost = ({ method }: { method: string }) => {
      if (method === "POST") setTimeout(() => cancel.abort(), 500);
      return method === "POST";
    };
    emulator.intercept(isPost, { afterCommit: true, delayMs: 2_000 }, 2);
    const cancelled = await runStep(runner, "Up", env, cancel.signal);
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
