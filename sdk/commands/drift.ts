import { withoutKeys } from "../../provider/service/redaction";
import { type CliCommand, command, type LogLine, UsageError } from "./command";
import { accountReport } from "./drift/accounts";
import { type AllStacks, findManagingStacks, type StateReader } from "./drift/managingStacks";
import { addLines, findLeft } from "./drift/recovery";
import { allUnchecked, type DriftReport, outcomeOf, reportSchema } from "./drift/report";
import { reportPage } from "./drift/reportPage";
import { reportText, visible } from "./drift/reportView";
import { type Scan, scan, sharedEndpoints } from "./drift/scan";
import { type OpenStacks, onInterruption, openWithPulumi } from "./drift/stack";
import { JSON_OPTION, outputFile, writeResult, writeText } from "./options";
import { backendsOf, readStates } from "./otherStates";
import { projectsOf, projectsOptions } from "./projects";
import { mapConcurrently } from "./userProject";

/** Tests replace these, so that they need no Pulumi CLI. */
interface DriftDependencies extends StateReader {
  open: OpenStacks;
}

export const driftWith = ({ open, ...reader }: DriftDependencies): CliCommand =>
  command({
    name: "drift",
    about:
      "Compares the cloud endpoints of stacks with the service, and reports each field that has drifted.",
    options: {
      ...projectsOptions,
      json: JSON_OPTION,
      html: {
        value: "F",
        help: "write the report as a page: one file that needs no network",
        parse: outputFile,
      },
      failOnUnmanaged: {
        help: "also count each endpoint of the account that no stack of the backend has as drift",
      },
    },
    notes: `Exit codes: 0 no drift; 7 drift; 8 no drift, but the state of a stack may not match its program, which pulumi preview shows; 2 invalid arguments; 1 any other failure, or something is unchecked. The command needs the Pulumi CLI, and never asks a question. See docs/drift.md.`,

    async run(options, { stdout, log }) {
      const { json, html, failOnUnmanaged } = options;
      if (html !== undefined && html === json) throw new UsageError("--json and --html name the same file");
      const projects = await projectsOf(options);

      const startedAt = new Date().toISOString();
      const logged: LogLine = (message) => log(visible(message));
      const { stopped, end } = onInterruption(logged);
      let report: DriftReport;
      try {
        const stacks = await open(projects, stopped);
        const found = await scan(stacks, { log: logged, stopped });
        const how = { projects, failOnUnmanaged, stopped };
        const managing = await findManagingStacks(found, stacks, how, reader);
        report = await reportOf(found, managing, { startedAt, failOnUnmanaged });
      } finally {
        end();
      }
      addLines(report);

      writeResult(report, `${reportText(report)}\n`, json, stdout);
      if (html !== undefined) writeText(html, reportPage(report));
      return report.exitCode;
    },
  });

/** `npx pulumi-endpoints drift`: reports the differences between the service and the stacks' states. */
export const driftCommand = driftWith({ open: openWithPulumi, backendsOf, readStates });

async function reportOf(
  found: Scan,
  managing: AllStacks,
  options: Pick<DriftReport, "startedAt" | "failOnUnmanaged">,
): Promise<DriftReport> {
  const { stacks, accounts, masks } = found;
  const reports = new Map(
    [...accounts].map(([one, names]) => [one, accountReport(one, names, managing, masks)]),
  );
  await mapConcurrently(stacks, (one) => findLeft(one, reports, managing, found));
  const findings = {
    ...options,
    stacks: stacks.map(({ report }) => report),
    accounts: [...reports.values()],
    otherStacks: managing.otherStacks,
    shared: sharedEndpoints(stacks, managing.others),
  };
  for (const one of [...allUnchecked(findings), ...managing.otherStacks.unread])
    one.reason = masks.without(one.reason);
  const endedAt = new Date().toISOString();
  const report = { version: 1, endedAt, ...outcomeOf(findings), ...findings };
  // Removes fields that the schema does not document.
  return reportSchema.parse(JSON.parse(withoutKeys(JSON.stringify(report))));
}
