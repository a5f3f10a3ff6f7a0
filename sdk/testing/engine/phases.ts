import type { RunOptions, RunResult } from "../types";
import { type Context, markSecretOutputs, Slots } from "./apply";
import {
  Checkpoint,
  isProvider,
  type Place,
  type ResourceState,
  ROOT_STACK,
  withoutMissingReferences,
} from "./checkpoint";
import { Deployment } from "./deployment";
import { Monitor } from "./monitor";
import { PARALLEL, type Run, startProgram } from "./processes";
import { messageOf } from "./project";
import { equal, type Props } from "./properties";
import { invert, resolveDiff } from "./propertyDiff";
import { Providers } from "./providers";
import { Summary } from "./summary";

/** The result of a phase. Secrets in `outputs` are still marked. */
export type Outcome = Omit<RunResult, "command" | "seconds" | "requests">;

/** One phase of a command: a preview, an update, a refresh or a destroy. Each phase starts its own processes. */
class Phase implements Context {
  readonly place: Place;
  readonly dryRun: boolean;
  readonly summary: Summary;
  readonly checkpoint: Checkpoint;
  readonly providers: Providers;
  readonly deployment: Deployment;
  /** In phases without a program it serves only providers. */
  readonly monitor: Monitor;

  constructor(run: Run, title: string, options: RunOptions = {}) {
    const { stack, project, dryRun, stateFile } = run;
    this.place = { stack, project: project.name };
    this.dryRun = dryRun;
    this.summary = new Summary(title, this.place, this.dryRun);
    this.checkpoint = new Checkpoint(stateFile, this.dryRun);
    this.providers = new Providers(run, this.checkpoint.olds, () => this.monitor.address, this.onLine);
    this.deployment = new Deployment(this, options);
    this.monitor = new Monitor(this.deployment);
  }

  /** Lines that the program and the dynamic provider print become messages, as in Pulumi's display. */
  readonly onLine = (line: string): void => {
    if (line.trim() !== "") this.summary.report("info", line);
  };

  end(ok: boolean): Outcome {
    const { checkpoint, deployment, summary } = this;
    const outputs = stackOutputs([...deployment.executor.news.values(), ...checkpoint.snapshot()]);
    const { steps, changes, diagnostics } = summary;
    return {
      ok,
      outputs,
      steps,
      changes,
      diagnostics,
      text: summary.text(stackOutputs(checkpoint.olds), outputs),
    };
  }

  async serve(work: () => Promise<Outcome>): Promise<Outcome> {
    try {
      await this.monitor.listen();
      return await work();
    } finally {
      await this.providers.close();
      this.monitor.close();
    }
  }

  warnOfInterrupted(): void {
    const { interrupted } = this.checkpoint;
    if (interrupted.length === 0) return;
    const list = interrupted.map(({ resource, type }) => `  * ${resource.urn}, interrupted while ${type}\n`);
    this.summary.report(
      "warning",
      `Attempting to deploy or update resources with ${interrupted.length} pending operations from previous deployment.\n` +
        `${list.join("")}It is not known whether they were completed. Check which resources exist, then remove the ` +
        "interrupted creates from the state with `pulumi refresh --clear-pending-creates`.",
    );
  }
}

export async function runProgram(run: Run, options: RunOptions): Promise<Outcome> {
  const phase = new Phase(run, run.dryRun ? "Previewing update" : "Updating", options);
  const { deployment, summary } = phase;
  if (!run.dryRun) phase.warnOfInterrupted();
  if (deployment.isFailed) return phase.end(false);
  return phase.serve(async () => {
    const program = startProgram(run, phase.monitor.address, phase.onLine);
    deployment.executor.onCancel = () => void program.stop("SIGINT", 2000);
    try {
      const code = await program.exited;
      const { isCanceled } = deployment.executor;
      // With the exit code 32 the program has already reported its error.
      if (code !== 0 && code !== 32 && !isCanceled)
        summary.report(
          "error",
          `an unhandled error occurred: Program exited with non-zero exit code: ${code}`,
        );
      // If the program ended early, the SDK sets an exit code. Then nothing may be deleted, because the program may not have
      // registered all of its resources.
      await deployment.finish(code === 0 && !isCanceled);
      return phase.end(!deployment.isFailed);
    } finally {
      await program.stop("SIGKILL", 0);
    }
  });
}

/** Deletes all resources in the state. Providers get their configuration from the state. */
export function runDestroy(run: Run): Promise<Outcome> {
  const phase = new Phase(run, "Destroying");
  phase.warnOfInterrupted();
  return phase.serve(async () => {
    await phase.deployment.finish(true);
    return phase.end(!phase.deployment.isFailed);
  });
}

/**
 * Updates the state from the existing resources. A preview only reports the changes. A resource that no longer exists is
 * removed from the state. If a resource cannot be read, its state does not change, the others are still read, and the run
 * fails.
 */
export function runRefresh(run: Run, { clearPendingCreates, target }: RunOptions): Promise<Outcome> {
  const phase = new Phase(run, run.dryRun ? "Previewing refresh" : "Refreshing");
  const { checkpoint, summary } = phase;
  if (clearPendingCreates)
    checkpoint.interrupted = checkpoint.interrupted.filter(({ type }) => type !== "creating");
  return phase.serve(async () => {
    const slots = new Slots(PARALLEL);
    let ok = true;
    const refresh = async (old: ResourceState): Promise<ResourceState[]> => {
      if (target?.length && !target.includes(old.urn)) return [old];
      await slots.acquire();
      try {
        return await refreshOne(old, phase);
      } catch (error) {
        ok = false;
        summary.report("error", messageOf(error), old.urn);
        summary.addFailure({ op: "refresh", urn: old.urn, old });
        return [old];
      } finally {
        slots.release();
      }
    };
    checkpoint.olds = withoutMissingReferences((await Promise.all(checkpoint.olds.map(refresh))).flat());
    checkpoint.save();
    if (!ok) summary.report("error", "update failed");
    return phase.end(ok);
  });
}

async function refreshOne(old: ResourceState, { providers, summary }: Phase): Promise<ResourceState[]> {
  const { urn, ignoreChanges } = old;
  const step = { urn, old };
  if (!old.custom || isProvider(old.type) || old.pendingReplacement) {
    summary.add({ ...step, op: "same", new: old });
    return [old];
  }
  const provider = await providers.get(old.provider);
  const found = await provider.read({ ...old, outputs: old.outputs ?? {} });
  const { id, inputs = old.inputs, outputs } = found;
  if (id === "" || outputs === undefined) {
    summary.add({ ...step, op: "delete" });
    return [];
  }
  const next: ResourceState = { ...old, id, inputs, outputs, initErrors: [] };
  if (!equal(inputs, old.inputs) || !equal(outputs, old.outputs ?? {}))
    next.modified = new Date().toISOString();
  if (old.external) {
    markSecretOutputs(next);
    // Pulumi does not manage this resource, so only its outputs are compared.
    summary.add({ ...step, new: next, op: equal(next.outputs, old.outputs ?? {}) ? "same" : "update" });
    return [next];
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
  return [next];
}

const stackOutputs = (states: ResourceState[]): Props =>
  states.find(({ type }) => type === ROOT_STACK)?.outputs ?? {};
