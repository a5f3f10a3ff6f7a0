import { messageOf } from "../../../provider/data/index";
import { equal } from "../properties";
import type { RunOptions } from "../types";
import { isProvider, type ResourceState, withoutMissingReferences } from "./checkpoint";
import { Deployment, type RunOutcome } from "./deployment";
import { Monitor } from "./monitor";
import { type RunSetup, startProgram } from "./processes";
import { invert, resolveDiff } from "./propertyDiff";
import { markSecretOutputs } from "./steps";

/** Serves Pulumi's protocol while `work` runs, and ends the processes of the run afterwards. */
async function serve(deployment: Deployment, work: (address: string) => Promise<void>): Promise<RunOutcome> {
  const monitor = new Monitor(deployment);
  try {
    deployment.providers.address = await monitor.listen();
    await work(deployment.providers.address);
    return deployment.outcome;
  } finally {
    await deployment.providers.close();
    monitor.close();
  }
}

/** Runs the program, for a preview or an update. */
export async function runProgram(run: RunSetup, options: RunOptions): Promise<RunOutcome> {
  const deployment = new Deployment(run, run.dryRun ? "Previewing update" : "Updating", options);
  if (!run.dryRun) warnOfInterrupted(deployment);
  if (deployment.isFailed) return deployment.outcome;
  return serve(deployment, async (address) => {
    const program = startProgram(run, address, deployment.onLine);
    deployment.onCancel = () => void program.stop("SIGINT", 2000);
    try {
      const code = await program.exited;
      const { isCanceled } = deployment;
      // With the exit code 32, the program has already reported its error.
      if (code !== 0 && code !== 32 && !isCanceled)
        deployment.summary.report(
          "error",
          `an unhandled error occurred: Program exited with non-zero exit code: ${code}`,
        );
      // Deletes nothing after an exit code, because the program may have ended before it registered all its resources.
      await deployment.finish(code === 0 && !isCanceled);
    } finally {
      await program.stop("SIGKILL", 0);
    }
  });
}

/** Deletes all resources in the state. Providers get their configuration from the state. */
export function runDestroy(run: RunSetup): Promise<RunOutcome> {
  const deployment = new Deployment(run, "Destroying");
  warnOfInterrupted(deployment);
  return serve(deployment, () => deployment.finish(true));
}

/**
 * Updates the state from the existing resources, or only reports the changes (preview). A resource that no longer exists leaves
 * the state. If a resource cannot be read, it keeps its state, the other resources are still read, and the run fails.
 */
export async function runRefresh(
  run: RunSetup,
  { clearPendingCreates, target }: RunOptions,
): Promise<RunOutcome> {
  const title = run.dryRun ? "Previewing refresh" : "Refreshing";
  const deployment = new Deployment(run, title, { ...(target && { target }) });
  const { checkpoint, summary, targets } = deployment;
  deployment.checkTargets();
  if (deployment.isFailed) return deployment.outcome;
  if (clearPendingCreates)
    checkpoint.interrupted = checkpoint.interrupted.filter(({ type }) => type !== "creating");
  return serve(deployment, async () => {
    const refreshed = new Map<ResourceState, ResourceState | undefined>();
    for (const old of checkpoint.olds) {
      refreshed.set(old, old);
      if (targets.size > 0 && !targets.has(old.urn)) continue;
      await deployment.startWhenFree(async () => {
        try {
          refreshed.set(old, await refreshOne(old, deployment));
        } catch (error) {
          deployment.fail(messageOf(error), old.urn);
          summary.addFailure({ op: "refresh", urn: old.urn, old });
        }
      });
    }
    await deployment.waitForSteps();
    const states = [...refreshed.values()].filter((state) => state !== undefined);
    checkpoint.olds = withoutMissingReferences(states);
    checkpoint.save();
    if (deployment.isFailed) summary.report("error", "update failed");
  });
}

/** The state of a resource after its refresh. Undefined if the resource no longer exists. */
async function refreshOne(
  old: ResourceState,
  { providers, summary }: Deployment,
): Promise<ResourceState | undefined> {
  const { urn, ignoreChanges } = old;
  const step = { urn, old };
  if (!old.custom || isProvider(old.type) || old.pendingReplacement) {
    summary.add({ ...step, op: "same", new: old });
    return old;
  }
  const provider = await providers.get(old.provider);
  const found = await provider.read({ ...old, outputs: old.outputs ?? {} });
  const { id, inputs = old.inputs, outputs } = found;
  if (id === "" || outputs === undefined) {
    summary.add({ ...step, op: "delete" });
    return undefined;
  }
  const next: ResourceState = { ...old, id, inputs, outputs, initErrors: [] };
  if (!equal(inputs, old.inputs) || !equal(outputs, old.outputs ?? {}))
    next.modified = new Date().toISOString();
  if (old.external) {
    markSecretOutputs(next);
    // Only the outputs are compared, because Pulumi does not manage this resource.
    summary.add({ ...step, new: next, op: equal(next.outputs, old.outputs ?? {}) ? "same" : "update" });
    return next;
  }
  // The provider's diff says how an update would undo the drift, so the drift is its inverse.
  const diff = resolveDiff(await provider.diff(next, old.inputs, ignoreChanges), inputs, old.inputs);
  markSecretOutputs(next);
  summary.add({
    ...step,
    new: next,
    op: diff.changes === "none" ? "same" : "update",
    changedKeys: diff.changedKeys,
    detailed: diff.detailed && invert(diff.detailed),
  });
  return next;
}

function warnOfInterrupted({ checkpoint: { interrupted }, summary }: Deployment): void {
  if (interrupted.length === 0) return;
  const list = interrupted.map(({ resource, type }) => `  * ${resource.urn}, interrupted while ${type}\n`);
  summary.report(
    "warning",
    `Attempting to deploy or update resources with ${interrupted.length} pending operations from previous deployment.\n` +
      `${list.join("")}It is not known whether they were completed. Check which resources exist, then remove the ` +
      "interrupted creates from the state with `pulumi refresh --clear-pending-creates`.",
  );
}
