import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, relative, sep } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { isMapping, policyFromText } from "../provider/data/index";
import { PACKAGE, PROVIDER_TYPE, TYPES } from "../provider/pulumi/typeTokens";
import { isDefaultProvider } from "../provider/pulumi/urn";
import { environmentName, type SettingName, type settingFields } from "../provider/service/settings";
import { assertName, isOfType, perRun, programError } from "./programRun";
import { pluginFolders, projectFile } from "./pulumi-cli/index";

/** The type that a program writes for each setting. */
type Written<Name extends SettingName> = NonNullable<ReturnType<(typeof settingFields)[Name]>>;

/** The settings of an account. An omitted one comes from the stack's configuration, or else from the environment. */
export type ProviderArgs = {
  [Name in keyof typeof settingFields]?: pulumi.Input<Written<Name>> | undefined;
};

/**
 * An account of the service, for programs that use several accounts. The plugin serves all resources and data sources with
 * this provider in their options, regardless of `endpoints:provider`.
 *
 * ```ts
 * const theirs = new Provider("theirs", { apiKey: config.requireSecret("theirKey") });
 * new CloudEndpoint("shop", { url: "https://shop.example.com" }, { provider: theirs });
 * ```
 *
 * The key is a secret in the state. The preview reports invalid settings. Changed settings never replace an endpoint.
 */
export class Provider extends pulumi.ProviderResource {
  /** Whether the object is a Provider of this package, possibly of another copy of it. */
  static override isInstance(object: unknown): object is Provider {
    return isOfType(object, PROVIDER_TYPE);
  }

  /** @internal Unknown while a setting is unknown, such as the output of a resource that does not exist yet. */
  readonly settled: pulumi.Output<true>;

  /** @internal Undefined if the program leaves it to the stack's configuration. */
  readonly policyWarnings: pulumi.Output<string> | undefined;

  /** @internal Undefined if the program leaves it to the stack's configuration. */
  readonly baseUrl: pulumi.Output<string> | undefined;

  /** @throws RunError if the engine would not find the plugin, or if the name is that of the engine's own provider or no plain text. */
  constructor(name: string, args: ProviderArgs = {}, options?: pulumi.ResourceOptions) {
    assertName("Provider", name);
    if (isDefaultProvider(name))
      throw programError(`Pulumi's own providers have the name ${name}; give this provider another name`);
    assertPluginInReach();
    super(
      PACKAGE,
      name,
      { ...args, ...(args.apiKey !== undefined && { apiKey: pulumi.secret(args.apiKey) }) },
      options,
    );
    this.policyWarnings = args.policyWarnings === undefined ? undefined : pulumi.output(args.policyWarnings);
    this.baseUrl = args.baseUrl === undefined ? undefined : pulumi.output(args.baseUrl);
    this.settled = pulumi.unsecret(pulumi.output(args)).apply(() => true as const);
  }
}

/** The dynamic provider or the plugin. */
export type ProviderKind = keyof typeof TYPES;

const SETTING = "endpoints:provider";
const DEFAULT_KIND: ProviderKind = "dynamic";

/** The provider that serves a resource: the plugin if its options name a `Provider`, otherwise the one in the setting. */
export function providerKindOf(options: pulumi.CustomResourceOptions | undefined): ProviderKind {
  const kind = explicitProvider(options) ? "plugin" : configuredKind();
  if (kind === "plugin") assertPluginInReach();
  return kind;
}

/** The options that this kind of provider cannot carry out. */
export function optionMistakes(
  kind: ProviderKind,
  options: pulumi.CustomResourceOptions | undefined,
): string[] {
  if (kind === "plugin") return [];
  const mistakes: string[] = [];
  const needsPlugin = (option: string, otherwise: string) => {
    const missing = isPluginInReach() ? "" : "name it in Pulumi.yaml (docs/plugin.md) and ";
    mistakes.push(
      `the option ${option} needs the plugin: ${missing}run \`pulumi config set ${SETTING} plugin\`; or ${otherwise}`,
    );
  };
  if (options?.import !== undefined) needsPlugin("import", "take the endpoint over with the input adopt");
  // The engine applies this option to the places of a detailed diff, and a dynamic provider cannot return one.
  if (options?.replaceOnChanges?.length) needsPlugin("replaceOnChanges", "remove the option");
  return mistakes;
}

