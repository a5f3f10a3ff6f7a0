import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { type Machine, recipes } from "./machine";

/* Reads the workflows for GitHub Actions, and plays the scripts of a job as GitHub does. */

const text = z.record(z.string(), z.coerce.string());
const anything = z.record(z.string(), z.unknown());
const step = z.object({
  id: z.string().default(""),
  name: z.string().optional(),
  if: z.string().optional(),
  uses: z.string().optional(),
  with: anything.optional(),
  "working-directory": z.string().default("."),
  env: text.default({}),
  run: z.string().optional(),
});
const job = z.object({
  if: z.string().optional(),
  uses: z.string().optional(),
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

/** What expressions stand for, unless a situation says otherwise. */
const values: Record<string, string> = {
  "matrix.folder": "shop",
  "matrix.stack": "prod",
  "matrix.requestsPerWindow": "60",
  "inputs.projects": "stacks.yaml",
  "inputs.stacks": "",
  "inputs.recover": "false",
  "inputs.repair": "false",
  "secrets.ENDPOINTS_WRITE_KEY": "write-key",
  "secrets.ENDPOINTS_READ_KEY": "read-key",
  "secrets.ENDPOINTS_PREVIEW_KEY || 'none'": "preview-key",
  "github.token": "token",
  "github.repository": "acme/shop",
  "github.workflow": "endpoints",
  "github.event.pull_request.number": "7",
  "github.event.pull_request.head.sha": "abc",
};

const EXPRESSION = /\$\{\{ *(.*?) *\}\}/g;

/** Plays the scripts of a job in order, until one fails. Other steps are actions, which stand-ins cannot play. */
export async function play(
  machine: Machine,
  name: string,
  given: Record<string, string> = {},
  cancel?: AbortSignal,
): Promise<{ code: number; output: string; outputs: Record<string, string> }> {
  const [, played] = jobs.find(([found, { steps }]) => found === name && steps.length > 0) ?? [];
  const known: Record<string, string> = { ...values, ...given };
  const filled = (text: string) => text.replace(EXPRESSION, (_, expression) => known[expression] ?? "");
  const env = (all: Record<string, string>) =>
    Object.fromEntries(Object.entries(all).map(([key, value]) => [key, filled(value)]));
  const outputs: Record<string, string> = {};
  const file = join(machine.scratch, "output");
  let output = "";
  for (const { id, if: condition = "", run, ...step } of played?.steps ?? []) {
    const [, needed] = /^(steps\..*) != ''$/.exec(condition) ?? [];
    if (run === undefined || (needed !== undefined && !known[needed])) continue;
    if (condition.includes("pull_request") && known["github.event_name"] !== "pull_request") continue;
    writeFileSync(file, "");
    // A file, as GitHub has it: with `-c`, bash would become the last command by itself.
    const script = join(machine.scratch, "step.sh");
    writeFileSync(script, `cd ${filled(step["working-directory"])}\n${run}`);
    const ran = await machine.run(
      ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
      {
        ...env(played?.env ?? {}),
        ...env(step.env),
        GITHUB_REPOSITORY: "acme/shop",
        GITHUB_OUTPUT: file,
        GITHUB_STEP_SUMMARY: join(machine.scratch, "summary"),
        RUNNER_TEMP: machine.scratch,
      },
      cancel,
    );
    output += ran.output;
    for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
      const key = line.split("=", 1)[0] ?? "";
      outputs[key] = line.slice(key.length + 1);
      known[`steps.${id}.outputs.${key}`] = outputs[key];
    }
    if (ran.code !== 0) return { code: ran.code, output, outputs };
  }
  return { code: 0, output, outputs };
}

/** Stands in for GitHub's CLI: it lists these comments or issues, two on a page, and keeps the text that it is given. */
export function standInForGitHub(machine: Machine, listed: object[] = []): void {
  const replies = join(machine.scratch, "replies");
  writeFileSync(replies, "");
  for (let at = 0; at < listed.length; at += 2)
    appendFileSync(replies, `${JSON.stringify(listed.slice(at, at + 2))}\n`);
  machine.standIn(
    "gh",
    `: "$GH_TOKEN"
    if [ "$1 $2" = "api --paginate" ]; then cat ${replies}; fi
    while [ $# -gt 0 ]; do
      case $1 in
        body=@*) cp "\${1#body=@}" "$HOME/written" ;;
        --body-file) cp "$2" "$HOME/written" ;;
      esac
      shift
    done`,
  );
}
