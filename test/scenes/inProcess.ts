import { expect, vi } from "vitest";
import { accountFingerprint } from "../../provider/endpoint/gone";
import type { Clock } from "../../provider/service/clock";
import type { Emulator } from "../../sdk/testing/emulator";
import { startDynamic, startPlugin } from "../provider/bothProviders";
import { secret, startEngine } from "../provider/plugin/pluginClient";
import { virtualClock } from "../provider/virtualClock";
import { startEmulator } from "../provider/world";
import { type Kind, type Order, type Pace, Phase, type Step } from "./phase";
import { Player } from "./player";
import { type Hand, type Program, type Props, type Run, resourceOf, type Scene } from "./scene";

/* Plays a scene in this process, with a small model of Pulumi's engine: each phase of a run has its own provider processes. */

const start = { dynamic: startDynamic, plugin: startPlugin };

/** A resource in the state. */
interface Entry {
  id: string;
  kind: Kind;
  inputs: Props;
  outs: Props;
  /** The engine has replaced it, and skipped its deletion; the new one is not created yet. */
  pending?: true;
}
type State = Map<string, Entry>;

/** Plays the scene in one order, and checks all that it says. */
export async function play(scene: Scene, kind: Kind, order: Order): Promise<void> {
  const clock = virtualClock();
  await new InProcess(scene, await startEmulator(clock, scene.service), clock, kind, order).play();
}

class InProcess extends Player {
  private readonly states = new Map<string, State>();
  private program: Program = {};
  private engine: ReturnType<typeof startEngine> | undefined;

  constructor(
    scene: Scene,
    emulator: Emulator,
    clock: Clock,
    private readonly kind: Kind,
    private readonly order: Order,
  ) {
    super(scene, emulator, clock);
  }

  protected async command(run: Run): Promise<{ errors: string; said: string }> {
    vi.unstubAllEnvs();
    this.program = run.program ?? this.program;
    const stack = this.stateOf(run.stack);
    const before = new Map(stack);
    const began = this.clock.now();
    const phases = await this[run.command ?? "up"](run, stack);
    if (run.seconds !== undefined) expect((this.clock.now() - began) / 1000).toBeLessThan(run.seconds);
    if (run.killed) this.states.set(run.stack ?? "dev", before);
    const errors = phases.flatMap((phase) => phase.errors).join("\n");
    return { errors, said: [errors, ...phases.flatMap((phase) => phase.logged())].join("\n") };
  }

  protected override assertState({ stored = {}, inputs, stack }: Run): void {
    for (const [name, { inputs: found, outs }] of this.stateOf(stack)) {
      expect(outs).toMatchObject(stored[name] ?? {});
      if (inputs) expect(found).toEqual(inputs[name]);
    }
  }

  protected async state(): Promise<[string, string][]> {
    const entries = [...this.states.values()].flatMap((state) => [...state]);
    for (const [, { outs }] of entries) expect(JSON.stringify(outs, withoutSecrets)).not.toMatch(/CANARY/i);
    return entries.map(([name, { id }]) => [name, id]);
  }

  /** Previews, then creates, updates and replaces, then deletes. */
  private async up(run: Run, state: State): Promise<Phase[]> {
    const preview = this.phase(run, "planned");
    await preview.steps(this.inOrder(Object.keys(this.program), run), async (name) => {
      await this.decide(name, run, state, preview);
      return async () => {};
    });
    if (preview.errors.length > 0) return [preview];
    const phase = this.phase(run);
    const kept = new Set<string>();
    const deletions = new Map<string, Entry>();
    await phase.steps(this.inOrder(Object.keys(this.program), run), async (name) => {
      const alias = resourceOf(this.program[name]).options.alias ?? "";
      kept.add(state.has(name) ? name : alias);
      return this.decide(name, run, state, phase, deletions);
    });
    for (const name of this.inOrder([...state.keys()], run)) {
      const entry = state.get(name);
      if (entry && !(name in this.program) && !kept.has(name)) deletions.set(name, entry);
    }
    await this.deleteAll(phase, state, deletions);
    return [preview, phase];
  }

  private async refresh(run: Run, state: State): Promise<Phase[]> {
    const phase = this.phase({ ...run, continueOnError: true });
    await phase.steps(this.inOrder([...state.keys()], run), async (name) => async () => {
      const entry = state.get(name);
      if (!entry || entry.pending) return;
      const provider = await phase.provider(entry.kind, name);
      const found = await provider.read(
        entry.id,
        sent(entry.kind, entry.outs),
        sent(entry.kind, entry.inputs),
      );
      expect(JSON.stringify(found, withoutSecrets)).not.toMatch(/CANARY/i);
      if (found.id === "") state.delete(name);
      else state.set(name, { ...entry, outs: found.props ?? {}, inputs: found.inputs ?? entry.inputs });
    });
    return [phase];
  }

  private async destroy(run: Run, state: State): Promise<Phase[]> {
    const phase = this.phase(run);
    const names = this.inOrder([...state.keys()], run);
    await this.deleteAll(phase, state, new Map([...state].filter(([name]) => names.includes(name))));
    return [phase];
  }

