import type { RunOptions, RunResult } from "../types";
import { type Context, markOutputs } from "./apply";
import { Checkpoint, isProvider, type Place, type ResourceState, ROOT_STACK } from "./checkpoint";
import { withoutDangling } from "./dependencies";
import { Deployment } from "./deployment";
import { Slots } from "./executor";
import { Monitor } from "./monitor";
import { type Launch, PARALLEL, startProgram } from "./processes";
import { equal, isSecret, type Props } from "./properties";
import { invert, resolveDiff } from "./propertyDiff";
import { Providers } from "./providers";
import { Summary } from "./summary";

/** What one command's phase needs. Each phase has processes of its own. */
export interface Run {
  launch: Launch;
  stateFile: string;
  /** The whole stack configuration under full keys. */
  config: Props;
}

/** What a phase adds to the result of its command. `outputs` are still marked. */
export type Outcome = Omit<RunResult, "command" | "seconds" | "requests">;

/** One phase of a command. */
class Phase implements Context {
  readonly place: Place;
  readonly dryRun: boolean;
  readonly summary: Summary;
  readonly checkpoint: Checkpoint;
  readonly providers: Providers;
  readonly deployment: Deployment;
  /** Also serves providers in phases without a program. */
  readonly monitor: Monitor;

  constructor({ launch, stateFile, config }: Run, title: string, options: RunOptions = {}) {
    this.place = { stack: launch.stack, project: launch.project.name };
    this.dryRun = launch.dryRun;
    this.summary = new Summary(title, this.place, this.dryRun);
    this.checkpoint = new Checkpoint(stateFile, this.dryRun);
    this.providers = new Providers(
      launch,
      config,
      this.checkpoint.olds,
      () => this.monitor.address,
      this.onLine,
    );
    this.deployment = new Deployment(this, options);
    this.monitor = new Monitor(this.deployment);
  }

  /** The program's own lines and those of its provider become messages, as they do in Pulumi's display. */
  readonly onLine = (line: string): void => {
    if (line.trim() !== "") this.summary.report("info", line);
  };

  /** Builds the outcome, of a failed phase too. */
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
        `${list.join("")}Whether they were completed is not known. See what the service has, then forget the interrupted ` +
        "creates with `pulumi refresh --clear-pending-creates`.",
    );
  }
}

/** Runs the program and makes its changes, or in a preview only plans them. */
export async function runProgram(run: Run, options: RunOptions): Promise<Outcome> {
  const { launch, config } = run;
  const phase = new Phase(run, launch.dryRun ? "Previewing update" : "Updating", options);
  const { deployment, summary } = phase;
  if (!launch.dryRun) phase.warnOfInterrupted();
  if (deployment.isFailed) return phase.end(false);
  return phase.serve(async () => {
    const program = startProgram(launch, configText(config), phase.monitor.address, phase.onLine);
    phase.providers.startAhead();
    deployment.onCancel(() => void program.stop("SIGINT", 2000));
    try {
      const code = await program.exited;
      const { isCanceled } = deployment.executor;
      // With exit code 32 the program has reported its error itself.
      if (code !== 0 && code !== 32 && !isCanceled)
        summary.report(
          "error",
          `an unhandled error occurred: Program exited with non-zero exit code: ${code}`,
        );
      // After an early exit, for which the SDK sets a code, nothing may be deleted: the rest of the program may want it.
      await deployment.finish(code === 0 && !isCanceled);
      return phase.end(!deployment.isFailed);
    } finally {
      await program.stop("SIGKILL", 0);
    }
  });
}

/** Deletes all that the state knows. The program is not run, and the configuration is that of the state. */
export function runDestroy(run: Run): Promise<Outcome> {
  const phase = new Phase(run, "Destroying");
  phase.warnOfInterrupted();
  return phase.serve(async () => {
    await phase.deployment.finish(true);
    return phase.end(!phase.deployment.isFailed);
  });
}

/**
 * Takes what really exists into the state, or in a preview reports what would change. A resource that cannot be read
 * stays as it was, fails the run and does not keep the others from being read; one that is gone leaves the state.
 */
export function runRefresh(run: Run, { clearPendingCreates, target }: RunOptions): Promise<Outcome> {
  const { dryRun } = run.launch;
  const phase = new Phase(run, dryRun ? "Previewing refresh" : "Refreshing");
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
        summary.report("error", error instanceof Error ? error.message : String(error), old.urn);
        summary.addFailure({ op: "refresh", urn: old.urn, old, logical: false });
        return [old];
      } finally {
        slots.release();
      }
    };
    checkpoint.olds = withoutDangling((await Promise.all(checkpoint.olds.map(refresh))).flat());
    checkpoint.save();
    if (!ok) summary.report("error", "update failed");
    return phase.end(ok);
  });
}

/** The resource as it is; nothing where it is gone. */
async function refreshOne(old: ResourceState, { providers, summary }: Phase): Promise<ResourceState[]> {
  const { urn, ignoreChanges } = old;
  const step = { urn, old, logical: true };
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
    markOutputs(next);
    // Pulumi does not own it, so only its outputs are compared.
    summary.add({ ...step, new: next, op: equal(next.outputs, old.outputs ?? {}) ? "same" : "update" });
    return [next];
  }
  // The inverse of what an update would now change back: the drift.
  const diff = resolveDiff(await provider.diff(next, old.inputs, ignoreChanges), inputs, old.inputs);
  markOutputs(next);
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

/** The configuration as the Node language host hands it to a program. */
function configText(config: Props): { values: string; secretKeys: string } {
  const plain = Object.entries(config).map(([key, value]) => [key, isSecret(value) ? value.value : value]);
  const secretKeys = Object.keys(config).filter((key) => isSecret(config[key]));
  return { values: JSON.stringify(Object.fromEntries(plain)), secretKeys: JSON.stringify(secretKeys) };
}
