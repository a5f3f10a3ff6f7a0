import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { copyOf } from "../engine/example";
import { cli, deployed, type Machine, machine, type Ran, recipes } from "./recipeMachine";

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
function runStep(on: Machine, name: string, env: Record<string, string>, cancel?: AbortSignal): Promise<Ran> {
  const script = steps.find((step) => step.name === name)?.run ?? `exit "there is no step ${name}"`;
  const given = {
    GH_TOKEN: "a token",
    GITHUB_REPOSITORY: "acme/shop",
    GITHUB_OUTPUT: join(on.scratch, "output"),
    RUNNER_TEMP: on.scratch,
    STACK: "prod",
  };
  const bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script];
  return on.run(bash, { ...given, ...env }, cancel);
}

describe("the workflows for GitHub Actions", () => {
  test("give each job the permissions that it uses, and no other", () => {
    for (const { permissions } of Object.values(workflows)) expect(permissions).toEqual({});
    expect(jobs.map(({ permissions }) => permissions)).toEqual([
      { contents: "read" },
      { contents: "read", "pull-requests": "write" },
      { contents: "read" },
      { contents: "read", issues: "write" },
    ]);
  });

  test("never cancel an up, and never let a drift check replace a deployment that waits", () => {
    expect(workflows.up.concurrency["cancel-in-progress"]).toBe(false);
    expect(workflows.drift.concurrency["cancel-in-progress"]).toBe(false);
    expect(workflows.drift.concurrency.group).not.toBe(workflows.up.concurrency.group);
  });

  test("run no program of a fork with a key", () => {
    const triggers = Object.values(workflows).flatMap(({ on }) => Object.keys(on));
    expect(triggers).not.toContain("pull_request_target");
    expect(triggers).not.toContain("workflow_run");
    const { check, preview } = workflows.preview.jobs;
    expect(preview?.if).toBe("github.event.pull_request.head.repo.full_name == github.repository");
    expect(JSON.stringify(check)).not.toContain("secrets.");
  });

  test("give each key to the job of its protected environment alone, and only to single steps", () => {
    const holders = (key: string) =>
      jobs.filter((job) => JSON.stringify(job).includes(key)).map((job) => job.environment);
    expect(holders("secrets.ENDPOINTS_WRITE_KEY")).toEqual(["endpoints-prod"]);
    expect(holders("secrets.ENDPOINTS_READ_KEY")).toEqual(["endpoints-drift"]);
    for (const step of steps) expect(JSON.stringify({ ...step, env: {} })).not.toContain("secrets.");
    for (const { env } of Object.values(workflows)) expect(JSON.stringify(env)).not.toContain("secrets.");
  });

  test("put no expression into a script, pin every action to a commit, and keep no credentials", () => {
    for (const { run } of steps) expect(run).not.toContain("${{");
    for (const uses of steps.flatMap((step) => step.uses ?? [])) expect(uses).toMatch(/@[0-9a-f]{40}$/);
    const checkouts = steps.filter((step) => step.uses?.startsWith("actions/checkout@"));
    expect(checkouts.map((step) => step.with)).toEqual(jobs.map(() => ({ "persist-credentials": false })));
  });
});

describe("the comment on a pull request", () => {
  const comment = async (on: Machine, commit: string, preview: string) => {
    writeFileSync(join(on.scratch, "preview.txt"), preview);
    const env = { PULL_REQUEST: "7", COMMIT: commit, OUTCOME: "success", RUN_URL: "https://run" };
    expect(await runStep(on, "Comment", env)).toEqual({ code: 0, output: "" });
  };

  test("is written once and updated by every later preview, among many comments of others", async () => {
    const others = [
      { id: 1, user: { login: "somebody" }, body: "<!-- endpoints preview of prod --> as the bot says" },
      { id: 2, user: { login: "github-actions[bot]" }, body: "<!-- endpoints preview of dev -->" },
      { id: 3, user: { login: "github-actions[bot]" }, body: "coverage" },
    ];
    const on = github(machine(copyOf("environments")), { comments: others });
    await comment(on, "1st", "~ shop: </pre><script>alert(1)</script> & @everyone");
    const ours = on.state().comments[3];
    expect(ours?.body).toMatch(
      /^<!-- endpoints preview of prod -->\n\*\*Preview of `prod` for 1st: success\*\*/,
    );
    expect(ours?.body).toContain("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; @everyone\n</pre>");

    await comment(on, "2nd", "no changes");
    expect(on.state().comments).toEqual([
      ...others.map(({ id, body }) => ({ id, body })),
      { id: ours?.id, body: expect.stringContaining("no changes") },
    ]);
  });

  test("stays within what GitHub takes, however much would change", async () => {
    const on = github(machine(copyOf("environments")));
    await comment(on, "1st", "+ & ".repeat(100_000));
    expect(on.state().comments[0]?.body.length).toBeLessThan(65_536);
    expect(on.state().comments[0]?.body).toMatch(/<\/pre>\n\n<\/details>\n$/);
  });
});

