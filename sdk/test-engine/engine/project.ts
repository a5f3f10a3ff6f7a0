import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { pluginFolders, projectFile } from "../../pulumi-cli/index";
import { Unsupported } from "../errors";
import type { ConfigValue } from "../types";

export interface Project {
  name: string;
  root: string;
  folder: string;
  /** The program in this folder: `.`, or the file in `main`. */
  entry: string;
  /** Whether TypeScript is compiled when it is loaded: the runtime's option `typescript`. */
  typescript: boolean;
  /** The folders of provider plugins by package, from `plugins.providers`. */
  plugins: Map<string, string>;
  /** The packages under test, for which `others` never answers. */
  own: ReadonlySet<string>;
  config: Record<string, ConfigValue>;
  /** The option `refresh: always`: whether a preview, an update or a destruction begins with a refresh. */
  refreshesFirst: boolean;
}

const runtime = z.object({
  name: z.string(),
  options: z.object({ typescript: z.boolean().default(true) }).default({ typescript: true }),
});
/** The key `runtime` of `Pulumi.yaml` and `PulumiPlugin.yaml`: a name, or a name with options. */
export const runtimeSchema = z
  .union([z.string().transform((name) => runtime.parse({ name })), runtime])
  .default(runtime.parse({ name: "nodejs" }));

const configEntry = z.object({
  value: z.unknown().optional(),
  default: z.unknown().optional(),
  secret: z.boolean().default(false),
});
const projectSchema = z.object({
  name: z.string().optional(),
  runtime: runtimeSchema,
  main: z.string().default("."),
  plugins: z.unknown().optional(),
  config: z.record(z.string(), z.unknown()).default({}),
  options: z.object({ refresh: z.unknown() }).partial().default({}),
});

/** Reads `Pulumi.yaml` like the CLI. Without the file, the project has the name of the folder. */
export function readProject(program: string, own: string[] = []): Project {
  const root = resolve(program);
  if (!existsSync(root)) throw new Error(`there is no program folder ${root}`);
  const file = projectFile(root);
  const project = projectSchema.parse((file && parse(readFileSync(file, "utf8"))) ?? {});
  if (project.runtime.name !== "nodejs")
    throw new Unsupported(`programs of the runtime ${project.runtime.name} (${file})`);
  const name = project.name ?? basename(root);
  const main = join(root, project.main);
  const isFile = existsSync(main) && statSync(main).isFile();
  return {
    name,
    root,
    folder: isFile ? dirname(main) : main,
    entry: isFile ? basename(main) : ".",
    typescript: project.runtime.options.typescript,
    plugins: pluginFolders(project, root),
    own: new Set(own),
    config: projectConfig(name, project.config),
    refreshesFirst: project.options.refresh === "always",
  };
}

function projectConfig(project: string, entries: Record<string, unknown>): Record<string, ConfigValue> {
  const config: Record<string, ConfigValue> = {};
  for (const [key, given] of Object.entries(entries)) {
    const parsed = configEntry.safeParse(given);
    const value = parsed.success ? (parsed.data.value ?? parsed.data.default) : given;
    if (value === undefined || value === null) continue;
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    config[fullKey(project, key)] = parsed.data?.secret ? { secret: text } : text;
  }
  return config;
}

/** A key without a namespace belongs to the project. */
export function fullKey(project: string, key: string): string {
  return key.includes(":") ? key : `${project}:${key}`;
}
