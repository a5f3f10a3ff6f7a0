import { UNKNOWN } from "../../../provider/endpoint/documents";
import type { Context } from "./apply";
import {
  createUrn,
  dependentsOf,
  isProvider,
  nameInUrn,
  type Place,
  providerUrn,
  type ResourceState,
  ROOT_STACK,
  typeInUrn,
} from "./checkpoint";
import type { Alias, Goal } from "./goals";
import { Unsupported } from "./project";
import { equal, goText, type Props } from "./properties";
import {
  applyReplaceOnChanges,
  type Diff,
  ignoreChanges,
  mustReplace,
  resolveDiff,
  someDiff,
} from "./propertyDiff";
import type { Provider } from "./providerCalls";
import type { PlannedStep } from "./summary";

/** The steps for one registration. When they have succeeded, `afterwards` plans more. */
export interface Plan {
  steps: PlannedStep[];
  afterwards?: () => Promise<Plan>;
}

/** Ends the run. The error has already been reported. */
export class Bail extends Error {
  override readonly name = "Bail";
}

/** Whether a run may change a resource. Without targets it may change any, otherwise targets, providers and the stack. */
export function isTarget(targets: ReadonlySet<string>, urn: string): boolean {
  const type = typeInUrn(urn);
  return targets.size === 0 || targets.has(urn) || isProvider(type) || type === ROOT_STACK;
}

/** The step for a resource that is not a target. It keeps its old state. */
export function untargeted(urn: string, old: ResourceState | undefined): PlannedStep {
  if (!old) throw new Error(`the test engine cannot skip ${urn}: it is new and not one of the targets`);
  return { op: "same", urn: old.urn, old, new: { ...old } };
}

interface Registration {
  urn: string;
  goal: Goal;
  provider: Provider | undefined;
  /** Already deleted for the replacement of a resource that it depends on. */
  isDeleted: boolean;
  isImported: boolean;
  done: (state: ResourceState) => void;
}

function desiredState(
  { state, protect = false, retainOnDelete = false }: Goal,
  { urn, created, modified }: Pick<ResourceState, "urn" | "created" | "modified">,
): ResourceState {
  return { ...state, urn, protect, retainOnDelete, created, modified };
}

export class Planner {
  failed = false;
  readonly deleted = new Set<string>();
  /** The old states of resources that are deleted before their replacements are created. */
  readonly deletedFirst = new Set<ResourceState>();

  readonly identities: Identities;
  private readonly newProviders = new Map<string, ResourceState>();

  constructor(
    private readonly context: Context,
    readonly targets: ReadonlySet<string>,
    private readonly forced: ReadonlySet<string>,
  ) {
    this.identities = new Identities(context.place, context.checkpoint.olds);
  }

  async read(urn: string, goal: Goal, done: Registration["done"]): Promise<Plan> {
    const old = this.identities.find(urn, goal);
    const next = { ...goal.state, urn };
    if (old === undefined || old.external || old.id === next.id)
      return { steps: [{ op: "read", urn, ...(old && { old }), new: next, done }] };
    const replace: PlannedStep = { op: "replace", urn, old, new: next };
    return { steps: [{ op: "read-replacement", urn, old, new: next, done }, replace] };
  }

  async register(urn: string, goal: Goal, done: Registration["done"]): Promise<Plan> {
    const old = this.identities.find(urn, goal);
    if (!isTarget(this.targets, urn)) return { steps: [{ ...untargeted(urn, old), done }] };
    const { created = "", modified = "" } = old ?? {};
    const next = desiredState(goal, { urn, created, modified });
    if (isProvider(next.type)) {
      if (old && old.urn !== urn) throw new Unsupported(`aliases of providers (of ${nameInUrn(urn)})`);
      this.newProviders.set(urn, next);
    }
    const registration: Registration = {
      urn,
      goal,
      provider: next.custom ? await this.context.providers.of(next) : undefined,
      isDeleted: this.deleted.has(urn),
      isImported: false,
      done,
    };
    // An imported resource is recognized by the id in the program, even if the provider returned another id.
    const isKnown = old !== undefined && !old.external && (old.importID || old.id) === next.importID;
    if (next.custom && next.importID !== "" && !isKnown) return this.import(registration, old, next);
    return { steps: await this.steps(registration, old, next) };
  }

