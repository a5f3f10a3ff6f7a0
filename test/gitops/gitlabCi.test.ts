import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { copyOf } from "../engine/example";
import { type GitLab, startGitLab } from "./gitlab";
import { cli, environmentsProject, type Machine, machine, type Ran, recipes } from "./recipeMachine";

const folder = join(recipes, "gitlab-ci");
const text = readFileSync(join(folder, ".gitlab-ci.yml"), "utf8");
const job = z.object({
  script: z.array(z.string()),
  rules: z.array(z.object({ if: z.string() })),
  environment: z.object({ name: z.string(), action: z.string().optional() }).optional(),
  resource_group: z.string().optional(),
  interruptible: z.boolean().optional(),
  allow_failure: z.object({ exit_codes: z.number() }).optional(),
});
const pipeline = z
  .object({
    variables: z.record(z.string(), z.string()),
    default: z.object({ interruptible: z.boolean(), before_script: z.array(z.string()) }),
    check: job,
    preview: job,
    up: job,
    drift: job,
  })
  .parse(parse(text));

describe("the pipeline for GitLab", () => {
  test("never cancels an up, and never runs a drift check during one", () => {
    expect(pipeline.default.interruptible).toBe(false);
    expect(pipeline.up.interruptible).toBeUndefined();
    expect(pipeline.up.resource_group).toBe("endpoints-prod");
    expect(pipeline.drift.resource_group).toBe(pipeline.up.resource_group);
  });

  test("contains no key, and gives each job the environment with the least access", () => {
    expect(text).not.toMatch(/API_KEY|ACCESS_TOKEN|PASSPHRASE/);
    expect(pipeline.check.environment).toBeUndefined();
    expect(pipeline.preview.environment).toEqual({ name: "prod-preview", action: "access" });
    expect(pipeline.drift.environment).toEqual({ name: "prod-drift", action: "access" });
    expect(pipeline.up.environment).toEqual({ name: "prod" });
  });

  test("treats drift as a warning, and every other failure as an error", () => {
    const { check, preview, up, drift } = pipeline;
    expect(drift.allow_failure).toEqual({ exit_codes: 7 });
    for (const job of [check, preview, up]) expect(job.allow_failure).toBeUndefined();
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

describe("the report script", () => {
  test("writes one comment on a merge request, and updates it after later previews", async () => {
    const others = [
      { id: 1, author: { id: 77 }, body: "coverage" },
      { id: 2, author: { id: 77 }, body: "<!-- endpoints preview of dev -->" },
      { id: 3, author: { id: 5 }, body: "<!-- endpoints preview of prod --> as the bot says" },
    ];
    const gitlab = await startGitLab({ notes: structuredClone(others) });
    const runner = machine(copyOf("environments"));
    await report(runner, gitlab, "preview", 0, "~ shop </pre>\n/close\n@all");
    expect(gitlab.notes[3]?.body).toMatch(
      /^<!-- endpoints preview of prod -->\n\*\*Preview of `prod` for abc: success\*\*/,
    );
    expect(gitlab.notes[3]?.body).toContain("~ shop &lt;&#47;pre&gt;\n&#47;close\n&#64;all\n</pre>");

    await report(runner, gitlab, "preview", 255, "it failed");
    expect(gitlab.notes).toHaveLength(4);
    expect(gitlab.notes[3]?.body).toContain("failure (255)");
    expect(gitlab.notes.slice(0, 3)).toEqual(others);
  });

  test("opens one issue while there is drift, and closes it when the drift is gone", async () => {
    const gitlab = await startGitLab();
    const runner = machine(copyOf("environments"));
    await report(runner, gitlab, "drift", 7, "shop: description");
    await report(runner, gitlab, "drift", 7, "api: deleted");
    expect(gitlab.issues).toMatchObject([
      {
        state: "opened",
        labels: "endpoints-drift-prod",
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
      labels: "endpoints-drift-prod",
      description: "<!-- endpoints drift of prod -->\nas the bot says",
    };
    const gitlab = await startGitLab({ issues: [{ ...theirs }] });
    const runner = machine(copyOf("environments"));
    for (const code of [0, 7, 7, 0]) await report(runner, gitlab, "drift", code, "");
    expect(gitlab.issues[0]).toEqual(theirs);
    expect(gitlab.writes).toEqual(["POST issues", "PUT issues", "PUT issues"]);
  });

  test("does not open or close an issue if the program differs from the state", async () => {
    const gitlab = await startGitLab();
    const runner = machine(copyOf("environments"));
    await report(runner, gitlab, "drift", "undeployed", "~ shop");
    expect(gitlab.issues).toEqual([]);
    await report(runner, gitlab, "drift", 7, "shop: description");
    await report(runner, gitlab, "drift", "undeployed", "~ shop");
    expect(gitlab.issues).toMatchObject([
      {
        state: "opened",
        description: expect.stringMatching(/but the program does not[\s\S]*<pre>\n~ shop\n/),
      },
    ]);
  });

  test("fails without printing the token if GitLab refuses a request", async () => {
    const gitlab = await startGitLab();
    const runner = machine(copyOf("environments"));
    const { code, output } = await reportWith(runner, { ...gitlab, token: "glpat-other" }, "drift", 7, "");
    expect(code).not.toBe(0);
    expect(output).toContain("was answered with 401");
    expect(output).not.toContain("glpat");
  });
});

describe.skipIf(!cli)("the pipeline on the Pulumi CLI", () => {
  test("previews with an invalid key, deploys, reports drift and repairs it", async () => {
    const { machine: runner, emulator, backend } = await environmentsProject();
    cpSync(join(folder, "ci"), join(runner.folder, "ci"), { recursive: true });
    const gitlab = await startGitLab();
    const run = (name: "preview" | "up" | "drift", key: string, more: Record<string, string> = {}) => {
      const lines = [...pipeline.default.before_script, ...pipeline[name].script].join("\n");
      const env = {
        ...pipeline.variables,
        ...variables(gitlab),
        ...backend,
        ENDPOINTS_API_KEY: key,
        ...more,
      };
      return runner.run(["bash", "-c", `set -eo pipefail\n${lines}`], env);
    };
    expect(await run("preview", "invalid")).toMatchObject({ code: 0 });
    expect(gitlab.notes[0]?.body).toContain("+ 3 to create");
    expect(emulator.requests).toEqual([]);

    expect(await run("up", emulator.apiKey)).toMatchObject({ code: 0 });
    emulator.remove(emulator.endpoints[0]?.id ?? "");
    expect(await run("drift", emulator.apiKey)).toMatchObject({ code: 7 });
    expect(gitlab.issues).toMatchObject([{ state: "opened" }]);

    // A repair that fails after its refresh has copied the live values into the state.
    emulator.intercept(({ method }) => method === "POST", { status: 400, body: { msg: "not today" } });
    expect((await run("up", emulator.apiKey, { REPAIR: "true" })).code).not.toBe(0);
    expect(await run("drift", emulator.apiKey)).toMatchObject({ code: 0 });
    expect(gitlab.issues).toMatchObject([
      { state: "opened", description: expect.stringContaining("but the program does not") },
    ]);

    expect(await run("up", emulator.apiKey, { RECOVER: "true", REPAIR: "true" })).toMatchObject({ code: 0 });
    expect(emulator.endpoints).toHaveLength(2);
    expect(await run("drift", emulator.apiKey)).toMatchObject({ code: 0 });
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
  STACK: "prod",
});

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
