import type { Checkpoint } from "./checkpoint";
import type { ProviderSource } from "./diffing";
import type { Executor } from "./executor";
import { Graph } from "./graph";
import type { ResourceState } from "./resourceState";
import type { Step } from "./step";
import type { Steps } from "./steps";
import type { Targets } from "./targets";

/** Deletes what was not registered, after all else has gone well. As `GenerateDeletes` and `performPostSteps`. */
export async function deleteRest(
  steps: Steps,
  checkpoint: Checkpoint,
  executor: Executor,
  providers: ProviderSource,
  targets: Targets,
): Promise<void> {
  const deletions = new Map<ResourceState, Step>();
  const left: Step[] = [];
  for (const old of checkpoint.olds) {
    if (!targets.has(old.urn)) {
      if (!steps.isOperatedOn(old.urn)) left.push(targets.leave(old.urn, old));
      continue;
    }
    const step = deletion(old, steps, checkpoint);
    if (!step) continue;
    if (steps.graph.dependingOn(old, new Set()).some(({ urn }) => !targets.has(urn)))
      throw new Error(`the test engine does not delete the target ${old.urn}, since others depend on it`);
    steps.deletes.add(old.urn);
    deletions.set(old, step);
    // In a preview too, so that a provider that cannot be had is found out.
    if (old.provider !== "") await providers.of(old);
  }
  await executor.together(left);
  for (const group of new Graph(checkpoint.olds).deleteOrder(new Set(deletions.keys()))) {
    if (executor.canceled) return;
    // What something still needs that could not be deleted stays too.
    const needed = new Set(
      executor.errored.flatMap(({ old }) => (old ? [...steps.graph.transitiveDependenciesOf(old)] : [])),
    );
    const chosen = group.filter((state) => !needed.has(state)).map((state) => deletions.get(state));
    await executor.together(chosen.filter((step) => step !== undefined));
  }
}

function deletion(old: ResourceState, steps: Steps, checkpoint: Checkpoint): Step | undefined {
  const { urn } = old;
  if (old.delete) {
    if (steps.pendingDeletes.has(old)) return undefined;
    return { op: old.external ? "discard-replaced" : "delete-replaced", urn, old, logical: false };
  }
  if (steps.isOperatedOn(urn)) return undefined;
  // It was deleted for a replacement that no longer comes; as `RemovePendingReplaceStep`.
  if (old.pendingReplacement) {
    checkpoint.markDone(old);
    checkpoint.save();
    return undefined;
  }
  return { op: old.external ? "discard" : "delete", urn, old, logical: true };
}
