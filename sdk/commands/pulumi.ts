import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { z } from "zod";
import { plain, UserError } from "../../provider/api/apiErrors";
import type { ConfigReader } from "../../provider/config";
import { parseState, type State } from "./managed";

/* The stacks of the user's own project, through the Pulumi CLI. It never asks a question. */

/** A failure of the Pulumi CLI, with the CLI's message. */
export class StackError extends UserError {
  override readonly name = "StackError";
  constructor(
    message: string,
    /** The CLI's own; undefined if the CLI did not run. */
    readonly exitCode?: number,
  ) {
    super(message);
  }
}

/**
 * The project in a folder.
 *
 * @param purpose What needs the project.
 * @param alternative What the user can do instead of installing the CLI.
 * @throws StackError if there is no Pulumi CLI.
 */
export async function openProject(
  folder: string,
  purpose: string,
  alternative: string,
): Promise<LocalWorkspace> {
  // Loading it takes a second, so only commands that name a stack load it.
  const automation = await import("@pulumi/pulumi/automation/index.js");
  const command = await automation.PulumiCommand.get().catch((error: unknown) => {
    if (cliFailure(error)?.err?.code !== "ENOENT") throw error;
    throw new StackError(
      `${purpose} needs the Pulumi CLI, and there is no pulumi on the PATH: install it (https://www.pulumi.com/docs/install)${alternative}`,
    );
  });
  return withCliErrors(() =>
    automation.LocalWorkspace.create({ workDir: projectFolder(folder), pulumiCommand: command }),
  );
}

/** The folder with the project file: this one or, as for Pulumi itself, the nearest above it. */
function projectFolder(folder: string): string {
  const start = resolve(folder);
  for (let at = start; ; at = dirname(at)) {
    if (["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"].some((file) => existsSync(join(at, file)))) return at;
    if (dirname(at) === at) throw new StackError(`there is no Pulumi.yaml in ${start}, nor above it`);
  }
}

export async function projectName(project: LocalWorkspace): Promise<string> {
  return (await withCliErrors(() => project.projectSettings())).name;
}

/** A stack's configuration, secrets decrypted. The selected stack stays selected. */
export async function stackConfig(project: LocalWorkspace, stack: string): Promise<ConfigReader> {
  const values = await withCliErrors(() => project.getAllConfig(stack));
  return (key) => (Object.hasOwn(values, key) ? values[key]?.value : undefined);
}

/** A stack's state, secrets decrypted. */
export async function stackState(project: LocalWorkspace, stack: string): Promise<State> {
  return parseState(await withCliErrors(() => project.exportStack(stack)));
}

/** Sets a secret of a stack's configuration. The Automation API would show the value in the list of processes. */
export async function setSecret(
  project: LocalWorkspace,
  stack: string,
  name: string,
  value: string,
): Promise<void> {
  const args = ["config", "set", "--secret", name, "--stack", stack, "--non-interactive"];
  await new Promise<void>((done, failed) => {
    const child = execFile("pulumi", args, { cwd: project.workDir }, (error, _stdout, stderr) => {
      if (error) failed(new StackError(`cannot set ${name}: ${cliMessage(stderr)}`));
      else done();
    });
    // If the CLI ends before it has read everything, its own message has the reason.
    child.stdin?.on("error", () => {});
    // The CLI removes one line break at the end.
    child.stdin?.end(`${value}\n`);
  });
}

/** Turns a failure of the CLI into its own message. */
export async function withCliErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = cliFailure(error);
    throw failure ? new StackError(cliMessage(failure.stderr), failure.err?.exitCode) : error;
  }
}

/** The error's own message contains the CLI's stdout, which may have secrets in it. Its messages are on stderr. */
const cliErrorSchema = z.object({
  commandResult: z.object({
    stderr: z.string(),
    err: z
      .object({
        exitCode: z.number().optional().catch(undefined),
        code: z.string().optional().catch(undefined),
      })
      .optional()
      .catch(undefined),
  }),
});

const cliFailure = (error: unknown) => cliErrorSchema.safeParse(error).data?.commandResult;

/** The CLI's message, without the command that the Automation API puts before it. */
function cliMessage(stderr: string): string {
  return plain(stderr.replace(/^[\s\S]*?error: /, "")) || "the Pulumi CLI failed without a message";
}
