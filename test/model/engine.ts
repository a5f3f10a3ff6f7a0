import type { JsonObject } from "../../sdk/traffic-policy/data/index";
import { type Command, type Dependencies, type Outcome, Phase, type Step } from "./phase";

/*
 * A small model of Pulumi's engine. It asks check and diff for each resource, hands out the steps, and keeps the state. Deletions
 * come last. It has no dependencies and no plan. The calls are those of Pulumi 3.260.
 */

/** The options of a resource. */
export interface ResourceOptions {
  /** The resource's name in an earlier run. */
  alias?: string | undefined;
  /** `retainOnDelete` */
  retains?: boolean | undefined;
  /** `deletedWith`, by name. */
  deletedWith?: string | undefined;
  /** `ignoreChanges`: these inputs keep the values in the state. */
  ignores?: string[] | undefined;
  /** `deleteBeforeReplace`. Without it, the provider's diff decides, and a forced replacement creates first. */
  deletesFirst?: boolean | undefined;
}

/** A resource of a program. */
export interface Resource {
  /** The name of its provider. Each provider has processes of its own. */
  provider: string;
  news: JsonObject;
  options?: ResourceOptions;
}

/** A program: its resources by name. */
export type Program = ReadonlyMap<string, Resource>;

/** A resource in the state. */
export interface Entry extends Pick<ResourceOptions, "retains" | "deletedWith"> {
  id: string;
  provider: string;
  inputs: JsonObject;
  outputs: JsonObject;
  /** `pendingReplacement`: its deletion was done or skipped, and its replacement is not created yet. */
  isPending?: true;
  /** `initErrors`: its last create or update was made in part. */
  isPartial?: true;
}

/** The error of a provider that has done a create or an update in part. */
interface PartialFailure {
  id: string;
  properties: JsonObject;
}

/** The entries by the names of their resources. */
export type State = Map<string, Entry>;

export class Engine {
  /** The ids whose deletion was skipped, and that no entry has since. */
  readonly skipped = new Set<string>();

  constructor(
    private readonly deps: Dependencies,
    readonly state: State = new Map(),
  ) {}

  /** `pulumi up`: previews in one phase; then creates, updates, replaces and deletes in another. */
  async up(program: Program, command: Command = {}): Promise<Outcome> {
    const preview = this.phase(command);
    await preview.asks(program, (name, resource) => this.decide(preview, name, resource));
    if (preview.errors.length > 0) return { errors: preview.errors, killed: false };
    const phase = this.phase(command);
    const aliases = [...program.values()].map(({ options }) => options?.alias);
    return phase.outcome(async () => {
      if (command.refresh) await this.readAll(phase);
      if (phase.errors.length > 0) return;
      const replaced: State = new Map();
      await phase.steps(program, (name, resource) => this.decide(phase, name, resource, replaced));
      const removed = [...this.state].filter(([name]) => !program.has(name) && !aliases.includes(name));
      await this.deleteAll(phase, [...replaced, ...removed.reverse()]);
    });
  }

  /** `pulumi destroy`, with the program's checks and diffs first if there is one (`--run-program`). */
  async destroy(program: Program, command: Command = {}): Promise<Outcome> {
    const phase = this.phase(command);
    return phase.outcome(async () => {
      if (command.refresh) await this.readAll(phase);
      if (phase.errors.length > 0) return;
      await phase.asks(program, (name, resource) => this.decide(phase, name, resource));
      await this.deleteAll(phase, [...this.state].reverse());
    });
  }

  /** `pulumi refresh`. A failed read does not stop the others. */
  async refresh(command: Command = {}): Promise<Outcome> {
    const phase = this.phase({ ...command, continueOnError: true });
    return phase.outcome(() => this.readAll(phase));
  }

  /** `pulumi import`. */
  async import(name: string, provider: string, imported: string): Promise<Outcome> {
    const phase = this.phase({});
    return phase.outcome(async () => {
      await phase.asks([[name, imported]], async () => {
        const found = await (await phase.provider(provider, name)).import?.(imported);
        if (!found) throw new Error(`the model cannot import with the provider ${provider}`);
        const { id, inputs, props: outputs } = found;
        this.state.set(name, { id, provider, inputs, outputs });
      });
    });
  }

  /** `pulumi state rename` */
  rename(from: string, to: string): void {
    const entry = this.state.get(from);
    if (entry) this.state.set(to, entry);
    this.state.delete(from);
  }

