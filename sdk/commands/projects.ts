import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { UserError } from "../../provider/api/apiErrors";
import type { LiveEndpoint } from "../../provider/api/contract";
import { isMapping } from "../../provider/api/json";
import { partsOf } from "../../provider/api/mark";
import { didYouMean } from "../../provider/api/text";
import { pathText, sameData } from "../../provider/endpoint/documents";
import { matcher } from "../../provider/endpoint/lookup";
import { projectFile } from "../projectFile";
import { type Options, UsageError, type Values } from "./command";
import { readText } from "./options";

/* The projects and stacks of a command: of one folder, of several, or of a file that lists them. */

/** These mean the same in every command. */
export const projectsOptions = {
  stack: {
    value: "S",
    help: "a stack, by short or full name (default: the selected one)",
    isRepeatable: true,
  },
  cwd: {
    value: "DIR",
    help: "the folder of a Pulumi project (default: this one)",
    excludes: ["projects"],
  },
  projects: { value: "F", help: "a file that lists folders and stacks" },
  known: {
    value: "S",
    help: "a stack of any project whose endpoints count as managed: organization/project/stack",
    isRepeatable: true,
  },
  ignore: {
    value: "F",
    help: "a file with endpoints that are meant to be there: a list, or a file with ignore:",
    parse: ignoredIn,
  },
} as const satisfies Options;

/** A mapping with no other keys. */
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
  /** Like the patterns of `getEndpoints`: `*` matches any text. */
  url: z.string().optional(),
  /** These keys of the metadata have these values. */
  metadata: z.record(z.string(), z.json()).refine(hasKeys, { error: "needs a key" }).optional(),
  /** The parts of the endpoint's mark (`endpoints:mark`). */
  mark: mapping({
    namespace: z.string().optional(),
    project: z.string().optional(),
    stack: z.string().optional(),
  })
    .refine(hasKeys, { error: "needs a namespace, a project or a stack" })
    .optional(),
  reason: z.string().min(1),
}).refine(({ reason: _, ...conditions }) => Object.keys(conditions).length > 0, {
  error: "needs an id, a url, metadata or a mark",
});
export type Ignored = z.output<typeof ignoredSchema>;

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
  /** Stacks of any project whose endpoints are managed elsewhere. */
  known: z.array(z.string().min(1)).default([]),
  ignore: ignoreListSchema.default([]),
});

/** A project and those of its stacks that the command is about. */
export interface Project {
  /** The absolute path of the folder with the project file. */
  folder: string;
  name: string;
  /** As given: `dev` or `organization/project/dev`. Empty means the selected stack. */
  stacks: string[];
}

export interface Projects {
  projects: Project[];
  /** Other stacks whose endpoints are managed, each with a folder in which Pulumi finds it. */
  known: { folder: string; stack: string }[];
  ignored: readonly Ignored[];
}

/**
 * Resolves the options. Makes no request and runs no Pulumi.
 *
 * @throws UsageError if they contradict each other, or name something that does not exist.
 */
export async function projectsOf(given: Partial<Values<typeof projectsOptions>>): Promise<Projects> {
  const { stack = [], cwd = ".", projects: file, known = [], ignore = [] } = given;
  if (file === undefined) {
    const project = inFolder(cwd, stack);
    const { folder } = project;
    return { projects: [project], known: known.map((stack) => ({ folder, stack })), ignored: ignore };
  }
  const listed = parsedFile(file, projectsFileSchema);
  const found: Project[] = [];
  for (const { folder, stacks } of listed.projects)
    for (const at of await foldersLike(folder, file)) {
      const { settings, ...own } = projectIn(at);
      const project = withStacks(own, stacks ?? stacksWithSettings(settings));
      const copy = found.find(
        ({ name, stacks }) =>
          name === project.name &&
          stacks.some((one) => project.stacks.some((other) => isSameStack(one, other))),
      );
      if (copy)
        throw new UsageError(
          `${file}: ${copy.folder} and ${project.folder} are both of the project ${project.name}, and have stacks in common; list one of them`,
        );
      found.push(project);
    }
  const chosen = stack.length > 0 ? onlyStacks(found, stack, file) : found;
  const isChosen = (folder: string, name: string) =>
    chosen.some((each) => each.folder === folder && each.stacks.includes(name));
  const left = found.flatMap(({ folder, stacks }) =>
    stacks.filter((name) => !isChosen(folder, name)).map((stack) => ({ folder, stack })),
  );
  const folder = found[0]?.folder ?? ".";
  const elsewhere = [...known, ...listed.known].map((stack) => ({ folder, stack }));
  return { projects: chosen, known: [...elsewhere, ...left], ignored: [...listed.ignore, ...ignore] };
}

/** Whether all conditions of an entry hold. */
export function isIgnored(live: LiveEndpoint, { id, url, metadata, mark }: Ignored): boolean {
  const has = (value: unknown, wanted: object = {}) =>
    Object.entries(wanted).every(([key, part]) => isMapping(value) && sameData(value[key], part));
  const own = live.createdFor && { ...partsOf(live.createdFor), namespace: live.createdFor.namespace };
  return matcher({ id, urlPattern: url, metadata: (data) => has(data, metadata) })(live) && has(own, mark);
}

