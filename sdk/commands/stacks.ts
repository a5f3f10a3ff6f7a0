import { relative, sep } from "node:path";
import { type CliCommand, command, EXIT, UsageError } from "./command";
import { projectsOf, projectsOptions } from "./projects";
import { table } from "./table";

const HELP = `Lists the projects and stacks of a file, and each job's share of the account's requests, for pipelines with a job per
stack.

Usage: npx pulumi-endpoints stacks --projects F [options]

  --projects F   the file that lists folders and stacks, as for drift
  --stack S      only these stacks, by short or full name; may be repeated
  --jobs N       how many jobs run at once (default: 4)
  --budget N     how many requests all jobs may send in a window (default: 120)
  --json         print the matrix of a GitHub workflow: one line
  --help         this text

Folders are relative to this one. A job sets its share as ENDPOINTS_REQUESTS_PER_WINDOW. The command needs no Pulumi CLI,
no key and no network. Exit codes: 0 done, 2 invalid arguments. See docs/gitops.md.`;

/** `npx pulumi-endpoints stacks`: what a pipeline with a job per stack needs to know. */
export const stacksCommand: CliCommand = command({
  name: "stacks",
  help: HELP,
  options: {
    projects: projectsOptions.projects,
    stack: projectsOptions.stack,
    jobs: { type: "string", default: "4" },
    budget: { type: "string", default: "120" },
    json: { type: "boolean", default: false },
  },

  async run({ projects: file, stack, json, ...given }, { stdout }) {
    if (file === undefined)
      throw new UsageError("--projects is missing: a file that lists folders and stacks");
    const jobs = wholeNumber("--jobs", given.jobs);
    const budget = wholeNumber("--budget", given.budget);
    if (jobs > budget) throw new UsageError(`--jobs ${jobs} leaves none of ${budget} requests to each job`);

    const { projects } = await projectsOf({ projects: file, ...(stack && { stack }) });
    const stacks = projects.flatMap(({ folder, name: project, stacks }) =>
      stacks.map((stack) => ({ folder: shownFolder(folder), project, stack })),
    );
    // Fewer stacks than jobs share the whole budget.
    const requestsPerWindow = Math.floor(budget / Math.min(jobs, stacks.length));
    const include = stacks.map((each) => ({ ...each, requestsPerWindow }));
    if (json) stdout.write(`${JSON.stringify({ include })}\n`);
    else {
      const head = { folder: "folder", project: "project", stack: "stack", requestsPerWindow: "requests" };
      const rows = [head, ...include].map((row) => Object.values(row).map(String));
      stdout.write(`${table(rows).join("\n")}\n`);
    }
    return EXIT.done;
  },
});

const shownFolder = (folder: string) => relative(process.cwd(), folder).split(sep).join("/") || ".";

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`${option} takes a whole number above zero`);
}
