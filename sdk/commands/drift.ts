import { type CliCommand, command, type LogLine, UsageError } from "./command";
import { accountReport, asUnchecked, type OwnedElsewhere } from "./drift/accounts";
import { withFoundEndpoints } from "./drift/orphans";
import { repairLine } from "./drift/recovery";
import { type DriftReport, outcomeOf, reportSchema } from "./drift/report";
import { reportPage } from "./drift/reportPage";
import { reportText, visible } from "./drift/reportView";
import { mapConcurrently, type Scan, scan, sharedEndpoints } from "./drift/scan";
import { type DriftStack, type OpenStacks, onInterruption, openWithPulumi } from "./drift/stack";
import { JSON_OPTION, outputFile, writeResult, writeText } from "./options";
import { assertNotKnown, type Projects, projectsOf, projectsOptions } from "./projects";
import { unreadStacks, withProject } from "./stackNames";
import { explainUnreadable, knownEntries, stackNames } from "./userProject";

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
      const interruption = onInterruption(logged);
      let found: Scan;
      let ownedElsewhere: OwnedElsewhere;
      let unread: string[] | undefined;
      try {
        const { stopped } = interruption;
        const stacks = await open(projects, interruption);
        assertNotKnown(stacks, projects.known);
        const known = projects.known.map(({ folder, stack, fullName: name }) => {
          return { name, read: () => readKnown({ folder }, stack, stopped).catch(explainUnreadable(stack)) };
        });
        found = await scan(stacks, { log: logged, stopped, known });
        ownedElsewhere = await readOwnedElsewhere(found, projects);
        const isUnmanaged = found.accounts.some(
          (one) => accountReport(one, ownedElsewhere, found.hidden).unmanaged.length > 0,
        );
        if (isUnmanaged && !stopped.aborted) unread = await unreadIn(projects, stacks, pulumi.stackNames);
      } finally {
        interruption.end();
      }
      const report = await reportOf(found, ownedElsewhere, { startedAt, failOnUnmanaged, unread });

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
  let areAllRead =
    stacks.every(({ managed }) => managed !== undefined) &&
    known.every(({ entries }) => entries !== undefined);
  const managed = stacks.flatMap((stack) => (stack.managed ?? []).map(({ id }) => id));
  const ownedElsewhere = (): OwnedElsewhere => ({
    managed: areAllRead ? new Set(managed) : undefined,
    known: new Set(known.flatMap(({ entries = [] }) => entries.map(({ id }) => id))),
    ignored,
  });
  const suspects = accounts.filter(
    (account) => accountReport(account, ownedElsewhere(), hidden).unmanaged.length > 0,
  );
  const doubtful = stacks.filter(({ stack }) => suspects.some((account) => account.stacks.has(stack.name)));
  const later = await mapConcurrently(doubtful, async ({ stack, reread }) => {
    try {
      return (await reread()).map(({ id }) => id);
    } catch (error) {
      areAllRead = false;
      const what = `the state of the stack ${stack.name} after the list`;
      for (const account of accounts) account.unchecked.push(asUnchecked(what, error));
      return [];
    }
  });
  managed.push(...later.flat());
  return ownedElsewhere();
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
  options: Pick<DriftReport, "startedAt" | "failOnUnmanaged" | "unread">,
): Promise<DriftReport> {
  const reports = new Map(
    accounts.map((account) => [account, accountReport(account, ownedElsewhere, hidden)]),
  );
  const findings = {
    ...options,
    stacks: await mapConcurrently(stacks, async ({ report, creates }) => {
      const { pendingCreates, unchecked } = await withFoundEndpoints(creates, reports);
      return { ...report, pendingCreates, unchecked: [...report.unchecked, ...unchecked] };
    }),
    accounts: [...reports.values()],
    shared: sharedEndpoints({ stacks, known }),
  };
  for (const { unchecked } of [...findings.stacks, ...findings.accounts])
    for (const one of unchecked) one.reason = hidden.without(one.reason);
  const endedAt = new Date().toISOString();
  // Removes fields that the schema does not document.
  const report = reportSchema.parse({ version: 1, endedAt, ...outcomeOf(findings), ...findings });
  for (const stack of report.stacks) stack.repair = repairLine(stack, report);
  return report;
}
