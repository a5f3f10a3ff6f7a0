import { execFile } from "node:child_process";
import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { UserError } from "../../provider/api/apiErrors";
import type { ConfigReader } from "../../provider/api/config";
import { cliFailure, cliMessage } from "./failures";
import { managedIds, parseState, type State } from "./managed";
import { projectFolder } from "./projects";

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

/** A stack's configuration, secrets decrypted. The selected stack stays selected. */
export async function stackConfig(project: LocalWorkspace, stack: string): Promise<ConfigReader> {
  const values = await project.getAllConfig(stack);
  return (key) => (Object.hasOwn(values, key) ? values[key]?.value : undefined);
}

/** A stack's state, secrets decrypted. */
export const stackState = async (project: LocalWorkspace, stack: string): Promise<State> =>
  parseState(await project.exportStack(stack));

/** The state of a stack of any project, secrets encrypted. */
export async function encryptedState(project: LocalWorkspace, stack: string): Promise<State> {
  const state = await runPulumi(project, ["stack", "export", "--stack", stack], `read the stack ${stack}`);
  return parseState(JSON.parse(state));
}

/** The ids of the cloud endpoints in the state of a stack of any project. */
export const knownIds = async (project: LocalWorkspace, stack: string): Promise<string[]> =>
  managedIds(await encryptedState(project, stack));

/** Whether the backend has a run of this stack in its history. */
export async function hasRun(project: LocalWorkspace, stack: string): Promise<boolean> {
  const args = ["stack", "history", "--json", "--page-size", "1", "--page", "1", "--stack", stack];
  const history: unknown = JSON.parse(
    await runPulumi(project, args, `read the history of the stack ${stack}`),
  );
  return Array.isArray(history) && history.length > 0;
}

/** Sets a secret of a stack's configuration. The Automation API would show the value in the list of processes. */
export async function setSecret(
  project: LocalWorkspace,
  stack: string,
  name: string,
  value: string,
): Promise<void> {
  // The CLI removes one line break at the end.
  await runPulumi(
    project,
    ["config", "set", "--secret", name, "--stack", stack],
    `set ${name}`,
    `${value}\n`,
  );
}

/** Runs the CLI, and returns its stdout. */
function runPulumi(
  { workDir: cwd }: LocalWorkspace,
  args: string[],
  what: string,
  input = "",
): Promise<string> {
  return new Promise((done, failed) => {
    const options = { cwd, maxBuffer: Number.POSITIVE_INFINITY };
    const child = execFile("pulumi", [...args, "--non-interactive"], options, (error, stdout, stderr) => {
      if (error) failed(new UserError(`cannot ${what}: ${cliMessage(stderr)}`));
      else done(stdout);
    });
    // If the CLI ends before it has read everything, its own message has the reason.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
