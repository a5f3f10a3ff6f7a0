import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { didYouMean, isMapping, pathText, problemOfTags, UserError } from "../../provider/data/index";
import { matcher } from "../../provider/dataSources/lookup";
import { sameData } from "../../provider/endpoint/documents";
import type { Endpoint } from "../../provider/service/contract";
import { projectFile } from "../pulumi-cli/index";
import { type Options, UsageError, type Values } from "./command";
import { readText } from "./options";
import { forPulumi, isSuffixOf, lastPartOf, MAX_SHOWN, withProject } from "./stackNames";
import type { UserProject } from "./userProject";

/* The projects and stacks of a command: of one folder, of several, or of a file that lists them. */

/** Options that mean the same in every command. */
export const projectsOptions = {
  stack: {
    value: "S",
    help: "a stack, by its name or the end of its full name: dev, api/dev (default: the selected one)",
    isRepeatable: true,
  },
  cwd: {
    value: "DIR",
    help: "the folder of a Pulumi project (default: this one)",
    excludes: ["projects"],
  },
  projects: { value: "F", help: "a file that lists folders and stacks" },
  ignore: {
    value: "F",
    help: "a file with endpoints that are meant to be there: a list, or a file with ignore:",
    parse: ignoredIn,
  },
} as const satisfies Options;

/** The schema of a mapping that refuses other keys, with a suggestion. */
const mapping = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, {
    error(issue) {
      const [key] = issue.code === "unrecognized_keys" ? issue.keys : [];
      return key === undefined
        ? undefined
        : `has an unknown key, ${key}${didYouMean(key, Object.keys(shape))}`;
    },
  });

const hasKeys = (value: object) => Object.keys(value).length > 0;

/** An endpoint that is meant to be there. All given conditions must hold. */
const ignoredSchema = mapping({
  id: z.string().optional(),
  /** Like the patterns of `getEndpoints`: `*` matches any text, and `\*` only a star. */
  url: z.string().optional(),
  /** These keys of the metadata have these values. */
  metadata: z.record(z.string(), z.json()).refine(hasKeys, { error: "needs a key" }).optional(),
  reason: z.string().min(1),
}).refine(({ reason: _, ...conditions }) => Object.keys(conditions).length > 0, {
  error: "needs an id, a url or metadata",
});
export type IgnoreRule = z.output<typeof ignoredSchema>;

const ignoreListSchema = z.array(ignoredSchema);

const projectsFileSchema = mapping({
  projects: z
    .array(
      mapping({
        /** Relative to this file. `*` matches within a name, `**` any folders. */
        folder: z.string().min(1),
        /** Default: every stack with a settings file, `Pulumi.<stack>.yaml`. */
        stacks: z.array(z.string().min(1)).min(1).optional(),
      }),
    )
    .min(1),
  ignore: ignoreListSchema.default([]),
});

/** A project, with those of its stacks that the command is about. */
interface ProjectStacks extends UserProject {
  /** As Pulumi takes them in the folder: `dev`, `organization/dev` or `organization/project/dev`. Empty means the selected stack. */
  stacks: string[];
}

export interface Projects {
  /** The file that lists the projects; undefined if the command is about the project of a folder. */
  file: string | undefined;
  projects: ProjectStacks[];
  /** All projects of the file, also those without a chosen stack: their backends may have endpoints, too. */
  all: readonly UserProject[];
  ignored: readonly IgnoreRule[];
}

/**
 * Resolves the options. Makes no request and runs no Pulumi.
 *
 * @throws UsageError if they contradict each other, or name something that does not exist.
 */
