import type { Goal, ProviderWish } from "./goal";
import { type Plugin, pluginOf, withPlugin } from "./pluginInputs";
import { DYNAMIC } from "./plugins";
import { isProviderType, providerPackage, providerType, type ResourceState } from "./resourceState";
import { Bail } from "./step";
import type { Props } from "./values";
import { isOlder } from "./version";

/**
 * Which provider serves a resource: the one that the program names, for it or for its package in a component around it;
 * else the default one of its package and version, which the first who needs it registers. As `defaultProviders` and
 * `resolveProvider`.
 */
export class ProviderChoice {
  private readonly defaults = new Map<string, Promise<string>>();
  /** What components hand on to their children, by the component's URN. */
  private readonly ofComponents = new Map<string, Record<string, string>>();

  constructor(
    /** The whole stack configuration. */
    private readonly config: Props,
    /** What the state knows of the packages' plugins. */
    private readonly plugins: Map<string, Plugin>,
    private readonly register: (goal: Goal) => Promise<ResourceState>,
  ) {}

  async of(wish: ProviderWish): Promise<string> {
    const named =
      wish.provider || wish.providers[wish.package] || this.ofComponents.get(wish.parent)?.[wish.package];
    if (named) return named;
    const plugin = this.plugin(wish);
    const key = JSON.stringify([wish.package, plugin]);
    const chosen = this.defaults.get(key) ?? this.registerDefault(wish.package, plugin);
    this.defaults.set(key, chosen);
    return chosen;
  }

  /** What the program does not say of the plugin is as in the state; as `normalizeProviderRequest`. */
  plugin({ package: package_, version, pluginDownloadURL }: ProviderWish): Plugin {
    const known = this.plugins.get(package_);
    return {
      version: version || (known?.version ?? ""),
      pluginDownloadURL: pluginDownloadURL || (known?.pluginDownloadURL ?? ""),
    };
  }

  /** An explicit provider of which nothing is said gets the plugin that the default one gets; as `RegisterResource`. */
  pluginOfExplicit(wish: ProviderWish): Plugin {
    const { version, pluginDownloadURL } = wish;
    return version === "" && pluginDownloadURL === "" ? this.plugin(wish) : { version, pluginDownloadURL };
  }

  /** As `componentProviders`: a component hands on what it was given, and what its own parent hands on. */
  component(urn: string, { parent, providers }: ProviderWish): void {
    this.ofComponents.set(urn, { ...this.ofComponents.get(parent), ...providers });
  }

  /** As `newRegisterDefaultProviderEvent`. */
  private async registerDefault(package_: string, plugin: Plugin): Promise<string> {
    if ("pulumi:disable-default-providers" in this.config)
      throw new Bail("the test engine does not support pulumi:disable-default-providers", false);
    const { urn, id } = await this.register({
      ...providerGoal(package_, defaultName(plugin)),
      inputs: withPlugin(packageConfig(this.config, package_), plugin),
    });
    return `${urn}::${id}`;
  }
}

/** What a provider that no program asked for is registered with. */
export function providerGoal(package_: string, name: string): Goal {
  return {
    type: providerType(package_),
    name,
    custom: true,
    parent: "",
    inputs: {},
    protect: undefined,
    retainOnDelete: undefined,
    deleteBeforeReplace: undefined,
    dependencies: [],
    propertyDependencies: {},
    ignoreChanges: [],
    replaceOnChanges: [],
    additionalSecretOutputs: [],
    aliases: [],
    customTimeouts: {},
    importId: "",
    provider: "",
  };
}

/** `default`, or `default_1_2_3` where the program asks for a version; as `DefaultName`. */
export function defaultName({ version, pluginDownloadURL }: Plugin): string {
  const parts = ["default", version.replace(/[.+-]/g, "_"), qualified(pluginDownloadURL)];
  return parts.filter((part) => part !== "").join("_");
}

/** Names and slashes, and nothing else; as `IntoQName`. */
function qualified(url: string): string {
  const names = url.split("/").filter((name) => name !== "");
  return names.map((name) => name.replace(/[^A-Za-z0-9_.-]/g, "_")).join("/");
}

/** A dynamic provider gets the whole configuration, a plugin its own keys without the package's name. As there. */
export function packageConfig(config: Props, package_: string): Props {
  if (package_ === DYNAMIC) return config;
  const prefix = `${package_}:`;
  return Object.fromEntries(
    Object.entries(config)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => [key.slice(prefix.length), value]),
  );
}

/**
 * The newest version of each package's plugin among the providers in the state: a program whose packages say nothing of
 * plugins goes on with that. As `computeDefaultProviderPackages`.
 */
export function pluginsInState(olds: ResourceState[]): Map<string, Plugin> {
  const newest = new Map<string, Plugin>();
  for (const { type, inputs } of olds.filter((old) => isProviderType(old.type))) {
    const plugin = pluginOf(inputs);
    const seen = newest.get(providerPackage(type));
    if (
      seen === undefined ||
      seen.version === "" ||
      (plugin.version !== "" && !isOlder(plugin.version, seen.version))
    )
      newest.set(providerPackage(type), plugin);
  }
  return newest;
}
