import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { copyOf } from "../engine/example";
import { cli, deployed, type Machine, machine } from "./project";
import { type Context, readWorkflow, runJob, type Step } from "./workflow";

const workflows = {
  preview: readWorkflow("preview.yml"),
  up: readWorkflow("up.yml"),
  drift: readWorkflow("drift.yml"),
};
const jobs = Object.values(workflows).flatMap(({ jobs }) => Object.values(jobs));
const steps = jobs.flatMap((job) => job.steps);

describe("the workflows for GitHub Actions", () => {
  test("give each job the permissions that it uses, and no other", () => {
    for (const { permissions } of Object.values(workflows)) expect(permissions).toEqual({});
    const permissions = jobs.map((job) => Object.entries(job.permissions).map((entry) => entry.join()));
    expect(permissions).toEqual([
      ["contents,read"],
      ["contents,read", "pull-requests,write"],
      ["contents,read"],
      ["contents,read", "issues,write"],
    ]);
  });

  test("never end an up, and never let a drift check take the place of one that waits", () => {
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

  test("check a fork's pull request without a preview", async () => {
    const on = machine(copyOf("environments"));
    const event = { pull_request: { head: { repo: { full_name: "them/shop" } } } };
    const context = { github: { ...repository, event }, secrets: {}, vars: {}, inputs: {} };
    expect(await runJob(on, "preview.yml", "preview", context)).toBeUndefined();
    expect(await runJob(on, "preview.yml", "check", context)).toMatchObject({ code: 0 });
    expect(on.calls()).toEqual(["npm ci", "npm test --if-present"]);
  });

  test("give each key to the job of its protected environment alone, and to single steps of it", () => {
    const holders = (key: string) =>
      jobs.filter((job) => JSON.stringify(job).includes(key)).map((job) => job.environment ?? "none");
    expect(holders("secrets.ENDPOINTS_WRITE_KEY")).toEqual(["endpoints-prod"]);
    expect(holders("secrets.ENDPOINTS_READ_KEY")).toEqual(["endpoints-drift"]);
    const secretNames = (value: unknown) => JSON.stringify(value ?? {}).match(/secrets\.\w+/g) ?? [];
    for (const step of steps) expect(secretNames({ ...step, env: {} })).toEqual([]);
    for (const { env } of Object.values(workflows)) expect(secretNames(env)).toEqual([]);
  });

  test("put nothing into a script by way of an expression, and pin every action to a commit", () => {
    for (const { run } of steps) expect(run ?? "").not.toContain("${{");
    for (const uses of steps.flatMap((step) => step.uses ?? [])) expect(uses).toMatch(/@[0-9a-f]{40}$/);
    const checkouts = steps.filter((step) => step.uses?.startsWith("actions/checkout@"));
    expect(checkouts.map((step) => step.with)).toEqual(jobs.map(() => ({ "persist-credentials": false })));
  });
});

describe("the comment on a pull request", () => {
  test("is written once, and updated by every later preview, among many comments of others", async () => {
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

describe("the issue about drift", () => {
  test("is opened once, kept up to date without a word, closed when the drift is gone, and then opened anew", async () => {
    const on = github(machine(copyOf("environments")));
    await tell(on, "drift", "shop: description");
    await tell(on, "drift", "shop: description\napi: deleted <b>");
    expect(on.state().issues).toMatchObject([
      {
        number: 1,
        state: "open",
        label: "endpoints-drift-prod",
        body: expect.stringContaining("api: deleted &lt;b&gt;"),
      },
    ]);
    await tell(on, "nothing", "");
    await tell(on, "nothing", "");
    expect(on.state().issues.map((issue) => issue.state)).toEqual(["closed"]);
    await tell(on, "drift", "shop: deleted");
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
    await tell(on, "nothing", "");
    await tell(on, "drift", "shop: description");
    await tell(on, "drift", "shop: deleted");
    await tell(on, "nothing", "");
    const { issues } = on.state();
    expect(issues.slice(0, 3)).toEqual(others.map(({ user: _, ...issue }) => issue));
    expect(issues.slice(3)).toMatchObject([{ state: "closed", body: expect.stringMatching(`^${marker}\n`) }]);
  });

  test("is neither closed nor opened where the program is not what the state says", async () => {
    const on = github(machine(copyOf("environments")));
    await tell(on, "undeployed", "~ shop");
    expect(on.state().issues).toEqual([]);
    await tell(on, "drift", "shop: description");
    await tell(on, "undeployed", "~ shop");
    expect(on.state().issues).toMatchObject([
      { state: "open", body: expect.stringMatching(/but the program is not[\s\S]*<pre>\n~ shop\n/) },
    ]);
  });
});

describe("what others wrote", () => {
  test.each([
    ["preview.yml", "preview", "Preview", 0],
    ["drift.yml", "drift", "Look", 0],
    ["drift.yml", "drift", "Look", 3],
  ])("gives the runner of %s no command (%s, %s, exit code %d)", async (file, job, step, code) => {
    const on = machine(copyOf("environments"));
    const evil = "::error::evil\n ##[add-mask]evil\nno line break at the end";
    const bin = join(on.scratch, "bin");
    mkdirSync(bin);
    for (const name of ["npx", "pulumi"]) {
      writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s' '${evil}'\nexit ${code}\n`, { mode: 0o755 });
    }
    const script = readWorkflow(file).jobs[job]?.steps.find(({ name }) => name === step)?.run ?? "";
    const ran = await on.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
      PATH: [bin, on.env["PATH"]].join(delimiter),
      RUNNER_TEMP: on.scratch,
      GITHUB_OUTPUT: join(on.scratch, "output"),
      STACK: "prod",
    });
    expect(ran.code).toBe(code);
    const [, stop = "", within] = /^::stop-commands::(\S{30,})\n([\s\S]*)\n::\1::\n$/.exec(ran.output) ?? [];
    expect(within).toBe(evil);
    expect(evil).not.toContain(stop);
  });
});

describe.skipIf(!cli)("the workflows on the Pulumi CLI", () => {
  test("preview, deploy, tell drift, put it back and close the issue, each with the key that it needs", async () => {
    const { on, emulator, context, keys } = await deployedOnGitHub();
    const job = (workflow: string, name: string, more: Partial<Context> = {}) =>
      runJob(on, workflow, name, { ...context, ...more });

    expect(await job("preview.yml", "preview")).toMatchObject({ code: 0 });
    expect(on.state().comments[0]?.body).toContain("+ 3 to create");
    expect(emulator.requests).toEqual([]);

    expect(await job("up.yml", "up")).toMatchObject({ code: 0 });
    expect(emulator.endpoints).toHaveLength(2);

    emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
    const before = emulator.requests.length;
    expect(await job("drift.yml", "drift")).toMatchObject({ code: 0, steps: ["npm ci", "Look", "Tell"] });
    expect(new Set(emulator.requests.slice(before).map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(on.state().issues).toMatchObject([
      { state: "open", body: expect.stringContaining("description") },
    ]);

    // With a key that opens nothing the check sees nothing, says so, and leaves the issue as it is.
    const secrets = { ...context.secrets, ENDPOINTS_READ_KEY: "opens-nothing" };
    const blind = await job("drift.yml", "drift", { secrets });
    expect(blind?.code).not.toBe(0);
    expect(blind?.steps).toEqual(["npm ci", "Look"]);
    expect(on.state().issues.map((issue) => issue.state)).toEqual(["open"]);

    // A repair that fails after its refresh has taken what is live into the state.
    emulator.intercept(({ method }) => method === "PATCH", { status: 400, body: { msg: "not today" } });
    expect((await job("up.yml", "up", { inputs: { repair: true } }))?.code).not.toBe(0);
    expect(await job("drift.yml", "drift")).toMatchObject({ code: 0 });
    expect(on.state().issues).toMatchObject([
      { state: "open", body: expect.stringContaining("but the program is not") },
    ]);

    expect(await job("up.yml", "up", { inputs: { repair: true } })).toMatchObject({ code: 0 });
    expect(emulator.endpoints.map((one) => one.description)).not.toContain("edited by hand");
    expect(await job("drift.yml", "drift")).toMatchObject({ code: 0 });
    expect(on.state().issues.map((issue) => issue.state)).toEqual(["closed"]);
    for (const secret of [emulator.apiKey, ...Object.values(context.secrets)]) {
      expect(JSON.stringify(on.state())).not.toContain(secret);
    }
    expect(keys()).toEqual({
      Preview: ["none"],
      Up: ["key-that-writes"],
      Look: ["key-that-reads", "opens-nothing"],
    });
  });

  test("lose nothing when a job is cancelled: Pulumi hears of it, and waits for what is under way", async () => {
    const { on, emulator, context } = await deployedOnGitHub();
    const cancel = new AbortController();
    for (const _ of ["shop", "api"]) {
      emulator.intercept(
        ({ method }) => {
          if (method === "POST") setTimeout(() => cancel.abort(), 500);
          return method === "POST";
        },
        { afterCommit: true, delayMs: 2_000 },
      );
    }
    const cancelled = await runJob(on, "up.yml", "up", context, cancel.signal);
    expect(cancelled?.code).not.toBe(0);
    expect(cancelled?.output).toContain("^C received; cancelling");

    expect(await runJob(on, "up.yml", "up", context)).toMatchObject({ code: 0 });
    expect(emulator.requests.map(({ method }) => method)).toEqual(["POST", "POST"]);
  });
});

const kept = z.object({
  comments: z.array(z.object({ id: z.number(), body: z.string() })),
  issues: z.array(
    z.object({ number: z.number(), state: z.string(), label: z.string(), body: z.string().nullable() }),
  ),
});

/** What every expression sees of GitHub, whatever happened. */
const repository = {
  repository: "acme/shop",
  ref: "refs/heads/main",
  server_url: "https://github.example.com",
  run_id: 42,
  token: "a token",
};

async function deployedOnGitHub() {
  const { machine, emulator, backend } = await deployed();
  const event = { pull_request: { number: 7, head: { sha: "abc", repo: { full_name: "acme/shop" } } } };
  const context = {
    github: { ...repository, event },
    secrets: {
      ENDPOINTS_READ_KEY: "key-that-reads",
      ENDPOINTS_WRITE_KEY: "key-that-writes",
      PULUMI_CONFIG_PASSPHRASE: backend.PULUMI_CONFIG_PASSPHRASE,
    },
    vars: { PULUMI_BACKEND_URL: backend.PULUMI_BACKEND_URL },
    inputs: {},
  };
  // The emulator has one key, which opens all: which of the two a step was given is written down.
  const given = new Map<string, Set<string>>();
  const run: Machine["run"] = (command, env = {}, cancel) => {
    const { ENDPOINTS_API_KEY: key, ...rest } = env;
    if (key === undefined) return machine.run(command, env, cancel);
    const step = env["STEP"] ?? "";
    given.set(step, (given.get(step) ?? new Set()).add(key));
    const opened = key.startsWith("key-that-") ? emulator.apiKey : key;
    return machine.run(command, { ...rest, ENDPOINTS_API_KEY: opened }, cancel);
  };
  const keys = () => Object.fromEntries([...given].map(([step, keys]) => [step, [...keys]]));
  return { on: github({ ...machine, run }), emulator, context, keys };
}

/** The machine with a GitHub that holds these comments and issues. */
function github(
  on: Machine,
  { comments = [] as unknown[], issues = [] as unknown[] } = {},
): Machine & { state(): z.infer<typeof kept> } {
  const file = join(on.scratch, "github.json");
  writeFileSync(file, JSON.stringify({ comments, issues }));
  on.env["GITHUB_STATE"] = file;
  return { ...on, state: () => kept.parse(JSON.parse(readFileSync(file, "utf8"))) };
}

/** Runs a workflow's last step, that tells GitHub, behind a step that found this. */
async function runLast(on: Machine, steps: Step[] | undefined, env: Record<string, string>): Promise<void> {
  const script = steps?.at(-1)?.run ?? "";
  const { code, output } = await on.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
    GITHUB_REPOSITORY: "acme/shop",
    RUNNER_TEMP: on.scratch,
    GH_TOKEN: "a token",
    STACK: "prod",
    RUN_URL: "https://github.example.com/acme/shop/actions/runs/42",
    ...env,
  });
  expect(output).toBe("");
  expect(code).toBe(0);
}

async function comment(on: Machine, commit: string, preview: string): Promise<void> {
  writeFileSync(join(on.scratch, "preview.txt"), preview);
  await runLast(on, workflows.preview.jobs["preview"]?.steps, {
    PULL_REQUEST: "7",
    COMMIT: commit,
    OUTCOME: "success",
  });
}

async function tell(on: Machine, found: string, report: string): Promise<void> {
  writeFileSync(join(on.scratch, "drift.txt"), report);
  await runLast(on, workflows.drift.jobs["drift"]?.steps, {
    FOUND: found,
    GH_REPO: "acme/shop",
    LABEL: "endpoints-drift-prod",
  });
}
