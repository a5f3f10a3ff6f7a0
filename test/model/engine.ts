import type { JsonObject } from "../../provider/data/index";
import { type Command, type Dependencies, type Outcome, Phase, type Step } from "./phase";

/*
 * A small model of Pulumi's engine. It calls check and diff for each resource, runs the steps, and keeps the state. Deletions
 * come last. It has no dependencies and no plan. The calls are those of Pulumi 3.260.
 */

/** The options of a resource. */
export interface ResourceOptions {
  /** The resource's name in an earlier run. */
  alias?: string | undefined;
  /** `retainOnDelete` */
  retainOnDelete?: boolean | undefined;
  /** `deletedWith`, by name. */
  deletedWith?: string | undefined;
  /** `replaceWith`, by name. */
  replaceWith?: string | undefined;
  /** `ignoreChanges`: these inputs keep the values in the state. */
  ignoreChanges?: string[] | undefined;
  /** `deleteBeforeReplace`. Without it, the provider's diff decides, and a forced replacement creates first. */
  deleteBeforeReplace?: boolean | undefined;
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

/** An entry of the state: a resource with its id, inputs and outputs. */
export interface Entry extends Pick<ResourceOptions, "retainOnDelete" | "deletedWith"> {
  id: string;
  provider: string;
  inputs: JsonObject;
  outputs: JsonObject;
  /** The deletion of the old endpoint was done or skipped, and the new endpoint is not created yet. */
  pendingReplacement?: true;
  /** `initErrors`: the last create or update was made in part. */
  isPartial?: true;
}

/** A provider's error after a create or an update in part. */
interface PartialFailure {
  id: string;
  properties: JsonObject;
}

/** The entries by the names of their resources. */
export type State = Map<string, Entry>;

export class Engine {
  /** The ids without an entry whose deletion was skipped. */
  readonly skipped = new Set<string>();

  constructor(
    private readonly deps: Dependencies,
    readonly state: State = new Map(),
  ) {}

  /** `pulumi up`: previews in one phase; then creates, updates, replaces and deletes in another. */
  async up(program: Program, command: Command = {}): Promise<Outcome> {
    const preview = this.phase(command);
    await preview.plan(program, (name, resource) => this.decide(preview, name, resource));
    if (preview.errors.length > 0) return { errors: preview.errors, killed: false };
    const phase = this.phase(command);
    const aliases = [...program.values()].map(({ options }) => options?.alias);
    return phase.runUntilKilled(async () => {
      if (command.refresh) await this.readAll(phase);
      if (phase.errors.length > 0) return;
      const replaced: State = new Map();
      await phase.runSteps(program, (name, resource) => this.decide(phase, name, resource, replaced));
      const removed = [...this.state].filter(([name]) => !program.has(name) && !aliases.includes(name));
      await this.deleteAll(phase, [...replaced, ...removed.reverse()]);
    });
  }

  /** `pulumi destroy`. With a program (`--run-program`), its checks and diffs come first. */
  async destroy(program: Program, command: Command = {}): Promise<Outcome> {
    const phase = this.phase(command);
    return phase.runUntilKilled(async () => {
      if (command.refresh) await this.readAll(phase);
      if (phase.errors.length > 0) return;
      await phase.plan(program, (name, resource) => this.decide(phase, name, resource));
      await this.deleteAll(phase, [...this.state].reverse());
    });
  }

  /** `pulumi refresh`. A failed read does not stop the others. */
  async refresh(command: Command = {}): Promise<Outcome> {
    const phase = this.phase({ ...command, continueOnError: true });
    return phase.runUntilKilled(() => this.readAll(phase));
  }

  /** `pulumi import`. */
  async import(name: string, provider: string, imported: string): Promise<Outcome> {
    const phase = this.phase({});
    return phase.runUntilKilled(async () => {
      await phase.plan([[name, imported]], async () => {
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
    await phase.runSteps(this.state, async (name, entry) => async () => {
      const { id, provider, inputs, outputs, pendingReplacement } = entry;
      if (pendingReplacement) return;
      const process = await phase.provider(provider, name);
      const found = await process.read(id, outputs, inputs);
      // As in Pulumi, the diff of a refresh compares the new outputs with the inputs.
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

  /** Deletes entries. The entry of a replaced resource may have left the state already. */
  private async deleteAll(phase: Phase, entries: [name: string, Entry][]): Promise<void> {
    for (const [name] of entries) if (phase.isTarget(name)) phase.deletes.add(name);
    await phase.runSteps(entries, async (name, entry) => async () => {
      const isInState = this.state.get(name) === entry;
      if (!isInState || !entry.pendingReplacement) await this.delete(phase, name, entry);
      if (isInState) phase.store(() => this.state.delete(name));
    });
  }

  private async delete(phase: Phase, name: string, { id, provider, outputs, ...options }: Entry) {
    if (options.retainOnDelete || phase.deletes.has(options.deletedWith ?? "")) this.skipped.add(id);
    else await (await phase.provider(provider, name)).delete(id, outputs);
  }

  /** Calls check and diff for a resource. Returns the next step. */
  private async decide(
    phase: Phase,
    name: string,
    { provider, news: given, options = {} }: Resource,
    replaced: State = new Map(),
  ): Promise<Step> {
    const { alias = name, retainOnDelete, deletedWith, deleteBeforeReplace, ignoreChanges = [] } = options;
    const old = this.state.has(name) ? name : alias;
    const entry = this.state.get(old);
    const kept = entry ? Object.entries(entry.inputs).filter(([input]) => ignoreChanges.includes(input)) : [];
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
        this.state.set(name, { id, provider, inputs, outputs, retainOnDelete, deletedWith, ...more });
      });
    /** Stores the partial result of a provider that failed. */
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

    const isReplacedWithOther = phase.replaces.has(options.replaceWith ?? "");
    const decision =
      isForced || isReplacedWithOther ? undefined : await calls.diff(entry.id, entry.outputs, inputs);
    if (decision && decision.replaces.length === 0 && !entry.pendingReplacement)
      return async () => {
        if (decision.changes || entry.isPartial) return update(entry);
        store(entry.id, inputs, entry.outputs);
      };

    const again = isForced ? inputs : await check({});
    phase.replaces.add(name);
    if (!(deleteBeforeReplace ?? decision?.deleteBeforeReplace))
      return async () => {
        await create(again);
        // In Pulumi's state, the old entry then waits for its deletion beside the new entry.
        replaced.set(old, entry);
      };
    if (entry.pendingReplacement) return () => create(again);
    phase.deletes.add(old);
    return async () => {
      await this.delete(phase, old, entry);
      phase.store(() => this.state.set(old, { ...entry, pendingReplacement: true }));
      await create(again);
    };
  }
}
