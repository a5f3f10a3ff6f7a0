import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { parse } from "yaml";
import { z } from "zod";
import { type Machine, type Ran, recipes } from "./project";

/*
 * As much of GitHub Actions as the recipe needs: jobs whose steps are run in order, with expressions, outcomes and
 * outputs. An action (`uses`) is passed over.
 */

const text = z.record(z.string(), z.string());
const step = z.strictObject({
  name: z.string().optional(),
  id: z.string().optional(),
  if: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  env: text.optional(),
  run: z.string().optional(),
});
const job = z.strictObject({
  if: z.string().optional(),
  "runs-on": z.string(),
  "timeout-minutes": z.number(),
  environment: z.string().optional(),
  permissions: text,
  steps: z.array(step),
});
const workflow = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions: text,
  concurrency: z.strictObject({ group: z.string(), "cancel-in-progress": z.boolean() }),
  defaults: z.strictObject({ run: z.strictObject({ shell: z.literal("bash") }) }),
  env: text,
  jobs: z.record(z.string(), job),
});
export type Workflow = z.infer<typeof workflow>;
export type Step = z.infer<typeof step>;

export function readWorkflow(name: string): Workflow {
  return workflow.parse(parse(readFileSync(join(recipes, "github-actions", name), "utf8")));
}

/** What expressions see: `github`, `secrets`, `vars`, `inputs`. What is not given is empty, as on GitHub. */
export type Context = Record<"github" | "secrets" | "vars" | "inputs", unknown>;

export interface JobRun extends Ran {
  /** The names of the steps that were run. */
  steps: string[];
}

/** Runs a job, in GitHub's shell (`bash`, with `-e` and `-o pipefail`). Undefined where the job's condition says no. */
export async function runJob(
  on: Machine,
  name: string,
  jobName: string,
  context: Context,
  cancel?: AbortSignal,
): Promise<JobRun | undefined> {
  const { env, jobs } = readWorkflow(name);
  const job = jobs[jobName];
  if (!job) throw new Error(`${name} has no job ${jobName}`);
  const results: Record<string, { outcome: string; outputs: Record<string, string> }> = {};
  const run: JobRun = { code: 0, output: "", steps: [] };
  const evaluate = (expression: string): unknown =>
    runInNewContext(expression, {
      ...Object.fromEntries(Object.entries(context).map(([key, value]) => [key, lenient(value)])),
      steps: lenient(results),
      runner: { temp: on.scratch },
      env,
      cancelled: () => false,
    });
  if (job.if !== undefined && !evaluate(job.if)) return undefined;

  for (const [index, step] of job.steps.entries()) {
    const id = step.id ?? `step-${index}`;
    const condition = step.if?.replace(/^\$\{\{(.*)\}\}$/, "$1") ?? "true";
    const wanted = (run.code === 0 || condition.includes("cancelled()")) && evaluate(condition);
    if (!wanted || step.run === undefined) {
      results[id] = { outcome: "skipped", outputs: {} };
      continue;
    }
    const stepEnv = Object.entries(step.env ?? {}).map(([key, value]) => [
      key,
      value.replace(/\$\{\{(.*?)\}\}/g, (_, inner) => `${evaluate(inner) ?? ""}`),
    ]);
    const script = join(on.scratch, `${id}.sh`);
    const outputs = join(on.scratch, `${id}.outputs`);
    writeFileSync(script, step.run);
    writeFileSync(outputs, "");
    const given = {
      CI: "true",
      GITHUB_REPOSITORY: "acme/shop",
      GITHUB_OUTPUT: outputs,
      RUNNER_TEMP: on.scratch,
      STEP: step.name ?? "",
    };
    const { code, output } = await on.run(
      ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
      { ...given, ...env, ...Object.fromEntries(stepEnv) },
      cancel,
    );
    results[id] = { outcome: code === 0 ? "success" : "failure", outputs: readOutputs(outputs) };
    run.code ||= code;
    run.output += output;
    run.steps.push(step.name ?? step.run.trim());
  }
  return run;
}

const readOutputs = (file: string): Record<string, string> =>
  Object.fromEntries(
    readFileSync(file, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split("=", 2)),
  );

/** An object whose missing members are empty, at any depth, in place of `undefined`. */
function lenient(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value ?? "";
  return new Proxy(value, {
    get: (target, key) =>
      typeof key === "symbol"
        ? Reflect.get(target, key)
        : key in target
          ? lenient(Reflect.get(target, key))
          : "",
  });
}
