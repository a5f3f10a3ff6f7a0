import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { type GitLab, startGitLab } from "./gitlab";
import {
  cli,
  deployableRepository,
  type Machine,
  machine,
  pythonRepository,
  type Ran,
  recipes,
  repository,
} from "./recipeMachine";

const folder = join(recipes, "gitlab-ci");
const [text, childText] = [".gitlab-ci.yml", "ci/stack.yml"].map((file) =>
  readFileSync(join(folder, file), "utf8"),
);
const common = z.object({
  rules: z.array(z.object({ if: z.string().optional() })),
  environment: z.object({ name: z.string(), action: z.string().optional() }).optional(),
  resource_group: z.string().optional(),
  interruptible: z.boolean().optional(),
  allow_failure: z.object({ exit_codes: z.number() }).optional(),
});
const job = common.extend({
  script: z.array(z.string()),
  variables: z.record(z.string(), z.string()).optional(),
});
const trigger = common.extend({ trigger: z.looseObject({ include: z.unknown(), strategy: z.string() }) });
const settings = z.object({ interruptible: z.boolean(), before_script: z.array(z.string()) });
const pipeline = z
  .object({
    variables: z.record(z.string(), z.string()),
    default: settings,
    check: job,
    stacks: job,
    preview: trigger,
    up: trigger,
    drift: job,
  })
  .parse(parse(text ?? ""));
const child = z
  .object({ default: settings, ".preview": job, ".up": job, ".comment": job })
  .parse(parse(childText ?? ""));

describe("the pipeline for GitLab", () => {
  test("never cancels an up, and never runs a drift check during one", () => {
    expect(pipeline.default.interruptible).toBe(false);
    expect(child.default).toEqual(pipeline.default);
    for (const up of [pipeline.up, child[".up"]]) expect(up.interruptible).toBeUndefined();
    // The trigger waits for the end of the child pipeline, and holds the resource as long.
    expect(pipeline.up.trigger.strategy).toBe("depend");
    expect(pipeline.up.resource_group).toBe("endpoints");
    expect(pipeline.drift.resource_group).toBe("endpoints");
  });

  test("contains no key, and gives each job the environment with the least access", () => {
    expect(`${text}${childText}`).not.toMatch(/API_KEY|ACCESS_TOKEN|PASSPHRASE/);
    for (const { environment } of [pipeline.check, pipeline.stacks]) expect(environment).toBeUndefined();
    for (const name of [".preview", ".comment"] as const)
      expect(child[name].environment).toEqual({ name: "endpoints-preview", action: "access" });
    expect(pipeline.drift.environment).toEqual({ name: "endpoints-drift", action: "access" });
    expect(child[".up"].environment).toEqual({ name: "endpoints/$PROJECT/$STACK" });
  });

  test("treats drift as a warning, and every other failure as an error", () => {
    expect(pipeline.drift.allow_failure).toEqual({ exit_codes: 7 });
    for (const { allow_failure } of [pipeline.check, pipeline.stacks, pipeline.preview, pipeline.up])
      expect(allow_failure).toBeUndefined();
    for (const name of [".preview", ".up"] as const) expect(child[name].allow_failure).toBeUndefined();
  });

  test("previews no merge request of a fork, and deploys only the default branch", () => {
    expect(pipeline.preview.rules).toEqual([
      {
        if: '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID',
      },
    ]);
    expect(pipeline.up.rules).toHaveLength(1);
    expect(pipeline.up.rules[0]?.if).toMatch(/^\$CI_COMMIT_BRANCH == \$CI_DEFAULT_BRANCH && /);
  });
});

const generated = z.record(
  z.string(),
  z.object({
    extends: z.enum([".preview", ".up", ".comment"]),
    variables: z.record(z.string(), z.string()).default({}),
    needs: z.array(z.object({ job: z.string(), artifacts: z.literal(false) })).optional(),
    resource_group: z.string().optional(),
  }),
);

/** The lines of jobs, as GitLab runs them. */
const bash = (...lines: string[]) => ["bash", "-c", `set -eo pipefail\n${lines.join("\n")}`];

/** A machine with the repository of two projects and the recipe. */
function withRecipe(runner: Machine): Machine {
  cpSync(folder, runner.folder, { recursive: true });
  return runner;
}

