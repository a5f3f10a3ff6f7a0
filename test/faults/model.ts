import type { JsonObject } from "../../provider/service/json";
import type { Process, World } from "./world";

/*
 * A small model of Pulumi's engine. It asks check and diff in the program's order, one after the other, hands each step to a free
 * worker, and keeps the state. Deletions come last. It has no dependencies and no plan.
 */

/** The names of resources with the second provider, which has processes of its own, start like this. */
export const SECOND = "second/";

export const hasSecondProvider = (name: string) => name.startsWith(SECOND);

/** A resource in the state. */
export interface Entry {
  id: string;
  inputs: JsonObject;
  outputs: JsonObject;
}

export type Program = ReadonlyMap<string, JsonObject>;

/** Options of a command. */
export interface Flags {
  /** Kill the processes after this number of steps. */
  killAfter?: number | undefined;
  /** Only these resources. The others get neither check nor diff. */
  targets?: ReadonlySet<string> | undefined;
  /** Replace this resource without a diff. */
  replace?: string | undefined;
  /** The number of parallel steps, if it is not the story's. */
  parallel?: number | undefined;
  /** Read all resources first. */
  refresh?: boolean;
  continueOnError?: boolean;
}

/** The result of a command. */
export interface Outcome {
  /** The error messages by the resources' names. */
  errors: Map<string, string>;
  killed: boolean;
}

/** Changes the service. Returns a function that stores the result in the state. */
type Step = () => Promise<() => void>;

/** One phase of a command: its processes, one for each provider, and the steps under way. */
class Phase {
  readonly errors = new Map<string, string>();
  private readonly processes = new Map<boolean, Process>();
  private readonly running = new Set<Promise<void>>();
  private ended = 0;
  private killed = false;
  private die: () => void = () => {};
  private readonly death = new Promise<void>((resolve) => {
    this.die = resolve;
  });

  constructor(
    private readonly world: World,
    readonly flags: Flags & { parallel: number },
  ) {}

  core(name: string): Process["core"] {
    const isSecond = hasSecondProvider(name);
    const process = this.processes.get(isSecond) ?? this.world.newProcess();
    this.processes.set(isSecond, process);
    return process.core;
  }

  isTarget = (name: string): boolean => this.flags.targets?.has(name) ?? true;

  get isStopped(): boolean {
    return this.killed || (this.errors.size > 0 && this.flags.continueOnError !== true);
  }

  /** Runs the phase until its end, or until its processes are killed. */
  async outcome(work: () => Promise<void>): Promise<Outcome> {
    await Promise.race([this.death, work()]);
    return { errors: this.errors, killed: this.killed };
  }

  /** Hands a step to a worker, once one is free. */
  async start(name: string, step: Step): Promise<void> {
    while (this.running.size >= this.flags.parallel) await Promise.race(this.running);
    if (this.isStopped) return;
    const work = this.noting(name, step).then((keep) => {
      this.running.delete(work);
      // A killed process stores no further result.
      if (this.killed) return;
      keep?.();
      this.ended++;
      if (this.ended < (this.flags.killAfter ?? Number.POSITIVE_INFINITY)) return;
      this.killed = true;
      for (const process of this.processes.values()) process.kill();
      this.die();
    });
    this.running.add(work);
  }

  async idle(): Promise<void> {
    await Promise.all(this.running);
  }

  async noting<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.errors.set(name, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }
}

export class Engine {
  readonly state = new Map<string, Entry>();

  /** @param parallel The number of parallel steps. */
  constructor(
    private readonly world: World,
    private readonly parallel: number,
  ) {}

  /** `pulumi up`: previews in one phase; then creates, updates, replaces and deletes in another. */
  async up(program: Program, flags: Flags = {}): Promise<Outcome> {
    const preview = this.phase(flags);
    await this.register(preview, program, async () => {});
    if (preview.errors.size > 0) return { errors: preview.errors, killed: false };
    const phase = this.phase(flags);
    return phase.outcome(async () => {
      if (flags.refresh) await this.readAll(phase);
      if (phase.errors.size > 0) return;
      await this.register(phase, program, (name, step) => phase.start(name, step));
      await this.removeAll(phase, (name) => !program.has(name));
    });
  }

