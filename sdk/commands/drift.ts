import { withoutKeys } from "../../provider/service/redaction";
import { type CliCommand, command, type LogLine, UsageError } from "./command";
import { accountReport, asUnchecked, type OwnedElsewhere, type ScannedAccount } from "./drift/accounts";
import { addLines, findLeft } from "./drift/recovery";
import { allUnchecked, countUnmanaged, type DriftReport, outcomeOf, reportSchema } from "./drift/report";
import { reportPage } from "./drift/reportPage";
import { reportText, visible } from "./drift/reportView";
import { mapConcurrently, type Scan, scan, sharedEndpoints } from "./drift/scan";
import { type DriftStack, type OpenStacks, onInterruption, openWithPulumi } from "./drift/stack";
import { JSON_OPTION, outputFile, writeResult, writeText } from "./options";
import { assertNotKnown, type Projects, projectsOf, projectsOptions } from "./projects";
import { shownName, unreadStacks, withProject } from "./stackNames";
import { explainUnreadable, knownEntries, managedEndpoints, stackNames } from "./userProject";

/** Tests replace these, so that they need no Pulumi CLI. */
interface DriftDependencies {
  open: OpenStacks;
  readKnown: typeof knownEntries;
  stackNames: typeof stackNames;
}

export const driftWith = ({ open, readKnown, ...pulumi }: DriftDependencies): CliCommand =>
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
        help: "also count each endpoint of the account that no stack manages as drift",
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
        assertNotKnown(stacks, projects.known);
        const known = projects.known.map(({ folder, stack, fullName }) => ({
          name: shownName(fullName),
          read: () => readKnown({ folder }, stack, stopped).catch(explainUnreadable(stack)),
        }));
        const found = await scan(stacks, { log: logged, stopped, known });
        const ownedElsewhere = await readOwnedElsewhere(found, projects);
        report = await reportOf(found, ownedElsewhere, { startedAt, failOnUnmanaged });
        const needsUnread =
          countUnmanaged(report) > 0 ||
          report.stacks.some(({ pendingCreates }) => pendingCreates.some(({ pool }) => pool));
        if (needsUnread && !stopped.aborted)
          report.unread = await unreadIn(projects, stacks, pulumi.stackNames);
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
export const driftCommand = driftWith({ open: openWithPulumi, readKnown: knownEntries, stackNames });

/**
 * The endpoints that stacks manage. A checked stack is read again if its account has an endpoint that no stack manages, because an
 * `up` may have created it meanwhile. If a state cannot be read, nothing counts as unmanaged.
 */
async function readOwnedElsewhere(
  { stacks, accounts, known, hidden }: Scan,
  { ignored }: Projects,
): Promise<OwnedElsewhere> {
  const owned: OwnedElsewhere = {
    managed: new Set(stacks.flatMap(({ managed = [] }) => managed.map(({ id }) => id))),
    known: new Set(known.flatMap(({ entries = [] }) => entries.map(({ id }) => id))),
    isComplete:
      stacks.every(({ managed }) => managed !== undefined) &&
      known.every(({ entries }) => entries !== undefined),
    ignored,
  };
  const isSuspect = (one: ScannedAccount) => accountReport(one, [], owned, hidden).unmanaged.length > 0;
  const suspects = new Set([...accounts.keys()].filter(isSuspect));
  const doubtful = stacks.filter(({ opened }) => opened.some((one) => suspects.has(one)));
  await mapConcurrently(doubtful, async ({ report, again }) => {
    try {
      for (const { id } of managedEndpoints(await again())) owned.managed.add(id);
    } catch (error) {
      owned.isComplete = false;
      const what = `the state of the stack ${report.name} after the list`;
      for (const account of accounts.keys()) account.unchecked.push(asUnchecked(what, error));
    }
  });
  return owned;
}

/** The unread stacks of the first project's backend, by names that `--known` takes; undefined if Pulumi does not list them. */
async function unreadIn(
  { projects: [first], known }: Projects,
  stacks: readonly DriftStack[],
  names: typeof stackNames,
): Promise<string[] | undefined> {
  if (!first) return undefined;
  const all = await names(first).catch(() => undefined);
  const read = stacks.map(({ name, project }) => withProject(name, project));
  return all && unreadStacks(all, [...read, ...known.map(({ fullName }) => fullName)], first.name);
}

async function reportOf(
  { stacks, accounts, known, hidden }: Scan,
  ownedElsewhere: OwnedElsewhere,
  options: Pick<DriftReport, "startedAt" | "failOnUnmanaged">,
): Promise<DriftReport> {
  const reports = new Map(
    [...accounts].map(([one, names]) => [one, accountReport(one, names, ownedElsewhere, hidden)]),
  );
  await mapConcurrently(stacks, (one) => findLeft(one, reports, hidden));
  const findings = {
    ...options,
    stacks: stacks.map(({ report }) => report),
    accounts: [...reports.values()],
    shared: sharedEndpoints({ stacks, known }),
  };
  for (const one of allUnchecked(findings)) one.reason = hidden.without(one.reason);
  const endedAt = new Date().toISOString();
  const report = { version: 1, endedAt, ...outcomeOf(findings), ...findings };
  // Removes fields that the schema does not document.
  return reportSchema.parse(JSON.parse(withoutKeys(JSON.stringify(report))));
}