export async function projectsOf(given: Partial<Values<typeof projectsOptions>>): Promise<Projects> {
  const { stack: wanted = [], cwd = ".", projects: file, ignore = [] } = given;
  if (file === undefined) {
    if (!existsSync(cwd)) throw new UsageError(`--cwd names a folder that does not exist: ${cwd}`);
    const project = projectIn(projectFolder(cwd), wanted);
    assertDistinct(stacksOf([project]));
    return { file, projects: [project], all: [project], ignored: ignore };
  }
  const listed = parsedFile(file, projectsFileSchema);
  const found: ProjectStacks[] = [];
  for (const { folder, stacks } of listed.projects)
    for (const at of await foldersLike(folder, file)) found.push(projectIn(at, stacks));
  const all = stacksOf(found);
  assertDistinct(all);
  // Without Pulumi Cloud, every stack belongs to an organization with the name `organization`.
  const isMeant = ({ project, fullName }: NamedStack, name: string) =>
    isSuffixOf(fullName, withProject(name, project.name).replace(/^organization\//, ""));
  const unlisted = wanted.find((name) => !all.some((one) => isMeant(one, name)));
  if (unlisted !== undefined) {
    const names = all.slice(0, MAX_SHOWN).map(({ fullName }) => fullName);
    const more = all.length > MAX_SHOWN ? ", …" : "";
    throw new UsageError(`${file} lists no stack ${unlisted}, but ${names.join(", ")}${more}`);
  }
  const isChosen = (one: NamedStack) => wanted.length === 0 || wanted.some((name) => isMeant(one, name));
  const projects = found.map((project) => ({
    ...project,
    stacks: all.filter((one) => one.project === project && isChosen(one)).map(({ stack }) => stack),
  }));
  return {
    ...{ file, all: found, ignored: [...listed.ignore, ...ignore] },
    projects: projects.filter(({ stacks }) => stacks.length > 0),
  };
}

/** Whether all conditions of an entry hold. */
export function isIgnored(live: Endpoint, { id, url, metadata }: IgnoreRule): boolean {
  const has = (value: unknown, wanted: object = {}) =>
    Object.entries(wanted).every(([key, part]) => isMapping(value) && sameData(value[key], part));
  return matcher({ id, urlPattern: url, metadata: (data) => has(data, metadata) })(live);
}

/** The rules in the file of `--ignore`: a list, or the key `ignore` of a file such as that of `--projects`. */
function ignoredIn(file: string): IgnoreRule[] {
  const data = parsedText(readText(file, UsageError), file);
  return checked(file, isMapping(data) && "ignore" in data ? data["ignore"] : data, ignoreListSchema);
}

/** The folder with the project file: this one or, as for Pulumi itself, the nearest above it. */
function projectFolder(folder: string): string {
  const start = resolve(folder);
  for (let at = start; ; at = dirname(at)) {
    if (projectFile(at) !== undefined) return at;
    if (dirname(at) === at)
      throw new UserError(
        `there is no Pulumi.yaml in ${start} or above it; give the project's folder with --cwd`,
      );
  }
}

interface NamedStack {
  project: ProjectStacks;
  stack: string;
  fullName: string;
}

const stacksOf = (projects: readonly ProjectStacks[]): NamedStack[] =>
  projects.flatMap((project) =>
    project.stacks.map((stack) => ({ project, stack, fullName: withProject(stack, project.name) })),
  );

/** @throws UsageError if two names may mean one stack, because each of its endpoints would count as shared. */
function assertDistinct(stacks: readonly NamedStack[]): void {
  for (const one of stacks) {
    const same = stacks.find((other) => other !== one && isSuffixOf(one.fullName, other.fullName));
    if (same)
      throw new UsageError(
        `${same.fullName} in ${same.project.folder} and ${one.fullName} in ${one.project.folder} may be one stack; name it once`,
      );
  }
}

async function foldersLike(pattern: string, file: string): Promise<string[]> {
  const { glob } = await import("tinyglobby");
  const found = await glob(`${pattern.replace(/\/+$/, "")}/Pulumi.{yaml,yml,json}`, {
    cwd: dirname(resolve(file)),
    absolute: true,
    ignore: ["**/node_modules/**"],
  });
  const hint = pattern.includes("\\") ? "; write / between folders" : "";
  if (found.length === 0) throw new UsageError(`${file}: there is no Pulumi project in ${pattern}${hint}`);
  return found.map((path) => dirname(path)).sort();
}

/**
 * The project with its file in this folder.
 *
 * @param stacks Default: every stack with settings.
 * @throws UsageError if one is a stack of another project.
 */
function projectIn(folder: string, stacks?: readonly string[]): ProjectStacks {
  const file = projectFile(folder) ?? "";
  const data = parsedText(readText(file, UsageError), file);
  const { name, stackConfigDir, backend } = isMapping(data) ? data : {};
  if (typeof name !== "string") throw new UsageError(`${file} has no name of the project`);
  const settings = typeof stackConfigDir === "string" ? resolve(folder, stackConfigDir) : folder;
  const given = stacks ?? stacksWithSettings(settings);
  const foreign = given.find(
    (stack) => !isSuffixOf(withProject(stack, name), `${name}/${lastPartOf(stack)}`),
  );
  if (foreign !== undefined)
    throw new UsageError(
      `${foreign} is no stack of the project ${name}, which is in ${folder}; name the folder of its own project`,
    );
  const url = isMapping(backend) && typeof backend["url"] === "string" ? backend["url"] : undefined;
  const own = given.map((stack) => forPulumi(stack, name));
  return { folder: realpathSync(folder), name, backend: url, stacks: own };
}

/** The stacks that have a file in a folder of settings. */
function stacksWithSettings(folder: string): string[] {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const stacks = files.flatMap((name) => /^Pulumi\.(.+)\.(?:ya?ml|json)$/.exec(name)?.[1] ?? []);
  if (stacks.length > 0) return stacks.sort();
  throw new UsageError(
    `${folder} has no settings of a stack (Pulumi.<stack>.yaml), so list the project's stacks`,
  );
}

const parsedFile = <T extends z.ZodType>(file: string, schema: T): z.output<T> =>
  checked(file, parsedText(readText(file, UsageError), file), schema);

/** @throws UsageError with the place of the first mistake. */
function checked<T extends z.ZodType>(file: string, data: unknown, schema: T): z.output<T> {
  const { success, data: valid, error } = schema.safeParse(data);
  if (success) return valid;
  // A misspelt key also causes an issue about a missing key.
  const issue = error.issues.find(({ code }) => code === "unrecognized_keys") ?? error.issues[0];
  const path = issue?.path.map((key) => (typeof key === "symbol" ? "" : key)) ?? [];
  const place = path.length > 0 ? pathText(path) : "its content";
  throw new UsageError(`${file}: ${place} ${mistakeOf(issue)} (docs/drift.md shows such a file)`);
}

const mistakeOf = (issue: z.core.$ZodIssue | undefined): string =>
  issue?.code === "unrecognized_keys" || issue?.code === "custom"
    ? issue.message
    : "is missing, empty or of another kind";

/** YAML, of which JSON is a part. */
function parsedText(text: string, file: string): unknown {
  const problem = problemOfTags(text);
  if (problem !== undefined) throw new UsageError(`${file} ${problem}`);
  const { parse, YAMLParseError }: typeof import("yaml") = require("yaml");
  try {
    return parse(text);
  } catch (error) {
    const [start] = (error instanceof YAMLParseError && error.linePos) || [];
    const at = start ? ` (line ${start.line}, column ${start.col})` : "";
    throw new UsageError(`${file} is neither YAML nor JSON${at}`);
  }
}
