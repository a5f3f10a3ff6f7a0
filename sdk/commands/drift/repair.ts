import { messageOf } from "../command";
import { asUnchecked } from "./accounts";
import type { DriftedEndpoint, Repair, Unchecked } from "./report";
import { type Scan, type ScanDependencies, type ScannedStack, scan, sharedEndpoints } from "./scan";
import { errorsOf, interrupted, type PulumiRun } from "./stack";

/** The operations that write an endpoint. */
const WRITING_OPERATIONS: readonly string[] = ["create", "update", "replace", "create-replacement"];

/** The repair of a stack, before its result is checked. */
interface RepairAttempt {
  scanned: ScannedStack;
  /** The reasons why endpoints were not repaired, by URN. */
  left: Map<string, string>;
  /** The run that repaired the other endpoints; undefined if none began. */
  run: PulumiRun | undefined;
}

/**
 * Restores the values of the stacks' states on the service, and reports success only after another check.
 *
 * This runs the program, because only Pulumi's engine can write the id of a recreated endpoint into the state. A repair must
 * not deploy anything new: it skips and reports an endpoint if the program differs from the state. It does not change an
 * endpoint that has not drifted.
 */
export async function repairAll(found: Scan, deps: ScanDependencies): Promise<Scan> {
  const attempts: RepairAttempt[] = [];
  const shared = new Set(sharedEndpoints(found).map(({ id }) => id));
  for (const scanned of found.stacks) attempts.push(await attempt(scanned, shared, deps));

  if (attempts.every(({ run }) => run === undefined))
    return { ...found, stacks: attempts.map((each) => withRepairs(each, undefined)) };
  deps.log("checking the repair");
  const stacks = found.stacks.map(({ stack }) => stack);
  const after = await scan(stacks, deps, found.stacks);
  for (const account of after.accounts) {
    const before = found.accounts.find(({ key }) => key === account.key);
    account.unchecked = withEarlier(account.unchecked, before?.unchecked ?? []);
  }
  return {
    ...after,
    stacks: attempts.map((each, index) => withRepairs(each, after.stacks[index])),
  };
}

async function attempt(
  scanned: ScannedStack,
  shared: ReadonlySet<string>,
  { log, stopped }: ScanDependencies,
): Promise<RepairAttempt> {
  const { stack, report } = scanned;
  const attempted: RepairAttempt = { scanned, left: new Map(), run: undefined };
  let targets = report.drifted.map(({ urn }) => urn);
  const leave = (reasonFor: (urn: string) => string | undefined) => {
    targets = targets.filter((urn) => {
      const reason = reasonFor(urn);
      if (reason !== undefined) attempted.left.set(urn, reason);
      return reason === undefined;
    });
  };
  const isLeftToDo = (message: string) => {
    if (targets.length === 0) return false;
    if (stopped.aborted) throw interrupted();
    log(`${stack.name}: ${message}`);
    return true;
  };
  const failure = (what: string, run: PulumiRun) =>
    run.ok ? undefined : `${what} failed: ${errorsOf(run) ?? "without a reason"}`;
  /** Previews again without the endpoints that Pulumi refuses, such as a protected endpoint that would be replaced. */
  const previewedRepair = async (): Promise<PulumiRun> => {
    const run = await stack.repairPreview(targets);
    const isRefused = (urn: string) => !run.ok && errorsOf(run, urn) !== undefined;
    if (!targets.some(isRefused) || targets.every(isRefused)) return run;
    leave((urn) => (isRefused(urn) ? `the repair's preview failed: ${errorsOf(run, urn)}` : undefined));
    return previewedRepair();
  };
  try {
    leave((urn) => reasonIfShared(scanned, urn, shared) ?? reasonIfAdopted(scanned, urn));
    if (!isLeftToDo("previewing the program")) return attempted;
    const preview = await stack.preview();
    leave((urn) => failure("the program's preview", preview) ?? programDifference(preview, urn));

    if (!isLeftToDo("previewing the repair")) return attempted;
    const repairPreview = await previewedRepair();
    leave(
      (urn) =>
        failure("the repair's preview", repairPreview) ??
        reasonIfAdopted(scanned, urn, recreates(repairPreview, urn)),
    );

    if (isLeftToDo(`repairing ${targets.length} of ${report.drifted.length}`))
      // Even a failed run may have changed something, so its result is always checked. A run that throws never began.
      attempted.run = await stack.repair(targets);
  } catch (error) {
    leave(() => messageOf(error));
  }
  return attempted;
}