/** The endpoints of `--ignore`: a list, or that of a file with other keys, such as the one of `--projects`. */
function ignoredIn(file: string): Ignored[] {
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

/*
 * A stack is `dev`, `api/dev` (project and stack), `acme/dev` (organization and stack) or `acme/api/dev`. Pulumi does not take
 * `api/dev`.
 */

/** The project in a stack's name. */
function projectOf(stack: string, projects: readonly Project[]): string | undefined {
  const [, project, organization] = stack.split("/").reverse();
  if (organization !== undefined) return project;
  return projects.some(({ name }) => name === project) ? project : undefined;
}

/** The name without its project if that stands first, because Pulumi would take it for an organization. */
export const forPulumi = (stack: string, project: string): string =>
  stack.split("/").length === 2 && stack.startsWith(`${project}/`) ? lastOf(stack) : stack;

/** The name with its project. */
export const withProject = (stack: string, project: string): string =>
  [organizationOf(stack), project, lastOf(stack)].filter(Boolean).join("/");

export const lastOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

const organizationOf = (name: string) => (name.includes("/") ? name.split("/")[0] : undefined);

/** Whether two names mean one stack of a project: `dev` and `organization/dev` do. */
function isSameStack(one: string, other: string): boolean {
  const [a, b] = [organizationOf(one), organizationOf(other)];
  return lastOf(one) === lastOf(other) && (a === undefined || b === undefined || a === b);
}

function inFolder(folder: string, stacks: readonly string[]): Project {
  if (!existsSync(folder)) throw new UsageError(`--cwd names a folder that does not exist: ${folder}`);
  const { settings: _, ...project } = projectIn(projectFolder(folder));
  return withStacks(project, stacks);
}

/** @throws UsageError if one is a stack of another project, or if two may be one. */
function withStacks(project: Project, stacks: readonly string[]): Project {
  const foreign = stacks.find((stack) => (projectOf(stack, [project]) ?? project.name) !== project.name);
  if (foreign !== undefined)
    throw new UsageError(
      `${foreign} is no stack of the project ${project.name}, which is in ${project.folder}; name the folder of its own project`,
    );
  const names = [...new Set(stacks.map((stack) => forPulumi(stack, project.name)))];
  const twice = names.find((name, index) => names.slice(0, index).some((other) => isSameStack(name, other)));
  if (twice !== undefined)
    throw new UsageError(
      `a stack ${lastOf(twice)} of the project ${project.name} is named twice, with and without its organization; name it once`,
    );
  return { ...project, stacks: names };
}

/** @throws UsageError for a stack that the file does not list. */
function onlyStacks(projects: Project[], stacks: readonly string[], file: string): Project[] {
  const isMeant = (project: Project, name: string, stack: string) => {
    const of = projectOf(stack, projects);
    // `organization/stack` must be as in the file, because a part of it proves nothing.
    if (of === undefined && stack.includes("/")) return name === stack;
    return (of ?? project.name) === project.name && isSameStack(name, stack);
  };
  const listed = (project: Project, wanted: readonly string[]) =>
    project.stacks.filter((name) => wanted.some((stack) => isMeant(project, name, stack)));
  const unlisted = stacks.find((stack) => projects.every((project) => listed(project, [stack]).length === 0));
  if (unlisted !== undefined) throw new UsageError(`${file} lists no stack ${unlisted}`);
  return projects
    .map((project) => ({ ...project, stacks: listed(project, stacks) }))
    .filter((project) => project.stacks.length > 0);
}

async function foldersLike(pattern: string, file: string): Promise<string[]> {
  const { glob } = await import("tinyglobby");
  const found = await glob(`${pattern.replace(/\/+$/, "")}/Pulumi.{yaml,yml,json}`, {
    cwd: dirname(resolve(file)),
    absolute: true,
    ignore: ["**/node_modules/**"],
  });
  if (found.length === 0) throw new UsageError(`${file}: there is no Pulumi project in ${pattern}`);
  return found.map((path) => dirname(path)).sort();
}

/** The project with its file in this folder. */
function projectIn(folder: string): Project & { settings: string } {
  const file = projectFile(folder) ?? "";
  const data = parsedText(readText(file, UsageError), file);
  const { name, stackConfigDir } = isMapping(data) ? data : {};
  if (typeof name !== "string") throw new UsageError(`${file} has no name of the project`);
  const settings = typeof stackConfigDir === "string" ? resolve(folder, stackConfigDir) : folder;
  return { folder: realpathSync(folder), name, stacks: [], settings };
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
  // A misspelt key is also a missing one.
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
  const { parse, YAMLParseError }: typeof import("yaml") = require("yaml");
  try {
    return parse(text);
  } catch (error) {
    const [start] = (error instanceof YAMLParseError && error.linePos) || [];
    const at = start ? ` (line ${start.line}, column ${start.col})` : "";
    throw new UsageError(`${file} is neither YAML nor JSON${at}`);
  }
}
