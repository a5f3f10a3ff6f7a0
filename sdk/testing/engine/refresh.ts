import { markOutputs } from "./apply";
import type { Checkpoint } from "./checkpoint";
import { invert } from "./detailedDiff";
import { resolveDiff } from "./diff";
import type { Display } from "./display";
import { Slots } from "./executor";
import { withoutDangling } from "./graph";
import type { Registry } from "./registry";
import { isProviderType, type ResourceState } from "./resourceState";
import type { Targets } from "./targets";
import { equal } from "./values";

/**
 * Reads every resource and takes what is there into the state. One that cannot be read stays as it was, fails the run
 * and does not keep the others from being read; one that is gone leaves the state. As `deploymentExecutor.refresh`.
 */
export async function refreshAll(
  checkpoint: Checkpoint,
  display: Display,
  registry: Registry,
  parallel: number,
  targets: Targets,
): Promise<boolean> {
  const results = new Map<ResourceState, ResourceState | undefined>();
  let failed = false;
  const slots = new Slots(parallel);
  const one = async (old: ResourceState): Promise<void> => {
    if (!targets.has(old.urn)) return void results.set(old, old);
    await slots.take();
    try {
      results.set(old, await refreshOne(old, display, registry));
    } catch (error) {
      failed = true;
      results.set(old, old);
      display.report("error", error instanceof Error ? error.message : String(error), old.urn);
      display.failure({ op: "refresh", urn: old.urn, old, logical: false });
    } finally {
      slots.give();
    }
  };
  await Promise.all(checkpoint.olds.map(one));
  const left = checkpoint.olds.map((old) => results.get(old)).filter((state) => state !== undefined);
  checkpoint.rebase(withoutDangling(left));
  if (failed) display.report("error", "update failed");
  return !failed;
}

/** As `RefreshStep.Apply`: undefined where the resource is gone. */
async function refreshOne(
  old: ResourceState,
  display: Display,
  registry: Registry,
): Promise<ResourceState | undefined> {
  const step = { urn: old.urn, old, logical: true };
  if (!old.custom || isProviderType(old.type) || old.pendingReplacement) {
    display.done({ ...step, op: "same", new: old });
    return old;
  }
  const provider = await registry.get(old.provider);
  const { urn, id, inputs, customTimeouts } = old;
  const found = await provider.read({
    urn,
    id,
    inputs,
    state: old.outputs ?? {},
    timeout: customTimeouts.read,
  });
  if (found.id === "" || found.outputs === undefined) {
    display.done({ ...step, op: "delete" });
    return undefined;
  }
  const next: ResourceState = {
    ...old,
    id: found.id,
    initErrors: [],
    inputs: found.inputs ?? old.inputs,
    outputs: found.outputs,
  };
  const changed = !equal(next.inputs, old.inputs) || !equal(next.outputs ?? {}, old.outputs ?? {});
  if (changed) next.modified = new Date().toISOString();
  if (old.external) {
    markOutputs(next);
    // Pulumi does not own it: only what it puts out counts; as `RefreshStep.ResultOp`.
    const same = equal(next.outputs ?? {}, old.outputs ?? {});
    display.done({ ...step, new: next, op: same ? "same" : "update" });
    return next;
  }
  // What an update of an unchanged program would change now, turned around: that is what came from outside.
  const { ignoreChanges } = old;
  const subject = { urn, id: next.id, inputs: next.inputs, outputs: found.outputs, ignoreChanges };
  const asked = await provider.diff(subject, old.inputs);
  const diff = resolveDiff(asked, next.inputs, old.inputs);
  markOutputs(next);
  display.done({
    ...step,
    new: next,
    op: diff.changes === "none" ? "same" : "update",
    changedKeys: diff.changedKeys,
    ...(diff.detailed && { detailed: invert(diff.detailed) }),
  });
  return next;
}