  private import(registration: Registration, old: ResourceState | undefined, next: ResourceState): Plan {
    const { urn, goal, isDeleted } = registration;
    const afterwards = async (): Promise<Plan> => {
      const wanted = desiredState(goal, next);
      return { steps: await this.steps({ ...registration, isImported: true }, next, wanted) };
    };
    if (old === undefined || isDeleted) return { steps: [{ op: "import", urn, new: next }], afterwards };
    const step: PlannedStep = { op: "import-replacement", urn, old, new: next, pendingDelete: true };
    return { steps: [step, { op: "replace", urn, old, new: next }], afterwards };
  }

  private async steps(
    registration: Registration,
    old: ResourceState | undefined,
    next: ResourceState,
  ): Promise<PlannedStep[]> {
    const { urn, goal, provider, isDeleted, done } = registration;
    const given = goal.state.inputs;
    if (old) next.inputs = this.withIgnored(urn, given, old.inputs, next.ignoreChanges);
    if (provider) {
      // For a new resource, the check gets no old inputs.
      const isNew = isDeleted || old === undefined || old.external || this.forced.has(urn);
      next.inputs = isNew
        ? await this.check(provider, next, {}, given)
        : await this.check(provider, next, old.inputs, next.inputs);
    }
    if (isDeleted && old) {
      this.deleted.delete(urn);
      return [
        { op: "replace", urn, old, new: next },
        { op: "create-replacement", urn, old, new: next, done },
      ];
    }
    if (old && !old.external) return this.stepsFromDiff(registration, old, next);
    if (!old) return [{ op: "create", urn, new: next, done }];
    return [
      { op: "create-replacement", urn, old, new: next, pendingDelete: true, done },
      { op: "replace", urn, old, new: next },
    ];
  }

  private async stepsFromDiff(
    { urn, goal, provider, isImported, done }: Registration,
    old: ResourceState,
    next: ResourceState,
  ): Promise<PlannedStep[]> {
    const isUnready = old.initErrors.length > 0;
    const asked = await this.diff(old, next, provider);
    const diff = applyReplaceOnChanges(asked, next.replaceOnChanges);
    const { changedKeys, detailed } = diff;
    const step = { urn, old, new: next, changedKeys, detailed };
    if (diff.changes === "none" && !old.pendingReplacement) {
      // A resource that was not ready gets an update, so that its provider waits for it again.
      if (isUnready) return [{ ...step, op: "update", done }];
      if (!isImported) return [{ op: "same", urn, old, new: next, done }];
      done(old);
      return [];
    }
    if (!mustReplace(diff) && !old.pendingReplacement) return [{ ...step, op: "update", done }];

    if (next.protect && old.protect) {
      if (!this.context.dryRun) throw new Error(protectedMessage(urn));
      // A preview continues and shows the change that requires the replacement.
      this.context.summary.report("error", protectedMessage(urn), urn);
      this.failed = true;
    }
    if (next.importID !== "")
      throw new Unsupported(`the replacement of ${nameInUrn(urn)}, which still has the option import`);
    // The second check gets no old inputs. Otherwise the replacement could reuse values such as generated names.
    if (provider && !this.forced.has(urn))
      next.inputs = await this.check(provider, next, {}, goal.state.inputs);
    const replace: PlannedStep = { ...step, op: "replace" };
    const create: PlannedStep = { ...step, op: "create-replacement", done };
    if (!(goal.deleteBeforeReplace ?? diff.deleteBeforeReplace))
      return [{ ...create, pendingDelete: true }, replace];
    return [...(await this.deleteFirst(urn, old)), replace, create];
  }

