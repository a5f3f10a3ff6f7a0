import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { type Machine, type Ran, recipes } from "./machine";

/* Reads the workflows for GitHub Actions, and runs the scripts of a job as GitHub does. */

const text = z.record(z.string(), z.coerce.string());
const anything = z.record(z.string(), z.unknown());
const step = z.object({
  id: z.string().default(""),
  if: z.string().default(""),
  uses: z.string().default(""),
  with: anything.default({}),
  "working-directory": z.string().default("."),
  env: text.default({}),
  run: z.string().default(""),
});
const job = z.object({
  if: z.string().optional(),
  with: anything.default({}),
  environment: z.string().optional(),
  permissions: text,
  strategy: anything.optional(),
  concurrency: anything.optional(),
  env: text.default({}),
  steps: z.array(step).default([]),
});
const workflow = z.object({
  on: anything,
  permissions: text,
  concurrency: anything.optional(),
  jobs: z.record(z.string(), job),
});

const read = (name: string) =>
  workflow.parse(parse(readFileSync(join(recipes, "github-actions", `${name}.yml`), "utf8")));
export const workflows = {
  endpoints: read("endpoints"),
  preview: read("preview"),
  up: read("up"),
  drift: read("drift"),
};
export const jobs = Object.values(workflows).flatMap((one) => Object.entries(one.jobs));

/** The default values of expressions. */
const values: Record<string, string> = {
  "matrix.folder": "shop",
  "matrix.project": "shop",
  "matrix.stack": "prod",
  "inputs.projects": "stacks.yaml",
  "inputs.recover": "false",
  "inputs.repair": "false",
  "secrets.ENDPOINTS_WRITE_KEY": "write-key",
  "secrets.ENDPOINTS_READ_KEY": "read-key",
  "secrets.ENDPOINTS_PREVIEW_KEY || 'none'": "preview-key",
  "github.repository": "acme/shop",
  "github.workflow": "endpoints",
  "github.event_name": "pull_request",
  "github.event.pull_request.number": "7",
  "github.event.pull_request.head.sha": "abc",
};

/** Runs the scripts of a job in order, until one fails. Other steps are actions, which stand-ins cannot run. */
export async function runJob(
  machine: Machine,
  name: string,
  given: Record<string, string> = {},
): Promise<Ran & { outputs: Record<string, string> }> {
  const [, selected] = jobs.find(([found, { steps }]) => found === name && steps.length > 0) ?? [];
  const known: Record<string, string> = { ...values, ...given };
  const filled = (text: string) =>
    text.replace(/\$\{\{ *(.*?) *\}\}/g, (_, expression) => known[expression] ?? "");
  const env = (all: Record<string, string>) =>
    Object.fromEntries(Object.entries(all).map(([key, value]) => [key, filled(value)]));
  const file = join(machine.scratch, "output");
  const ended = { code: 0, output: "", outputs: {} as Record<string, string> };
  for (const { id, if: condition, run, ...step } of selected?.steps ?? []) {
    const [, needed] = /^(steps\..*) != ''$/.exec(condition) ?? [];
    if (run === "" || (needed !== undefined && !known[needed])) continue;
    writeFileSync(file, "");
    const script = `cd ${filled(step["working-directory"])}\n${run}`;
    const { code, output } = await machine.run(["bash", "-eo", "pipefail", "-c", script], {
      ...env(selected?.env ?? {}),
      ...env(step.env),
      GITHUB_REPOSITORY: "acme/shop",
      GITHUB_WORKSPACE: machine.folder,
      GITHUB_OUTPUT: file,
      GITHUB_STEP_SUMMARY: join(machine.scratch, "summary"),
      RUNNER_TEMP: machine.scratch,
    });
    ended.output += output;
    ended.code = code;
    if (code !== 0) break;
    for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
      const [key = "", value = ""] = line.split(/=(.*)/);
      ended.outputs[key] = value;
      known[`steps.${id}.outputs.${key}`] = value;
    }
  }
  return ended;
}

/** Stands in for GitHub's CLI: it lists these comments or issues, two on a page, and keeps the text that it is given. */
export function standInForGitHub(machine: Machine, listed: object[]): void {
  const pages = [listed.slice(0, 2), listed.slice(2)].map((page) => JSON.stringify(page));
  writeFileSync(join(machine.scratch, "replies"), pages.join("\n"));
  machine.standIn(
    "gh",
    `if [ "$1 $2" = "api --paginate" ]; then cat "$HOME/replies"; fi
    while [ $# -gt 0 ]; do
      case $1 in
        body=@*) cp "\${1#body=@}" "$HOME/written" ;;
        --body-file) cp "$2" "$HOME/written" ;;
      esac
      shift
    done`,
  );
}
