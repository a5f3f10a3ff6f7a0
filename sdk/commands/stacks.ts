import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { z } from "zod";
import { plain, UserError } from "../../provider/api/userError";
import type { ConfigReader } from "../../provider/config";
import { TYPES } from "../../provider/tokens";
import { findOnPath } from "../testing/cli";

/* What commands read of the stacks of the user's own project, through the Pulumi CLI. */

/** A stack that cannot be read, with the CLI's own words where it has said something. */
export class StackError extends UserError {
  override readonly name = "StackError";
  constructor(
    message: string,
    /** The CLI's own, where it was the CLI that failed. */
    readonly exitCode?: number,
  ) {
    super(message);
  }
}

/** A cloud endpoint that a stack manages, on either provider. */
export interface ManagedEndpoint {
  id: string;
  name: string;
  urn: string;
}

/**
 * The project in a folder.
 *
 * @param who What the project is needed for.
 * @param remedy What else can be done, beside installing the CLI.
 * @throws StackError where there is no Pulumi CLI.
 */
export async function openProject(
  folder: string,
  who = "--stack",
  remedy = ", or leave --stack out and set ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL",
): Promise<LocalWorkspace> {
  if (!(await findOnPath(process.platform === "win32" ? "pulumi.exe" : "pulumi"))) {
    throw new StackError(
      `${who} needs the Pulumi CLI, and there is no pulumi on the PATH: install it (https://www.pulumi.com/docs/install)${remedy}`,
    );
  }
  // It takes a second to load, and only what names a stack needs it.
  const automation = await import("@pulumi/pulumi/automation/index.js");
  return asked(() => automation.LocalWorkspace.create({ workDir: projectFolder(folder) }));
}

/** The folder with the project file: this one or, as for Pulumi itself, the nearest above it. */
function projectFolder(folder: string): string {
  const start = resolve(folder);
  for (let at = start; ; at = dirname(at)) {
    if (["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"].some((file) => existsSync(join(at, file)))) return at;
    if (dirname(at) === at) throw new StackError(`there is no Pulumi.yaml in ${start}, nor above it`);
  }
}

/** The name of the project. */
export async function projectName(project: LocalWorkspace): Promise<string> {
  return (await asked(() => project.projectSettings())).name;
}

/** A value of a stack's configuration, as it is used. */
export interface Value {
  value: string;
  secret: boolean;
}

/** A stack's whole configuration by full key, secrets in plain. The stack that is selected stays selected. */
export async function stackValues(
  project: LocalWorkspace,
  stack: string,
): Promise<ReadonlyMap<string, Value>> {
  const values = await asked(() => project.getAllConfig(stack));
  return new Map(Object.entries(values).map(([key, { value, secret = false }]) => [key, { value, secret }]));
}

/** A stack's configuration, as settings are read from it. */
export async function stackConfig(project: LocalWorkspace, stack: string): Promise<ConfigReader> {
  const values = await stackValues(project, stack);
  return (key) => values.get(key)?.value;
}

/** Sets a secret of a stack's configuration. The Automation API would show the value to whoever lists processes. */
export async function setSecret(
  project: LocalWorkspace,
  stack: string,
  name: string,
  value: string,
): Promise<void> {
  const args = ["config", "set", "--secret", name, "--stack", stack, "--non-interactive"];
  await new Promise<void>((done, failed) => {
    const child = execFile("pulumi", args, { cwd: project.workDir }, (error, _stdout, stderr) => {
      if (error) failed(new StackError(`cannot set ${name}: ${wordsOf(stderr)}`));
      else done();
    });
    // Where it ends before it has read all, its own words say why.
    child.stdin?.on("error", () => {});
    // One line break at the end is taken for the pipe's.
    child.stdin?.end(`${value}\n`);
  });
}

/** The cloud endpoints that a stack manages, as its state has them. */
export async function managedEndpoints(project: LocalWorkspace, stack: string): Promise<ManagedEndpoint[]> {
  const { deployment } = stateSchema.parse(await asked(() => project.exportStack(stack)));
  return (deployment.resources ?? []).flatMap(({ urn, type, id, external }) =>
    id !== undefined && !external && isCloudEndpointType(type) ? [{ id, urn, name: nameOf(urn) }] : [],
  );
}

/** The name in `urn:pulumi:stack::project::type::name`, which may hold `::` itself. */
export function nameOf(urn: string): string {
  return urn.split("::").slice(3).join("::");
}

/** Whether states hold cloud endpoints under this type: the dynamic provider's, or the plugin's. */
export function isCloudEndpointType(type: string): boolean {
  return Object.values<string>(TYPES).includes(type);
}

/** As much of a state as is read here. */
const stateSchema = z.object({
  deployment: z.object({
    resources: z
      .array(
        z.object({
          urn: z.string(),
          type: z.string(),
          id: z.string().optional(),
          external: z.boolean().optional(),
        }),
      )
      .nullish(),
  }),
});

/** The CLI's error holds all that it printed, its standard output too, which may be a secret; its words are on the other. */
const commandError = z.object({
  commandResult: z.object({
    stderr: z.string(),
    err: z
      .object({ exitCode: z.number().optional().catch(undefined) })
      .optional()
      .catch(undefined),
  }),
});

/** Has the CLI do something; its failure is told in the CLI's own words. */
export async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failed = commandError.safeParse(error);
    if (!failed.success) throw error;
    throw new StackError(wordsOf(failed.data.commandResult.stderr), failed.data.commandResult.err?.exitCode);
  }
}

/** The CLI's own words, without the command that the Automation API puts before them. */
function wordsOf(stderr: string): string {
  return plain(stderr.replace(/^[\s\S]*?error: /, "")) || "the Pulumi CLI failed, and said nothing";
}
