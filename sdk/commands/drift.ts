import { existsSync, writeFileSync } from "node:fs";
import { assertFile, type Command, parseOptions, runCommand, type Streams, UsageError } from "./command";
import { reportPage } from "./drift/page";
import { repairAll } from "./drift/repair";
import { type DriftReport, outcomeOf, reportSchema } from "./drift/report";
import { type DriftStack, type OpenStacks, onInterruption, openWithPulumi } from "./drift/stack";
import { accountReport, type Dependencies, sharedEndpoints, survey } from "./drift/survey";
import { Progress, reportText } from "./drift/text";

const HELP = `Compares the cloud endpoints of this project's stacks with the service, and reports each field that has drifted.

Usage: npx pulumi-endpoints drift [options]

  --stack S              a stack to check; may be repeated (default: the selected one)
  --cwd DIR              the folder of the Pulumi project (default: this one)
  --json F               write the report as JSON; - for the standard output, instead of the text
  --html F               write the report as a page: one file that needs no network
  --fix                  repair what has drifted, as the states have it
  --fail-on-unmanaged    count endpoints of the account that no given stack manages as drift
  --help                 this text

Exit codes: 0 no drift, or all repaired; 7 drift; 8 no drift, but the last update of a stack failed or was killed; 3 a key
was refused; 2 arguments that make no sense; 1 anything else, also if something could not be checked. It needs the Pulumi
CLI, and never asks a question. See docs/drift.md.`;

interface Options {
  stacks: string[];
  folder: string;
  json: string | undefined;
  html: string | undefined;
  fix: boolean;
  failOnUnmanaged: boolean;
}

/** What tests replace, so that they need no Pulumi CLI. */
interface DriftDependencies extends Streams {
  open: OpenStacks;
  env: NodeJS.ProcessEnv;
}

/** `npx pulumi-endpoints drift`: reports what is not as the stacks have it. */
export function driftCommand(
  args: string[],
  {
    open = openWithPulumi,
    env = process.env,
    stdout = process.stdout,
    stderr = process.stderr,
  }: Partial<DriftDependencies> = {},
): Promise<number> {
  return runCommand(commandWith(open, env), args, { stdout, stderr });
}

const commandWith = (open: OpenStacks, env: NodeJS.ProcessEnv): Command => ({
  name: "drift",
  help: HELP,

  async run(args, { stdout, stderr }) {
    const options = optionsOf(args);
    const progress = new Progress(stderr, env);
    const interruption = onInterruption(progress.log);
    let report: DriftReport;
    try {
      const stacks = await open(options.folder, options.stacks, interruption);
      report = await check(options, stacks, { log: progress.log, stopped: interruption.stopped });
    } finally {
      progress.end();
      interruption.end();
    }
    const json = `${JSON.stringify(report, undefined, 2)}\n`;
    if (options.json === "-") stdout.write(json);
    else {
      const color = stdout.isTTY === true && !env["NO_COLOR"];
      stdout.write(`${reportText(report, { width: stdout.columns ?? 120, color })}\n`);
      if (options.json !== undefined) writeFileSync(options.json, json);
    }
    if (options.html !== undefined) writeFileSync(options.html, reportPage(report));
    return report.exitCode;
  },
});

async function check(
  { fix, failOnUnmanaged }: Options,
  stacks: DriftStack[],
  deps: Dependencies,
): Promise<DriftReport> {
  const startedAt = new Date().toISOString();
  const first = await survey(stacks, deps);
  const found = fix ? await repairAll(first, deps) : first;

  const areAllRead = found.stacks.every(({ managed }) => managed !== undefined);
  const ids = new Set(found.stacks.flatMap(({ managed = [] }) => managed.map(({ id }) => id)));
  const findings = {
    stacks: found.stacks.map(({ report }) => report),
    accounts: found.accounts.map((account) => accountReport(account, areAllRead ? ids : undefined)),
    shared: sharedEndpoints(found.stacks),
    fix,
    failOnUnmanaged,
  };
  const endedAt = new Date().toISOString();
  // Only what the schema documents is written.
  return reportSchema.parse({ version: 1, startedAt, endedAt, ...outcomeOf(findings), ...findings });
}

function optionsOf(args: string[]): Options {
  const values = parseOptions(args, {
    stack: { type: "string", multiple: true },
    cwd: { type: "string" },
    json: { type: "string" },
    html: { type: "string" },
    fix: { type: "boolean" },
    "fail-on-unmanaged": { type: "boolean" },
  });
  const { stack = [], cwd = ".", json, html, fix = false } = values;
  // An unset variable of a script must not mean the selected stack.
  if (stack.includes("")) throw new UsageError("--stack must not be empty");
  if (!existsSync(cwd)) throw new UsageError(`--cwd names a folder that does not exist: ${cwd}`);
  // Files are checked here, not after a repair.
  if (html === "-") throw new UsageError("--html takes a file; only --json can go to the standard output");
  if (html !== undefined && html === json) throw new UsageError("--json and --html name the same file");
  if (json !== undefined && json !== "-") assertFile("--json", json);
  if (html !== undefined) assertFile("--html", html);
  const failOnUnmanaged = values["fail-on-unmanaged"] ?? false;
  return { stacks: [...new Set(stack)], folder: cwd, json, html, fix, failOnUnmanaged };
}