/** The jobs of the child pipeline. */
async function childJobs(runner: Machine, env: Record<string, string> = {}) {
  const { variables, script } = pipeline.stacks;
  const ran = await runner.run(bash(...script), { ...pipeline.variables, ...variables, ...env });
  expect(ran).toEqual({ code: 0, output: "" });
  return generated.parse(parse(readFileSync(join(runner.folder, "stacks.yml"), "utf8")));
}

describe("the child pipeline", () => {
  test("has a job for each stack, with its queue and its share of the requests", async () => {
    const runner = withRecipe(machine(repository()));
    const variables = { FOLDER: "shop", PROJECT: "shop", STACK: "prod", ENDPOINTS_REQUESTS_PER_WINDOW: "60" };
    const jobs = await childJobs(runner);
    expect(Object.keys(jobs)).toEqual(["api: prod", "shop: prod"]);
    expect(jobs["shop: prod"]).toEqual({
      extends: ".up",
      variables: { ...variables, NUMBER: "1" },
      needs: [],
      resource_group: "endpoints-shop-prod",
    });
    const one = await childJobs(runner, { STACKS: "organization/shop/prod", JOBS: "1" });
    expect(Object.keys(one)).toEqual(["shop: prod"]);
    expect(one["shop: prod"]?.variables["ENDPOINTS_REQUESTS_PER_WINDOW"]).toBe("120");
  });

  test("runs no more jobs at once than share the requests, and comments after all previews", async () => {
    const runner = withRecipe(machine(repository()));
    const jobs = await childJobs(runner, { JOBS: "1", CI_MERGE_REQUEST_IID: "7" });
    expect(Object.values(jobs).map((job) => job.extends)).toEqual([".preview", ".preview", ".comment"]);
    expect(jobs["shop: prod"]?.needs).toEqual([{ job: "api: prod", artifacts: false }]);
    expect(jobs["shop: prod"]?.resource_group).toBeUndefined();
    expect(jobs["comment"]?.needs).toBeUndefined();
  });
});

test.each(["preview", "up", "drift"])(
  "the job %s runs a Python program from a fresh checkout",
  async (name) => {
    const runner = withRecipe(
      pythonRepository({
        npx: `[ "$3" = drift ] && exit\nexec node_modules/.bin/pulumi-endpoints "$3" --projects stacks.yaml --json -`,
      }),
    );
    const gitlab = await startGitLab({ issues: [] });
    await report(runner, gitlab, "drift", 7, "customers: description");
    const script =
      name === "drift" ? pipeline.drift.script : child[name === "up" ? ".up" : ".preview"].script;
    const job = { FOLDER: "customers", PROJECT: "customers", STACK: "prod", NUMBER: "0" };
    const ran = await runner.run(bash(...pipeline.default.before_script, ...script), {
      ...pipeline.variables,
      ...variables(gitlab),
      ...job,
    });
    expect(ran, ran.output).toMatchObject({ code: 0 });
    expect(ran.output).not.toContain("does not exist");
    const calls = runner.calls().map((call) => call.split(" ", 2).join(" "));
    expect(calls.filter((call) => !call.startsWith("npx"))).toEqual([
      "npm ci",
      "pulumi install",
      name === "up" ? "pulumi up" : "pulumi preview",
    ]);
  },
);