const issueEnv = { GH_REPO: "acme/shop", LABEL: "endpoints-drift-prod", RUN_URL: "https://run" };

describe("the issue about drift", () => {
  const report = async (on: Machine, found: string, drift: string) => {
    writeFileSync(join(on.scratch, "drift.txt"), drift);
    expect(await runStep(on, "Report", { ...issueEnv, FOUND: found })).toEqual({ code: 0, output: "" });
  };

  test("is opened once, edited without a comment, closed when the drift is gone, and then opened anew", async () => {
    const on = github(machine(copyOf("environments")));
    await report(on, "drift", "shop: description");
    await report(on, "drift", "shop: description\napi: deleted <b>");
    expect(on.state().issues).toMatchObject([
      {
        number: 1,
        state: "open",
        label: "endpoints-drift-prod",
        body: expect.stringContaining("api: deleted &lt;b&gt;"),
      },
    ]);
    await report(on, "nothing", "");
    await report(on, "nothing", "");
    await report(on, "drift", "shop: deleted");
    expect(on.state().issues.map((issue) => issue.state)).toEqual(["closed", "open"]);
    expect(on.calls().filter((call) => !/label|api/.test(call))).toEqual([
      "gh issue create",
      "gh issue edit",
      "gh issue close",
      "gh issue create",
    ]);
  });

  test("is never one that somebody else wrote, whatever it begins with", async () => {
    const marker = "<!-- endpoints drift of prod -->";
    const others = [
      { user: { login: "somebody" }, body: `${marker}\nas the bot says` },
      { user: { login: "github-actions[bot]" }, body: "of another workflow" },
      { user: { login: "somebody" }, body: null },
    ].map((issue, index) => ({ ...issue, number: index + 1, state: "open", label: "endpoints-drift-prod" }));
    const on = github(machine(copyOf("environments")), { issues: others });
    for (const found of ["nothing", "drift", "drift", "nothing"]) await report(on, found, "shop");
    const { issues } = on.state();
    expect(issues.slice(0, 3)).toEqual(others.map(({ user: _, ...issue }) => issue));
    expect(issues.slice(3)).toMatchObject([{ state: "closed", body: expect.stringMatching(`^${marker}\n`) }]);
  });

  test("is neither closed nor opened where the program differs from the state", async () => {
    const on = github(machine(copyOf("environments")));
    await report(on, "undeployed", "~ shop");
    expect(on.state().issues).toEqual([]);
    await report(on, "drift", "shop: description");
    await report(on, "undeployed", "~ shop");
    expect(on.state().issues).toMatchObject([
      { state: "open", body: expect.stringMatching(/but the program does not[\s\S]*<pre>\n~ shop\n/) },
    ]);
  });
});

test.each([
  ["Preview", 0],
  ["Check", 0],
  ["Check", 3],
])(
  "the step %s gives the runner none of the commands that others wrote (exit code %d)",
  async (step, code) => {
    const on = machine(copyOf("environments"));
    const evil = "::error::evil\n ##[add-mask]evil\nno line break at the end";
    const bin = join(on.scratch, "bin");
    mkdirSync(bin);
    for (const name of ["npx", "pulumi"])
      writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s' '${evil}'\nexit ${code}\n`, { mode: 0o755 });
    const ran = await runStep(on, step, { PATH: [bin, on.env["PATH"]].join(delimiter) });
    expect(ran.code).toBe(code);
    const [, stop = "", within] = /^::stop-commands::(\S{30,})\n([\s\S]*)\n::\1::\n$/.exec(ran.output) ?? [];
    expect(within).toBe(evil);
    expect(evil).not.toContain(stop);
  },
);