  private async check(provider: Provider, next: ResourceState, olds: Props, news: Props): Promise<Props> {
    const { inputs, failures } = await provider.check(next.urn, olds, news);
    for (const { property, reason } of failures) {
      // Like Pulumi's engine, the message shows the value of a top-level input, even if it is secret.
      const what = property === "" ? "" : `: property ${property} value ${goText(next.inputs[property])}`;
      const message = `${next.type} resource '${nameInUrn(next.urn)}'${what} has a problem: ${reason}`;
      this.context.summary.report("error", message, next.urn);
    }
    if (failures.length > 0) throw new Bail(`resource ${next.urn} is invalid`);
    return inputs;
  }

  private async diff(old: ResourceState, next: ResourceState, provider?: Provider): Promise<Diff> {
    // For a forced replacement the provider is not asked. Only the option `deleteBeforeReplace` can change its order.
    if (this.forced.has(next.urn)) return someDiff("id");
    if (await this.isProviderReplaced(old, next)) return someDiff("provider");
    if (provider) return this.ask(provider, next.urn, old, next.inputs, next.ignoreChanges);
    return { ...someDiff(), changes: equal(old.inputs, next.inputs) ? "none" : "some" };
  }

  private async ask(
    provider: Provider,
    urn: string,
    old: ResourceState,
    inputs: Props,
    ignored: string[],
  ): Promise<Diff> {
    const diff = await provider.diff({ ...old, urn }, inputs, ignored);
    return resolveDiff(diff, old.inputs, this.withIgnored(urn, inputs, old.inputs, ignored));
  }

  /** Whether a move to another provider requires a replacement. The new provider decides it from both configurations. */
  private async isProviderReplaced(old: ResourceState, next: ResourceState): Promise<boolean> {
    if (old.provider === next.provider) return false;
    if (old.provider === "" || next.provider === "") return true;
    const before = this.identities.old(providerUrn(old.provider));
    const after = this.newProviders.get(providerUrn(next.provider));
    if (!before || !after) throw new Error(`failed to resolve provider reference: "${old.provider}"`);
    return this.context.providers.mustReplace(next.provider, before, after);
  }

  /** The inputs without the changes that the option `ignoreChanges` names. */
  private withIgnored(urn: string, inputs: Props, olds: Props, paths: string[]): Props {
    const ignored = ignoreChanges(inputs, olds, paths);
    const failed = `cannot ignore changes in added or removed elements of the path: ${JSON.stringify(ignored.failed.join(", "))}`;
    if (ignored.failed.length > 0) this.context.summary.report("info", failed, urn);
    return ignored.inputs;
  }

  /** Plans deletions: first the dependents that must also be replaced, in reverse order, then the resource. */
  private async deleteFirst(urn: string, old: ResourceState): Promise<PlannedStep[]> {
    const steps: PlannedStep[] = [];
    for (const dependent of (await this.replacedWith(old)).reverse()) {
      if (this.deletedFirst.has(dependent)) continue;
      if (!dependent.delete && dependent.protect)
        throw new Error(protectedMessage(dependent.urn, ` as part of replacing "${urn}"`));
      steps.push({
        op: dependent.delete ? "delete" : "delete-replaced",
        urn: dependent.urn,
        old: dependent,
      });
      this.deleted.add(dependent.urn);
      this.deletedFirst.add(dependent);
    }
    if (old.pendingReplacement) return steps;
    this.deleted.add(old.urn);
    return [...steps, { op: "delete-replaced", urn: old.urn, old }];
  }

  /**
   * The dependents that must be replaced together with `root`. For each one, the provider is asked for a diff in which the
   * inputs that depend on a replaced resource are unknown.
   */
  private async replacedWith(root: ResourceState): Promise<ResourceState[]> {
    const replaced = new Set([root.urn]);
    const handled = new Set([...this.identities.registered, ...this.deleted]);
    const found: ResourceState[] = [];
    for (const state of dependentsOf(root, this.context.checkpoint.olds, handled)) {
      if (!state.custom || state.external) continue;
      const isOrphaned = state.provider !== "" && replaced.has(providerUrn(state.provider));
      if (!isOrphaned && !(await this.wouldBeReplaced(state, replaced))) continue;
      replaced.add(state.urn);
      found.push(state);
    }
    return found;
  }

