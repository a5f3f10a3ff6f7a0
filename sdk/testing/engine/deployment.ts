import type { Checkpoint } from "./checkpoint";
import { deleteRest } from "./deletions";
import type { Display } from "./display";
import { Executor } from "./executor";
import type { Goal, ProviderWish, ReadGoal } from "./goal";
import type { Registrar } from "./monitor";
import type { Invoked } from "./pluginClient";
import { withPlugin } from "./pluginInputs";
import { ProviderChoice, pluginsInState } from "./providerChoice";
import { type Providers, providersOf } from "./providerSource";
import type { Registry } from "./registry";
import { createUrn, isProviderType, newState, type ResourceState, ROOT_STACK, typeOf } from "./resourceState";
import { Bail, type Plan } from "./step";
import { Steps } from "./steps";
import type { Targets } from "./targets";
import type { Props } from "./values";

export interface DeploymentOptions {
  stack: string;
  project: string;
  dryRun: boolean;
  parallel: number;
  /** The whole stack configuration, which default providers are configured with. */
  config: Props;
  replaceTargets: Set<string>;
  targets: Targets;
}

/** One preview, update or destroy from its first registration to its last deletion; as the `deploymentExecutor`. */
export class Deployment implements Registrar {
  readonly executor: Executor;
  /** Set when the program said that it has ended well. */
  ended = false;
  private readonly steps: Steps;
  private readonly choice: ProviderChoice;
  private readonly providers: Providers;
  private readonly goals = new Map<string, Goal>();
  private deciding: Promise<unknown> = Promise.resolve();
  private stackOutputs: { urn: string; outputs: Props } | undefined;
  private bailed = false;
  private interrupted = false;

  constructor(
    private readonly options: DeploymentOptions,
    private readonly checkpoint: Checkpoint,
    private readonly display: Display,
    private readonly registry: Registry,
    /** Called once, when the run has failed and the program is to be ended. */
    onCancel: () => void,
  ) {
    const report = display.report.bind(display);
    const providers = providersOf(registry);
    this.providers = providers;
    const { dryRun, parallel } = options;
    const context = { dryRun, checkpoint, report, providerOf: providers.of, keepProvider: providers.keep };
    this.executor = new Executor(context, display, parallel, onCancel);
    this.steps = new Steps({ ...options, olds: checkpoint.olds, providers, report });
    this.choice = new ProviderChoice(options.config, pluginsInState(checkpoint.olds), (goal) =>
      this.decideGoal(goal),
    );
  }

  get failed(): boolean {
    return this.bailed || this.executor.sawError || this.steps.sawError;
  }

  /** As `resmon.RegisterResource`. */
  async register(goal: Goal, wish: ProviderWish): Promise<ResourceState> {
    inheritFromParent(goal, this.goals.get(goal.parent));
    if (isProviderType(goal.type)) goal.inputs = withPlugin(goal.inputs, this.choice.pluginOfExplicit(wish));
    else if (goal.custom) goal.provider = await this.choice.of(wish);
    const state = await this.decideGoal(goal);
    if (!goal.custom) this.choice.component(state.urn, wish);
    return state;
  }

  async read(goal: ReadGoal, wish: ProviderWish): Promise<ResourceState> {
    const provider = await this.choice.of(wish);
    const urn = this.urnOf(goal);
    const { type, name, ...fields } = goal;
    const state = newState(urn, type, { ...fields, custom: true, external: true, provider });
    return this.decide(urn, async (done) => ({ steps: this.steps.read(name, state, done) }));
  }

  /** As `resmon.Invoke`. */
  async invoke(token: string, args: Props, wish: ProviderWish): Promise<Invoked> {
    const client = await this.registry.get(await this.choice.of(wish));
    return client.invoke(token, args, this.options.dryRun);
  }

  private decideGoal(goal: Goal): Promise<ResourceState> {
    const urn = this.urnOf(goal);
    return this.decide(urn, (done) => {
      this.goals.set(urn, goal);
      return this.steps.register(urn, goal, done);
    });
  }

  /** Never resolves for what failed. */
  private decide(
    urn: string,
    choose: (done: (state: ResourceState) => void) => Promise<Plan>,
  ): Promise<ResourceState> {
    return new Promise((resolve) => this.inTurn(urn, () => choose(resolve)));
  }

