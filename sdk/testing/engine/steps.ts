import type { StepOp } from "../types";
import { type Diff, replaceOnChanges, resolveDiff } from "./diff";
import type { Goal } from "./goal";
import { goValue } from "./goFormat";
import { Graph } from "./graph";
import type { Change } from "./objectDiff";
import { parsePath, resetPath } from "./paths";
import type { CheckFailure, Provider } from "./provider";
import { nameOf, newState, providerUrn, type ResourceState } from "./resourceState";
import { copyProps, equal, type Props, Unknown } from "./values";

/** One thing that is done to one resource. */
export interface Step {
  op: StepOp;
  urn: string;
  old?: ResourceState;
  new?: ResourceState;
  /** Counted in the summary. */
  logical: boolean;
  /** Not shown: the provider's own entry in the state. */
  internal?: boolean;
  /** What the diff names as changed; empty where it names nothing. */
  changedKeys?: string[];
  /** The differences of the inputs, where the provider left it to the engine to find them. */
  changes?: Change[];
  /** A deletion after which the resource is created again. */
  pendingReplacement?: boolean;
  /** A creation before the deletion of the old resource. */
  pendingDelete?: boolean;
  /** Answers the program. Never called for a step that failed. */
  done?: (state: ResourceState) => void;
}

/** The run ends here. What there is to say has been said, where `reported` is true. */
export class Bail extends Error {
  override readonly name = "Bail";
  constructor(
    message: string,
    readonly reported = true,
  ) {
    super(message);
  }
}

/** What deciding needs to know and to ask. */
export interface Context {
  dryRun: boolean;
  olds: ResourceState[];
  /** URNs to replace though nothing about them changed. */
  replaceTargets: Set<string>;
  provider(reference: string): Promise<Provider>;
  report(severity: "info" | "warning" | "error", message: string, urn?: string): void;
}

/**
 * Decides what is to be done for each resource that the program registers, one at a time and in the order in which they
 * come; as the `stepGenerator`.
 */
export class Steps {
  readonly urns = new Set<string>();
  /** What must not be deleted at the end, since something was done with it; as `isOperatedOn`. */
  readonly operated = new Set<string>();
  readonly deletes = new Set<string>();
  readonly pendingDeletes = new Set<ResourceState>();
  /** A failure that lets a preview go on. */
  sawError = false;
  readonly graph: Graph;
  private readonly creates = new Set<string>();
  private readonly aliased = new Map<string, string>();
  private readonly byUrn: Map<string, ResourceState>;

  constructor(private readonly context: Context) {
    this.graph = new Graph(context.olds);
    this.byUrn = new Map(context.olds.filter((old) => !old.delete).map((old) => [old.urn, old]));
  }

  old(urn: string): ResourceState | undefined {
    return this.byUrn.get(urn);
  }

  /** As `generateURN` and `checkParent`. */
  claim(urn: string, parent: string): void {
    if (parent !== "" && !this.urns.has(parent))
      throw new Bail(`could not find parent resource ${parent}`, false);
    if (this.urns.has(urn)) this.bail(`Duplicate resource URN '${urn}'; try giving it a unique name`, urn);
    this.urns.add(urn);
  }

  private bail(message: string, urn: string): never {
    this.context.report("error", message, urn);
    throw new Bail(message);
  }

  /** As `getOldResource`: its own URN first, then the aliases in their order. */
  private findOld(
    urn: string,
    aliases: string[],
  ): { old: ResourceState | undefined; alias: string | undefined } {
    for (const candidate of [urn, ...aliases]) {
      const old = this.byUrn.get(candidate);
      if (old === undefined) continue;
      if (candidate === urn) return { old, alias: undefined };
      if (this.urns.has(candidate) || this.aliased.has(candidate))
        this.bail(`Duplicate resource alias '${candidate}' applied to resource with URN '${urn}'`, urn);
      this.aliased.set(candidate, urn);
      this.operated.add(candidate);
      return { old, alias: candidate };
    }
    return { old: undefined, alias: undefined };
  }

  /** As `GenerateReadSteps`. */
  read(next: ResourceState, done: (state: ResourceState) => void): Step[] {
    this.claim(next.urn, next.parent);
    const old = this.byUrn.get(next.urn);
    this.operated.add(next.urn);
    if (old === undefined || old.external || old.id === next.id)
      return [{ op: "read", urn: next.urn, ...(old && { old }), new: next, logical: true, done }];
    return [
      { op: "read-replacement", urn: next.urn, old, new: next, logical: false, done },
      { op: "replace", urn: next.urn, old, new: next, logical: true },
    ];
  }

