import type { JsonObject } from "../../provider/api/json";
import { PartialCreateError } from "../../provider/errors";
import type { Process, World } from "./world";

/*
 * A small model of Pulumi's engine: it calls the provider's operations in the engine's order, some in parallel, and keeps the
 * state. It has no dependencies and no plan.
 */

const TYPE = "pulumi-nodejs:dynamic/endpoints:CloudEndpoint";

/** A resource in the state. */
export interface Entry {
  id: string;
  inputs: JsonObject;
  outputs: JsonObject;
  /** The create was partial, so the engine updates the resource next. */
  isPartial?: boolean;
}

export type Program = ReadonlyMap<string, JsonObject>;

/** The result of a command. */
export interface Outcome {
  /** The error messages by the resources' names. */
  errors: Map<string, string>;
  killed: boolean;
}

export class Engine {
  readonly state = new Map<string, Entry>();

  /** @param parallel The number of parallel operations. */
  constructor(
    private readonly world: World,
    private readonly parallel: number,
  ) {}

  /**
   * `pulumi up`: previews in one process; then creates, updates, replaces and deletes in another.
   *
   * @param killAfter Kill the process after this number of operations.
   */
  async up(program: Program, killAfter = Number.POSITIVE_INFINITY): Promise<Outcome> {
    const errors = new Map<string, string>();
    const preview = this.world.newProcess();
    for (const [name, news] of program) await noting(errors, name, () => this.check(preview, name, news));
    if (errors.size > 0) return { errors, killed: false };

    const process = this.world.newProcess();
    const steps = [...program].map(([name, news]) => ({ name, run: () => this.apply(process, name, news) }));
    const killed = await this.run(process, steps, errors, killAfter);
    if (killed || errors.size > 0) return { errors, killed };
    const gone = [...this.state.keys()].filter((name) => !program.has(name));
    const deletions = gone.map((name) => ({ name, run: () => this.remove(process, name) }));
    return { errors, killed: await this.run(process, deletions, errors, killAfter - steps.length) };
  }

  /** `pulumi refresh`. A failed read does not stop the others. */
  async refresh(): Promise<Outcome> {
    const errors = new Map<string, string>();
    const process = this.world.newProcess();
    const reads = [...this.state].map(([name, entry]) => ({
      name,
      run: async () => {
        const { id, props, inputs } = await process.core.read(entry.id, entry.outputs);
        return () => {
          if (id === "") this.state.delete(name);
          else this.state.set(name, { id, outputs: props, inputs: inputs ?? entry.inputs });
        };
      },
    }));
    return { errors, killed: await this.run(process, reads, errors, Number.POSITIVE_INFINITY) };
  }

  private async check({ core }: Process, name: string, news: JsonObject): Promise<JsonObject> {
    const urn = `urn:pulumi:dev::shop::${TYPE}::${name}`;
    const { inputs, failures } = await core.check(this.state.get(name)?.inputs ?? {}, {
      ...news,
      __urn: urn,
    });
    if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join("; "));
    return inputs;
  }

  /** Applies the program to one resource. Returns a function that stores the result in the state. */
  private async apply(process: Process, name: string, news: JsonObject): Promise<() => void> {
    const { core } = process;
    const inputs = await this.check(process, name, news);
    const entry = this.state.get(name);
    if (!entry) return this.create(process, name, inputs);
    const { changes, replaces } = core.diff(entry.id, entry.outputs, inputs);
    if (replaces.length > 0) {
      await core.delete(entry.id, entry.outputs);
      this.state.delete(name);
      return this.create(process, name, inputs);
    }
    if (!changes && !entry.isPartial) return () => this.state.set(name, { ...entry, inputs });
    const { outs } = await core.update(entry.id, entry.outputs, inputs);
    return () => this.state.set(name, { id: entry.id, inputs, outputs: outs });
  }

  private async create({ core }: Process, name: string, inputs: JsonObject): Promise<() => void> {
    try {
      const { id, outs } = await core.create(inputs);
      return () => this.state.set(name, { id, inputs, outputs: outs });
    } catch (error) {
      if (!(error instanceof PartialCreateError)) throw error;
      const { id, properties: outputs } = error;
      return () => this.state.set(name, { id, inputs, outputs, isPartial: true });
    }
  }

  private async remove({ core }: Process, name: string): Promise<() => void> {
    const entry = this.state.get(name);
    if (entry) await core.delete(entry.id, entry.outputs);
    return () => this.state.delete(name);
  }

  /** Runs operations, some in parallel. Returns whether the process was killed. A killed process stores no further result. */
  private async run(
    process: Process,
    steps: { name: string; run: () => Promise<() => void> }[],
    errors: Map<string, string>,
    killAfter: number,
  ): Promise<boolean> {
    let ended = 0;
    let killed: () => void = () => {};
    const death = new Promise<boolean>((resolve) => {
      killed = () => resolve(true);
    });
    const queue = [...steps];
    const worker = async () => {
      for (let step = queue.shift(); step; step = queue.shift()) {
        const { name, run } = step;
        const keep = await noting(errors, name, run);
        if (ended >= killAfter) return;
        keep?.();
        ended += 1;
        if (ended < killAfter) continue;
        process.kill();
        killed();
      }
    };
    const all = Promise.all(Array.from({ length: this.parallel }, worker)).then(() => false);
    return Promise.race([death, all]);
  }
}

async function noting<T>(
  errors: Map<string, string>,
  name: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    errors.set(name, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
