import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { listening } from "../provider/servers";
import { type Machine, recipes } from "./machine";

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
  const { script, variables } = jobs[name];
  const lines = ["set -eo pipefail", ...pipeline.default.before_script, ...script];
  return machine.run(["bash", "-c", lines.join("\n")], { ...pipeline.variables, ...variables, ...env });
}

/** The user of the token. */
export const BOT = { id: 77 };
const TOKEN = "glpat-canary";

/**
 * Starts a stand-in for GitLab's API: it lists these comments or issues, two on a page, records each writing request as a call
 * of the machine, and keeps the written text. Returns the variables of a job.
 */
export async function standInForGitLab(machine: Machine, listed: object[]): Promise<Record<string, string>> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://gitlab");
    const path = pathname.replace("/projects/1", "");
    const send = (status: number, body: unknown, nextPage = "") => {
      response.writeHead(status, { "Content-Type": "application/json", "X-Next-Page": nextPage });
      response.end(JSON.stringify(body));
    };
    if (request.headers["private-token"] !== TOKEN) return send(401, {});
    if (path === "/user") return send(200, BOT);
    if (request.method !== "GET") {
      const sent = variables.parse(JSON.parse(`${Buffer.concat(await request.toArray())}`));
      const { description, body = description, ...rest } = sent;
      machine.note([request.method, path, ...Object.values(rest)].join(" "));
      if (body !== undefined) writeFileSync(join(machine.scratch, "written"), body);
      return send(200, {});
    }
    const filter = `${searchParams.get("state")} ${searchParams.get("labels")}`;
    if (path === "/issues" && filter !== "opened endpoints-drift") return send(400, {});
    const page = Number(searchParams.get("page"));
    send(200, listed.slice((page - 1) * 2, page * 2), listed.length > page * 2 ? `${page + 1}` : "");
  });
  return {
    CI_API_V4_URL: `http://${await listening(server)}`,
    CI_PROJECT_ID: "1",
    CI_MERGE_REQUEST_IID: "7",
    CI_COMMIT_SHA: "abc",
    CI_JOB_URL: "https://gitlab.example.com/acme/shop/-/jobs/42",
    GITLAB_TOKEN: TOKEN,
    PROJECTS: "stacks.yaml",
  };
}