  /** One decision at a time; it waits for a worker, as the real engine does. */
  private inTurn(urn: string, choose: () => Promise<Plan>): void {
    this.deciding = this.deciding.then(async () => {
      if (this.executor.canceled) return;
      try {
        const { steps, afterwards } = await choose();
        const { done } = await this.executor.execute(steps);
        if (afterwards) void done.then(() => this.inTurn(urn, afterwards));
      } catch (error) {
        this.bail(error, urn);
      }
    });
  }

  private bail(error: unknown, urn = ""): void {
    this.bailed = true;
    if (!(error instanceof Bail && error.reported) && !this.executor.canceled)
      this.display.report("error", error instanceof Error ? error.message : String(error), urn);
    this.executor.cancel();
  }

  private urnOf({ parent, type, name }: { parent: string; type: string; name: string }): string {
    return createUrn(this.options.stack, this.options.project, parent, type, name);
  }

  /** As `executeRegisterResourceOutputs`: the stack's own are kept until it is known how the run ended. */
  async registerOutputs(urn: string, outputs: Props): Promise<void> {
    if (typeOf(urn) === ROOT_STACK) {
      this.stackOutputs = { urn, outputs };
      return;
    }
    const step = this.executor.pendingNews.get(urn);
    if (!step?.new) throw new Error(`cannot complete a resource '${urn}' whose registration isn't pending`);
    this.executor.pendingNews.delete(urn);
    step.new.outputs = outputs;
    this.checkpoint.save();
  }

  lookup(urn: string): ResourceState | undefined {
    return this.executor.news.get(urn);
  }

  log(severity: "debug" | "info" | "warning" | "error", message: string, urn: string): void {
    this.display.report(severity, message, urn);
  }

  /** What is under way ends, and nothing more begins; as a cancelled context makes `Execute` do. */
  interrupt(): void {
    this.interrupted = true;
    this.bailed = true;
    void this.registry.cancel();
    this.executor.cancel();
  }

  refuse(message: string): void {
    this.bail(new Bail(message, false));
  }

  finished(): void {
    this.ended = true;
  }

  /** The program is gone. Waits for what has begun, then deletes what was not registered, where all went well. */
  async finish(programSucceeded: boolean): Promise<void> {
    if (!programSucceeded) this.bailed = true;
    if (!programSucceeded) this.executor.canceled = true;
    await this.settled();
    if (!this.executor.canceled) {
      try {
        const { steps, checkpoint, executor, providers, options } = this;
        await deleteRest(steps, checkpoint, executor, providers, options.targets);
      } catch (error) {
        this.bail(error);
      }
    }
    this.finalizeStackOutputs();
    const what = this.options.dryRun ? "preview" : "update";
    if (this.executor.sawError || (this.steps.sawError && !this.bailed))
      this.display.report("error", `${what} failed`);
    else if (this.interrupted) this.display.report("error", `${what} canceled`);
  }

  /** A step that is done may bring the next decision with it. */
  private async settled(): Promise<void> {
    for (let last: unknown; last !== this.deciding; ) {
      last = this.deciding;
      await this.deciding;
      await this.executor.idle();
    }
  }

  private finalizeStackOutputs(): void {
    if (!this.stackOutputs) return;
    const { urn, outputs } = this.stackOutputs;
    const state = this.executor.news.get(urn);
    if (!state) return;
    const olds = this.steps.identities.old(urn)?.outputs ?? {};
    // Where the run failed, an output that is missing may only not have been reached.
    state.outputs = this.failed ? { ...olds, ...outputs } : outputs;
    this.checkpoint.save();
  }

  /** The stack's outputs before and after the run. */
  outputs(): { olds: Props; news: Props } {
    const root = (states: ResourceState[]): Props =>
      states.find(({ type }) => type === ROOT_STACK)?.outputs ?? {};
    const news = this.options.dryRun
      ? root([...this.executor.news.values()])
      : this.checkpoint.stackOutputs();
    return { olds: root(this.checkpoint.olds), news };
  }
}

/** As `inheritFromParent`. */
function inheritFromParent(goal: Goal, parent: Goal | undefined): void {
  goal.protect ??= parent?.protect;
  goal.retainOnDelete ??= parent?.retainOnDelete;
}
