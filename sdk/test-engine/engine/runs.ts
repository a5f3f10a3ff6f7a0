import { reasonOf } from "../errors";
import { equal } from "../properties";
import type { RunOptions } from "../types";
import { isProvider, type ResourceState, withoutMissingReferences } from "./checkpoint";
import { Deployment, type RunOutcome } from "./deployment";
import { Monitor } from "./monitor";
import { type Run, startProgram } from "./processes";
import { invert, resolveDiff } from "./propertyDiff";
import { markSecretOutputs } from "./steps";

/** Serves the protocol while `work` runs. Each run starts its own processes, and ends them. */
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

/** Previews or updates. */
export async function runProgram(run: Run, options: RunOptions): Promise<RunOutcome> {
  const deployment = new Deployment(run, run.dryRun ? "Previewing update" : "Updating", options);
  if (!run.dryRun) warnOfInterrupted(deployment);
  if (deployment.isFailed) return deployment.outcome;
  return serve(deployment, async (address) => {
    const program = startProgram(run, address, deployment.onLine);
    deployment.onCancel = () => void program.stop("SIGINT", 2000);
    try {
      const code = await program.exited;
      const { isCanceled } = deployment;
      // With the exit code 32 the program has already reported its error.
      if (code !== 0 && code !== 32 && !isCanceled)
        deployment.summary.report(
          "error",
          `an unhandled error occurred: Program exited with non-zero exit code: ${code}`,
        );
      // If the program ended early, the SDK sets an exit code. Then nothing may be deleted, because the program may not have
      // registered all of its resources.
      await deployment.finish(code === 0 && !isCanceled);
    } finally {
      await program.stop("SIGKILL", 0);
    }
  });
}

/** Deletes all resources in the state. Providers get their configuration from the state. */
export function runDestroy(run: Run): Promise<RunOutcome> {
  const deployment = new Deployment(run, "Destroying");
  warnOfInterrupted(deployment);
  return serve(deployment, () => deployment.finish(true));
}

/**
 * Updates the state from the existing resources. A preview only reports the changes. A resource that no longer exists is
 * removed from the state. If a resource cannot be read, its state does not change, the others are still read, and the run
 * fails.
 */
export async function runRefresh(run: Run, { clearPendingCreates, target }: RunOptions): Promise<RunOutcome> {
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
      await deployment.start(async () => {
        try {
          refreshed.set(old, await refreshOne(old, deployment));
        } catch (error) {
          deployment.fail(reasonOf(error), old.urn);
          summary.addFailure({ op: "refresh", urn: old.urn, old });
        }
      });
    }
    await deployment.idle();
    const states = [...refreshed.values()].filter((state) => state !== undefined);
    checkpoint.olds = withoutMissingReferences(states);
    checkpoint.save();
    if (deployment.isFailed) summary.report("error", "update failed");
  });
}

/** Undefined if the resource no longer exists. */
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
    // Pulumi does not manage this resource, so only its outputs are compared.
    summary.add({ ...step, new: next, op: equal(next.outputs, old.outputs ?? {}) ? "same" : "update" });
    return next;
  }
  // The drift is the inverse of the changes with which an update would undo it.
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