describe("the report script", () => {
  test("writes one comment on a merge request, and updates it after later previews", async () => {
    const others = [
      { id: 1, author: { id: 77 }, body: "coverage" },
      { id: 2, author: { id: 77 }, body: "<!-- endpoints preview of other.yaml -->" },
      { id: 3, author: { id: 5 }, body: "<!-- endpoints preview of stacks.yaml --> as the bot says" },
    ];
    const gitlab = await startGitLab({ notes: structuredClone(others) });
    const runner = machine(repository());
    const changed = "~ shop </pre>\n/close\n@all\nResources:\n    ~ 1 to update\n    2 unchanged\n";
    await comment(runner, gitlab, [
      ["a", 0, changed],
      ["b", 0, "Resources:\n    3 unchanged\n"],
      ["c", 255, "it failed"],
    ]);
    const body = gitlab.notes[3]?.body ?? "";
    expect(body).toMatch(
      /^<!-- endpoints preview of stacks.yaml -->\n\*\*Preview for abc: 1 with changes, 1 without, 1 failed\*\*/,
    );
    expect(body).toContain("<summary><code>a prod</code>: ~ 1 to update</summary>");
    expect(body).toContain("~ shop &lt;&#47;pre&gt;\n&#47;close\n&#64;all\n");
    expect(body).toContain(
      "<summary><code>c prod</code>: failed (255)</summary>\n\n<pre>\nit failed\n</pre>",
    );
    expect(body).toContain("Without changes: <code>b prod</code>");

    await comment(runner, gitlab, [["a", 0, "Resources:\n    3 unchanged\n"]]);
    expect(gitlab.notes).toHaveLength(4);
    expect(gitlab.notes[3]?.body).toContain("0 with changes, 1 without, 0 failed");
    expect(gitlab.notes.slice(0, 3)).toEqual(others);
  });

  test("opens one issue while there is drift, and closes it when the drift is gone", async () => {
    const gitlab = await startGitLab();
    const runner = machine(repository());
    expect(await reportWith(runner, gitlab, "issue", 0, "")).toEqual({ code: 0, output: "\n" });
    await report(runner, gitlab, "drift", 7, "shop: description");
    await report(
      runner,
      gitlab,
      "drift",
      7,
      `api: deleted\n${"other text ".repeat(10_000)}\n1 of 2 drifted.\n`,
    );
    expect(await reportWith(runner, gitlab, "issue", 0, "")).toEqual({ code: 0, output: "1\n" });
    expect(gitlab.issues[0]?.description).toContain("\n**1 of 2 drifted.** The whole report");
    expect(gitlab.issues).toMatchObject([
      {
        state: "opened",
        labels: "endpoints-drift",
        description: expect.stringContaining("api: deleted"),
      },
    ]);
    await report(runner, gitlab, "drift", 0, "");
    await report(runner, gitlab, "drift", 0, "");
    await report(runner, gitlab, "drift", 7, "shop: description");
    expect(gitlab.issues.map((issue) => issue.state)).toEqual(["closed", "opened"]);
    expect(gitlab.writes).toEqual(["POST issues", "PUT issues", "PUT issues", "POST issues"]);
  });

  test("never changes another author's issue, even if it starts with the same marker", async () => {
    const theirs = {
      iid: 1,
      author: { id: 5 },
      state: "opened",
      title: "",
      labels: "endpoints-drift",
      description: "<!-- endpoints drift of stacks.yaml -->\nas the bot says",
    };
    const gitlab = await startGitLab({ issues: [{ ...theirs }] });
    const runner = machine(repository());
    for (const code of [0, 7, 7, 0]) await report(runner, gitlab, "drift", code, "");
    expect(gitlab.issues[0]).toEqual(theirs);
    expect(gitlab.writes).toEqual(["POST issues", "PUT issues", "PUT issues"]);
  });

  test("does not open or close an issue if the program differs from the state", async () => {
    const gitlab = await startGitLab();
    const runner = machine(repository());
    await report(runner, gitlab, "drift", "undeployed", "~ shop");
    expect(gitlab.issues).toEqual([]);
    await report(runner, gitlab, "drift", 7, "shop: description");
    await report(runner, gitlab, "drift", "undeployed", "~ shop");
    expect(gitlab.issues).toMatchObject([
      {
        state: "opened",
        description: expect.stringMatching(/but these programs do not[\s\S]*<pre>\n~ shop\n/),
      },
    ]);
  });

  test("fails without printing the token if GitLab refuses a request", async () => {
    const gitlab = await startGitLab();
    const runner = machine(repository());
    const { code, output } = await reportWith(runner, { ...gitlab, token: "glpat-other" }, "drift", 7, "");
    expect(code).not.toBe(0);
    expect(output).toContain("was answered with 401");
    expect(output).not.toContain("glpat");
  });
});