/** The `Provider` in the options, or in the parent's options. Undefined if the stack's own account is used. */
export function explicitProvider(
  options: Pick<pulumi.InvokeOptions, "provider" | "parent"> | undefined,
): Provider | undefined {
  const provider = options?.provider ?? options?.parent?.getProvider(TYPES.plugin);
  return Provider.isInstance(provider) ? provider : undefined;
}

/**
 * The aliases with which a stack moves from the dynamic provider to the plugin, or back: the resource's type in the other
 * provider, once with the current name and parent, and once for each alias of the program.
 */
export function aliasesOf(
  kind: ProviderKind,
  given: pulumi.CustomResourceOptions["aliases"] = [],
): pulumi.Alias[] {
  const type = TYPES[kind === "plugin" ? "dynamic" : "plugin"];
  const former = given.filter((alias) => !isUrnOrTyped(alias)) as pulumi.Alias[];
  return [{ type }, ...former.map((alias) => ({ ...alias, type }))];
}

function configuredKind(): ProviderKind {
  const kind =
    pulumi.runtime.getConfig(SETTING)?.trim() ||
    process.env[environmentName("provider")]?.trim() ||
    DEFAULT_KIND;
  if (isKind(kind)) return kind;
  throw programError(`${SETTING} is ${JSON.stringify(kind)}; it can be dynamic or plugin`);
}

const isKind = (text: string): text is ProviderKind => Object.hasOwn(TYPES, text);

/** Whether an alias names its own type. An alias that is known only later may name one, so it counts as typed. */
function isUrnOrTyped(alias: pulumi.Input<pulumi.URN | pulumi.Alias>): boolean {
  return (
    typeof alias !== "object" ||
    pulumi.Output.isInstance(alias) ||
    alias instanceof Promise ||
    alias.type !== undefined
  );
}

const BINARY = `pulumi-resource-${PACKAGE}`;
const ENDINGS = process.platform === "win32" ? [".exe", ".cmd"] : [""];

const pluginSearch = perRun(() => ({ found: false }));

/** Whether the engine would find the plugin. Looks where the engine looks. */
function isPluginInReach(): boolean {
  const run = pluginSearch();
  const root = pulumi.runtime.getRootDirectory();
  run.found ||= isNamedByProject(root) || isOnPath() || isInstalled() || isAttached();
  return run.found;
}

/**
 * The engine would advise to download a plugin that it does not find. There is no download, so the message names the lines to
 * add.
 *
 * @throws RunError if the engine would not find the plugin.
 */
function assertPluginInReach(): void {
  if (isPluginInReach()) return;
  const root = pulumi.runtime.getRootDirectory();
  const installed = dirname(require.resolve("pulumi-endpoints/package.json"));
  const path = relative(root, join(installed, "provider", "plugin"))
    .split(sep)
    .join("/");
  throw programError(
    `Pulumi finds no plugin named endpoints. Add this to the project's Pulumi.yaml:\nplugins:\n  providers:\n    - name: endpoints\n      path: ${path}`,
  );
}

function isNamedByProject(root: string): boolean {
  const file = projectFile(root);
  // A program of the Automation API, or a test with mocks, has no file, so the plugin may be there.
  if (file === undefined) return true;
  const project = policyFromText(readFileSync(file, "utf8"));
  if (!("data" in project) || !isMapping(project.data)) return true;
  const { packages } = project.data;
  return pluginFolders(project.data, root).has(PACKAGE) || (isMapping(packages) && PACKAGE in packages);
}

const isOnPath = () =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .some((folder) => folder !== "" && ENDINGS.some((ending) => existsSync(join(folder, BINARY + ending))));

function isInstalled(): boolean {
  const plugins = join(process.env["PULUMI_HOME"] ?? join(homedir(), ".pulumi"), "plugins");
  return existsSync(plugins) && readdirSync(plugins).some((name) => name.startsWith(`resource-${PACKAGE}-v`));
}

/** Whether the plugin was started separately, for example in a debugger. */
const isAttached = () => /(^|,)endpoints:\d/.test(process.env["PULUMI_DEBUG_PROVIDERS"] ?? "");
