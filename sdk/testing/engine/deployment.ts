import { randomUUID } from "node:crypto";
import type { Checkpoint } from "./checkpoint";
import type { Display } from "./display";
import { Executor } from "./executor";
import type { Goal, ReadGoal } from "./goal";
import { Graph } from "./graph";
import type { Registrar } from "./monitor";
import type { Providers } from "./providers";
import { createUrn, newState, PROVIDER_TYPE, type ResourceState, ROOT_STACK } from "./resourceState";
import { Bail, type Step, Steps } from "./steps";
import { equal, type Props, UNKNOWN_TEXT } from "./values";

export interface DeploymentOptions {
  stack: string;
  project: string;
  dryRun: boolean;
  parallel: number;
  /** The whole stack configuration, which the default provider is configured with. */
  config: Props;
  replaceTargets: Set<string>;
}

/** One preview, update or destroy from its first registration to its last deletion; as the `deploymentExecutor`. */
export class Deployment implements Registrar {
  readonly executor: Executor;
  /** Set when the program said that it has ended well. */
  ended = false;
  private readonly steps: Steps;
  private readonly goals = new Map<string, Goal>();
  private deciding: Promise<unknown> = Promise.resolve();
  private defaultProvider: string | undefined;
  private stackOutputs: { urn: string; outputs: Props } | undefined;
  private bailed = false;

  constructor(
    private readonly options: DeploymentOptions,
    private readonly checkpoint: Checkpoint,
    private readonly display: Display,
    private readonly providers: Providers,
    /** Called once, when the run has failed and the program is to be ended. */
    onCancel: () => void,
  ) {
    const provider = (reference: string) => providers.get(reference);
    const { dryRun, parallel, replaceTargets } = options;
    this.executor = new Executor({ dryRun, checkpoint, provider }, display, parallel, onCancel);
    this.steps = new Steps({
      dryRun,
      olds: checkpoint.olds,
      replaceTargets,
      provider,
      report: (severity, message, urn) => display.report(severity, message, urn),
    });
  }

  get failed(): boolean {
    return this.bailed || this.executor.sawError || this.steps.sawError;
  }

  register(goal: Goal): Promise<ResourceState> {
    inheritFromParent(goal, this.goals.get(goal.parent));
    const urn = this.urnOf(goal);
    return this.decide(urn, async (done) => {
      const provider = goal.custom ? await this.ensureDefaultProvider(goal.type) : "";
      this.goals.set(urn, goal);
      return this.steps.register(urn, goal, provider, done);
    });
  }

  read(goal: ReadGoal): Promise<ResourceState> {
    const urn = this.urnOf(goal);
    return this.decide(urn, async (done) => {
      const provider = await this.ensureDefaultProvider(goal.type);
      const { type, name: _, ...fields } = goal;
      return this.steps.read(
        newState(urn, type, { ...fields, custom: true, external: true, provider }),
        done,
      );
    });
  }

  /** One decision at a time; it waits for a worker, as the real engine does. Never resolves for what failed. */
  private decide(
    urn: string,
    choose: (done: (state: ResourceState) => void) => Promise<Step[]>,
  ): Promise<ResourceState> {
    return new Promise((resolve) => {
      this.deciding = this.deciding.then(async () => {
        if (this.executor.canceled) return;
        try {
          await this.executor.execute(await choose(resolve));
        } catch (error) {
          this.bail(error, urn);
        }
      });
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

  /** The first custom resource brings the provider's own entry into the state; as `newRegisterDefaultProviderEvent`. */
  private async ensureDefaultProvider(type: string): Promise<string> {
    const [package_ = ""] = type.split(":");
    if (package_ !== "pulumi-nodejs")
      throw new Bail(
        `the test engine runs dynamic providers only, and ${type} belongs to the package ${package_}`,
        false,
      );
    if (this.defaultProvider !== undefined) return this.defaultProvider;
    const { config, dryRun } = this.options;
    const urn = this.urnOf({ parent: "", type: PROVIDER_TYPE, name: "default" });
    this.steps.claim(urn, "");
    const old = this.steps.old(urn);
    const next = newState(urn, PROVIDER_TYPE, {
      custom: true,
      inputs: config,
      created: old?.created ?? "",
      modified: old?.modified ?? "",
    });
    next.id = old?.id ?? (dryRun ? UNKNOWN_TEXT : randomUUID());
    const op = old === undefined ? "create" : equal(old.outputs ?? {}, config) ? "same" : "update";
    const reference = `${urn}::${next.id}`;
    this.steps.operated.add(urn);
    this.providers.add(reference, config);
    const step: Step = { op, urn, ...(old && { old }), new: next, logical: true, internal: true };
    await (await this.executor.execute([step])).done;
    this.defaultProvider = reference;
    return reference;
  }

  /** As `executeRegisterResourceOutputs`: the stack's own are kept until it is known how the run ended. */
  async registerOutputs(urn: string, outputs: Props): Promise<void> {
    if (this.typeOf(urn) === ROOT_STACK) {
      this.stackOutputs = { urn, outputs };
      return;
    }
    const step = this.executor.pendingNews.get(urn);
    if (!step?.new) throw new Error(`cannot complete a resource '${urn}' whose registration isn't pending`);
    this.executor.pendingNews.delete(urn);
    step.new.outputs = outputs;
    this.checkpoint.save();
  }

  private typeOf(urn: string): string {
    return (urn.split("::")[2] ?? "").split("$").at(-1) ?? "";
  }

  lookup(urn: string): ResourceState | undefined {
    return this.executor.news.get(urn);
  }

  log(severity: "debug" | "info" | "warning" | "error", message: string, urn: string): void {
    this.display.report(severity, message, urn);
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
    await this.deciding;
    await this.executor.idle();
    if (!this.executor.canceled) {
      try {
        await this.deleteRest();
      } catch (error) {
        this.bail(error);
      }
    }
    this.finalizeStackOutputs();
    if (this.executor.sawError || (this.steps.sawError && !this.bailed))
      this.display.report("error", `${this.options.dryRun ? "preview" : "update"} failed`);
  }

  /** As `GenerateDeletes` and `performPostSteps`. */
  private async deleteRest(): Promise<void> {
    const { steps, checkpoint, executor } = this;
    const deletions = new Map<ResourceState, Step>();
    for (const old of checkpoint.olds) {
      const step = this.deletion(old);
      if (!step) continue;
      steps.deletes.add(old.urn);
      deletions.set(old, step);
    }
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

  private deletion(old: ResourceState): Step | undefined {
    const { steps } = this;
    const internal = old.type === PROVIDER_TYPE;
    if (old.delete) {
      if (steps.pendingDeletes.has(old)) return undefined;
      return {
        op: old.external ? "discard-replaced" : "delete-replaced",
        urn: old.urn,
        old,
        logical: false,
        internal,
      };
    }
    if (steps.operated.has(old.urn)) return undefined;
    // It was deleted for a replacement that no longer comes; as `RemovePendingReplaceStep`.
    if (old.pendingReplacement) {
      this.checkpoint.markDone(old);
      this.checkpoint.save();
      return undefined;
    }
    return { op: old.external ? "discard" : "delete", urn: old.urn, old, logical: true, internal };
  }

  private finalizeStackOutputs(): void {
    if (!this.stackOutputs) return;
    const { urn, outputs } = this.stackOutputs;
    const state = this.executor.news.get(urn);
    if (!state) return;
    const olds = this.steps.old(urn)?.outputs ?? {};
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