describe.skipIf(!cli)("the scripts of the workflows on the Pulumi CLI", () => {
  test("preview, deploy, report drift, repair it and close the issue", async () => {
    const { machine, emulator, backend } = await deployed();
    const on = github(machine);
    const env = (key: string, more = {}) => ({ ...backend, ENDPOINTS_API_KEY: key, ...more });
    const up = (repair: boolean) => runStep(on, "Up", env(emulator.apiKey, { REPAIR: `${repair}` }));
    const check = async () => {
      writeFileSync(join(on.scratch, "output"), "");
      expect(await runStep(on, "Check", env(emulator.apiKey))).toMatchObject({ code: 0 });
      const [, FOUND = ""] = readFileSync(join(on.scratch, "output"), "utf8").trim().split("=");
      expect(await runStep(on, "Report", { ...issueEnv, FOUND })).toMatchObject({ code: 0 });
      return FOUND;
    };

    const preview = await runStep(on, "Preview", env("opens-nothing"));
    expect(preview.output).toContain("+ 3 to create");
    expect(emulator.requests).toEqual([]);
    expect(await up(false)).toMatchObject({ code: 0 });
    expect(emulator.endpoints).toHaveLength(2);

    emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
    expect(await check()).toBe("drift");
    expect(on.state().issues).toMatchObject([
      { state: "open", body: expect.stringContaining("description") },
    ]);
    // A check with a key that opens nothing fails, so that the step behind it is not run.
    expect((await runStep(on, "Check", env("opens-nothing"))).code).not.toBe(0);

    // A repair that fails after its refresh has taken the live values into the state.
    emulator.intercept("update", { status: 400, body: { msg: "not today" } });
    expect((await up(true)).code).not.toBe(0);
    expect(await check()).toBe("undeployed");
    expect(on.state().issues).toMatchObject([{ state: "open" }]);

    expect(await up(true)).toMatchObject({ code: 0 });
    expect(emulator.endpoints.map((one) => one.description)).not.toContain("edited by hand");
    expect(await check()).toBe("nothing");
    expect(on.state().issues).toMatchObject([{ state: "closed" }]);
    expect(JSON.stringify(on.state())).not.toContain(emulator.apiKey);
  });

  test("lose nothing when a job is cancelled, since Pulumi gets the signal and ends what is under way", async () => {
    const { machine: on, emulator, backend } = await deployed();
    const env = { ...backend, ENDPOINTS_API_KEY: emulator.apiKey, REPAIR: "false" };
    const cancel = new AbortController();
    const isPost = ({ method }: { method: string }) => {
      if (method === "POST") setTimeout(() => cancel.abort(), 500);
      return method === "POST";
    };
    emulator.intercept(isPost, { afterCommit: true, delayMs: 2_000 }, 2);
    const cancelled = await runStep(on, "Up", env, cancel.signal);
    expect(cancelled.code).not.toBe(0);
    expect(cancelled.output).toContain("^C received; cancelling");

    expect(await runStep(on, "Up", env)).toMatchObject({ code: 0 });
    expect(emulator.requests.map(({ method }) => method)).toEqual(["POST", "POST"]);
  });
});

const githubState = z.object({
  comments: z.array(z.object({ id: z.number(), body: z.string() })),
  issues: z.array(
    z.object({ number: z.number(), state: z.string(), label: z.string(), body: z.string().nullable() }),
  ),
});

/** The machine with a GitHub that holds these comments and issues. */
function github(
  on: Machine,
  { comments = [] as unknown[], issues = [] as unknown[] } = {},
): Machine & { state(): z.infer<typeof githubState> } {
  const file = join(on.scratch, "github.json");
  writeFileSync(file, JSON.stringify({ comments, issues }));
  on.env["GITHUB_STATE"] = file;
  return { ...on, state: () => githubState.parse(JSON.parse(readFileSync(file, "utf8"))) };
}
