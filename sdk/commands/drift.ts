import { existsSync, writeFileSync } from "node:fs";
import { PIPELINE_COMMAND } from "../../provider/api/text";
import { assertFile, type CliCommand, command, type LogLine, UsageError } from "./command";
import { repairAll } from "./drift/repair";
import { type DriftReport, outcomeOf, reportSchema } from "./drift/report";
import { reportPage } from "./drift/reportPage";
import { reportText, visible } from "./drift/reportText";
import { type OpenStacks, onInterruption, openWithPulumi } from "./drift/stack";
import { accountReport, type Survey, sharedEndpoints, survey } from "./drift/survey";

const HELP = `Compares the cloud endpoints of this project's stacks with the service, and reports each field that has drifted.

Usage: npx pulumi-endpoints drift [options]

  --stack S              a stack to check; may be repeated (default: the selected one)
  --cwd DIR              the folder of the Pulumi project (default: this one)
  --json F               write the report as JSON; - for the standard output, instead of the text
  --html F               write the report as a page: one file that needs no network
  --fix                  repair the drift: restore the values of the states on the service
  --fail-on-unmanaged    also count each endpoint of the account that no given stack manages as drift
  --help                 this text

Exit codes: 0 no drift, or all repaired; 7 drift; 8 no drift, but the last update of a stack failed or was killed; 3 a key
was refused; 2 invalid arguments; 1 any other failure, or something is unchecked. The command needs the
Pulumi CLI, and never asks a question. See docs/drift.md.`;

/** Tests replace these, so that they need no Pulumi CLI. */
interface DriftDependencies {
  open: OpenStacks;
  env: NodeJS.ProcessEnv;
}

export const driftWith = ({ open, env }: DriftDependencies): CliCommand =>
  command({
    name: "drift",
    help: HELP,
    options: {
      stack: { type: "string", multiple: true, default: [] },
      cwd: { type: "string", default: "." },
      json: { type: "string" },
      html: { type: "string" },
      fix: { type: "boolean", default: false },
      "fail-on-unmanaged": { type: "boolean", default: false },
    },

    async run({ stack, cwd, json, html, fix, "fail-on-unmanaged": failOnUnmanaged }, { stdout, log }) {
      // An unset variable of a script must not mean the selected stack.
      if (stack.includes("")) throw new UsageError("--stack must not be empty");
      if (!existsSync(cwd)) throw new UsageError(`--cwd names a folder that does not exist: ${cwd}`);
      // Files are checked here, not after a repair.
      if (html === "-")
        throw new UsageError("--html takes a file; only --json can go to the standard output");
      if (html !== undefined && html === json) throw new UsageError("--json and --html name the same file");
      if (json !== undefined && json !== "-") assertFile("--json", json);
      if (html !== undefined) assertFile("--html", html);

      const startedAt = new Date().toISOString();
      const logged: LogLine = (message) => log(visible(message));
      const interruption = onInterruption(logged);
      let found: Survey;
      try {
        const stacks = await open(cwd, [...new Set(stack)], interruption);
        const deps = { log: logged, stopped: interruption.stopped };
        found = await survey(stacks, deps);
        if (fix) found = await repairAll(found, deps);
      } finally {
        interruption.end();
      }
      const report = reportOf(found, { startedAt, fix, failOnUnmanaged });

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
export const driftCommand = driftWith({ open: openWithPulumi, env: process.env });

function reportOf(
  { stacks, accounts }: Survey,
  options: Pick<DriftReport, "startedAt" | "fix" | "failOnUnmanaged">,
): DriftReport {
  const areAllRead = stacks.every(({ managed }) => managed !== undefined);
  const ids = new Set(stacks.flatMap(({ managed = [] }) => managed.map(({ id }) => id)));
  const findings = {
    ...options,
    stacks: stacks.map(({ report }) => report),
    accounts: accounts.map((account) =>
      accountReport(account, areAllRead ? ids : undefined, stacks[0]?.stack.project),
    ),
    shared: sharedEndpoints(stacks),
  };
  const endedAt = new Date().toISOString();
  // Removes fields that the schema does not document.
  return reportSchema.parse({ version: 1, endedAt, ...outcomeOf(findings), ...findings });
}
