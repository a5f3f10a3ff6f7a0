import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { TOKEN } from "./host";
import { type Machine, recipes, script } from "./machine";

/* Reads the pipeline for GitLab, and runs the script of a job as GitLab does. */

const folder = join(recipes, "gitlab-ci");
const read = (file: string) => readFileSync(join(folder, file), "utf8");
export const texts = [read(".gitlab-ci.yml"), read("ci/stack.yml")];

const variables = z.record(z.string(), z.string());
const job = z.object({
  rules: z.array(z.object({ if: z.string().optional() })),
  environment: z.object({ name: z.string() }).optional(),
  resource_group: z.string().optional(),
  interruptible: z.boolean().optional(),
  allow_failure: z.object({ exit_codes: z.array(z.number()) }).optional(),
  trigger: z.looseObject({ strategy: z.string() }).optional(),
  script: z.array(z.string()).default([]),
  variables: variables.optional(),
});
const settings = z.object({ interruptible: z.boolean(), before_script: z.array(z.string()) });
const pipeline = z
  .object({ variables, default: settings, check: job, stacks: job, preview: job, up: job, drift: job })
  .parse(parse(texts[0] ?? ""));
const child = z
  .object({ default: settings, ".preview": job, ".up": job, ".comment": job })
  .parse(parse(texts[1] ?? ""));
export const defaults = [pipeline.default, child.default];
const { check, stacks, preview, up, drift } = pipeline;
export const jobs = {
  ...{ check, stacks, preview, up, drift },
  ...{ ".preview": child[".preview"], ".up": child[".up"], ".comment": child[".comment"] },
};

/** Runs the lines of a job. */
export function runJob(machine: Machine, name: keyof typeof jobs, env: Record<string, string>) {
  cpSync(folder, machine.folder, { recursive: true });
  cpSync(script, join(machine.folder, "endpoints.mjs"));
  const job = jobs[name];
  const lines = ["set -eo pipefail", ...pipeline.default.before_script, ...job.script];
  return machine.run(["bash", "-c", lines.join("\n")], { ...pipeline.variables, ...job.variables, ...env });
}

/** The variables of a job, for GitLab's API at this address. */
export const variablesOf = (api: string) => ({
  CI_API_V4_URL: api,
  CI_PROJECT_ID: "1",
  CI_MERGE_REQUEST_IID: "7",
  CI_COMMIT_SHA: "abc",
  CI_JOB_URL: "https://gitlab.example.com/acme/shop/-/jobs/42",
  GITLAB_TOKEN: TOKEN,
  PROJECTS: "stacks.yaml",
});
