import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parse } from "yaml";
import { z } from "zod";
import { messageOf } from "../../../provider/data/index";
import { UNKNOWN } from "../../../provider/pulumi/sentinels";
import { type Props, plain } from "../../pulumi-cli/index";
import { Unsupported, USE_CLI_DRIVER } from "../errors";
import { equal } from "../properties";
import { isProvider, packageOf, type ResourceState, typeInUrn } from "./checkpoint";
import { MockedProvider, type RunningProvider } from "./mockedProvider";
import { type OnLine, type RunningProcess, type RunSetup, resolveFrom, startProvider } from "./processes";
import { type Project, runtimeSchema } from "./project";
import { type Diff, mustReplace, resolveDiff } from "./propertyDiff";
import { type CheckResult, DYNAMIC, Plugin, type ReadResult, type ResourceProvider } from "./providerCalls";

/** The time limit for replies to `Cancel`, in milliseconds. */
const CANCEL_LIMIT = 1000;

/** The folder of a package's provider. @throws Error if neither the SDK nor `Pulumi.yaml` has a provider for it. */
function pluginFolder(package_: string, project: Project): string {
  const folder = package_ === DYNAMIC ? project.folder : project.plugins.get(package_);
  if (folder !== undefined) return folder;
  const others = project.own.has(package_) ? "" : 'answer for it with the option "others", or ';
  throw new Error(
    `there is no plugin for the package ${package_}: plugins.providers in Pulumi.yaml does not name its folder, and the ` +
      `test engine does not look for plugins elsewhere and does not download them: ${others}${USE_CLI_DRIVER}`,
  );
}

/** How to start a plugin. The last argument, the engine's address, is added later. */
function findPlugin(package_: string, project: Project) {
  const folder = pluginFolder(package_, project);
  if (package_ === DYNAMIC) {
    const host = resolveFrom(folder, "@pulumi/pulumi/cmd/dynamic-provider");
    return { folder: dirname(host), args: [host], env: { PULUMI_NODEJS_PROJECT: project.name } };
  }
  const file = join(folder, "PulumiPlugin.yaml");
  if (!existsSync(file)) throw new Unsupported(`plugins without a PulumiPlugin.yaml (${folder})`);
  const { runtime } = z.object({ runtime: runtimeSchema }).parse(parse(readFileSync(file, "utf8")));
  if (runtime.name !== "nodejs") throw new Unsupported(`plugins of the runtime ${runtime.name} (${file})`);
  return { folder, args: [resolveFrom(folder, "@pulumi/pulumi/cmd/run-plugin"), folder], env: {} };
}

/**
 * The provider processes of one run. In Pulumi, providers are resources, too. This class is their provider: `check` starts a
 * process, and `create` or `update` configures it.
 */
export class Providers implements ResourceProvider {
  private readonly running = new Map<string, Promise<RunningProvider>>();
  /** The started providers by URN that are not configured yet. */
  private readonly unconfigured = new Map<string, RunningProvider>();
  /** The engine's address, set before the first provider starts. */
  address = "";
  private readonly processes: RunningProcess[] = [];
  private readonly plugins: Plugin[] = [];

  constructor(
    readonly run: RunSetup,
    private readonly olds: ResourceState[],
    private readonly onLine: OnLine,
  ) {}

  async forResource({ type, provider }: Pick<ResourceState, "type" | "provider">): Promise<ResourceProvider> {
    return isProvider(type) ? this : this.get(provider);
  }

  /** The provider with a reference. If this run has not registered it, its configuration comes from the state. */
  get(reference: string): Promise<RunningProvider> {
    const running = this.running.get(reference);
    if (running) return running;
    const state = this.olds.find(({ urn, id }) => `${urn}::${id}` === reference);
    if (!state) return Promise.reject(new Error(`could not find provider ${reference}`));
    const started = this.startPlugin(state.urn).then((plugin) => {
      plugin.configure(state.urn, state.id, state.inputs);
      return plugin;
    });
    this.set(reference, started);
    return started;
  }

  /**
   * Checks that the engine can serve a package. With mocks it serves any version.
   *
   * @throws Error if the engine has no plugin for the package, or if the program asks for a version of the plugin.
   */
  assertKnownPackage(token: string, request: { getVersion(): string; getPlugindownloadurl(): string }): void {
    if (this.run.mocksOf(packageOf(token))) return;
    pluginFolder(packageOf(token), this.run.project);
    if (request.getVersion() !== "" || request.getPlugindownloadurl() !== "")
      throw new Unsupported(`versions and download URLs of plugins (of ${token})`);
  }

