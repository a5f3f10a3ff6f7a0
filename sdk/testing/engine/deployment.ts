import type { InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import type { RegisterResourceRequest, ResourceInvokeRequest } from "@pulumi/pulumi/proto/resource_pb";
import type { RunOptions } from "../types";
import { type Context, Executor } from "./apply";
import {
  createUrn,
  deleteOrder,
  dependentsOf,
  isProvider,
  nameInUrn,
  newState,
  packageOf,
  providerType,
  type ResourceState,
  ROOT_STACK,
  requirementsOf,
  typeInUrn,
} from "./checkpoint";
import { type Goal, goalOf, type Options, optionsOf, type ProviderRequest, providerRequest } from "./goals";
import { Bail, isTarget, type Plan, Planner, untargeted } from "./plan";
import { messageOf, Unsupported } from "./project";
import { fromStruct, type Props } from "./properties";
import type { PlannedStep } from "./summary";
import { Transforms } from "./transforms";

/** A preview, an update or a destroy, from the first registration to the last deletion. */
export class Deployment {
  readonly executor: Executor;
  readonly transforms = new Transforms();
  private readonly planner: Planner;
  private readonly defaults = new Map<string, Promise<string>>();
  /** The providers that components pass to their children, by the component's URN. */
  private readonly ofComponents = new Map<string, Record<string, string>>();
  private readonly goals = new Map<string, Goal>();
  private planning: Promise<unknown> = Promise.resolve();
  private stackOutputs: { urn: string; outputs: Props } | undefined;
  private isBailed = false;

  constructor(
    readonly context: Context,
    { target = [], replace = [] }: RunOptions,
  ) {
    this.executor = new Executor(context);
    const forced = new Set(replace.flatMap((named) => this.urnsOf(named)));
    this.planner = new Planner(context, new Set(target), forced);
  }

  /** The URNs with this URN or name. Without one, the run fails. */
  private urnsOf(named: string): string[] {
    const urns = this.context.checkpoint.olds.map(({ urn }) => urn);
    const found = urns.filter((urn) => urn === named || nameInUrn(urn) === named);
    if (found.length === 0) this.bail(new Error(`Target '${named}' could not be found in the stack.`));
    return found;
  }

  get isFailed(): boolean {
    return this.isBailed || this.executor.isFailed || this.planner.failed;
  }

  async register(request: RegisterResourceRequest): Promise<ResourceState> {
    const [token, parent, isCustom] = [request.getType(), request.getParent(), request.getCustom()];
    const options = await this.transformed(request, optionsOf(request));
    const goal = goalOf(request, options);
    const [version, pluginDownloadURL] = [options.getVersion(), options.getPluginDownloadUrl()];
    // A transform can remove an inherited provider, so it is not inherited here.
    const needed = { token, version, pluginDownloadURL, provider: options.getProvider(), parent: "" };
    if (isProvider(token)) Object.assign(goal.state.inputs, this.context.providers.pluginInputs(needed));
    else if (isCustom) goal.state.provider = await this.providerFor(needed);
    const state = await this.registerGoal(goal);
    const providers = Object.fromEntries(options.getProvidersMap().toObject(false));
    if (!isCustom) this.ofComponents.set(state.urn, { ...this.ofComponents.get(parent), ...providers });
    return state;
  }

  /** Sets what a resource inherits from its parent, then runs its transforms and those of its parents and the stack. */
  private transformed(request: RegisterResourceRequest, options: Options): Promise<Options> {
    const parent = this.goals.get(request.getParent());
    if (!options.hasProtect() && parent?.protect !== undefined) options.setProtect(parent.protect);
    if (!options.hasRetainOnDelete() && parent?.retainOnDelete !== undefined)
      options.setRetainOnDelete(parent.retainOnDelete);
    const package_ = packageOf(request.getType());
    const inherited = this.ofComponents.get(request.getParent())?.[package_];
    const provider = options.getProvider() || options.getProvidersMap().get(package_) || inherited;
    if (request.getCustom()) options.setProvider(provider ?? "");
    const transforms = [...request.getTransformsList()];
    for (let each = parent; each; each = this.goals.get(each.state.parent))
      transforms.push(...each.transforms);
    return this.transforms.resource(request, options, transforms);
  }

  async read(goal: Goal, request: ProviderRequest): Promise<ResourceState> {
    goal.state.provider = await this.providerFor(request);
    return this.schedule(this.urnOf(goal), (urn, done) => this.planner.read(urn, goal, done));
  }

  async invoke(request: ResourceInvokeRequest): Promise<InvokeResponse> {
    const token = request.getTok();
    const reference = await this.providerFor(providerRequest(token, request));
    const plugin = await this.context.providers.get(reference);
    return plugin.invoke(token, fromStruct(request.getArgs()), this.context.dryRun);
  }

  /** The provider of the resource or of a component that contains it, otherwise the default provider. */
  private async providerFor(request: ProviderRequest): Promise<string> {
    const package_ = packageOf(request.token);
    const plugin = this.context.providers.pluginInputs(request);
    const named = request.provider || this.ofComponents.get(request.parent)?.[package_];
    if (named) return named;
    const name = defaultName(request);
    const key = `${package_} ${name}`;
    const known = this.defaults.get(key) ?? this.registerDefault(package_, name, plugin);
    this.defaults.set(key, known);
    return known;
  }

  private async registerDefault(package_: string, name: string, plugin: Props): Promise<string> {
    if ("pulumi:disable-default-providers" in this.context.providers.run.config)
      throw new Unsupported("pulumi:disable-default-providers");
    const inputs = { ...this.context.providers.configOf(package_), ...plugin };
    const state = newState(providerType(package_), { custom: true, inputs });
    const { urn, id } = await this.registerGoal({ name, state, aliases: [], transforms: [] });
    return `${urn}::${id}`;
  }

  private registerGoal(goal: Goal): Promise<ResourceState> {
    return this.schedule(this.urnOf(goal), (urn, done) => {
      this.goals.set(urn, goal);
      return this.planner.register(urn, goal, done);
    });
  }

  /** Does not resolve if the resource fails, because the program is ended then. */
  private schedule(
    urn: string,
    plan: (urn: string, done: (state: ResourceState) => void) => Promise<Plan>,
  ): Promise<ResourceState> {
    return new Promise((resolve) => this.enqueue(urn, () => plan(urn, resolve)));
  }

  /** Plans one registration at a time. The next one waits for a free slot, as in Pulumi's engine. */
  private enqueue(urn: string, plan: () => Promise<Plan>): void {
    this.planning = this.planning.then(async () => {
      if (this.executor.isCanceled) return;
      try {
        const { steps, afterwards } = await plan();
        const { done } = await this.executor.execute(steps);
        if (afterwards) void done.then(() => this.enqueue(urn, afterwards));
      } catch (error) {
        this.bail(error, urn);
      }
    });
  }

  bail(error: unknown, urn = ""): void {
    this.isBailed = true;
    if (!(error instanceof Bail) && !this.executor.isCanceled)
      this.context.summary.report("error", messageOf(error), urn);
    this.executor.cancel();
  }

  private urnOf({ name, state: { parent, type } }: Goal): string {
    return createUrn(this.context.place, parent, type, name);
  }

  /** The stack's outputs are written at the end, because they depend on the success of the run. */
  async registerOutputs(urn: string, outputs: Props): Promise<void> {
    if (typeInUrn(urn) === ROOT_STACK) {
      this.stackOutputs = { urn, outputs };
      return;
    }
    const state = this.executor.news.get(urn);
    if (state) state.outputs = outputs;
    this.context.checkpoint.save();
  }

  /**
   * Called when the program has ended. Waits for running steps. If the program succeeded, deletes the resources that it did
   * not register.
   */
  async finish(programSucceeded: boolean): Promise<void> {
    if (!programSucceeded) this.isBailed = this.executor.isCanceled = true;
    // The end of a step can add to `planning`.
    for (let last: unknown; last !== this.planning; ) {
      last = this.planning;
      await this.planning;
      await this.executor.idle();
    }
    if (!this.executor.isCanceled)
      await this.deleteUnregistered().catch((error: unknown) => this.bail(error));
    if (this.stackOutputs) this.finalizeStackOutputs(this.stackOutputs);
    const { executor, planner } = this;
    if (executor.isFailed || (planner.failed && !this.isBailed))
      this.context.summary.report("error", `${this.context.dryRun ? "preview" : "update"} failed`);
  }

  /** Deletes the resources that were not registered, unless a protected resource depends on them. */
  private async deleteUnregistered(): Promise<void> {
    const { planner, executor } = this;
    const { targets } = planner;
    const { olds } = this.context.checkpoint;
    const deletions = new Map<ResourceState, PlannedStep>();
    const left: PlannedStep[] = [];
    for (const old of olds) {
      if (!isTarget(targets, old.urn)) {
        if (!planner.identities.isRegistered(old.urn)) left.push(untargeted(old.urn, old));
        continue;
      }
      const step = this.deletion(old);
      if (!step) continue;
      if (dependentsOf(old, olds).some(({ urn }) => !isTarget(targets, urn)))
        throw new Error(
          `the test engine does not delete the target ${old.urn}: other resources depend on it`,
        );
      planner.deleted.add(old.urn);
      deletions.set(old, step);
      // A preview also loads the provider, to report a missing one.
      if (old.provider !== "") await this.context.providers.of(old);
    }
    await executor.runAll(left);
    for (const group of deleteOrder(deletions.keys(), olds)) {
      if (executor.isCanceled) return;
      const needed = new Set(executor.protected.flatMap((old) => [...requirementsOf(old, olds)]));
      const steps = group.filter((state) => !needed.has(state)).map((state) => deletions.get(state));
      await executor.runAll(steps.filter((step) => step !== undefined));
    }
  }

  private deletion(old: ResourceState): PlannedStep | undefined {
    const { urn, external } = old;
    if (old.delete) {
      if (this.planner.deletedFirst.has(old)) return undefined;
      return { op: external ? "discard-replaced" : "delete-replaced", urn, old };
    }
    if (this.planner.identities.isRegistered(urn)) return undefined;
    if (!old.pendingReplacement) return { op: external ? "discard" : "delete", urn, old };
    // It was deleted for a replacement, and the program no longer contains it.
    this.context.checkpoint.drop(old);
    this.context.checkpoint.save();
    return undefined;
  }

  private finalizeStackOutputs({ urn, outputs }: { urn: string; outputs: Props }): void {
    const state = this.executor.news.get(urn);
    if (!state) return;
    // After a failed run, missing outputs keep their old values, because the program may have ended before it set them.
    state.outputs = this.isFailed ? { ...this.planner.identities.old(urn)?.outputs, ...outputs } : outputs;
    this.context.checkpoint.save();
  }
}

/** The name of the default provider: `default_4_16_0`, and for a plugin from a URL `default_1_0_0_github_/api.example.com`. */
function defaultName({ version, pluginDownloadURL }: ProviderRequest): string {
  const parts = pluginDownloadURL.split("/").filter((part) => part !== "");
  const url = parts.map((part) => part.replace(/^[^\w.]|[^\w.-]/g, "_")).join("/");
  return ["default", ...version.split(/[.+-]/), url].filter((part) => part !== "").join("_");
}
