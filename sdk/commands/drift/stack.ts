import { setMaxListeners } from "node:events";
import { UserError } from "../../../provider/service/apiErrors";
import type { ConfigReader } from "../../../provider/service/settings";
import {
  assertPulumi,
  type EngineRun,
  type ExportedState,
  PulumiFailed,
  pulumi,
} from "../../test-engine/index";
import { isMapping, jsonOf } from "../../traffic-policy/data/index";
import { UsageError } from "../command";
import type { Projects } from "../projects";
import { withProject } from "../stackNames";
import { explainUnreadable, stackConfig, stackState, type UserProject } from "../userProject";

/* A stack for `drift`, read with the Pulumi CLI. */

/** A run of the engine that succeeded or failed. */
export interface PulumiRun extends Pick<EngineRun, "steps" | "diagnostics"> {
  ok: boolean;
}

export interface DriftStack {
  /** The stack's name; with several projects `project/stack`, after the organization if one was given. */
  readonly name: string;
  /** The project's name. */
  readonly project: string;
  /** The stack's configuration, with its secrets decrypted. */
  config(): Promise<ConfigReader>;
  /** The stack's state, with its secrets decrypted. @throws UsageError if there is no stack with the name that was given. */
  state(): Promise<ExportedState>;
  /** What the history tells of the state: `pulumi stack history`. */
  updates(): Promise<Updates>;
  /** Plans all changes of the program, and writes nothing: `pulumi preview`. */
  preview(): Promise<PulumiRun>;
}

/** Opens the stacks of these projects. If a project names no stack, its selected stack is opened. */
export type OpenStacks = (projects: Projects, interruption: Interruption) => Promise<DriftStack[]>;

/** The error of work that did not begin, because the command was interrupted. */
export const interrupted = () => new UserError("it was interrupted");

/**
 * After the first Ctrl-C, or a pipeline's cancellation, Pulumi completes its current operations and writes its state. Nothing
 * new begins, and the report names everything unchecked. The second one ends this process immediately.
 */
interface Interruption {
  /** Aborted by the first signal. Then nothing new may begin. */
  stopped: AbortSignal;
  /** Aborted by a signal that Pulumi has not received itself, so that it is passed on. */
  forward: AbortSignal;
  /** Removes the listeners. */
  end(): void;
}

/** The exit code of shells for a command that Ctrl-C has ended. */
const INTERRUPTED = 130;

export function onInterruption(log: (message: string) => void): Interruption {
  const stopped = new AbortController();
  const forward = new AbortController();
  // Each run of the CLI listens.
  for (const { signal } of [stopped, forward]) setMaxListeners(0, signal);
  const end = () => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.removeListener(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals) => {
    if (stopped.signal.aborted) process.exit(INTERRUPTED);
    log(
      "interrupted: waiting for Pulumi to complete its current operations; interrupt again to end immediately",
    );
    stopped.abort();
    // A terminal also sends Ctrl-C to Pulumi, and a second signal would make Pulumi abandon its operations.
    if (name !== "SIGINT" || process.stdin.isTTY !== true) forward.abort();
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, onSignal);
  return { stopped: stopped.signal, forward: forward.signal, end };
}

/** Opens stacks of the Pulumi CLI. The selected stack stays selected. */
export const openWithPulumi: OpenStacks = async ({ file, projects }, interruption) => {
  await assertPulumi();
  const stacks: DriftStack[] = [];
  for (const { folder, name: project, stacks: names } of projects)
    for (const name of names.length > 0 ? names : [await selectedStack(folder)]) {
      const shown = projects.length > 1 ? withProject(name, project) : name;
      const stack = openStack({ folder, name: project }, name, shown, interruption);
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

async function selectedStack(cwd: string): Promise<string> {
  const { stdout } = await pulumi(["stack", "ls", "--json"], { cwd });
  const list = jsonOf(stdout);
  const selected = Array.isArray(list)
    ? list.find((one) => isMapping(one) && one["current"] === true)
    : undefined;
  if (isMapping(selected) && typeof selected["name"] === "string") return selected["name"];
  throw new UserError(
    `no stack is selected in ${cwd}: give --stack, or select one with \`pulumi stack select\``,
  );
}

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

function openStack(
  project: UserProject,
  stack: string,
  shown: string,
  { stopped, forward }: Interruption,
): DriftStack {
  const cwd = project.folder;
  const history: History = async (size, page) => {
    const args = ["stack", "history", "--json", "--page-size", `${size}`, "--page", `${page}`];
    return jsonOf((await pulumi([...args, "--stack", stack], { cwd, signal: stopped })).stdout);
  };
  const run = async (...args: string[]): Promise<PulumiRun> => {
    if (stopped.aborted) throw interrupted();
    return runPulumi([...args, "--stack", stack], { cwd, signal: forward });
  };
  return {
    name: shown,
    project: project.name,
    config: () => stackConfig(project, stack, stopped),
    state: () => stackState(project, stack, stopped),
    updates: () => updatesOf(history),
    preview: () => run("preview"),
  };
}

/** Runs Pulumi, and returns a failed run, too. Throws if the run never began, for example because the stack is locked. */
async function runPulumi(args: string[], options: { cwd: string; signal: AbortSignal }): Promise<PulumiRun> {
  const none = { steps: [], diagnostics: [] };
  try {
    const { run } = await pulumi(args, { ...options, events: true });
    return { ...(run ?? none), ok: true };
  } catch (error) {
    if (!(error instanceof PulumiFailed) || !error.result.run) throw error;
    return { ...error.result.run, ok: false };
  }
}
