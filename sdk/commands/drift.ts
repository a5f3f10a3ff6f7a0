import { existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Command, runCommand } from "./command";
import { accountReport } from "./drift/accounts";
import { openWithPulumi } from "./drift/automation";
import { type Around, awaitInterruption } from "./drift/interruption";
import { outcomeOf } from "./drift/outcome";
import { reportPage } from "./drift/page";
import { Progress, type Terminal } from "./drift/progress";
import { repairAll } from "./drift/repair";
import { type DriftReport, reportSchema } from "./drift/report";
import type { DriftStack, OpenStacks } from "./drift/stack";
import { sharedEndpoints, survey } from "./drift/survey";
import { reportText } from "./drift/text";

const HELP = `Compares cloud endpoints with what the stacks of this project hold, and tells what has drifted, field by field.

Usage: npx pulumi-endpoints drift [options]

  --stack S              a stack to look at; may be given several times (default: the selected one)
  --cwd DIR              the folder of the Pulumi project (default: this one)
  --json F               write the report as JSON; - for the standard output, in place of the text
  --html F               write the report as a page, one file that needs no network
  --fix                  repair what has drifted, as the states hold it
  --fail-on-unmanaged    count endpoints of the account that no stack given manages as drift
  --help                 this text

Exit codes: 0 no drift, or all repaired; 7 drift; 3 a key was refused; 2 arguments that make no sense; 1 anything else,
also where something could not be seen. It needs the Pulumi CLI, and never asks anything. See docs/drift.md.`;

interface Options {
  stacks: string[];
  folder: string;
  json: string | undefined;
  html: string | undefined;
  fix: boolean;
  failOnUnmanaged: boolean;
}

/** What the command needs around it, so that its tests can give it stacks that need no Pulumi CLI. */
export interface DriftSurroundings {
  open: OpenStacks;
  stdout: Terminal;
  stderr: Terminal;
  environment: NodeJS.ProcessEnv;
}

/** `npx pulumi-endpoints drift`: what is not as the stacks have it. */
export function driftCommand(args: string[], around: Partial<DriftSurroundings> = {}): Promise<number> {
  const surroundings: DriftSurroundings = {
    open: openWithPulumi,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    ...around,
  };
  return runCommand(commandIn(surroundings), args, surroundings);
}

const commandIn = ({ open, stdout, stderr, environment }: DriftSurroundings): Command<Options> => ({
  name: "drift",
  help: HELP,
  read: readOptions,

  async run(options) {
    const progress = new Progress(stderr, environment);
    const interruption = awaitInterruption(progress.tell);
    let report: DriftReport;
    try {
      const stacks = await open(options.folder, options.stacks, interruption);
      report = await drift(options, stacks, { tell: progress.tell, stopped: interruption.stopped });
    } finally {
      progress.end();
      interruption.forget();
    }
    if (options.json === "-") stdout.write(jsonOf(report));
    else {
      const color = stdout.isTTY === true && !environment["NO_COLOR"];
      stdout.write(`${reportText(report, { width: stdout.columns ?? 120, color })}\n`);
      if (options.json !== undefined) writeFileSync(options.json, jsonOf(report));
    }
    if (options.html !== undefined) writeFileSync(options.html, reportPage(report));
    return report.exitCode;
  },
});

const jsonOf = (report: DriftReport) => `${JSON.stringify(report, undefined, 2)}\n`;

async function drift(options: Options, stacks: DriftStack[], around: Around): Promise<DriftReport> {
  const startedAt = new Date().toISOString();
  const first = await survey(stacks, around);
  const found = options.fix ? await repairAll(first, around) : first;

  const isKnown = found.stacks.every(({ held }) => held !== undefined);
  const managed = new Set(found.stacks.flatMap(({ held = [] }) => held.map(({ id }) => id)));
  const { fix, failOnUnmanaged } = options;
  const all = {
    stacks: found.stacks.map(({ report }) => report),
    accounts: found.accounts.map((account) => accountReport(account, isKnown ? managed : undefined)),
    shared: sharedEndpoints(found.stacks),
    fix,
    failOnUnmanaged,
  };
  const endedAt = new Date().toISOString();
  // What is written is what is documented.
  return reportSchema.parse({ version: 1, startedAt, endedAt, ...outcomeOf(all), ...all });
}

function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      stack: { type: "string", multiple: true },
      cwd: { type: "string" },
      json: { type: "string" },
      html: { type: "string" },
      fix: { type: "boolean" },
      "fail-on-unmanaged": { type: "boolean" },
    },
  });
  const {
    stack = [],
    cwd = ".",
    json,
    html,
    fix = false,
    "fail-on-unmanaged": failOnUnmanaged = false,
  } = values;
  // An unset variable of a script must not mean the selected stack.
  if (stack.includes("")) throw new Error("--stack must not be empty");
  if (!existsSync(cwd)) throw new Error(`--cwd names a folder that does not exist: ${cwd}`);
  // Better now than after a repair.
  if (html === "-") throw new Error("--html takes a file; only --json can go to the standard output");
  if (html !== undefined && html === json) throw new Error("--json and --html name the same file");
  for (const [option, file] of Object.entries({ json, html })) {
    if (file === undefined || file === "-") continue;
    if (!existsSync(dirname(resolve(file))))
      throw new Error(`--${option} names a file in a folder that does not exist: ${file}`);
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`--${option} names a folder, and takes a file: ${file}`);
  }
  return { stacks: [...new Set(stack)], folder: cwd, json, html, fix, failOnUnmanaged };
}
