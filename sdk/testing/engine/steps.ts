import { type Diff, mustReplace, replaceOnChanges } from "./diff";
import { Diffing, type ProviderSource, type Report } from "./diffing";
import type { Goal } from "./goal";
import { checkMessages, goalState, isImport } from "./goalState";
import { Graph } from "./graph";
import { Identities } from "./identities";
import type { CheckFailure, Provider } from "./provider";
import { redacted } from "./render";
import { DeleteFirst, type Progress } from "./replacing";
import { isProviderType, type ResourceState } from "./resourceState";
import { Bail, type Plan, type Step } from "./step";
import type { Targets } from "./targets";
import type { Props } from "./values";

/** What deciding needs to know and to ask. */
export interface Context {
  dryRun: boolean;
  stack: string;
  project: string;
  olds: ResourceState[];
  /** URNs to replace though nothing about them changed. */
  replaceTargets: Set<string>;
  targets: Targets;
  providers: ProviderSource & { registerAlias(urn: string, alias: string): void };
  report: Report;
}

/** One registration on its way to its steps. */
interface Registration {
  urn: string;
  goal: Goal;
  provider: Provider | undefined;
  /** It was deleted already, for the replacement of something that it depends on. */
  recreating: boolean;
  imported: boolean;
  valid: boolean;
  done: (state: ResourceState) => void;
}

/**
 * Decides what is to be done for each resource that the program registers, one at a time and in the order in which they
 * come; as the `stepGenerator`.
 */
export class Steps implements Progress {
  readonly operated = new Set<string>();
  readonly creates = new Set<string>();
  readonly deletes = new Set<string>();
  readonly pendingDeletes = new Set<ResourceState>();
  /** A failure that lets a preview go on. */
  sawError = false;
  readonly graph: Graph;
  readonly identities: Identities;
  private readonly diffing: Diffing;
  private readonly deleteFirst: DeleteFirst;

  constructor(private readonly context: Context) {
    const { olds, providers, replaceTargets, report } = context;
    this.graph = new Graph(olds);
    this.identities = new Identities(olds, context, (message, urn) => report("error", message, urn));
    this.diffing = new Diffing(providers, this.identities, replaceTargets, report);
    this.deleteFirst = new DeleteFirst(this, this.graph, this.diffing, providers, report);
  }

  /** Whether something was done with a resource of the last run, under whatever name; as `isOperatedOn`. */
  isOperatedOn(urn: string): boolean {
    return this.operated.has(this.identities.present(urn));
  }

  /** As `GenerateReadSteps`. */
  read(name: string, state: ResourceState, done: (state: ResourceState) => void): Step[] {
    const { urn, type, parent, id } = state;
    this.identities.claim(urn, parent);
    const { old, alias } = this.identities.find(urn, { name, type, parent, aliases: [] });
    const next = { ...state, aliases: alias === undefined ? [] : [alias] };
    this.operated.add(urn);
    if (old === undefined || old.external || old.id === id)
      return [{ op: "read", urn, ...(old && { old }), new: next, logical: true, done }];
    return [
      { op: "read-replacement", urn, old, new: next, logical: false, done },
      { op: "replace", urn, old, new: next, logical: true },
    ];
  }

  /** As `generateSteps`, for everything but reads. */
  async register(urn: string, goal: Goal, done: (state: ResourceState) => void): Promise<Plan> {
    this.identities.claim(urn, goal.parent);
    const found = this.identities.find(urn, goal);
    const { old, alias } = found;
    if (alias !== undefined) this.context.providers.registerAlias(urn, alias);
    if (!this.context.targets.has(urn)) {
      this.operated.add(urn);
      return { steps: [this.context.targets.leave(urn, old, done)] };
    }
    const next = goalState(urn, goal, found);
    if (isProviderType(goal.type))
      for (const each of [urn, ...next.aliases]) this.diffing.providers.set(each, next);
    const registration: Registration = {
      urn,
      goal,
      provider: goal.custom ? await this.context.providers.of(goal) : undefined,
      recreating: this.deletes.has(urn),
      imported: false,
      valid: found.valid,
      done,
    };
    if (isImport(goal, old)) return this.import(registration, old, next);
    return { steps: await this.afterImport(registration, old, next) };
  }