/** Why a repair would also deploy something new; undefined if it would not. */
function programDifference({ steps }: PulumiRun, urn: string): string | undefined {
  const ops = steps.filter((step) => step.urn === urn).map(({ op }) => op);
  if (ops.length > 0 && ops.every((op) => op === "same")) return undefined;
  const what =
    ops.length === 0 || ops.includes("delete")
      ? "the program does not have this endpoint any more, or has it under the other provider (endpoints:provider)"
      : "the program differs from the state";
  return `${what}, and --fix deploys nothing new: review it with \`pulumi preview\`, deploy it with \`pulumi up\`, or run --fix with the program that was deployed`;
}

/** The reason not to repair an endpoint of several resources, because that would undo the changes of another resource. */
function reasonIfShared(
  { report }: ScannedStack,
  urn: string,
  shared: ReadonlySet<string>,
): string | undefined {
  const isShared = report.drifted.some((each) => each.urn === urn && shared.has(each.id));
  return isShared ? "it belongs to more than one resource: keep one, as this report says" : undefined;
}

/**
 * Why an endpoint that was deployed with `adopt` cannot be created again; undefined if it can. Its input `adopt` would fail the
 * preview of all endpoints.
 */
function reasonIfAdopted(
  { managed = [], report }: ScannedStack,
  urn: string,
  isRecreated = report.drifted.some((each) => each.urn === urn && each.drift === "deleted"),
): string | undefined {
  const adopt = managed.find((each) => each.urn === urn && !each.isOld)?.inputs["adopt"];
  if (!adopt || !isRecreated) return undefined;
  return `it was deployed with adopt: "${adopt}", so it cannot be created again: remove \`adopt\`, then run \`pulumi up --refresh\``;
}

/** Whether a run creates an endpoint anew. */
const recreates = ({ steps }: PulumiRun, urn: string) =>
  steps.some((step) => step.urn === urn && /^(create|replace)/.test(step.op));

/**
 * The stack after the repair: what the check found, the drift that was to be repaired, and what was unchecked before.
 *
 * @param after The check after the repair; undefined if no run began.
 */
function withRepairs({ scanned, left, run }: RepairAttempt, after: ScannedStack | undefined): ScannedStack {
  const { report } = scanned;
  const now = after?.report ?? report;
  const repaired = report.drifted.map((each): DriftedEndpoint => {
    const reason = left.get(each.urn);
    if (reason !== undefined) return { ...each, repair: notDone(reason) };
    return run ? { ...each, repair: repairOf(each.urn, run, after) } : each;
  });
  const isNew = ({ urn }: DriftedEndpoint) => !report.drifted.some((each) => each.urn === urn);
  const later = now.drifted.filter(isNew).map((each) => ({ ...each, repair: notDone(FOUND_LATER) }));
  return {
    ...(after ?? scanned),
    report: {
      ...now,
      // A state that cannot be read after the repair has not lost its endpoints.
      endpoints: after?.managed ? now.endpoints : report.endpoints,
      drifted: [...repaired, ...later],
      unchecked: withEarlier(now.unchecked, report.unchecked),
    },
  };
}

const FOUND_LATER = "it was found only by the check after the repair: run the command again";

/** What is unchecked after the repair, and what was before, each once. */
const withEarlier = (now: readonly Unchecked[], earlier: readonly Unchecked[]): Unchecked[] => [
  ...now,
  ...earlier.filter(({ what }) => !now.some((each) => each.what === what)),
];

/** Repaired means: the run succeeded or wrote the endpoint, and the check found no difference. */
function repairOf(urn: string, run: PulumiRun, after: ScannedStack | undefined): Repair {
  const acted = run.ok || run.steps.some((step) => step.urn === urn && WRITING_OPERATIONS.includes(step.op));
  const isChecked = after?.checked.has(urn) === true;
  const isRestored = isChecked && !after.report.drifted.some((each) => each.urn === urn);
  if (acted && isRestored) return { done: true };
  const checkFailure = isChecked ? undefined : after?.report.unchecked[0]?.reason;
  const reason =
    errorsOf(run, urn) ?? errorsOf(run) ?? checkFailure ?? "the endpoint still differs after the repair";
  // If the service does not make the change, a plain `up` would fail in the same way.
  const finish = reason.includes("pulumi up --replace") ? "" : ": finish with `pulumi up`";
  return notDone(
    `${reason.replace(/\.+$/, "")}. The state may already hold the live values, so only \`pulumi preview\` shows this drift${finish}`,
  );
}

function notDone(reason: string): Repair {
  const { authentication } = asUnchecked("", reason);
  return { done: false, reason, ...(authentication && { authentication }) };
}
