import { apply, type Context, Protected } from "./apply";
import { isDefaultProvider, type ResourceState } from "./checkpoint";
import { PARALLEL } from "./processes";
import { messageOf } from "./project";
import { InitFailed } from "./providerCalls";
import type { Step } from "./summary";

/** Limits the number of concurrent operations. The others wait in order. */
export class Slots {
  private readonly waiting: (() => void)[] = [];
  constructor(private free: number) {}

  async acquire(): Promise<void> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  release(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free++;
  }
}

/** Runs chains of steps in parallel. After the first failure, running steps finish and no other step starts. */
export class Executor {
  /** The new states by URN. */
  readonly news = new Map<string, ResourceState>();
  /** Protected resources that were not deleted. */
  readonly protected: ResourceState[] = [];
  isFailed = false;
  isCanceled = false;
  /** Called once when the run fails. */
  onCancel: () => void = () => {};
  private readonly running = new Set<Promise<void>>();
  private readonly slots = new Slots(PARALLEL);

  constructor(private readonly context: Context) {}

  cancel(): void {
    if (!this.isCanceled) this.onCancel();
    this.isCanceled = true;
  }

  /** Resolves when the chain has started. `done` resolves when it has ended. */
  async execute(chain: Step[]): Promise<{ done: Promise<void> }> {
    await this.slots.acquire();
    const done = this.run(chain).finally(() => {
      this.running.delete(done);
      this.slots.release();
    });
    this.running.add(done);
    return { done };
  }

  /** Runs steps in parallel and waits for them. */
  async runAll(steps: Step[]): Promise<void> {
    for (const step of steps) await this.execute([step]);
    await this.idle();
  }

  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private async run(chain: Step[]): Promise<void> {
    for (const step of chain) {
      if (this.isCanceled) return;
      const { op, urn, new: next } = step;
      try {
        await apply(step, this.context);
      } catch (error) {
        if (error instanceof InitFailed && next) this.news.set(urn, next);
        return this.fail(step, error);
      }
      if (next && op !== "replace") this.news.set(urn, next);
      this.context.summary.add(step);
      if (next) step.done?.(next);
    }
  }

  private fail(step: Step, error: unknown): void {
    const message = messageOf(error);
    this.isFailed = true;
    const { dryRun, summary } = this.context;
    const urn = isDefaultProvider(step.urn) ? "" : step.urn;
    summary.report("error", dryRun ? `Preview failed: ${message}` : message, urn);
    summary.addFailure(step);
    // The provider was not called, so the other deletions can continue.
    if (error instanceof Protected && step.old) this.protected.push(step.old);
    else this.cancel();
  }
}