  /** What is there is taken over first, and then changed to what the program asks for; as `continueStepsFromRefresh`. */
  private import(registration: Registration, old: ResourceState | undefined, next: ResourceState): Plan {
    const { urn, goal, recreating } = registration;
    const afterwards = async (): Promise<Plan> => {
      const { created, modified } = next;
      const wanted = { ...goalState(urn, goal, {}), aliases: next.aliases, created, modified };
      return { steps: await this.afterImport({ ...registration, imported: true }, next, wanted) };
    };
    if (old === undefined || recreating)
      return { steps: [{ op: "import", urn, new: next, logical: true }], afterwards };
    const step: Step = { op: "import-replacement", urn, old, new: next, logical: false, pendingDelete: true };
    return { steps: [step, { op: "replace", urn, old, new: next, logical: true }], afterwards };
  }

  /** As `continueStepsFromImport`. */
  private async afterImport(
    registration: Registration,
    old: ResourceState | undefined,
    next: ResourceState,
  ): Promise<Step[]> {
    const { urn, goal, provider, recreating, done } = registration;
    const wasExternal = old?.external ?? false;
    let inputs = old
      ? this.diffing.ignoreChanges(urn, goal.inputs, old.inputs, goal.ignoreChanges)
      : goal.inputs;
    if (provider) {
      // Nothing of an old resource is handed to the check of a new one.
      const fresh = recreating || wasExternal || this.diffing.isForced(urn) || old === undefined;
      inputs = await this.check(provider, next, fresh ? {} : old.inputs, fresh ? goal.inputs : inputs);
      next.inputs = inputs;
    }
    if (!registration.valid) throw new Bail(`resource ${urn} is invalid`);
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
    if (old) return this.fromDiff(registration, old, next, inputs);
    this.creates.add(urn);
    return [{ op: "create", urn, new: next, logical: true, done }];
  }

  /** As `continueStepsFromDiff`. */
  private async fromDiff(
    registration: Registration,
    old: ResourceState,
    next: ResourceState,
    inputs: Props,
  ): Promise<Step[]> {
    const { urn, goal, provider, imported, done } = registration;
    const asked = await this.diffing.diff(old, next, inputs, provider, goal.ignoreChanges);
    const diff = replaceOnChanges(asked, goal.replaceOnChanges, old.initErrors.length > 0);
    this.operated.add(urn);
    const { changedKeys, detailed } = diff;
    const found = { urn, old, new: next, changedKeys, ...(detailed && { detailed }) };
    if (diff.changes === "none" && !old.pendingReplacement) {
      // A resource that is not ready yet gets an update, so that its provider waits for it once more.
      if (old.initErrors.length > 0) return [{ ...found, op: "update", logical: true, done }];
      if (!imported) return [{ op: "same", urn, old, new: next, logical: true, done }];
      done(old);
      return [];
    }
    if (!mustReplace(diff) && !old.pendingReplacement)
      return [{ ...found, op: "update", logical: true, done }];

    if (next.protect && old.protect) this.refuseReplace(urn);
    if (goal.importId !== "") this.refuseImported(urn, diff, old, next);
    // What the old resource lent to the inputs (a generated name, say) does not go over to the new one.
    if (provider && !this.diffing.isForced(urn))
      next.inputs = await this.check(provider, next, {}, goal.inputs);
    const replace: Step = { ...found, op: "replace", logical: true };
    const create: Step = { ...found, op: "create-replacement", logical: false, done };
    if (!(goal.deleteBeforeReplace ?? diff.deleteBeforeReplace))
      return [{ ...create, pendingDelete: true }, replace];
    return [...(await this.deleteFirst.steps(urn, old)), replace, create];
  }

  private async check(provider: Provider, next: ResourceState, olds: Props, news: Props): Promise<Props> {
    const { inputs, failures } = await provider.check(next.urn, olds, news);
    this.checkFailures(next, failures);
    return inputs;
  }

  /** As `issueCheckErrors`. */
  private checkFailures(next: ResourceState, failures: CheckFailure[]): void {
    for (const message of checkMessages(next, failures)) this.context.report("error", message, next.urn);
    if (failures.length > 0) throw new Bail(`resource ${next.urn} is invalid`);
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

  private refuseImported(urn: string, { replaces }: Diff, old: ResourceState, next: ResourceState): void {
    const changes = replaces.map(
      (key) => `${key}: ${redacted(old.inputs[key])} => ${redacted(next.inputs[key])}`,
    );
    const message =
      "previously-imported resources that still specify an ID may not be replaced; " +
      `please remove the \`import\` declaration from your program;\n${changes.join("\n")}`;
    if (!this.context.dryRun) throw new Error(message);
    this.context.report("warning", message, urn);
  }
}
