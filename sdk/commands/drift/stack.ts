import { setMaxListeners } from "node:events";
import { isMapping, jsonOf, UserError } from "../../../provider/data/index";
import type { ConfigReader } from "../../../provider/service/settings";
import { assertPulumi, type ExportedState, PulumiFailed, pulumi } from "../../pulumi-cli/index";
import { UsageError } from "../command";
import type { Projects } from "../projects";
import { shownName, withProject } from "../stackNames";
import { explainUnreadable, stackConfig, stackState, type UserProject } from "../userProject";

/* A stack for `drift`, read with the Pulumi CLI. */

export interface DriftStack {
  /** `project/stack`, after the organization if one was given. */
  readonly name: string;
  /** The project's name. */
  readonly project: string;
  /** The project's folder. */
  readonly folder: string;
  /** The stack's configuration, with its secrets decrypted. */
  config(): Promise<ConfigReader>;
  /** The stack's state, with its secrets decrypted. @throws UsageError if there is no stack with the name that was given. */
  state(): Promise<ExportedState>;
  /** What the history tells of the state: `pulumi stack history`. */
  updates(): Promise<Updates>;
}

/** Opens the stacks of these projects. If a project names no stack, its selected stack is opened. */
export type OpenStacks = (projects: Projects, stopped: AbortSignal) => Promise<DriftStack[]>;

/** The error of work that did not begin, because the command was interrupted. */
export const interrupted = () => new UserError("it was interrupted");

/** The exit code of shells for a command that Ctrl-C has ended. */
const INTERRUPTED = 130;

/**
 * After the first Ctrl-C, or a pipeline's cancellation, nothing new begins, and the report names everything unchecked. The second one
 * ends this process immediately.
 */
export function onInterruption(log: (message: string) => void): { stopped: AbortSignal; end(): void } {
  const stopping = new AbortController();
  // Each run of the CLI listens.
  setMaxListeners(0, stopping.signal);
  const onSignal = () => {
    if (stopping.signal.aborted) process.exit(INTERRUPTED);
    log("interrupted: the report names what is unchecked; interrupt again to end immediately");
    stopping.abort(interrupted());
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const name of signals) process.on(name, onSignal);
  const end = () => {
    for (const name of signals) process.removeListener(name, onSignal);
  };
  return { stopped: stopping.signal, end };
}

/** Opens stacks of the Pulumi CLI. The selected stack stays selected. */
export const openWithPulumi: OpenStacks = async ({ file, projects }, stopped) => {
  await assertPulumi();
  const stacks: DriftStack[] = [];
  for (const { folder, name: project, stacks: names } of projects)
    for (const name of names.length > 0 ? names : [await selectedStack(folder, stopped)]) {
      const stack = openStack({ folder, name: project }, name, stopped);
      // A stack that a file lists may not exist yet, or not any more. That must not hide the other stacks.
      const explain = file === undefined ? unknownStackAsUsage : explainUnreadable(name);
      stacks.push({ ...stack, state: () => stack.state().catch(explain) });
    }
  return stacks;
};

/** Rethrows an error. A stack that does not exist is a mistake in the arguments. */
function unknownStackAsUsage(error: unknown): never {
  if (error instanceof PulumiFailed && error.isUnknownStack)
    throw new UsageError(error.message, { cause: error });
  throw error;
}

/** @throws PulumiFailed if no stack is selected. */
const selectedStack = async (cwd: string, signal: AbortSignal) =>
  (await pulumi(["stack", "--show-name"], { cwd, signal })).stdout.trim();

/** The number of entries on a page of a stack's history. */
const PAGE_SIZE = 100;

/** A page of a stack's history, newest first, counted from 1. A page after the last one is empty. */
type History = (size: number, page: number) => Promise<unknown>;

/** Whether the state may not match the program. */
export interface Updates {
  /** The result of the last `up` or `destroy`: `succeeded`, also if there was none, `failed`, `in-progress`. */
  result: string;
  /** Whether a refresh since then may have written live values into the state. No later `up` has put back what it wrote. */
  isRewritten: boolean;
}

/** The flags with which an `up` runs only a part of the program. */
const PARTIAL = /^pulumi\.flag\.(target|exclude)/;

/**
 * Reads the history back to the last `up` or `destroy` of the whole program. A successful run with `--target` or `--exclude` does not
 * count, because it leaves the rest as it was, and with `--refresh` it writes live values of the rest into the state.
 */
export async function updatesOf(history: History): Promise<Updates> {
  let isRewritten = false;
  for (let page = 1; ; page++) {
    const entries = await history(PAGE_SIZE, page);
    if (!Array.isArray(entries)) throw new UserError("`pulumi stack history --json` wrote no list");
    for (const { kind, result, environment, resourceChanges } of entries.filter(isMapping)) {
      const flags = isMapping(environment) ? Object.keys(environment) : [];
      const isRun = kind === "update" || kind === "destroy";
      const isPartial = flags.some((flag) => PARTIAL.test(flag));
      if (isRun && !(isPartial && result === "succeeded"))
        return { result: String(result ?? "unknown"), isRewritten };
      const { update, delete: deleted } = isMapping(resourceChanges) ? resourceChanges : {};
      if (isRun ? flags.includes("pulumi.flag.refresh") : kind === "refresh" && (update || deleted))
        isRewritten = true;
    }
    if (entries.length < PAGE_SIZE) return { result: "succeeded", isRewritten };
  }
}

function openStack(project: UserProject, stack: string, stopped: AbortSignal): DriftStack {
  const history: History = async (size, page) => {
    const args = ["stack", "history", "--json", "--page-size", `${size}`, "--page", `${page}`];
    const options = { cwd: project.folder, signal: stopped };
    return jsonOf((await pulumi([...args, "--stack", stack], options)).stdout);
  };
  return {
    name: shownName(withProject(stack, project.name)),
    project: project.name,
    folder: project.folder,
    config: () => stackConfig(project, stack, stopped),
    state: () => stackState(project, stack, stopped),
    updates: () => updatesOf(history),
  };
}
