import { execFile } from "node:child_process";
import { dirname, resolve } from "node:path";
import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { UserError } from "../../provider/api/apiErrors";
import type { ConfigReader } from "../../provider/api/config";
import { projectFile } from "../projectFile";
import { cliFailure, cliMessage } from "./failures";
import { managedIds, parseState, type State } from "./managed";

/* The user's stacks, through the Pulumi CLI. It never asks a question. */

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
    throw noCli(purpose, alternative);
  });
  return LocalWorkspace.create({ workDir: projectFolder(folder), pulumiCommand });
}

const noCli = (purpose: string, alternative = "") =>
  new UserError(
    `${purpose} needs the Pulumi CLI, and there is no pulumi on the PATH: install it (https://www.pulumi.com/docs/install)${alternative}`,
  );

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
 * The ids of the endpoints that a stack of any project manages, read from its state without decrypting secrets. (The Automation
 * API would decrypt them.)
 *
 * @param folder Where Pulumi looks for its backend, and for the project of a stack without one.
 */
export async function knownIds(folder: string, stack: string): Promise<string[]> {
  const exported = await run(["stack", "export", "--stack", stack], folder, `read the stack ${stack}`, "");
  return managedIds(parseState(JSON.parse(exported)));
}

/** Sets a secret of a stack's configuration. The Automation API would show the value in the list of processes. */
export async function setSecret(
  project: LocalWorkspace,
  stack: string,
  name: string,
  value: string,
): Promise<void> {
  // The CLI removes one line break at the end.
  const args = ["config", "set", "--secret", name, "--stack", stack];
  await run(args, project.workDir, `set ${name}`, `${value}\n`);
}

/**
 * Runs the CLI, and returns its output.
 *
 * @param purpose Follows "cannot" in the message of a failure.
 */
function run(args: string[], cwd: string, purpose: string, input: string): Promise<string> {
  return new Promise((done, failed) => {
    const options = { cwd, maxBuffer: Number.POSITIVE_INFINITY };
    const child = execFile("pulumi", [...args, "--non-interactive"], options, (error, stdout, stderr) => {
      if (!error) done(stdout);
      else if (error.code === "ENOENT") failed(noCli("--known"));
      else failed(new UserError(`cannot ${purpose}: ${cliMessage(stderr)}`));
    });
    // If the CLI ends before it has read everything, its own message has the reason.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
