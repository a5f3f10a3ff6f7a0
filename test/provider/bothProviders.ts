import { afterEach, vi } from "vitest";
import { dynamicProvider } from "../../provider/dynamic";
import type { Clock } from "../../provider/service/clock";
import type { Emulator } from "../../sdk/testing/emulator";
import type { Provider } from "../model/phase";
import { startEmulator } from "./emulated";
import { type PluginClient, type Props, plugin, pluginClient, startEngine } from "./plugin/pluginClient";
import { virtualClock } from "./virtualClock";

/* One interface to both providers, with calls in the form of each provider's protocol. */

export type { Props };

/** The six operations with plain data, and the logged messages. */
export interface DrivenProvider extends Provider {
  check: PluginClient["check"];
  emulator: Emulator;
  /** The clock of the provider and the service. Its waits take no real time. */
  clock: Clock;
  logged(): string[];
  /** The provider in calls about the resource with this URN. Default: the resource of all tests. */
  of(urn: string): DrivenProvider;
}

export interface Options {
  settings?: Record<string, string | undefined>;
  /** Default: a new emulator. */
  emulator?: Emulator;
  /** The clock of a given emulator. */
  clock?: Clock;
  /** The engine of the plugin. Default: a new one. */
  engine?: Awaited<ReturnType<typeof startEngine>>;
  /** The environment of the provider's process. */
  environment?: Record<string, string>;
}

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
}: Options = {}): Promise<DrivenProvider> {
  const emulator = given ?? (await startEmulator(clock));
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
    of: () => driven,
    check: (olds, news) => provider.check(olds, { ...news, ...CODE }),
    diff: (id, olds, news) => provider.diff(id, { ...olds, ...CODE }, { ...news, ...CODE }),
    create: (news) => provider.create({ ...news, ...CODE }),
    read: async (id, outputs) => {
      const found = await provider.read(id, { ...outputs, ...CODE });
      const props = found.id === "" ? undefined : bare(found.props);
      return { id: found.id, props, inputs: found.inputs };
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
  environment = {},
}: Options = {}): Promise<DrivenProvider> {
  const emulator = given ?? (await startEmulator(clock));
  const engine = givenEngine ?? (await startEngine());
  // As from the engine, the stack's configuration is in the environment, and the provider's arguments are a copy of it.
  const PULUMI_CONFIG = JSON.stringify({ adopt: settings["adopt"] });
  const options = { environment: { PULUMI_CONFIG, ...environment }, emulator, engine, clock };
  const { client, logged } = await plugin({ ...options, configure: false });
  const before = logged.length;
  const all: Record<string, string | undefined> = { ...configOf(emulator), ...settings };
  await client.configure(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));
  const driven = (client: PluginClient): DrivenProvider => ({
    ...client,
    emulator,
    clock,
    logged: () => logged.slice(before).map(({ message }) => message),
    of: (urn) => driven(pluginClient(client.raw, urn)),
    diff: async (id, olds, news) => {
      const { changes, replaces, deleteBeforeReplace } = await client.diff(id, olds, news);
      return { changes, replaces, deleteBeforeReplace };
    },
  });
  return driven(client);
}

function configOf({ apiKey, baseUrl }: Emulator): Record<string, string> {
  return { apiKey, baseUrl, requestsPerWindow: "100000", retryForSeconds: "1" };
}