  configOf(package_: string): Props {
    return package_ === DYNAMIC ? this.run.config : this.ownConfig(package_);
  }

  private ownConfig(package_: string): Props {
    const own = Object.entries(this.run.config).filter(([key]) => key.startsWith(`${package_}:`));
    return Object.fromEntries(own.map(([key, value]) => [key.slice(package_.length + 1), value]));
  }

  async check(urn: string, olds: Props, news: Props): Promise<CheckResult> {
    const plugin = await this.startPlugin(urn);
    const checked = await plugin.checkConfig(urn, olds, news);
    if (checked.failures.length === 0) this.unconfigured.set(urn, plugin);
    return checked;
  }

  /** Compares configurations. If the provider cannot tell whether they differ, the values are compared here. */
  async diff(old: ResourceState, news: Props): Promise<Diff> {
    const plugin = this.unconfigured.get(old.urn) ?? (await this.get(`${old.urn}::${old.id}`));
    const diff = await plugin.diffConfig(old, news);
    if (diff.changes !== "unknown") return diff;
    return { ...diff, changes: equal(old.outputs, news) ? "none" : "some" };
  }

  /** Whether a resource must be replaced because of the configuration of its new provider. */
  async mustReplace(reference: string, old: ResourceState, { urn, inputs }: ResourceState): Promise<boolean> {
    const diff = await (await this.get(reference)).diffConfig({ ...old, urn }, inputs);
    return mustReplace(resolveDiff(diff, old.inputs, inputs));
  }

  async create({ urn, inputs }: ResourceState, preview: boolean): Promise<{ id: string; outputs: Props }> {
    const id = preview ? UNKNOWN : randomUUID();
    await this.configure(urn, id, inputs);
    return { id, outputs: inputs };
  }

  async update({ id }: ResourceState, { urn, inputs }: ResourceState): Promise<Props> {
    await this.configure(urn, id, inputs);
    return inputs;
  }

  async configureUnchanged({ urn, id, inputs }: ResourceState): Promise<void> {
    if (!this.running.has(`${urn}::${id}`)) await this.configure(urn, id, inputs);
  }

  read(): Promise<ReadResult> {
    return Promise.reject(new Error("provider resources may not be read"));
  }

  /** Removes a provider. Its process ends with the run. */
  async delete({ urn, id }: ResourceState): Promise<void> {
    this.running.delete(`${urn}::${id}`);
  }

  /** Ends all processes. They get a second to finish their operations. */
  async close(): Promise<void> {
    await Promise.allSettled(this.running.values());
    const asked = Promise.allSettled(this.plugins.map((plugin) => plugin.cancel()));
    await Promise.race([asked, setTimeout(CANCEL_LIMIT, undefined, { ref: false })]);
    for (const plugin of this.plugins) plugin.close();
    await Promise.all(this.processes.map((child) => child.stop("SIGKILL", 0)));
  }

  private async configure(urn: string, id: string, config: Props): Promise<void> {
    const plugin = this.unconfigured.get(urn) ?? (await this.startPlugin(urn));
    this.unconfigured.delete(urn);
    plugin.configure(urn, id, config);
    this.set(`${urn}::${id}`, Promise.resolve(plugin));
  }

  private set(reference: string, plugin: Promise<RunningProvider>): void {
    plugin.catch(() => {});
    this.running.set(reference, plugin);
  }

  private async startPlugin(urn: string): Promise<RunningProvider> {
    const package_ = packageOf(typeInUrn(urn));
    const mocks = this.run.mocksOf(package_);
    if (mocks) return new MockedProvider(mocks);
    const { folder, args, env } = findPlugin(package_, this.run.project);
    const own = {
      ...env,
      PULUMI_PROJECT: this.run.project.name,
      PULUMI_CONFIG: JSON.stringify(plain(this.ownConfig(package_))),
    };
    // Like the CLI, the engine does not show the output of plugins.
    const onLine = package_ === DYNAMIC ? this.onLine : undefined;
    const { child, port, printed } = startProvider(this.run, [...args, this.address], own, onLine);
    this.processes.push(child);
    const plugin = new Plugin(await port, package_);
    this.plugins.push(plugin);
    if (package_ !== DYNAMIC)
      await plugin.handshake(this.address, folder, this.run.startLimit).catch((cause: unknown) => {
        if (cause instanceof Unsupported) throw cause;
        throw new Error(`the provider of ${package_} does not answer: ${messageOf(cause)}${printed()}`, {
          cause,
        });
      });
    return plugin;
  }
}
