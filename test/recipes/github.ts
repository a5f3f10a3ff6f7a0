import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { TOKEN } from "./host";
import { type Machine, type Ran, recipes, script } from "./machine";

/* Reads the workflows for GitHub Actions, and runs the scripts of a job as GitHub does. */

const text = z.record(z.string(), z.coerce.string());
const anything = z.record(z.string(), z.unknown());
const step = z.object({
  id: z.string().default(""),
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
  "strategy.job-index": "0",
  "inputs.projects": "stacks.yaml",
  "inputs.recover": "false",
  "inputs.repair": "false",
  "secrets.ENDPOINTS_WRITE_KEY": "write-key",
  "secrets.ENDPOINTS_READ_KEY": "read-key",
  "secrets.ENDPOINTS_PREVIEW_KEY || 'none'": "preview-key",
  "github.repository": "acme/shop",
  "github.token": TOKEN,
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
  cpSync(script, join(machine.folder, "endpoints.mjs"));
  const ended = { code: 0, output: "", outputs: {} as Record<string, string> };
  for (const { id, run, ...step } of selected?.steps ?? []) {
    if (run === "") continue;
    writeFileSync(file, "");
    const command = `cd ${filled(step["working-directory"])}\n${run}`;
    const { code, output } = await machine.run(["bash", "-eo", "pipefail", "-c", command], {
      ...env(selected?.env ?? {}),
      ...env(step.env),
      GITHUB_REPOSITORY: "acme/shop",
      GITHUB_ACTIONS: "true",
      GITHUB_API_URL: known["api"] ?? "",
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_RUN_ID: "42",
      GITHUB_OUTPUT: file,
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