  /** `pulumi destroy`, with the program's checks and diffs first if there is one (`--run-program`). */
  async destroy(program: Program, flags: Flags = {}): Promise<Outcome> {
    const phase = this.phase(flags);
    return phase.outcome(async () => {
      if (flags.refresh) await this.readAll(phase);
      if (phase.errors.size > 0) return;
      await this.register(phase, program, async () => {});
      await this.removeAll(phase, () => true);
    });
  }

  /** `pulumi refresh`. A failed read does not stop the others. */
  async refresh(): Promise<Outcome> {
    const phase = this.phase({ continueOnError: true });
    return phase.outcome(() => this.readAll(phase));
  }

  /** `pulumi import`. */
  async import(name: string, imported: string): Promise<Outcome> {
    const phase = this.phase({});
    return phase.outcome(async () => {
      await phase.start(name, async () => {
        const { id, inputs, props: outputs } = await phase.core(name).import(imported);
        return () => this.state.set(name, { id, inputs, outputs });
      });
      await phase.idle();
    });
  }

  /** `pulumi state rename`, or an alias: the entry stays as it is. */
  rename(from: string, to: string): void {
    const entry = this.state.get(from);
    if (entry) this.state.set(to, entry);
    this.state.delete(from);
  }

  private phase = (flags: Flags) =>
    new Phase(this.world, { ...flags, parallel: flags.parallel ?? this.parallel });

  private async readAll(phase: Phase): Promise<void> {
    for (const [name, entry] of [...this.state].filter(([name]) => phase.isTarget(name)))
      await phase.start(name, async () => {
        const { id, props, inputs } = await phase.core(name).read(entry.id, entry.outputs);
        return () => {
          if (id === "") this.state.delete(name);
          else this.state.set(name, { id, outputs: props, inputs: inputs ?? entry.inputs });
        };
      });
    await phase.idle();
  }

  /** Asks check and diff for each resource of the program. */
  private async register(
    phase: Phase,
    program: Program,
    start: (name: string, step: Step) => Promise<void>,
  ): Promise<void> {
    for (const [name, news] of program) {
      if (phase.isStopped) break;
      if (!phase.isTarget(name)) continue;
      const step = await phase.noting(name, () => this.decide(phase, name, news));
      if (step) await start(name, step);
    }
    await phase.idle();
  }

  private async removeAll(phase: Phase, isGone: (name: string) => boolean): Promise<void> {
    for (const [name, entry] of [...this.state].reverse()) {
      if (phase.isStopped || !phase.isTarget(name) || !isGone(name)) continue;
      await phase.start(name, async () => {
        await phase.core(name).delete(entry.id, entry.outputs);
        return () => this.state.delete(name);
      });
    }
    await phase.idle();
  }

  private async decide(phase: Phase, name: string, news: JsonObject): Promise<Step> {
    const core = phase.core(name);
    const entry = this.state.get(name);
    const check = async (olds: JsonObject): Promise<JsonObject> => {
      const { inputs, failures } = await core.check(olds, news);
      if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join("; "));
      return inputs;
    };
    const inputs = await check(entry?.inputs ?? {});
    if (!entry) return () => this.create(phase, name, inputs);
    const isForced = phase.flags.replace === name;
    const decision = isForced ? undefined : await core.diff(entry.id, entry.outputs, inputs);
    if (!decision || decision.replaces.length > 0) {
      const again = await check({});
      return async () => {
        await core.delete(entry.id, entry.outputs);
        this.state.delete(name);
        return this.create(phase, name, again);
      };
    }
    if (!decision.changes) return async () => () => this.state.set(name, { ...entry, inputs });
    return async () => {
      const { outs } = await core.update(entry.id, entry.outputs, inputs);
      return () => this.state.set(name, { id: entry.id, inputs, outputs: outs });
    };
  }

  private async create(phase: Phase, name: string, inputs: JsonObject): Promise<() => void> {
    const { id, outs } = await phase.core(name).create(inputs);
    return () => this.state.set(name, { id, inputs, outputs: outs });
  }
}
