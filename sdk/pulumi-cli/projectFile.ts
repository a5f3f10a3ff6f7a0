import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isMapping } from "../../provider/data/index";

/** The path of the project file in a folder. Undefined if there is none. */
export function projectFile(folder: string): string | undefined {
  const files = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];
  return files.map((file) => join(folder, file)).find((file) => existsSync(file));
}

/** The folders of plugins by package, from `plugins.providers` of a project file. */
export function pluginFolders(project: unknown, root: string): Map<string, string> {
  const plugins = isMapping(project) ? project["plugins"] : undefined;
  const providers = isMapping(plugins) ? plugins["providers"] : undefined;
  const named = (Array.isArray(providers) ? providers : []).filter(isMapping);
  return new Map(named.map(({ name, path }) => [String(name), resolve(root, String(path))]));
}
