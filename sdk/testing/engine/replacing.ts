import { mustReplace, replaceOnChanges } from "./diff";
import type { Diffing, ProviderSource, Report } from "./diffing";
import type { Graph } from "./graph";
import { providerUrn, type ResourceState } from "./resourceState";
import { Bail, type Step } from "./step";
import { Unknown } from "./values";

/** What a run has done with its resources so far, by URN. */
export interface Progress {
  /** What must not be deleted at the end, since something was done with it; as `isOperatedOn`. */
  operated: Set<string>;
  creates: Set<string>;
  deletes: Set<string>;
  pendingDeletes: Set<ResourceState>;
}

/**
 * The deletion of a resource before its replacement is made. Before it go its dependents that a change to it would
 * replace, in reverse order. As `continueStepsFromDiff`.
 */
export class DeleteFirst {
  constructor(
    private readonly progress: Progress,
    private readonly graph: Graph,
    private readonly diffing: Diffing,
    private readonly source: ProviderSource,
    private readonly report: Report,
  ) {}

  async steps(urn: string, old: ResourceState): Promise<Step[]> {
    const { deletes, pendingDeletes } = this.progress;
    const steps: Step[] = [];
    for (const dependent of (await this.dependentReplacements(old)).reverse()) {
      if (pendingDeletes.has(dependent)) continue;
      if (!dependent.delete && dependent.protect) this.refuseDependent(dependent.urn, urn);
      steps.push({
        op: dependent.delete ? "delete" : "delete-replaced",
        urn: dependent.urn,
        old: dependent,
        logical: dependent.delete,
        pendingReplacement: !dependent.delete,
      });
      deletes.add(dependent.urn);
      pendingDeletes.add(dependent);
    }
    if (old.pendingReplacement) return steps;
    deletes.add(old.urn);
    return [...steps, { op: "delete-replaced", urn: old.urn, old, logical: false, pendingReplacement: true }];
  }

  /** As `calculateDependentReplacements`: asks each dependent's provider, with the properties concerned unknown. */
  private async dependentReplacements(root: ResourceState): Promise<ResourceState[]> {
    const { operated, creates, deletes } = this.progress;
    const condemned = new Set([root.urn]);
    const seen = new Set([...operated, ...creates, ...deletes]);
    const result: ResourceState[] = [];
    for (const state of this.graph.dependingOn(root, seen)) {
      if (!state.custom || state.external) continue;
      const orphaned = state.provider !== "" && condemned.has(providerUrn(state.provider));
      if (!orphaned && !(await this.wouldBeReplaced(state, condemned))) continue;
      condemned.add(state.urn);
      result.push(state);
    }
    return result;
  }

  private async wouldBeReplaced(state: ResourceState, condemned: Set<string>): Promise<boolean> {
    const concerned = Object.keys(state.inputs).filter((key) =>
      (state.propertyDependencies[key] ?? []).some((urn) => condemned.has(urn)),
    );
    if (concerned.length === 0) return false;
    const unknown = Object.fromEntries(concerned.map((key) => [key, new Unknown()]));
    const inputs = { ...state.inputs, ...unknown };
    const provider = await this.source.of(state);
    const asked = await this.diffing.ask(provider, state.urn, state, inputs, state.ignoreChanges);
    return mustReplace(replaceOnChanges(asked, state.replaceOnChanges, false));
  }

  private refuseDependent(dependent: string, urn: string): never {
    const message =
      `unable to replace resource "${dependent}" as part of replacing "${urn}" as it is currently marked for ` +
      "protection. To unprotect the resource, remove the `protect` flag from the resource in your Pulumi program " +
      `and run \`pulumi up\`, or use the command:\n\`pulumi state unprotect '${dependent}'\``;
    this.report("error", message, urn);
    throw new Bail(message);
  }
}