  private phase = (command: Command) => new Phase(this.deps, command);

  private async readAll(phase: Phase): Promise<void> {
    await phase.steps(this.state, async (name, entry) => async () => {
      const { id, provider, inputs, outputs, isPending } = entry;
      if (isPending) return;
      const process = await phase.provider(provider, name);
      const found = await process.read(id, outputs, inputs);
      // What has changed is what the fresh outputs differ in from the inputs.
      if (found.id !== "") await process.diff(id, found.props ?? {}, inputs);
      phase.store(() => {
        if (found.id === "") this.state.delete(name);
        else {
          const { isPartial: _, ...whole } = entry;
          this.state.set(name, { ...whole, outputs: found.props ?? {}, inputs: found.inputs ?? inputs });
        }
      });
    });
  }

  /** Deletes entries. That of a replaced resource may no longer be in the state. */
  private async deleteAll(phase: Phase, entries: [name: string, Entry][]): Promise<void> {
    for (const [name] of entries) if (phase.isTarget(name)) phase.deletes.add(name);
    await phase.steps(entries, async (name, entry) => async () => {
      const isInState = this.state.get(name) === entry;
      if (!isInState || !entry.isPending) await this.delete(phase, name, entry);
      if (isInState) phase.store(() => this.state.delete(name));
    });
  }

  private async delete(phase: Phase, name: string, { id, provider, outputs, ...options }: Entry) {
    if (options.retains || phase.deletes.has(options.deletedWith ?? "")) this.skipped.add(id);
    else await (await phase.provider(provider, name)).delete(id, outputs);
  }

  /** Asks check and diff for a resource. Returns the step that follows. */
  private async decide(
    phase: Phase,
    name: string,
    { provider, news: given, options = {} }: Resource,
    replaced: State = new Map(),
  ): Promise<Step> {
    const { alias = name, retains, deletedWith, deletesFirst, ignores = [] } = options;
    const old = this.state.has(name) ? name : alias;
    const entry = this.state.get(old);
    const kept = entry ? Object.entries(entry.inputs).filter(([input]) => ignores.includes(input)) : [];
    const news = { ...given, ...Object.fromEntries(kept) };
    const calls = await phase.provider(provider, name);
    const check = async (olds: JsonObject): Promise<JsonObject> => {
      const { inputs, failures } = await calls.check(olds, news);
      if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join("; "));
      return inputs;
    };
    const store = (id: string, inputs: JsonObject, outputs: JsonObject, more: { isPartial?: true } = {}) =>
      phase.store(() => {
        this.state.delete(old);
        this.skipped.delete(id);
        this.state.set(name, { id, provider, inputs, outputs, retains, deletedWith, ...more });
      });
    /** Stores what a provider has done before it failed. */
    const partial = (inputs: JsonObject) => (error: Partial<PartialFailure>) => {
      const { id, properties } = error;
      if (id && properties) store(id, inputs, properties, { isPartial: true });
      throw error;
    };
    const create = async (inputs: JsonObject) => {
      const { id, outs } = await calls.create(inputs).catch(partial(inputs));
      store(id, inputs, outs);
    };
    const update = async ({ id, outputs, inputs: before }: Entry) => {
      const { outs } = await calls.update(id, outputs, inputs).catch(partial(before));
      store(id, inputs, outs);
    };

    const isForced = phase.command.replace?.includes(name) === true;
    const inputs = await check(isForced ? {} : (entry?.inputs ?? {}));
    if (!entry) return () => create(inputs);

    const decision = isForced ? undefined : await calls.diff(entry.id, entry.outputs, inputs);
    if (decision && decision.replaces.length === 0 && !entry.isPending)
      return async () => {
        if (decision.changes || entry.isPartial) return update(entry);
        store(entry.id, inputs, entry.outputs);
      };

    const again = isForced ? inputs : await check({});
    if (!(deletesFirst ?? decision?.deleteBeforeReplace))
      return async () => {
        await create(again);
        // In the real state, the old entry then waits for its deletion beside the new one.
        replaced.set(old, entry);
      };
    if (entry.isPending) return () => create(again);
    phase.deletes.add(old);
    return async () => {
      await this.delete(phase, old, entry);
      phase.store(() => this.state.set(old, { ...entry, isPending: true }));
      await create(again);
    };
  }
}
