import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Report } from "./diffing";
import { PluginClient } from "./pluginClient";
import { INTERNAL, withoutInternal } from "./pluginInputs";
import { DYNAMIC, findPlugin } from "./plugins";
import { type Child, type Launch, type Line, resolveFrom, startPlugin } from "./processes";
import type { Checked, DiffSubject, Provider, ProviderDiff, ReadResult } from "./provider";
import { providerPackage, providerUrn, type ResourceState, typeOf } from "./resourceState";
import { equal, type Props, UNKNOWN_TEXT } from "./values";
import { isOlder } from "./version";
import { NONE, toWire } from "./wire";

/** How long a provider may take to hear that it is to end; in milliseconds. */
const PATIENCE = 1000;

interface Loaded {
  client: PluginClient;
  package: string;
}

/**
 * The providers of one run, each a process of its own. To the steps it is the provider of the providers: to check one
 * starts its process, to create or update one configures it. As `providers.Registry`.
 */
export class Registry implements Provider {
  /** By `URN::id`, once they are configured. */
  private readonly running = new Map<string, Promise<Loaded>>();
  /** By URN, what `check` has started and nothing has configured yet; as those under `UnconfiguredID`. */
  private readonly unconfigured = new Map<string, Loaded>();
  /** Former URNs, which states may still refer to. */
  private readonly aliases = new Map<string, string>();
  private readonly children: Child[] = [];
  private readonly clients: PluginClient[] = [];

  constructor(
    private readonly launch: Launch,
    /** The whole stack configuration. A plugin finds its own part of it in its environment too. */
    private readonly config: Props,
    private readonly olds: ResourceState[],
    private readonly address: () => string,
    private readonly onLine: Line,
    private readonly report: Report,
  ) {}

  /** The provider of a reference; one that the run did not register comes from the state. As `EnsureProvider`. */
  async get(reference: string): Promise<PluginClient> {
    if (!this.running.has(reference)) {
      const state = this.olds.find(({ urn, id }) => `${urn}::${id}` === reference);
      if (!state) throw new Error(`could not find provider ${reference}`);
      this.set(reference, this.startConfigured(state.urn, state.id, state.inputs));
    }
    const loaded = await this.running.get(reference);
    if (!loaded) throw new Error(`could not find provider ${reference}`);
    return loaded.client;
  }

  registerAlias(urn: string, alias: string): void {
    this.aliases.set(urn, alias);
  }

  async check(urn: string, olds: Props, news: Props): Promise<Checked> {
    const loaded = await this.start(urn, news);
    // A dynamic provider has an answer to no question about its configuration.
    const { inputs, failures } =
      loaded.package === DYNAMIC
        ? { inputs: news, failures: [] }
        : await loaded.client.checkConfig(urn, withoutInternal(olds), withoutInternal(news));
    if (failures.length > 0) return { inputs, failures };
    this.unconfigured.set(urn, loaded);
    const { version, [INTERNAL]: internal } = news;
    const kept = { ...(version !== undefined && { version }), ...withoutInternal(inputs) };
    return { inputs: { ...kept, ...(internal !== undefined && { [INTERNAL]: internal }) }, failures };
  }

  /** Where the plugin does not say, any difference to what it was configured with is a change. */
  async diff(subject: DiffSubject, news: Props): Promise<ProviderDiff> {
    const { urn, id } = subject;
    const loaded = this.unconfigured.get(urn) ?? (await this.loaded(`${urn}::${id}`));
    const olds = { ...subject, inputs: withoutInternal(subject.inputs) };
    const diff = await configDiff(loaded, olds, withoutInternal(news));
    if (diff.changes !== "unknown") return diff;
    return { ...diff, changes: equal(subject.outputs, withoutInternal(news)) ? "none" : "some" };
  }

  /** Whether a resource may go over to this provider from the one that it had; see `providerChanged`. */
  async diffConfig(reference: string, subject: DiffSubject, news: Props): Promise<ProviderDiff> {
    const olds = { ...subject, inputs: withoutInternal(subject.inputs) };
    return configDiff(await this.loaded(reference), olds, withoutInternal(news));
  }

  async create({ urn, inputs }: ResourceState, preview: boolean): Promise<{ id: string; outputs: Props }> {
    const id = preview ? UNKNOWN_TEXT : randomUUID();
    const outputs = withoutInternal(inputs);
    await this.configure(urn, id, outputs);
    return { id, outputs };
  }

