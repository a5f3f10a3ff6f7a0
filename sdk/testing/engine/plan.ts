import { UNKNOWN } from "../../../provider/endpoint/documents";
import type { Context } from "./apply";
import { isProvider, nameOf, providerUrn, type ResourceState, ROOT_STACK, typeOf } from "./checkpoint";
import { dependentsOf } from "./dependencies";
import type { Goal } from "./goals";
import { Identities } from "./identities";
import { Unsupported } from "./project";
import { goText, type Props } from "./properties";
import { applyReplaceOnChanges, mustReplace } from "./propertyDiff";
import type { CheckFailure, Provider } from "./providerCalls";
import { Differ } from "./resourceDiff";
import type { Step } from "./summary";

/** The steps for one registration. When they have succeeded, `afterwards` plans more. */
export interface Plan {
  steps: Step[];
  afterwards?: () => Promise<Plan>;
}

/** Ends the run. The error has already been reported. */
export class Bail extends Error {
  override readonly name = "Bail";
}

/** Whether a run may change a resource. Without targets it may change any, otherwise targets, providers and the stack. */
export function isTarget(targets: ReadonlySet<string>, urn: string): boolean {
  const type = typeOf(urn);
  return targets.size === 0 || targets.has(urn) || isProvider(type) || type === ROOT_STACK;
}

/** The step for a resource that is not a target. It keeps its old state. */
export function untargeted(urn: string, old: ResourceState | undefined): Step {
  if (!old) throw new Error(`the test engine cannot skip ${urn}: it is new and not one of the targets`);
  return { op: "same", urn: old.urn, old, new: { ...old } };
}

/** One message for each failure. Like Pulumi's engine it shows the value of a top-level input, even if it is secret. */
function checkMessages({ type, urn, inputs }: ResourceState, failures: CheckFailure[]): string[] {
  return failures.map(({ property, reason }) => {
    const what = property === "" ? "" : `: property ${property} value ${goText(inputs[property])}`;
    return `${type} resource '${nameOf(urn)}'${what} has a problem: ${reason}`;
  });
}

/** A registration whose steps are being planned. */
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

/** Plans the steps for each resource that the program registers. */
export class Planner {
  /** Whether a preview has failed but continues. */
  failed = false;
  readonly deleted = new Set<string>();
  /** The old states of resources that are deleted before their replacements are created. */
  readonly deletedFirst = new Set<ResourceState>();

  readonly identities: Identities;
  private readonly differ: Differ;

  constructor(
    private readonly context: Context,
    readonly targets: ReadonlySet<string>,
    /** URNs of resources to replace even if they do not change. */
    private readonly forced: ReadonlySet<string>,
  ) {
    this.identities = new Identities(context.place, context.checkpoint.olds);
    this.differ = new Differ(context, this.identities, forced);
  }

  /** Plans a resource that Pulumi reads and does not manage. */
  async read(urn: string, goal: Goal, done: Registration["done"]): Promise<Plan> {
    const old = this.identities.find(urn, goal);
    const next = { ...goal.state, urn };
    if (old === undefined || old.external || old.id === next.id)
      return { steps: [{ op: "read", urn, ...(old && { old }), new: next, done }] };
    const steps: Step[] = [
      { op: "read-replacement", urn, old, new: next, done },
      { op: "replace", urn, old, new: next },
    ];
    return { steps };
  }

  async register(urn: string, goal: Goal, done: Registration["done"]): Promise<Plan> {
    const old = this.identities.find(urn, goal);
    if (!isTarget(this.targets, urn)) return { steps: [{ ...untargeted(urn, old), done }] };
    const { created = "", modified = "" } = old ?? {};
    const next = desiredState(goal, { urn, created, modified });
    if (isProvider(next.type)) {
      if (old && old.urn !== urn) throw new Unsupported(`aliases of providers (of ${nameOf(urn)})`);
      this.differ.newProviders.set(urn, next);
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

  /** Imports the resource, then plans its update to the program's inputs. */
  private import(registration: Registration, old: ResourceState | undefined, next: ResourceState): Plan {
    const { urn, goal, isDeleted } = registration;
    const afterwards = async (): Promise<Plan> => {
      const wanted = desiredState(goal, next);
      return { steps: await this.steps({ ...registration, isImported: true }, next, wanted) };
    };
    if (old === undefined || isDeleted) return { steps: [{ op: "import", urn, new: next }], afterwards };
    const step: Step = { op: "import-replacement", urn, old, new: next, pendingDelete: true };
    return { steps: [step, { op: "replace", urn, old, new: next }], afterwards };
  }

  private async steps(
    registration: Registration,
    old: ResourceState | undefined,
    next: ResourceState,
  ): Promise<Step[]> {
    const { urn, goal, provider, isDeleted, done } = registration;
    const given = goal.state.inputs;
    if (old) next.inputs = this.differ.withIgnored(urn, given, old.inputs, next.ignoreChanges);
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
  ): Promise<Step[]> {
    const isUnready = old.initErrors.length > 0;
    const asked = await this.differ.diff(old, next, provider);
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
      throw new Unsupported(`the replacement of ${nameOf(urn)}, which still has the option import`);
    // The second check gets no old inputs. Otherwise the replacement could reuse values such as generated names.
    if (provider && !this.forced.has(urn))
      next.inputs = await this.check(provider, next, {}, goal.state.inputs);
    const replace: Step = { ...step, op: "replace" };
    const create: Step = { ...step, op: "create-replacement", done };
    if (!(goal.deleteBeforeReplace ?? diff.deleteBeforeReplace))
      return [{ ...create, pendingDelete: true }, replace];
    return [...(await this.deleteFirst(urn, old)), replace, create];
  }

  private async check(provider: Provider, next: ResourceState, olds: Props, news: Props): Promise<Props> {
    const { inputs, failures } = await provider.check(next.urn, olds, news);
    for (const message of checkMessages(next, failures))
      this.context.summary.report("error", message, next.urn);
    if (failures.length > 0) throw new Bail(`resource ${next.urn} is invalid`);
    return inputs;
  }

  /** Plans deletions: first the dependents that must also be replaced, in reverse order, then the resource. */
  private async deleteFirst(urn: string, old: ResourceState): Promise<Step[]> {
    const steps: Step[] = [];
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
    const asked = await this.differ.ask(provider, state.urn, state, inputs, state.ignoreChanges);
    return mustReplace(applyReplaceOnChanges(asked, replaceOnChanges));
  }
}

const protectedMessage = (urn: string, why = "") =>
  `unable to replace resource "${urn}"${why}\nas it is currently marked for protection. To unprotect the resource, ` +
  "remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`";
