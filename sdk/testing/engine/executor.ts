import { type ApplyContext, apply, Protected } from "./apply";
import type { Display } from "./display";
import { InitFailed } from "./provider";
import { isDefaultProvider, type ResourceState } from "./resourceState";
import { Bail, type Step } from "./step";

/** Lets at most so many in at once; the others wait in the order in which they came. */
export class Slots {
  private readonly waiting: (() => void)[] = [];
  constructor(private free: number) {}

  async take(): Promise<void> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  give(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free++;
  }
}

/**
 * Does the steps that were decided, several chains at a time, each chain in its order. The first failure stops the rest:
 * what has begun ends, nothing more begins. As the `stepExecutor`.
 */
export class Executor {
  /** The registrations that their outputs may still follow, by URN; as `pendingNews`. */
  readonly pendingNews = new Map<string, Step>();
  /** Every state that a step has made or kept, by URN. */
  readonly news = new Map<string, ResourceState>();
  /** Steps that failed without stopping the others. */
  readonly errored: Step[] = [];
  /** What the first step that failed said. */
  failure: string | undefined;
  canceled = false;
  private readonly running = new Set<Promise<void>>();
  private readonly slots: Slots;

  constructor(
    private readonly context: ApplyContext,
    private readonly display: Display,
    parallel: number,
    private readonly onCancel: () => void,
  ) {
    this.slots = new Slots(parallel);
  }

  get sawError(): boolean {
    return this.failure !== undefined;
  }

  cancel(): void {
    if (this.canceled) return;
    this.canceled = true;
    this.onCancel();
  }

  /** Resolves when a worker has taken the chain, which is not when it is done: `idle` tells that. */
  async execute(chain: Step[]): Promise<{ done: Promise<void> }> {
    await this.slots.take();
    const done = this.run(chain).finally(() => {
      this.running.delete(done);
      this.slots.give();
    });
    this.running.add(done);
    return { done };
  }

  /** All at once, as far as there are workers, until the last one is done. */
  async together(steps: Step[]): Promise<void> {
    for (const step of steps) await this.execute([step]);
    await this.idle();
  }

  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private async run(chain: Step[]): Promise<void> {
    for (const step of chain) {
      if (this.canceled) return;
      try {
        await this.runStep(step);
      } catch (error) {
        this.failed(step, error);
        return;
      }
    }
  }

  private async runStep(step: Step): Promise<void> {
    try {
      await apply(step, this.context);
    } catch (error) {
      if (error instanceof InitFailed && step.new) this.news.set(step.urn, step.new);
      throw error;
    }
    if (step.new) {
      if (step.logical || step.op === "create-replacement") this.pendingNews.set(step.urn, step);
      if (step.op !== "replace") this.news.set(step.urn, step.new);
    }
    this.display.done(step);
    if (step.new) step.done?.(step.new);
  }

  private failed(step: Step, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.failure ??= message;
    if (!(error instanceof Bail && error.reported))
      this.display.report(
        "error",
        this.context.dryRun ? `Preview failed: ${message}` : message,
        isDefaultProvider(step.urn) ? "" : step.urn,
      );
    this.display.failure(step);
    // Nothing was tried and nothing answered, so that the other deletions may go on; as `cancelDueToError`.
    if (error instanceof Protected) this.errored.push(step);
    else this.cancel();
  }
}