  async update(old: ResourceState, { urn, inputs }: ResourceState): Promise<Props> {
    const outputs = withoutInternal(inputs);
    await this.configure(urn, old.id, outputs);
    return outputs;
  }

  /** An unchanged provider is configured with what it always had; as `Same`. */
  async same({ urn, id, inputs }: ResourceState): Promise<void> {
    if (!this.running.has(`${urn}::${id}`)) await this.configure(urn, id, withoutInternal(inputs));
  }

  read(): Promise<ReadResult> {
    return Promise.reject(new Error("provider resources may not be read"));
  }

  /** Its process lives on until the run ends, when all do. */
  async delete({ urn, id }: ResourceState): Promise<void> {
    this.running.delete(`${urn}::${id}`);
  }

  /** Tells every provider that it is to finish what it is at and to begin nothing; as `SignalCancellation`. */
  async cancel(): Promise<void> {
    await Promise.allSettled(this.clients.map((client) => client.cancel()));
  }

  /** Returns when all processes are gone. Each is asked to end before it is made to; as `cancelOnCloseProvider`. */
  async close(): Promise<void> {
    await Promise.allSettled(this.running.values());
    await Promise.race([this.cancel(), setTimeout(PATIENCE, undefined, { ref: false })]);
    for (const client of this.clients) client.close();
    await Promise.all(this.children.map((child) => child.stop("SIGKILL", 0)));
  }

  private configText(package_: string): string {
    const own = Object.entries(this.config).filter(([key]) => key.split(":")[0] === package_);
    const plain = own.map(([key, value]) => [key.slice(package_.length + 1), String(toWire(value, NONE))]);
    return JSON.stringify(Object.fromEntries(plain));
  }

  private async loaded(reference: string): Promise<Loaded> {
    await this.get(reference);
    const loaded = await this.running.get(reference);
    if (!loaded) throw new Error(`failed to resolve provider reference: "${reference}"`);
    return loaded;
  }

  private async configure(urn: string, id: string, config: Props): Promise<void> {
    const loaded = this.unconfigured.get(urn) ?? (await this.start(urn, config));
    this.unconfigured.delete(urn);
    loaded.client.configure(urn, id, config);
    this.set(`${urn}::${id}`, Promise.resolve(loaded));
  }

  private async startConfigured(urn: string, id: string, inputs: Props): Promise<Loaded> {
    const loaded = await this.start(urn, inputs);
    loaded.client.configure(urn, id, withoutInternal(inputs));
    return loaded;
  }

  private set(reference: string, loaded: Promise<Loaded>): void {
    loaded.catch(() => {});
    this.running.set(reference, loaded);
    const alias = this.aliases.get(providerUrn(reference));
    if (alias !== undefined) this.running.set(alias + reference.slice(providerUrn(reference).length), loaded);
  }

  /** As the host's `Provider`. */
  private async start(urn: string, { version }: Props): Promise<Loaded> {
    const package_ = providerPackage(typeOf(urn));
    const { project, env } = this.launch;
    const plugin = findPlugin(package_, project, env["PATH"] ?? "", resolveFrom);
    const { child, port } = startPlugin(
      this.launch,
      { ...plugin, env: { ...plugin.env, PULUMI_CONFIG: this.configText(package_) } },
      this.address(),
      this.onLine,
    );
    this.children.push(child);
    const client = new PluginClient(await port);
    this.clients.push(client);
    if (package_ !== DYNAMIC) await client.handshake(this.address(), plugin.folder);
    const found = await client.getPluginInfo();
    if (typeof version === "string" && isOlder(found, version))
      this.report(
        "warning",
        `resource plugin ${package_} is expected to have version >=${version}, but has ${found}; ` +
          "the wrong version may be on your path, or this may be a bug in the plugin",
      );
    return { client, package: package_ };
  }
}

/** A dynamic provider has no opinion; as `isDiffCheckConfigLogicallyUnimplemented`. */
function configDiff(loaded: Loaded, subject: DiffSubject, news: Props): Promise<ProviderDiff> {
  if (loaded.package !== DYNAMIC) return loaded.client.diffConfig(subject, news);
  const unknown = { changes: "unknown" as const, replaces: [], changedKeys: [] };
  return Promise.resolve({ ...unknown, deleteBeforeReplace: false, detailed: undefined });
}
