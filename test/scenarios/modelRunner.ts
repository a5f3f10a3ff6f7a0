import { expect, vi } from "vitest";
import type { Clock } from "../../provider/service/clock";
import type { Emulator } from "../../sdk/testing/emulator";
import { Engine, type Resource, type State } from "../model/engine";
import type { Process, Provider, Schedule } from "../model/phase";
import { type DrivenProvider, startDynamic, startPlugin } from "../provider/bothProviders";
import { startEmulator } from "../provider/emulated";
import { secret, startEngine } from "../provider/plugin/pluginClient";
import { virtualClock } from "../provider/virtualClock";
import {
  type Actor,
  type Program,
  type Props,
  type ProviderKind,
  type Run,
  resourceOf,
  type Scenario,
} from "./scenario";
import { ScenarioRunner } from "./scenarioRunner";

/* Runs scenarios on the model of Pulumi's engine, with a provider in this process. */

const start = { dynamic: startDynamic, plugin: startPlugin };
const TYPES = {
  dynamic: "pulumi-nodejs:dynamic/endpoints:CloudEndpoint",
  plugin: "endpoints:index:CloudEndpoint",
};

/** Runs the scenario with one schedule, and checks its expectations. */
export async function runOnModel(scenario: Scenario, kind: ProviderKind, schedule: Schedule): Promise<void> {
  const clock = virtualClock();
  await new ModelRunner(
    scenario,
    await startEmulator(clock, scenario.service),
    clock,
    kind,
    schedule,
  ).runScenario();
}

class ModelRunner extends ScenarioRunner {
  private readonly states = new Map<string, State>();
  private program: Program = {};
  private engine: ReturnType<typeof startEngine> | undefined;

  constructor(
    scenario: Scenario,
    emulator: Emulator,
    clock: Clock,
    private readonly kind: ProviderKind,
    private readonly schedule: Schedule,
  ) {
    super(scenario, emulator, clock);
  }

  protected async command(run: Run): Promise<{ errors: string; messages: string }> {
    vi.unstubAllEnvs();
    const { clock, schedule } = this;
    this.program = run.program ?? this.program;
    const state = this.stateOf(run.stack);
    const before = new Map(state);
    const began = clock.now();
    const started: DrivenProvider[] = [];
    const startProcess = async (kind: string) => {
      const process = await this.start(kind as ProviderKind, run);
      started.push(process);
      return this.processOf(kind as ProviderKind, process, run);
    };
    const engine = new Engine({ clock, schedule, start: startProcess }, state);
    const program = new Map(Object.keys(this.program).map((name) => [name, this.resource(name)]));
    const done = {
      up: () => engine.up(program, run),
      refresh: () => engine.refresh(run),
      destroy: () => engine.destroy(new Map(), run),
    }[run.command ?? "up"];
    const errors = (await done()).errors.map(([, message]) => message).join("\n");
    if (run.seconds !== undefined) expect((clock.now() - began) / 1000).toBeLessThan(run.seconds);
    if (run.killed) this.states.set(run.stack ?? "dev", before);
    return { errors, messages: [errors, ...started.flatMap((process) => process.logged())].join("\n") };
  }

  protected assertState({ outputs = {}, inputs, stack }: Run): void {
    for (const [name, entry] of this.stateOf(stack)) {
      expect(entry.outputs).toMatchObject(outputs[name] ?? {});
      if (inputs) expect(entry.inputs).toEqual(inputs[name]);
    }
  }

  protected async state(): Promise<[string, string][]> {
    const entries = [...this.states.values()].flatMap((state) => [...state]);
    for (const [, { outputs }] of entries) expectMarked(outputs);
    return entries.map(([name, { id }]) => [name, id]);
  }

  private resource(name: string): Resource {
    const { options, news } = resourceOf(this.program[name], (name) => this.names.idOf(name));
    const { provider, secret: names, deleteBeforeReplace: unset, ...others } = options;
    const kind = provider === "other" ? otherThan(this.kind) : this.kind;
    return {
      provider: kind,
      news: withSecrets(kind, news, names),
      options: { ...others, deleteBeforeReplace: unset ? undefined : true },
    };
  }

  private async start(kind: ProviderKind, run: Run): Promise<DrivenProvider> {
    const { emulator, clock } = this;
    const given = { retryForSeconds: "120", ...this.scenario.settings, ...run.overrides };
    const settings = mapValues(given, (value) => value && this.names.withIds(value));
    if (kind === "plugin") this.engine ??= startEngine();
    const engine = await this.engine;
    return start[kind]({ emulator, clock, settings, ...(engine && { engine }) });
  }

  private processOf = (kind: ProviderKind, process: DrivenProvider, { stack = "dev" }: Run): Process => ({
    of: (name) => {
      const marked = process.of(`urn:pulumi:${stack}::shop::${TYPES[kind]}::${name}`);
      const driven = kind === "plugin" ? marked : withoutMarks(marked);
      const read: Provider["read"] = async (...args) => expectMarked(await driven.read(...args));
      return { ...driven, read };
    },
    kill: () => {},
  });

  private stateOf(stack = "dev"): State {
    const state = this.states.get(stack) ?? (new Map() as State);
    this.states.set(stack, state);
    return state;
  }

  protected stateEdits({ stack }: Run): Pick<Actor, "editState" | "renameStack"> {
    return {
      editState: (name, edit) => {
        const entry = this.stateOf(stack).get(name);
        if (entry) this.stateOf(stack).set(name, { ...entry, outputs: edit(entry.outputs) });
      },
      renameStack: (from, to) => {
        this.states.set(to, this.stateOf(from));
        this.states.delete(from);
      },
    };
  }
}

const mapValues = <From, To>(values: Record<string, From>, to: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]));

const otherThan = (kind: ProviderKind): ProviderKind => (kind === "plugin" ? "dynamic" : "plugin");

const isSecret = (value: unknown): value is Props =>
  typeof value === "object" && value !== null && Object.keys(secret("")).every((key) => key in value);

/** Expects that all secrets in properties for the state are marked. */
function expectMarked<T>(props: T): T {
  const masked = JSON.stringify(props, (_, value) => (isSecret(value) ? "[secret]" : value));
  expect(masked).not.toMatch(/CANARY/i);
  return props;
}

/** The provider of a dynamic resource. The engine unwraps secrets before it calls this provider. */
const withoutMarks = (provider: DrivenProvider): DrivenProvider => ({
  ...provider,
  check: (olds, news) => provider.check(unwrapped(olds), unwrapped(news)),
  diff: (id, olds, news) => provider.diff(id, unwrapped(olds), unwrapped(news)),
  create: (news) => provider.create(unwrapped(news)),
  read: (id, outputs, inputs) => provider.read(id, unwrapped(outputs), unwrapped(inputs)),
  update: (id, olds, news) => provider.update(id, unwrapped(olds), unwrapped(news)),
  delete: (id, outputs) => provider.delete(id, unwrapped(outputs)),
});

const unwrapped = (props: Props = {}): Props =>
  mapValues(props, (value) => (isSecret(value) ? value["value"] : value));

/** The program's inputs with their secrets: marked for the plugin, and listed by name for the dynamic provider. */
function withSecrets(kind: ProviderKind, news: Props, names: string[] = []): Props {
  if (kind === "dynamic") return names.length > 0 ? { ...news, __secretFields: names } : news;
  return Object.fromEntries(
    Object.entries(news).map(([name, value]) => [name, names.includes(name) ? secret(value) : value]),
  );
}
