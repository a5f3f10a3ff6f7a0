import * as pulumi from "@pulumi/pulumi";
import { environmentName } from "../provider/config";
import { TYPES } from "../provider/tokens";
import { assertPluginInReach } from "./pluginInReach";
import { programError } from "./programError";
import { Provider } from "./provider";

/** What can serve a resource. */
export type Host = keyof typeof TYPES;

const SETTING = "endpoints:host";
const STANDARD: Host = "dynamic";

/** What serves a resource: the plugin where it has an explicit provider, and otherwise what the setting says. */
export function hostOf(options: pulumi.CustomResourceOptions | undefined): Host {
  const host = explicitProvider(options) ? "plugin" : chosenHost();
  if (host === "plugin") assertPluginInReach();
  else if (options?.import !== undefined) {
    throw programError(
      `only the plugin imports: run \`pulumi config set ${SETTING} plugin\`, or set ${environmentName("host")}=plugin; or take the endpoint over with the input adopt`,
    );
  }
  return host;
}

/** The account that the options name, or those of the parent; undefined for the stack's own. */
export function explicitProvider(
  options: Pick<pulumi.InvokeOptions, "provider" | "parent"> | undefined,
): Provider | undefined {
  const provider = options?.provider ?? options?.parent?.getProvider(TYPES.plugin);
  return Provider.isInstance(provider) ? provider : undefined;
}

/**
 * The aliases by which a stack moves from one host to the other: the type that the resource has there, under its name
 * and parent, and under those that it is said to have had before.
 */
export function aliasesOf(host: Host, given: pulumi.CustomResourceOptions["aliases"] = []): pulumi.Alias[] {
  const type = TYPES[host === "plugin" ? "dynamic" : "plugin"];
  const former = given.filter((alias) => !isUrnOrTyped(alias)) as pulumi.Alias[];
  return [{ type }, ...former.map((alias) => ({ ...alias, type }))];
}

function chosenHost(): Host {
  const host =
    pulumi.runtime.getConfig(SETTING)?.trim() || process.env[environmentName("host")]?.trim() || STANDARD;
  if (isHost(host)) return host;
  throw programError(`${SETTING} is ${JSON.stringify(host)}; it can be dynamic or plugin`);
}

const isHost = (text: string): text is Host => Object.hasOwn(TYPES, text);

/** Such an alias names its type already; so may one that is known only later. */
function isUrnOrTyped(alias: pulumi.Input<pulumi.URN | pulumi.Alias>): boolean {
  return (
    typeof alias !== "object" ||
    pulumi.Output.isInstance(alias) ||
    alias instanceof Promise ||
    alias.type !== undefined
  );
}