  /** As `generateSteps`, for everything but providers and reads. */
  async register(
    urn: string,
    goal: Goal,
    providerReference: string,
    done: (state: ResourceState) => void,
  ): Promise<Step[]> {
    const { context } = this;
    this.claim(urn, goal.parent);
    const { old, alias } = this.findOld(urn, goal.aliases);
    const next = goalState(urn, goal, providerReference, old, alias);
    const provider = goal.custom ? await context.provider(providerReference) : undefined;
    const recreating = this.deletes.has(urn);
    const wasExternal = old?.external ?? false;
    const forced = context.replaceTargets.has(urn);

    let inputs = old ? this.ignoreChanges(urn, goal.inputs, old.inputs, goal.ignoreChanges) : goal.inputs;
    if (provider) {
      // Nothing of an old resource is handed to the check of a new one.
      const fresh = recreating || wasExternal || forced || old === undefined;
      const checked = await provider.check(urn, fresh ? {} : old.inputs, fresh ? goal.inputs : inputs);
      this.checkFailures(next, checked.inputs, checked.failures);
      inputs = checked.inputs;
      next.inputs = inputs;
    }

    if (recreating && old) {
      this.deletes.delete(urn);
      this.operated.add(urn);
      return [
        { op: "replace", urn, old, new: next, logical: true },
        { op: "create-replacement", urn, old, new: next, logical: false, done },
      ];
    }
    if (wasExternal && old) {
      this.creates.add(urn);
      return [
        { op: "create-replacement", urn, old, new: next, logical: false, pendingDelete: true, done },
        { op: "replace", urn, old, new: next, logical: true },
      ];
    }
    if (old) return this.fromDiff(urn, goal, old, next, inputs, provider, forced, done);
    this.creates.add(urn);
    return [{ op: "create", urn, new: next, logical: true, done }];
  }

  /** As `continueStepsFromDiff`. */
  private async fromDiff(
    urn: string,
    goal: Goal,
    old: ResourceState,
    next: ResourceState,
    inputs: Props,
    provider: Provider | undefined,
    forced: boolean,
    done: (state: ResourceState) => void,
  ): Promise<Step[]> {
    const asked = await this.diff(goal, old, next, inputs, provider, forced);
    const diff = replaceOnChanges(asked, goal.replaceOnChanges, old.initErrors.length > 0);
    this.operated.add(urn);
    const found = {
      urn,
      old,
      new: next,
      changedKeys: diff.changedKeys,
      ...(diff.detailed && { changes: diff.detailed }),
    };
    if (diff.changes === "none" && !old.pendingReplacement) {
      // A resource that is not ready yet gets an update, so that its provider waits for it once more.
      if (old.initErrors.length > 0) return [{ ...found, op: "update", logical: true, done }];
      return [{ op: "same", urn, old, new: next, logical: true, done }];
    }
    if (!diff.replace && !old.pendingReplacement) return [{ ...found, op: "update", logical: true, done }];

    if (next.protect && old.protect) this.refuseReplace(urn);
    if (provider && !forced) {
      // What the old resource lent to the inputs (a generated name, say) does not go over to the new one.
      const checked = await provider.check(urn, {}, goal.inputs);
      this.checkFailures(next, checked.inputs, checked.failures);
      next.inputs = checked.inputs;
    }
    const replace: Step = { ...found, op: "replace", logical: true };
    const create: Step = { ...found, op: "create-replacement", logical: false, done };
    if (!(goal.deleteBeforeReplace ?? diff.deleteBeforeReplace))
      return [{ ...create, pendingDelete: true }, replace];
    return [...(await this.deleteFirst(urn, old)), replace, create];
  }

  /** Before the resource go its dependents that a change to it would replace, in reverse order; as there. */
  private async deleteFirst(urn: string, old: ResourceState): Promise<Step[]> {
    const steps: Step[] = [];
    for (const dependent of (await this.dependentReplacements(old)).reverse()) {
      if (this.pendingDeletes.has(dependent)) continue;
      if (!dependent.delete && dependent.protect) this.refuseDependent(dependent.urn, urn);
      steps.push({
        op: dependent.delete ? "delete" : "delete-replaced",
        urn: dependent.urn,
        old: dependent,
        logical: dependent.delete,
        pendingReplacement: !dependent.delete,
      });
      this.deletes.add(dependent.urn);
      this.pendingDeletes.add(dependent);
    }
    if (old.pendingReplacement) return steps;
    this.deletes.add(old.urn);
    return [...steps, { op: "delete-replaced", urn: old.urn, old, logical: false, pendingReplacement: true }];
  }

