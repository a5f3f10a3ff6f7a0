import { existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { parse } from "yaml";
import type { Project } from "./project";
import { isRecord } from "./values";

/** How a package's provider process is started. */
export interface PluginCommand {
  /** The folder that the plugin is in, which it is told when they greet each other. */
  folder: string;
  command: string;
  /** Before the engine's address, which is the last argument. */
  args: string[];
  env: Record<string, string>;
  /** Whether the user sees what it prints. */
  loud: boolean;
}

/** What finds a module for the program in a folder. */
export type Resolve = (folder: string, module: string) => string;

/** The dynamic providers of a Node program. Their host comes with the SDK, and knows nothing of greetings. */
export const DYNAMIC = "pulumi-nodejs";

/**
 * Where the plugin of a package is: in the folder that `Pulumi.yaml` names, else on the PATH. Nothing is downloaded. As
 * `getPluginInfoAndPath`.
 */
export function findPlugin(
  package_: string,
  project: Project,
  path: string,
  resolve: Resolve,
): PluginCommand {
  if (package_ === DYNAMIC) {
    const host = resolve(project.folder, "@pulumi/pulumi/cmd/dynamic-provider");
    const env = { PULUMI_NODEJS_PROJECT: project.name };
    return { folder: dirname(host), command: process.execPath, args: [host], env, loud: true };
  }
  const binary = `pulumi-resource-${package_}`;
  const folder = project.plugins.get(package_);
  if (folder !== undefined) return inFolder(folder, binary, resolve);
  const ambient = path
    .split(delimiter)
    .map((each) => join(each, binary))
    .find((file) => existsSync(file) && statSync(file).isFile());
  if (ambient === undefined)
    throw new Error(
      `there is no plugin for the package ${package_}: neither does plugins.providers in Pulumi.yaml name its folder, ` +
        `nor is ${binary} on the PATH; the test engine downloads none`,
    );
  return { folder: dirname(ambient), command: ambient, args: [], env: {}, loud: false };
}

/** Its own program where there is one, else what `PulumiPlugin.yaml` says; as `ExecPlugin`. */
function inFolder(folder: string, binary: string, resolve: Resolve): PluginCommand {
  if (existsSync(join(folder, binary)))
    return { folder, command: join(folder, binary), args: [], env: {}, loud: false };
  const file = join(folder, "PulumiPlugin.yaml");
  if (!existsSync(file))
    throw new Error(`the plugin folder ${folder} holds neither ${binary} nor PulumiPlugin.yaml`);
  const parsed: unknown = parse(readFileSync(file, "utf8"));
  const runtime = isRecord(parsed) ? parsed["runtime"] : undefined;
  const { name, options } = isRecord(runtime) ? runtime : { name: runtime, options: undefined };
  if (name !== "nodejs")
    throw new Error(`the test engine runs Node plugins only, and ${file} asks for ${String(name)}`);
  const typescript = !(isRecord(options) && options["typescript"] === false);
  return {
    folder,
    command: process.execPath,
    args: [resolve(folder, "@pulumi/pulumi/cmd/run-plugin"), folder],
    env: typescript ? { PULUMI_NODEJS_TYPESCRIPT: "true" } : {},
    loud: false,
  };
}
