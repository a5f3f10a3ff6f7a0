import { afterEach, vi } from "vitest";
import type { Clock } from "../../provider/api/clock";
import { dynamicProvider } from "../../provider/dynamic";
import type { Emulator, EmulatorOptions } from "../../sdk/testing/emulator";
import { plugin, startEngine } from "./plugin/pluginClient";
import { virtualClock } from "./virtualClock";
import { startEmulator } from "./world";

/* One interface to both providers. Each test drives them as their protocols do. */

export type Props = Record<string, unknown>;

/** The six operations with plain data, and the logged messages. */
export interface DrivenProvider {
  emulator: Emulator;
  /** The clock of the provider and the service. Its waits take no real time. */
  clock: Clock;
  logged(): string[];
  /** The provider in calls about the resource with this URN. Default: the resource of all tests. */
  of(urn: string): DrivenProvider;
  /** Starts a new process of the provider with the same service. Pulumi starts one for each phase of a command. */
  restart(environment?: Record<string, string>): Promise<DrivenProvider>;
  check(
    olds: Props,
    news: Props,
  ): Promise<{ inputs: Props; failures: { property: string; reason: string }[] }>;
  diff(
    id: string,
    olds: Props,
    news: Props,
  ): Promise<{ changes: boolean; replaces: string[]; deleteBeforeReplace: boolean }>;
  create(news: Props): Promise<{ id: string; outs: Props }>;
  read(
    id: string,
    outputs: Props,
    inputs: Props,
  ): Promise<{ id: string; props?: Props | undefined; inputs?: Props | undefined }>;
  update(id: string, olds: Props, news: Props): Promise<{ outs: Props }>;
  delete(id: string, outputs: Props): Promise<void>;
}

export type Options = EmulatorOptions & {
  settings?: Record<string, string | undefined>;
  /** Default: a new emulator. */
  emulator?: Emulator;
  /** The clock of a given emulator. */
  clock?: Clock;
  /** The engine of the plugin. Default: a new one. */
  engine?: Awaited<ReturnType<typeof startEngine>>;
  /** The environment of the provider's process. */
  environment?: Record<string, string>;
};

export const bothProviders: [string, (options?: Options) => Promise<DrivenProvider>][] = [
  ["the dynamic provider", startDynamic],
  ["the plugin", startPlugin],
];

/** Starts a provider, and checks and creates a resource, as the engine does. */
export async function created(start: (options?: Options) => Promise<DrivenProvider>, news: Props) {
  const provider = await start();
  const { inputs } = await provider.check({}, news);
  return { ...provider, inputs, ...(await provider.create(inputs)) };
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** The engine adds the provider's code to the properties of a dynamic resource. */
const CODE = { __provider: "code" };

export async function startDynamic({
  settings = {},
  clock = virtualClock(),
  emulator: given,
  engine: _,
  environment = {},
  ...options
}: Options = {}): Promise<DrivenProvider> {
  const emulator = given ?? (await startEmulator(clock, options));
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const config: Record<string, string | undefined> = { ...configOf(emulator), ...settings };
  const written = vi.spyOn(console, "log").mockImplementation(() => {});
  const provider = dynamicProvider({ clock });
  provider.configure({ config: { get: (key) => config[key.replace("endpoints:", "")] } });
  const bare = ({ __provider: _, ...props }: Props) => props;
  const before = written.mock.calls.length;
  const driven: DrivenProvider = {
    emulator,
    clock,
    logged: () => written.mock.calls.slice(before).map(([message]) => String(message)),
    of: (__urn) => ({
      ...driven,
      check: (olds, news) => provider.check(olds, { ...news, ...CODE, __urn }),
    }),
    restart: (environment = {}) => startDynamic({ settings, emulator, clock, environment }),
    check: (olds, news) => provider.check(olds, { ...news, ...CODE }),
    diff: (id, olds, news) => provider.diff(id, { ...olds, ...CODE }, { ...news, ...CODE }),
    create: (news) => provider.create({ ...news, ...CODE }),
    read: async (id, outputs) => {
      const found = await provider.read(id, { ...outputs, ...CODE });
      return { ...found, props: found.id === "" ? undefined : bare(found.props) };
    },
    update: (id, olds, news) => provider.update(id, { ...olds, ...CODE }, { ...news, ...CODE }),
    delete: (id, outputs) => provider.delete(id, { ...outputs, ...CODE }),
  };
  return driven;
}

export async function startPlugin({
  settings = {},
  clock = virtualClock(),
  emulator: given,
  engine: givenEngine,
  ...options
}: Options = {}): Promise<DrivenProvider> {
  const emulator = given ?? (await startEmulator(clock, options));
  const engine = givenEngine ?? (await startEngine());
  const { client, logged } = await plugin({
    ...options,
    emulator,
    engine,
    clock,
    configure: false,
  });
  const before = logged.length;
  const all: Record<string, string | undefined> = { ...configOf(emulator), ...settings };
  await client.configure(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));
  const driven = (urn?: string): DrivenProvider => ({
    emulator,
    clock,
    logged: () => logged.slice(before).map(({ message }) => message),
    of: driven,
    restart: (environment = {}) => startPlugin({ settings, emulator, engine, clock, environment }),
    check: (olds, news) => client.check(olds, news, urn),
    diff: async (id, olds, news) => {
      const { changes, replaces, deleteBeforeReplace } = await client.diff(id, olds, news, {}, urn);
      return { changes, replaces, deleteBeforeReplace };
    },
    create: (news) => client.create(news, { urn }),
    read: (id, outputs, inputs) => client.read(id, outputs, inputs, urn),
    update: (id, olds, news) => client.update(id, olds, news, { urn }),
    delete: (id, outputs) => client.delete(id, outputs, urn),
  });
  return driven();
}

function configOf({ apiKey, baseUrl }: Emulator): Record<string, string> {
  return { apiKey, baseUrl, requestsPerWindow: "100000", retryForSeconds: "1" };
}