  private async wouldBeReplaced(state: ResourceState, replaced: Set<string>): Promise<boolean> {
    const { propertyDependencies, inputs: olds, replaceOnChanges } = state;
    const concerned = Object.keys(olds).filter((key) =>
      (propertyDependencies[key] ?? []).some((urn) => replaced.has(urn)),
    );
    if (concerned.length === 0) return false;
    const inputs = { ...olds, ...Object.fromEntries(concerned.map((key) => [key, UNKNOWN])) };
    const provider = await this.context.providers.of(state);
    const asked = await this.ask(provider, state.urn, state, inputs, state.ignoreChanges);
    return mustReplace(applyReplaceOnChanges(asked, replaceOnChanges));
  }
}

const protectedMessage = (urn: string, why = "") =>
  `unable to replace resource "${urn}"${why}\nas it is currently marked for protection. To unprotect the resource, ` +
  "remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`";

/** Finds the old state of a registration by its URN, or by its first alias that has a state. */
export class Identities {
  readonly registered = new Set<string>();
  private readonly currentByFormer = new Map<string, string>();
  private readonly formerByCurrent = new Map<string, string>();
  private readonly byUrn: Map<string, ResourceState>;

  constructor(
    private readonly place: Place,
    olds: ResourceState[],
  ) {
    this.byUrn = new Map(olds.filter((old) => !old.delete).map((old) => [old.urn, old]));
  }

  old(urn: string): ResourceState | undefined {
    return this.byUrn.get(urn);
  }

  /** Whether this run has registered a resource of the last run, under its former or its current URN. */
  isRegistered(urn: string): boolean {
    return this.registered.has(this.currentByFormer.get(urn) ?? urn);
  }

  find(urn: string, goal: Goal): ResourceState | undefined {
    if (this.registered.has(urn))
      throw new Error(`Duplicate resource URN '${urn}'; try giving it a unique name`);
    this.registered.add(urn);
    const found = [urn, ...this.formerUrns(goal)].find((each) => this.byUrn.has(each)) ?? urn;
    const other = this.currentByFormer.get(found) ?? (this.registered.has(found) ? found : urn);
    if (other !== urn)
      throw new Error(`'${urn}' and '${other}' both have the old resource '${found}', by name or alias`);
    if (found !== urn) {
      this.currentByFormer.set(found, urn);
      this.formerByCurrent.set(urn, found);
    }
    return this.byUrn.get(found);
  }

  /** The URNs from the resource's aliases, and those from an alias of its parent. */
  private formerUrns({ name, state: { type, parent }, aliases }: Goal): string[] {
    const own = aliases.map((alias) => this.urnOfAlias(alias, name, type));
    const formerParent = this.formerByCurrent.get(parent);
    if (formerParent === undefined) return own;
    const inherited = [{ type, name }, ...own.map((urn) => ({ type: typeInUrn(urn), name: nameInUrn(urn) }))];
    const parentName = nameInUrn(parent);
    return [
      ...own,
      ...inherited.map(({ type, name }) => {
        // If the child's name begins with the parent's name, its former name began with the parent's former name.
        const isNamedAfter = name.startsWith(parentName);
        const former = isNamedAfter ? nameInUrn(formerParent) + name.slice(parentName.length) : name;
        return createUrn(this.place, formerParent, type, former);
      }),
    ];
  }

  /** Missing parts of an alias have their current value. The SDK always sets the parent. */
  private urnOfAlias(alias: Alias, name: string, type: string): string {
    if ("urn" in alias) return alias.urn;
    const former = alias.noparent ? "" : (this.formerByCurrent.get(alias.parenturn) ?? alias.parenturn);
    const place = {
      stack: alias.stack || this.place.stack,
      project: alias.project || this.place.project,
    };
    return createUrn(place, former, alias.type || type, alias.name || name);
  }
}