  /** As `calculateDependentReplacements`: asks each dependent's provider, with the properties concerned unknown. */
  private async dependentReplacements(root: ResourceState): Promise<ResourceState[]> {
    const condemned = new Set([root.urn]);
    const seen = new Set([...this.operated, ...this.creates, ...this.deletes]);
    const result: ResourceState[] = [];
    for (const state of this.graph.dependingOn(root, seen)) {
      if (!state.custom || state.external) continue;
      const concerned = Object.keys(state.inputs).filter((key) =>
        (state.propertyDependencies[key] ?? []).some((urn) => condemned.has(urn)),
      );
      if (!condemned.has(providerUrn(state.provider))) {
        if (concerned.length === 0) continue;
        const inputs = {
          ...state.inputs,
          ...Object.fromEntries(concerned.map((key) => [key, new Unknown()])),
        };
        const provider = await this.context.provider(state.provider);
        const asked = await this.ask(provider, state, inputs, state.ignoreChanges);
        if (!replaceOnChanges(asked, state.replaceOnChanges, false).replace) continue;
      }
      condemned.add(state.urn);
      result.push(state);
    }
    return result;
  }

  /** As `stepGenerator.diff`. */
  private async diff(
    goal: Goal,
    old: ResourceState,
    next: ResourceState,
    inputs: Props,
    provider: Provider | undefined,
    forced: boolean,
  ): Promise<Diff> {
    const plain = { deleteBeforeReplace: false, changedKeys: [], detailed: undefined };
    // A forced replacement never asks the provider, so that only the resource's own option can turn its order around.
    if (forced) return { ...plain, changes: "some", replace: true };
    if ((old.provider === "") !== (next.provider === "")) return { ...plain, changes: "some", replace: true };
    if (provider) return this.ask(provider, old, inputs, goal.ignoreChanges);
    return { ...plain, changes: equal(old.inputs, inputs) ? "none" : "some", replace: false };
  }

  private async ask(provider: Provider, old: ResourceState, inputs: Props, ignored: string[]): Promise<Diff> {
    const asked = await provider.diff(old.urn, old.id, old.inputs, old.outputs ?? {}, inputs);
    return resolveDiff(asked, old.inputs, this.ignoreChanges(old.urn, inputs, old.inputs, ignored));
  }

  /** As `processIgnoreChanges`. */
  private ignoreChanges(urn: string, inputs: Props, olds: Props, ignored: string[]): Props {
    if (ignored.length === 0) return inputs;
    const result = copyProps(inputs);
    const failed = ignored.filter((text) => {
      const path = parsePath(text);
      return path !== undefined && !resetPath(path, copyProps(olds), result);
    });
    if (failed.length > 0) {
      const paths = JSON.stringify(failed.join(", "));
      this.context.report(
        "info",
        `cannot ignore changes in added or removed elements of the path: ${paths}`,
        urn,
      );
    }
    return result;
  }

  /** As `issueCheckErrors`, which prints the value of a property that is a top-level input, secret or not. */
  private checkFailures(next: ResourceState, inputs: Props, failures: CheckFailure[]): void {
    if (failures.length === 0) return;
    const resource = `${next.type} resource '${nameOf(next.urn)}'`;
    for (const { property, reason } of failures) {
      const value = goValue(next.inputs[property]);
      const what = property === "" ? "" : `: property ${property} value ${value}`;
      this.context.report("error", `${resource}${what} has a problem: ${reason}`, next.urn);
    }
    next.inputs = inputs;
    throw new Bail(`resource ${next.urn} is invalid`);
  }

  private refuseReplace(urn: string): void {
    const message =
      `unable to replace resource "${urn}"\nas it is currently marked for protection. To unprotect the resource, ` +
      "remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`";
    this.context.report("error", message, urn);
    this.sawError = true;
    // A preview goes on, so that the difference that asks for the replacement is shown.
    if (!this.context.dryRun) throw new Bail(message);
  }

  private refuseDependent(dependent: string, urn: string): never {
    this.sawError = true;
    return this.bail(
      `unable to replace resource "${dependent}" as part of replacing "${urn}" as it is currently marked for ` +
        "protection. To unprotect the resource, remove the `protect` flag from the resource in your Pulumi program " +
        `and run \`pulumi up\`, or use the command:\n\`pulumi state unprotect '${dependent}'\``,
      urn,
    );
  }
}

function goalState(
  urn: string,
  goal: Goal,
  provider: string,
  old: ResourceState | undefined,
  alias: string | undefined,
): ResourceState {
  return newState(urn, goal.type, {
    custom: goal.custom,
    inputs: goal.inputs,
    parent: goal.parent,
    protect: goal.protect ?? false,
    dependencies: goal.dependencies,
    propertyDependencies: goal.propertyDependencies,
    provider,
    additionalSecretOutputs: goal.additionalSecretOutputs,
    aliases: alias === undefined ? [] : [alias],
    customTimeouts: goal.customTimeouts,
    retainOnDelete: goal.retainOnDelete ?? false,
    ignoreChanges: goal.ignoreChanges,
    replaceOnChanges: goal.replaceOnChanges,
    created: old?.created ?? "",
    modified: old?.modified ?? "",
  });
}
