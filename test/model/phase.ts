import type { Clock } from "../../provider/service/clock";
import type { JsonObject } from "../../sdk/traffic-policy/data/index";

/* A phase of a command: its provider processes, and how it hands out steps. */

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
 * When the engine asks for resources and takes their steps: it takes each step before it asks for the next resource, it asks for
 * all resources and then takes one step after the other, or all at once, or it takes each step at once while it asks for the next
 * resource, which it does half a second later, or at once.
 */
export type ScheduleMode = "one by one" | "planned" | "together" | "late" | "at once";

/** A schedule of the engine's calls. */
export interface Schedule {
  mode: ScheduleMode;
  /** The order of resources. Default: the program's, and the reverse of the state's for deletions. */
  names?: string[];
  /** The number of parallel steps. Default: any number, or one with a serial mode. */
  parallel?: number;
}

/** The options of a command. */
export interface Command {
  /** Only these resources. The others get neither check nor diff. */
  target?: readonly string[] | undefined;
  /** Replace these resources without a diff. */
  replace?: readonly string[] | undefined;
  /** Read all resources first. */
  refresh?: boolean | undefined;
  continueOnError?: boolean | undefined;
  /** The number of parallel steps, if it is not the schedule's. */
  parallel?: number | undefined;
  /** Kill the processes after this number of steps. */
  killAfter?: number | undefined;
}

/** The result of a command. */
export interface Outcome {
  errors: readonly (readonly [name: string, message: string])[];
  killed: boolean;
}

/** Changes the service, and stores the result. */
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
  private readonly processes = new Map<string, Promise<Process>>();
  private readonly started = new Set<Process>();
  private readonly running = new Set<Promise<void>>();
  private ended = 0;
  private killed = false;
  private die: () => void = () => {};
  private readonly death = new Promise<void>((resolve) => {
    this.die = resolve;
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
  async outcome(work: () => Promise<void>): Promise<Outcome> {
    await Promise.race([this.death, work()]);
    return { errors: this.errors, killed: this.killed };
  }

  /** A killed phase stores no further result. */
  store(change: () => unknown): void {
    if (!this.killed) change();
  }

  /** Asks for each resource, and takes no step. */
  async asks<T>(all: Iterable<[string, T]>, ask: (name: string, one: T) => Promise<unknown>): Promise<void> {
    for (const [name, one] of this.inOrder(all)) await this.noted(name, () => ask(name, one));
  }

  /** Asks for each resource, and takes the steps. An error stops the rest, unless the command continues on errors. */
  async steps<T>(all: Iterable<[string, T]>, ask: (name: string, one: T) => Promise<Step>): Promise<void> {
    const { mode } = this.deps.schedule;
    const planned: [string, Step][] = [];
    for (const [name, one] of this.inOrder(all)) {
      const step = await this.noted(name, () => ask(name, one));
      if (!step) continue;
      if (mode === "planned" || mode === "together") planned.push([name, step]);
      else await this.take(name, step);
      if (mode === "one by one") await this.idle();
      if (mode === "late") await this.deps.clock.sleep(500);
    }
    for (const [name, step] of planned) await this.take(name, step);
    await this.idle();
  }

  /** Takes a step, once a worker is free. */
  private async take(name: string, step: Step): Promise<void> {
    const { mode, parallel = isSerial(mode) ? 1 : Number.POSITIVE_INFINITY } = this.deps.schedule;
    while (this.running.size >= (this.command.parallel ?? parallel)) await Promise.race(this.running);
    if (this.isStopped) return;
    const work = this.noted(name, step).then(() => {
      this.running.delete(work);
      if (++this.ended === this.command.killAfter) this.kill();
    });
    this.running.add(work);
  }

  private idle = (): Promise<unknown> => Promise.all(this.running);

  private kill(): void {
    this.killed = true;
    for (const process of this.started) process.kill();
    this.die();
  }

  private async noted<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
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