describe.skipIf(!cli)("the pipeline on the Pulumi CLI", () => {
  test("previews two projects with an invalid key, deploys them, reports drift and repairs it", async () => {
    const { machine, emulator, backend } = await deployableRepository();
    const runner = withRecipe(machine);
    const gitlab = await startGitLab();
    const run = (script: string[], key: string, more: Record<string, string>) =>
      runner.run(bash(...pipeline.default.before_script, ...script), {
        ...pipeline.variables,
        ...variables(gitlab),
        ...backend,
        ENDPOINTS_API_KEY: key,
        ...more,
      });
    const runChild = async (key: string, more: Record<string, string> = {}) => {
      const codes: number[] = [];
      for (const job of Object.values(await childJobs(runner, more)))
        codes.push((await run(child[job.extends].script, key, { ...more, ...job.variables })).code);
      return codes;
    };
    const drift = () => run(pipeline.drift.script, emulator.apiKey, {});

    expect(await runChild("invalid", { CI_MERGE_REQUEST_IID: "7" })).toEqual([0, 0, 0]);
    expect(gitlab.notes[0]?.body.match(/<summary>.*/g)).toEqual([
      "<summary><code>api prod</code>: + 3 to create</summary>",
      "<summary><code>shop prod</code>: + 3 to create</summary>",
    ]);
    expect(emulator.requests).toEqual([]);

    expect(await runChild(emulator.apiKey)).toEqual([0, 0]);
    const [first] = emulator.endpoints.filter(({ url }) => url?.includes(".api."));
    emulator.remove(first?.id ?? "");
    expect(await drift()).toMatchObject({ code: 7 });
    expect(gitlab.issues).toMatchObject([
      {
        state: "opened",
        description: expect.stringContaining("**1 of 4 cloud endpoints drifted (1 deleted).**"),
      },
    ]);

    // A repair that fails after its refresh has copied the live values into the state.
    const api = { STACKS: "organization/api/prod" };
    emulator.intercept(({ method }) => method === "POST", { status: 400, body: { msg: "not today" } });
    expect(await runChild(emulator.apiKey, { ...api, REPAIR: "true" })).not.toEqual([0]);
    expect(await drift()).toMatchObject({ code: 0 });
    expect(gitlab.issues).toMatchObject([
      {
        state: "opened",
        description: expect.stringMatching(/but these programs do not[\s\S]*<pre>\napi prod\n/),
      },
    ]);

    expect(await runChild(emulator.apiKey, { ...api, RECOVER: "true", REPAIR: "true" })).toEqual([0]);
    expect(emulator.endpoints).toHaveLength(4);
    expect(await drift()).toMatchObject({ code: 0 });
    expect(gitlab.issues).toMatchObject([{ state: "closed" }]);
  });
});

const variables = (gitlab: GitLab) => ({
  CI: "true",
  CI_API_V4_URL: gitlab.apiUrl,
  CI_PROJECT_ID: "1",
  CI_MERGE_REQUEST_IID: "7",
  CI_COMMIT_SHA: "abc",
  CI_JOB_URL: "https://gitlab.example.com/acme/shop/-/jobs/42",
  GITLAB_TOKEN: gitlab.token,
  PROJECTS: "stacks.yaml",
});

async function comment(runner: Machine, gitlab: GitLab, previews: [string, number, string][]): Promise<void> {
  const all = join(runner.scratch, "previews");
  rmSync(all, { recursive: true, force: true });
  previews.forEach(([project, code, text], at) => {
    const one = join(all, `${at}`);
    mkdirSync(one, { recursive: true });
    writeFileSync(join(one, "preview.txt"), text);
    writeFileSync(join(one, "outcome.txt"), `${project} prod\n${code}\n`);
  });
  const ran = await runner.run(["node", join(folder, "ci/report.mjs"), "preview", all], variables(gitlab));
  expect(ran).toEqual({ code: 0, output: "" });
}

function reportWith(
  runner: Machine,
  gitlab: GitLab,
  what: string,
  code: number | string,
  found: string,
): Promise<Ran> {
  const file = join(runner.scratch, "found.txt");
  writeFileSync(file, found);
  return runner.run(["node", join(folder, "ci/report.mjs"), what, `${code}`, file], variables(gitlab));
}

async function report(
  runner: Machine,
  gitlab: GitLab,
  what: string,
  code: number | string,
  found: string,
): Promise<void> {
  expect(await reportWith(runner, gitlab, what, code, found)).toEqual({ code: 0, output: "" });
}
