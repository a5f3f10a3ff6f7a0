import type { InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import type * as pb from "@pulumi/pulumi/proto/resource_pb";
import { messageOf } from "../../../provider/data/index";
import type { Props } from "../../pulumi-cli/index";
import { Unsupported } from "../errors";
import type { RunOptions, RunResult } from "../types";
import {
  Checkpoint,
  createUrn,
  deleteOrder,
  dependentsOf,
  isDefaultProvider,
  isProvider,
  nameInUrn,
  newState,
  packageOf,
  providerType,
  type ResourceState,
  ROOT_STACK,
  requirementsOf,
  typeInUrn,
  type UrnScope,
} from "./checkpoint";
import { Bail, decideSteps, isTarget, type RunState, untargetedStep } from "./decide";
import { type Goal, goalOf, readGoalOf } from "./goals";
import { Identities } from "./identities";
import type { RunSetup } from "./processes";
import { fromStruct } from "./protocol";
import { Providers } from "./providers";
import { Protected, perform } from "./steps";
import { type PlannedStep, Summary } from "./summary";

/** The result of a run. Secrets in `outputs` are still marked. */
export type RunOutcome = Omit<RunResult, "command" | "seconds" | "requests">;

/**
 * One run: a preview, an update, a refresh or a destroy. As in Pulumi's engine, steps are decided for one registration at a time,
 * and run in parallel. After the first failure, running steps finish, and no other step starts.
 */
export class Deployment implements RunState {
  readonly scope: UrnScope;
  readonly dryRun: boolean;
  readonly summary: Summary;
  readonly checkpoint: Checkpoint;
  readonly providers: Providers;
  readonly identities: Identities;
  readonly targets: ReadonlySet<string>;
  readonly forced: ReadonlySet<string>;
  readonly news = new Map<string, ResourceState>();
  readonly deletedFirst = new Set<ResourceState>();
  isCanceled = false;
  /** Called at the first failure. */
  onCancel: () => void = () => {};
  private isBailed = false;
  private hasFailedStep = false;
  private readonly defaultProviders = new Map<string, Promise<string>>();
  private readonly protectedStates: ResourceState[] = [];
  private readonly running = new Set<Promise<void>>();
  private deciding: Promise<unknown> = Promise.resolve();
  private stackOutputs: { urn: string; outputs: Props } | undefined;

  constructor(
    private readonly run: RunSetup,
    title: string,
    { target = [], replace = [] }: RunOptions = {},
  ) {
    this.scope = { stack: run.stack, project: run.project.name };
    this.dryRun = run.dryRun;
    this.summary = new Summary(title, this.scope, run.dryRun);
    this.checkpoint = new Checkpoint(run.stateFile, run.dryRun);
    this.providers = new Providers(run, this.checkpoint.olds, this.onLine);
    this.identities = new Identities(this.scope, this.checkpoint.olds);
    this.targets = new Set(target);
    this.forced = new Set(replace.flatMap((named) => this.urnsOf(named)));
  }

  /** Lines that the program and the dynamic provider print become messages, as in Pulumi's display. */
  readonly onLine = (line: string): void => {
    if (line.trim() !== "") this.summary.report("info", line);
  };

  get isFailed(): boolean {
    return this.isBailed || this.hasFailedStep;
  }

  get outcome(): RunOutcome {
    const { checkpoint, summary } = this;
    const outputs = stackOutputs([...this.news.values(), ...checkpoint.snapshot()]);
    const { steps, changes, diagnostics } = summary;
    const text = summary.text(stackOutputs(checkpoint.olds), outputs);
    return { ok: !this.isFailed, outputs, steps, changes, diagnostics, text };
  }

  /** The URNs of the resources with this URN or name. The run fails if there are none. */
  private urnsOf(named: string): string[] {
    const urns = this.checkpoint.olds.map(({ urn }) => urn);
    const found = urns.filter((urn) => urn === named || nameInUrn(urn) === named);
    if (found.length === 0) this.bail(notFound(named));
    return found;
  }

  /** Fails the run if neither the state nor the program has a target, such as a misspelt URN. */
  checkTargets(): void {
    const { identities, targets } = this;
    for (const urn of targets)
      if (!identities.old(urn) && !identities.registered.has(urn)) this.bail(notFound(urn));
  }

  /** Registers a resource. If it fails, the promise never resolves, because the program is then stopped. */
  async register(request: pb.RegisterResourceRequest): Promise<ResourceState> {
    const goal = goalOf(request, this.news.get(request.getParent()));
    const { type, custom } = goal.state;
    if (isProvider(type)) this.providers.assertKnownPackage(type, request);
    else if (custom) goal.state.provider = await this.providerFor(type, request);
    return this.registerGoal(goal);
  }

  async read(request: pb.ReadResourceRequest): Promise<ResourceState> {
    const goal = readGoalOf(request);
    goal.state.provider = await this.providerFor(goal.state.type, request);
    return this.registerGoal(goal);
  }

  async invoke(request: pb.ResourceInvokeRequest): Promise<InvokeResponse> {
    const token = request.getTok();
    const plugin = await this.providers.get(await this.providerFor(token, request));
    return plugin.invoke(token, fromStruct(request.getArgs()), this.dryRun);
  }

  /** The provider that the program or the SDK (from the parent) names, or else the package's default provider. */
  private async providerFor(
    token: string,
    request: pb.RegisterResourceRequest | pb.ReadResourceRequest | pb.ResourceInvokeRequest,
  ): Promise<string> {
    this.providers.assertKnownPackage(token, request);
    const package_ = packageOf(token);
    const known = request.getProvider() || this.defaultProviders.get(package_);
    if (known) return known;
    const registered = this.registerDefault(package_);
    this.defaultProviders.set(package_, registered);
    return registered;
  }

  private async registerDefault(package_: string): Promise<string> {
    if ("pulumi:disable-default-providers" in this.run.config)
      throw new Unsupported("pulumi:disable-default-providers");
    const inputs = this.providers.configOf(package_);
    const state = newState(providerType(package_), { custom: true, inputs });
    const { urn, id } = await this.registerGoal({ name: "default", state, aliases: [] });
    return `${urn}::${id}`;
  }

  private registerGoal(goal: Goal): Promise<ResourceState> {
    const urn = createUrn(this.scope, goal.state.parent, goal.state.type, goal.name);
    return new Promise((resolve) => {
      this.deciding = this.deciding.then(async () => {
        if (this.isCanceled) return;
        try {
          const steps = await decideSteps(urn, goal, this);
          await this.startWhenFree(async () => {
            for (const step of steps) if (!(await this.perform(step))) return;
            // A renamed resource that is not a target keeps its old URN.
            const state = this.news.get(steps.at(-1)?.urn ?? urn);
            if (state) resolve(state);
          });
        } catch (error) {
          this.bail(error, urn);
        }
      });
    });
  }

  /** Starts work as soon as fewer steps run than may run in parallel. Resolves at the start. */
  async startWhenFree(work: () => Promise<void>): Promise<void> {
    while (this.running.size >= this.run.parallel) await Promise.race(this.running);
    const done = work().finally(() => this.running.delete(done));
    this.running.add(done);
  }

  async waitForSteps(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  /** Performs a step. Returns false if it failed, or if the run is canceled. */
  async perform(step: PlannedStep): Promise<boolean> {
    if (this.isCanceled) return false;
    const { op, urn, old, new: next } = step;
    try {
      await perform(step, this);
    } catch (error) {
      const message = this.dryRun ? `Preview failed: ${messageOf(error)}` : messageOf(error);
      this.fail(message, isDefaultProvider(urn) ? "" : urn);
      this.summary.addFailure(step);
      // Other deletions continue after a protected resource, because its provider was not called.
      if (error instanceof Protected && old) this.protectedStates.push(old);
      else this.cancel();
      return false;
    }
    if (next && op !== "replace") this.news.set(urn, next);
    this.summary.add(step);
    return true;
  }

  private async performAll(steps: PlannedStep[]): Promise<void> {
    for (const step of steps)
      await this.startWhenFree(async () => {
        await this.perform(step);
      });
    await this.waitForSteps();
  }

  fail(message: string, urn: string): void {
    this.hasFailedStep = true;
    this.summary.report("error", message, urn);
  }

  /** Ends the run because of an error outside of steps. */
  bail(error: unknown, urn = ""): void {
    this.isBailed = true;
    if (!(error instanceof Bail) && !this.isCanceled) this.summary.report("error", messageOf(error), urn);
    this.cancel();
  }

  private cancel(): void {
    if (!this.isCanceled) this.onCancel();
    this.isCanceled = true;
  }

  /** Sets a component's outputs. The stack's outputs are set at the end, because they depend on the success of the run. */
  async registerOutputs(urn: string, outputs: Props): Promise<void> {
    if (typeInUrn(urn) === ROOT_STACK) {
      this.stackOutputs = { urn, outputs };
      return;
    }
    const state = this.news.get(urn);
    if (state) state.outputs = outputs;
    this.checkpoint.save();
  }

  /**
   * Ends the run after the program: waits for running steps, and if the program succeeded, deletes the resources that it did not
   * register.
   */
  async finish(programSucceeded: boolean): Promise<void> {
    if (!programSucceeded) this.isBailed = this.isCanceled = true;
    await this.deciding;
    await this.waitForSteps();
    if (!this.isCanceled) this.checkTargets();
    if (!this.isCanceled) await this.deleteUnregistered().catch((error: unknown) => this.bail(error));
    const { urn = "", outputs } = this.stackOutputs ?? {};
    const stack = this.news.get(urn);
    if (stack) {
      // After a failure, missing outputs keep their old values, because the program may have ended before it set them.
      stack.outputs = this.isFailed ? { ...this.identities.old(urn)?.outputs, ...outputs } : outputs;
      this.checkpoint.save();
    }
    if (this.hasFailedStep) this.summary.report("error", `${this.dryRun ? "preview" : "update"} failed`);
  }

  /** Deletes the resources that were not registered, unless a protected resource depends on them. */
  private async deleteUnregistered(): Promise<void> {
    const { targets, identities, checkpoint } = this;
    const { olds } = checkpoint;
    const deletions = new Map<ResourceState, PlannedStep>();
    const left: PlannedStep[] = [];
    for (const old of olds) {
      if (!isTarget(targets, old.urn)) {
        if (!identities.isRegistered(old.urn)) left.push(untargetedStep(old.urn, old));
        continue;
      }
      const step = this.deletion(old);
      if (!step) continue;
      if (dependentsOf(old, olds).some(({ urn }) => !isTarget(targets, urn)))
        throw new Error(
          `the test engine does not delete the target ${old.urn}: other resources depend on it`,
        );
      deletions.set(old, step);
      // A preview also loads the provider, to report a missing one.
      if (old.provider !== "") await this.providers.forResource(old);
    }
    await this.performAll(left);
    for (const group of deleteOrder(deletions.keys(), olds)) {
      if (this.isCanceled) return;
      const needed = new Set(this.protectedStates.flatMap((old) => [...requirementsOf(old, olds)]));
      const steps = group.filter((state) => !needed.has(state)).map((state) => deletions.get(state));
      await this.performAll(steps.filter((step) => step !== undefined));
    }
  }

  private deletion(old: ResourceState): PlannedStep | undefined {
    const { urn, external } = old;
    if (old.delete) return this.deletedFirst.has(old) ? undefined : { op: "delete-replaced", urn, old };
    if (this.identities.isRegistered(urn)) return undefined;
    // The resource was deleted for a replacement, or its deletion was skipped. In both cases, the provider is not called again.
    if (old.pendingReplacement) return { op: "remove-pending-replace", urn, old };
    return { op: external ? "discard" : "delete", urn, old };
  }
}

const notFound = (target: string) => new Error(`Target '${target}' could not be found in the stack.`);

const stackOutputs = (states: ResourceState[]): Props =>
  states.find(({ type }) => type === ROOT_STACK)?.outputs ?? {};
