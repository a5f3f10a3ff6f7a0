import type { JsonObject } from "../../provider/data/index";
import type { Clock } from "../../provider/service/clock";

/* A phase of a command, with its provider processes and the schedule of its steps. */

/** The operations of a provider for one resource. */
export interface Provider {
  check(
    olds: JsonObject,
    news: JsonObject,
  ): Promise<{ inputs: JsonObject; failures: readonly { reason: string }[] }>;
  diff(
    id: string,
    olds: JsonObject,
    news: JsonObject,
  ): Promise<{ changes: boolean; replaces: string[]; deleteBeforeReplace?: boolean }>;
  create(news: JsonObject): Promise<{ id: string; outs: JsonObject }>;
  /** The id is empty if the resource is gone. */
  read(
    id: string,
    outputs: JsonObject,
    inputs: JsonObject,
  ): Promise<{ id: string; props?: JsonObject | undefined; inputs?: JsonObject | undefined }>;
  update(id: string, olds: JsonObject, news: JsonObject): Promise<{ outs: JsonObject }>;
  delete(id: string, outputs: JsonObject): Promise<void>;
  import?(id: string): Promise<{ id: string; props: JsonObject; inputs: JsonObject }>;
}

/** A process of a provider. */
export interface Process {
  /** The operations for the resource with this name. */
  of(name: string): Provider;
  /** Ends the process like SIGKILL. */
  kill(): void;
}

/**
 * The times at which steps run. `one by one`: each step ends before check and diff of the next resource. `planned`: check and
 * diff of all resources come first, then one step after the other. `together`: the same, with all steps at once. `late`, `at
 * once`: a step runs beside check and diff of the next resource, which come half a second later, or at once.
 */
export type ScheduleMode = "one by one" | "planned" | "together" | "late" | "at once";

/** A schedule of the engine's calls. */
export interface Schedule {
  mode: ScheduleMode;
  /** The order of resources. Default: the program's order, and for deletions the state's order, reversed. */
  names?: string[];
  /** The number of parallel steps. Default: 1 with a serial mode, and no limit otherwise. */
  parallel?: number;
}

/** The options of a command. */
export interface Command {
  /** `--target`: the other resources get neither check nor diff. */
  target?: readonly string[] | undefined;
  /** `--replace`: these resources are replaced without a diff. */
  replace?: readonly string[] | undefined;
  /** `--refresh`: all resources are read first. */
  refresh?: boolean | undefined;
  continueOnError?: boolean | undefined;
  /** The number of parallel steps. Default: the schedule's number. */
  parallel?: number | undefined;
  /** The number of steps after which the processes are killed. */
  killAfter?: number | undefined;
}

/** The result of a command. */
export interface Outcome {
  errors: readonly (readonly [name: string, message: string])[];
  killed: boolean;
}

/** A change of the service that also stores the result. */
export type Step = () => Promise<unknown>;

const isSerial = (mode: ScheduleMode) => mode === "one by one" || mode === "planned";

export interface Dependencies {
  clock: Clock;
  schedule: Schedule;
  start(provider: string): Promise<Process>;
}

export class Phase {
  readonly errors: [name: string, message: string][] = [];
  /** The names of entries that the engine deletes in this phase. */
  readonly deletes = new Set<string>();
  /** The names of resources that the engine replaces in this phase. */
  readonly replaces = new Set<string>();
  private readonly processes = new Map<string, Promise<Process>>();
  private readonly started = new Set<Process>();
  private readonly running = new Set<Promise<void>>();
  private endedSteps = 0;
  private killed = false;
  private resolveKilled: () => void = () => {};
  private readonly whenKilled = new Promise<void>((resolve) => {
    this.resolveKilled = resolve;
  });

  constructor(
    private readonly deps: Dependencies,
    readonly command: Command,
  ) {}

  async provider(provider: string, name: string): Promise<Provider> {
    const process = this.processes.get(provider) ?? this.deps.start(provider);
    this.processes.set(provider, process);
    this.started.add(await process);
    return (await process).of(name);
  }

  get isStopped(): boolean {
    return this.killed || (this.errors.length > 0 && this.command.continueOnError !== true);
  }

  isTarget = (name: string): boolean => this.command.target?.includes(name) ?? true;

  /** Runs the phase until its end, or until its processes are killed. */
  async runUntilKilled(work: () => Promise<void>): Promise<Outcome> {
    await Promise.race([this.whenKilled, work()]);
    return { errors: this.errors, killed: this.killed };
  }

  /** Stores a result, unless the phase was killed. */
  store(change: () => unknown): void {
    if (!this.killed) change();
  }

  /** Calls check and diff for each resource, and runs no step. */
  async plan<T>(all: Iterable<[string, T]>, ask: (name: string, one: T) => Promise<unknown>): Promise<void> {
    for (const [name, one] of this.inOrder(all)) await this.collectingErrors(name, () => ask(name, one));
  }

  /** Calls check and diff for each resource, and runs the steps. An error stops the rest, except with `continueOnError`. */
  async runSteps<T>(all: Iterable<[string, T]>, ask: (name: string, one: T) => Promise<Step>): Promise<void> {
    const { mode } = this.deps.schedule;
    const planned: [string, Step][] = [];
    for (const [name, one] of this.inOrder(all)) {
      const step = await this.collectingErrors(name, () => ask(name, one));
      if (!step) continue;
      if (mode === "planned" || mode === "together") planned.push([name, step]);
      else await this.startStep(name, step);
      if (mode === "one by one") await this.allStepsEnded();
      if (mode === "late") await this.deps.clock.sleep(500);
    }
    for (const [name, step] of planned) await this.startStep(name, step);
    await this.allStepsEnded();
  }

  /** Starts a step, once a worker is free. */
  private async startStep(name: string, step: Step): Promise<void> {
    const { mode, parallel = isSerial(mode) ? 1 : Number.POSITIVE_INFINITY } = this.deps.schedule;
    while (this.running.size >= (this.command.parallel ?? parallel)) await Promise.race(this.running);
    if (this.isStopped) return;
    const work = this.collectingErrors(name, step).then(() => {
      this.running.delete(work);
      if (++this.endedSteps === this.command.killAfter) this.kill();
    });
    this.running.add(work);
  }

  private allStepsEnded = (): Promise<unknown> => Promise.all(this.running);

  private kill(): void {
    this.killed = true;
    for (const process of this.started) process.kill();
    this.resolveKilled();
  }

  private async collectingErrors<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.isStopped) return undefined;
    try {
      return await work();
    } catch (error) {
      this.errors.push([name, error instanceof Error ? error.message : String(error)]);
      return undefined;
    }
  }

  /** The targets, in the order in which the engine takes them. */
  private inOrder<T>(all: Iterable<[string, T]>): [string, T][] {
    const { names } = this.deps.schedule;
    const wanted = [...all].filter(([name]) => this.isTarget(name));
    return names ? names.flatMap((name) => wanted.filter(([other]) => other === name)) : wanted;
  }
}