  /** Deletes entries. That of a replaced resource is no longer in the state. */
  private async deleteAll(phase: Phase, state: State, entries: Map<string, Entry>): Promise<void> {
    await phase.steps(this.inOrder([...entries.keys()]), async (name) => async () => {
      const entry = entries.get(name);
      if (!entry) return;
      if (!entry.pending)
        await (await phase.provider(entry.kind, name)).delete(entry.id, sent(entry.kind, entry.outs));
      if (state.get(name) === entry) state.delete(name);
    });
  }

  /** Asks check and diff for a resource. Returns the step that follows. */
  private async decide(
    name: string,
    run: Run,
    state: State,
    phase: Phase,
    deletions = new Map<string, Entry>(),
  ): Promise<Step> {
    const { options, news } = resourceOf(this.program[name], (name) => this.names.idOf(name));
    const kind = options.provider === "other" ? otherThan(this.kind) : this.kind;
    const provider = await phase.provider(kind, name);
    const old = state.has(name) ? name : (options.alias ?? name);
    const entry = state.get(old);
    const check = async (olds: Props): Promise<Props> => {
      const { inputs, failures } = await provider.check(
        sent(kind, olds),
        withSecrets(kind, news, options.secret),
      );
      if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join("; "));
      return inputs;
    };
    const store = (id: string, inputs: Props, outs: Props) => state.set(name, { id, kind, inputs, outs });
    const create = async (inputs: Props) => {
      const made = await provider.create(inputs);
      store(made.id, inputs, made.outs);
    };
    const inputs = await check(entry?.inputs ?? {});
    if (!entry) return () => create(inputs);
    const olds = sent(kind, entry.outs);
    const isForced = run.replace?.includes(name) === true;
    const decision = isForced ? undefined : await provider.diff(entry.id, olds, inputs);
    if (!decision || entry.pending || decision.replaces.length > 0) {
      const again = await check({});
      return async () => {
        // In the real state, the old entry then waits for its deletion beside the new one.
        if (options.createsFirst && !entry.pending) deletions.set(old, entry);
        else if (options.retains || entry.pending) state.set(old, { ...entry, pending: true });
        else {
          await provider.delete(entry.id, olds);
          state.delete(old);
        }
        await create(again);
      };
    }
    return async () => {
      const outs = decision.changes ? (await provider.update(entry.id, olds, inputs)).outs : entry.outs;
      state.delete(old);
      store(entry.id, inputs, outs);
    };
  }

  private readonly inOrder = (names: string[], { target }: Run = {}) =>
    this.order.names.filter((name) => names.includes(name) && (target?.includes(name) ?? true));

  private phase(run: Run, pace: Pace = this.order.pace): Phase {
    const { emulator, clock } = this;
    const settings = {
      retryForSeconds: "120",
      ...this.scene.settings,
      ...run.with,
    };
    const fingerprint = accountFingerprint({ ...emulator, ...run.with });
    const environment = mapValues(run.environment ?? {}, (value) =>
      value.replace(/@([\w#]+)/g, (_, name) =>
        name === "fingerprint" ? fingerprint : this.names.idOf(name),
      ),
    );
    return new Phase(pace, clock, run, async (kind) => {
      if (kind === "plugin") this.engine ??= startEngine();
      const engine = await this.engine;
      return start[kind]({ emulator, clock, settings, environment, ...(engine && { engine }) });
    });
  }

  private stateOf(stack = "dev"): State {
    const state = this.states.get(stack) ?? new Map<string, Entry>();
    this.states.set(stack, state);
    return state;
  }

  protected editState({ stack }: Run): Pick<Hand, "editState" | "renameStack"> {
    return {
      editState: (name, edit) => {
        const entry = this.stateOf(stack).get(name);
        if (entry) this.stateOf(stack).set(name, { ...entry, outs: edit(entry.outs) });
      },
      renameStack: (from, to) => {
        this.states.set(to, this.stateOf(from));
        this.states.delete(from);
      },
    };
  }
}

const mapValues = (values: Record<string, string>, to: (value: string) => string) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]));

const otherThan = (kind: Kind): Kind => (kind === "plugin" ? "dynamic" : "plugin");

const isSecret = (value: unknown): value is Props =>
  typeof value === "object" && value !== null && Object.keys(secret("")).every((key) => key in value);

const withoutSecrets = (_: string, value: unknown) => (isSecret(value) ? "[secret]" : value);

/** What the engine sends of a state: it unwraps the secrets of a dynamic resource. */
const sent = (kind: Kind, props: Props): Props =>
  kind === "plugin"
    ? props
    : Object.fromEntries(
        Object.entries(props).map(([name, value]) => [name, isSecret(value) ? value["value"] : value]),
      );

/** The program's inputs with their secrets: the plugin gets marks, and the dynamic provider the names. */
function withSecrets(kind: Kind, news: Props, names: string[] = []): Props {
  if (kind === "dynamic") return names.length > 0 ? { ...news, __secrets: names } : news;
  return Object.fromEntries(
    Object.entries(news).map(([name, value]) => [name, names.includes(name) ? secret(value) : value]),
  );
}
