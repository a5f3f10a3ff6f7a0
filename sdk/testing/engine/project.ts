import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import type { ConfigValue } from "../types";
import { isRecord } from "./values";

/** Where a program is and what runs it. */
export interface Project {
  name: string;
  /** The folder of `Pulumi.yaml`. */
  root: string;
  /** The program's working directory. */
  folder: string;
  /** What is run there: `.`, or the file that `main` names. */
  entry: string;
  /** Whether the program is compiled on the fly; the runtime's option `typescript`, true unless it says otherwise. */
  typescript: boolean;
  /** The folders of the provider plugins that the project names, by package. */
  plugins: Map<string, string>;
  /** Configuration that the project itself gives. */
  config: Record<string, ConfigValue>;
}

/** Reads `Pulumi.yaml` (name, main, config) as the CLI does; a folder without one is a project of its own name. */
export function readProject(program: string, name?: string): Project {
  const root = resolve(program);
  if (!existsSync(root)) throw new Error(`there is no program folder ${root}`);
  const file = ["Pulumi.yaml", "Pulumi.yml"].map((each) => join(root, each)).find((each) => existsSync(each));
  const parsed: unknown = file === undefined ? {} : parse(readFileSync(file, "utf8"));
  const yaml = isRecord(parsed) ? parsed : {};
  const { name: runtime, options } = isRecord(yaml["runtime"]) ? yaml["runtime"] : { name: yaml["runtime"] };
  if (runtime !== undefined && runtime !== "nodejs")
    throw new Error(`the test engine runs Node programs only, and ${file} asks for ${String(runtime)}`);
  const project = name ?? (typeof yaml["name"] === "string" ? yaml["name"] : basename(root));
  const main = join(root, typeof yaml["main"] === "string" ? yaml["main"] : ".");
  const isFile = existsSync(main) && statSync(main).isFile();
  return {
    name: project,
    root,
    folder: isFile ? dirname(main) : main,
    entry: isFile ? basename(main) : ".",
    typescript: !(isRecord(options) && options["typescript"] === false),
    plugins: isRecord(yaml["plugins"]) ? providerFolders(root, yaml["plugins"]["providers"]) : new Map(),
    config: isRecord(yaml["config"]) ? projectConfig(project, yaml["config"]) : {},
  };
}

/** A path is relative to `Pulumi.yaml`; as `projectPluginsFromProject`. */
function providerFolders(root: string, providers: unknown): Map<string, string> {
  const folders = new Map<string, string>();
  for (const plugin of Array.isArray(providers) ? providers : [])
    if (isRecord(plugin) && typeof plugin["name"] === "string" && typeof plugin["path"] === "string")
      folders.set(plugin["name"], resolve(root, plugin["path"]));
  return folders;
}

function projectConfig(project: string, entries: Record<string, unknown>): Record<string, ConfigValue> {
  const config: Record<string, ConfigValue> = {};
  for (const [key, entry] of Object.entries(entries)) {
    const value = isRecord(entry) ? (entry["value"] ?? entry["default"]) : entry;
    if (value === undefined || value === null) continue;
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    config[fullKey(project, key)] = isRecord(entry) && entry["secret"] === true ? { secret: text } : text;
  }
  return config;
}

/** A key without a namespace belongs to the project. */
export function fullKey(project: string, key: string): string {
  return key.includes(":") ? key : `${project}:${key}`;
}
