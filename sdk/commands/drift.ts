import { writeFileSync } from "node:fs";
import { PIPELINE_COMMAND } from "../../provider/api/text";
import { assertFile, type CliCommand, command, type LogLine, type Terminal, UsageError } from "./command";
import { repairAll } from "./drift/repair";
import { type DriftReport, outcomeOf, reportSchema } from "./drift/report";
import { reportPage } from "./drift/reportPage";
import { reportText } from "./drift/reportText";
import { visible } from "./drift/reportView";
import {
  type OpenStacks,
  onInterruption,
  openWithPulumi,
  type ReadKnown,
  readKnownWithPulumi,
} from "./drift/stack";
import {
  accountReport,
  asUnchecked,
  type Elsewhere,
  type Survey,
  sharedEndpoints,
  survey,
} from "./drift/survey";
import { ignoredIn, type Projects, projectsOf, projectsOptions } from "./projects";

const HELP = `Compares the cloud endpoints of stacks with the service, and reports each field that has drifted.

Usage: npx pulumi-endpoints drift [options]

  --stack S              a stack to check; may be repeated (default: the selected one)
  --cwd DIR              the folder of a Pulumi project; may be repeated (default: this one)
  --projects F           instead of --cwd, a file that lists folders and stacks
  --parallel N           how many stacks are compared at once (default: 4)
  --known S              a stack of any project whose endpoints are not unmanaged; may be repeated
  --ignore F             a file that lists endpoints which are meant to be there
  --json F               write the report as JSON; - for the standard output, instead of the text
  --html F               write the report as a page: one file that needs no network
  --fix                  repair the drift: restore the values of the states on the service
  --fail-on-unmanaged    also count each endpoint of the account that no stack manages as drift
  --help                 this text

Exit codes: 0 no drift, or all repaired; 7 drift; 8 no drift, but the last update of a stack failed or was killed; 3 a key
was refused; 2 invalid arguments; 1 any other failure, or something is unchecked. The command needs the
Pulumi CLI, and never asks a question. See docs/drift.md.`;

/** Tests replace these, so that they need no Pulumi CLI. */
interface DriftDependencies {
  open: OpenStacks;
  readKnown: ReadKnown;
  env: NodeJS.ProcessEnv;
}

export const driftWith = ({ open, readKnown, env }: DriftDependencies): CliCommand =>
  command({
    name: "drift",
    help: HELP,
    options: {
      ...projectsOptions,
      parallel: { type: "string", default: "4" },
      ignore: { type: "string" },
      json: { type: "string" },
      html: { type: "string" },
      fix: { type: "boolean", default: false },
      "fail-on-unmanaged": { type: "boolean", default: false },
    },

    async run(options, { stdout, stderr, log }) {
      const { json, html, fix, ignore, "fail-on-unmanaged": failOnUnmanaged } = options;
      const parallel = Number(options.parallel);
      if (!(Number.isInteger(parallel) && parallel > 0))
        throw new UsageError("--parallel takes a whole number above zero");
      // Files are checked here, not after a repair.
      if (html === "-")
        throw new UsageError("--html takes a file; only --json can go to the standard output");
      if (html !== undefined && html === json) throw new UsageError("--json and --html name the same file");
      if (json !== undefined && json !== "-") assertFile("--json", json);
      if (html !== undefined) assertFile("--html", html);

      const projects = await projectsOf(options);
      if (ignore !== undefined) projects.ignored.push(...ignoredIn(ignore));

      const startedAt = new Date().toISOString();
      const logged: LogLine = (message) => log(visible(message));
      const interruption = onInterruption(logged);
      let found: Survey;
      let elsewhere: Elsewhere;
      try {
        const stacks = await open(projects.projects, interruption);
        const progress = stacks.length > 1 ? progressLine(stderr) : undefined;
        const deps = { log: logged, stopped: interruption.stopped, progress, parallel };
        found = await survey(stacks, deps);
        if (fix) found = await repairAll(found, deps);
        elsewhere = await readElsewhere(found, projects, readKnown);
      } finally {
        interruption.end();
      }
      const report = reportOf(found, elsewhere, { startedAt, fix, failOnUnmanaged });

      // In JSON the escape is the same text.
      const asJson = `${JSON.stringify(report, undefined, 2).replace(PIPELINE_COMMAND, "\\u0023")}\n`;
      if (json === "-") stdout.write(asJson);
      else {
        const color = stdout.isTTY === true && !env["NO_COLOR"];
        stdout.write(`${reportText(report, { width: stdout.columns ?? 120, color })}\n`);
        if (json !== undefined) writeFileSync(json, asJson);
      }
      if (html !== undefined) writeFileSync(html, reportPage(report));
      return report.exitCode;
    },
  });

/** `npx pulumi-endpoints drift`: reports the differences between the service and the stacks' states. */
export const driftCommand = driftWith({
  open: openWithPulumi,
  readKnown: readKnownWithPulumi,
  env: process.env,
});

/** One line, which a terminal writes again and again. A pipeline's log gets ten lines. */
const progressLine = (stderr: Terminal) => (done: number, of: number) => {
  const text = `${done} of ${of} stacks compared`;
  if (stderr.isTTY) stderr.write(`\r${text}${done === of ? "\n" : ""}`);
  else if (done === of || done % Math.ceil(of / 10) === 0) stderr.write(`${text}\n`);
};

/** Reads the states of the known stacks. One that cannot be read leaves open what is unmanaged. */
async function readElsewhere(
  { stacks, accounts }: Survey,
  { projects, known, ignored }: Projects,
  readKnown: ReadKnown,
): Promise<Elsewhere> {
  const ids = new Set<string>();
  let areAllRead = stacks.every(({ managed }) => managed !== undefined);
  const [project] = projects;
  for (const stack of new Set(project ? known : []))
    try {
      if (project) for (const id of await readKnown(project, stack)) ids.add(id);
    } catch (error) {
      areAllRead = false;
      for (const account of accounts) account.unchecked.push(asUnchecked(`the known stack ${stack}`, error));
    }
  const managed = new Set(stacks.flatMap((stack) => (stack.managed ?? []).map(({ id }) => id)));
  return {
    managed: areAllRead ? managed : undefined,
    known: ids,
    projects: new Set(stacks.map(({ stack }) => stack.project)),
    ignored: ignored.map((entry) => ({ entry, isUsed: false })),
  };
}

function reportOf(
  { stacks, accounts }: Survey,
  elsewhere: Elsewhere,
  options: Pick<DriftReport, "startedAt" | "fix" | "failOnUnmanaged">,
): DriftReport {
  const findings = {
    ...options,
    stacks: stacks.map(({ report }) => report),
    accounts: accounts.map((account) => accountReport(account, elsewhere)),
    shared: sharedEndpoints(stacks),
  };
  const unused = elsewhere.managed ? elsewhere.ignored.filter(({ isUsed }) => !isUsed) : [];
  const unusedIgnores = unused.map(({ entry }) => entry);
  const endedAt = new Date().toISOString();
  // Removes fields that the schema does not document.
  return reportSchema.parse({ version: 1, endedAt, ...outcomeOf(findings), ...findings, unusedIgnores });
}
