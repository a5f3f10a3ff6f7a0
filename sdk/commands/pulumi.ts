import { execFile } from "node:child_process";
import { dirname, resolve } from "node:path";
import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { UserError } from "../../provider/api/apiErrors";
import type { ConfigReader } from "../../provider/api/config";
import { projectFile } from "../projectFile";
import { cliFailure, cliMessage } from "./failures";
import { parseState, type State } from "./managed";

/* The stacks of the user's own project, through the Pulumi CLI. It never asks a question. */

/**
 * The project in a folder.
 *
 * @param purpose What needs the project.
 * @param alternative What the user can do instead of installing the CLI.
 * @throws UserError if there is no Pulumi CLI.
 */
export async function openProject(
  folder: string,
  purpose: string,
  alternative: string,
): Promise<LocalWorkspace> {
  // Loading it takes a second, so only commands that name a stack load it.
  const { LocalWorkspace, PulumiCommand } = await import("@pulumi/pulumi/automation/index.js");
  const pulumiCommand = await PulumiCommand.get().catch((error: unknown) => {
    if (cliFailure(error)?.code !== "ENOENT") throw error;
    throw new UserError(
      `${purpose} needs the Pulumi CLI, and there is no pulumi on the PATH: install it (https://www.pulumi.com/docs/install)${alternative}`,
    );
  });
  return LocalWorkspace.create({ workDir: projectFolder(folder), pulumiCommand });
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

/** A stack's configuration, secrets decrypted. The selected stack stays selected. */
export async function stackConfig(project: LocalWorkspace, stack: string): Promise<ConfigReader> {
  const values = await project.getAllConfig(stack);
  return (key) => (Object.hasOwn(values, key) ? values[key]?.value : undefined);
}

/** A stack's state, secrets decrypted. */
export const stackState = async (project: LocalWorkspace, stack: string): Promise<State> =>
  parseState(await project.exportStack(stack));

/**
 * Runs a command of the CLI for a stack.
 *
 * @throws What the Automation API throws.
 */
export function pulumiJson(project: LocalWorkspace, stack: string, args: string[]): Promise<unknown> {
  const options = { cwd: project.workDir, maxBuffer: Number.POSITIVE_INFINITY };
  return new Promise((done, failed) => {
    execFile("pulumi", [...args, "--stack", stack, "--non-interactive"], options, (error, stdout, stderr) => {
      if (!error) done(stdout);
      else failed(Object.assign(error, { commandResult: { stderr, err: { exitCode: error.code } } }));
    });
  }).then((text) => JSON.parse(String(text)));
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
      if (error) failed(new UserError(`cannot set ${name}: ${cliMessage(stderr)}`));
      else done();
    });
    // If the CLI ends before it has read everything, its own message has the reason.
    child.stdin?.on("error", () => {});
    // The CLI removes one line break at the end.
    child.stdin?.end(`${value}\n`);
  });
}
