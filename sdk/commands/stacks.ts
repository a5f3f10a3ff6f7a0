import { relative, sep } from "node:path";
import { type CliCommand, command, EXIT, UsageError } from "./command";
import { JSON_OPTION, wholeNumber, writeResult } from "./options";
import { projectsOf, projectsOptions } from "./projects";
import { table } from "./text";

/** `npx pulumi-endpoints stacks`: the list for a pipeline with a job for each stack. */
export const stacksCommand: CliCommand = command({
  name: "stacks",
  about:
    "Lists the projects and stacks of a file, and each job's share of the account's requests, for pipelines with a job per stack.",
  options: {
    projects: projectsOptions.projects,
    stack: {
      ...projectsOptions.stack,
      help: "only these stacks, by name or the end of the full name: dev, api/dev",
    },
    jobs: { value: "N", help: "how many jobs run at once", parse: wholeNumber(1, 1_000_000), default: "4" },
    budget: {
      value: "N",
      help: "how many requests all jobs may send in a window",
      parse: wholeNumber(1, 1_000_000),
      default: "120",
    },
    json: { ...JSON_OPTION, help: `${JSON_OPTION.help}: the matrix of a GitHub workflow, in one line` },
  },
  notes: `Folders are relative to this one. A job sets its share as ENDPOINTS_REQUESTS_PER_WINDOW. The command needs no Pulumi CLI, no key and no network.
Exit codes: 0 done, 2 invalid arguments. See docs/gitops.md.`,

  async run({ projects: file, stack, jobs, budget, json }, { stdout }) {
    if (file === undefined)
      throw new UsageError("--projects is missing: a file that lists folders and stacks");
    if (jobs > budget) throw new UsageError(`--jobs ${jobs} leaves none of ${budget} requests to each job`);

    const { projects } = await projectsOf({ projects: file, stack });
    const stacks = projects.flatMap(({ folder, name: project, stacks }) =>
      stacks.map((stack) => ({ folder: shownFolder(folder), project, stack })),
    );
    // If there are fewer stacks than jobs, the stacks share the whole budget.
    const requestsPerWindow = Math.floor(budget / Math.min(jobs, stacks.length));
    const include = stacks.map((each) => ({ ...each, requestsPerWindow }));
    const head = { folder: "folder", project: "project", stack: "stack", requestsPerWindow: "requests" };
    const text = table([head, ...include].map((row) => Object.values(row).map(String)));
    writeResult({ include }, `${text.join("\n")}\n`, json, stdout, 0);
    return EXIT.done;
  },
});

const shownFolder = (folder: string) => relative(process.cwd(), folder).split(sep).join("/") || ".";
