import type { EngineEvent, LocalWorkspace, UpdateSummary } from "@pulumi/pulumi/automation/index.js";
import { UserError } from "../../../provider/api/apiErrors";
import type { JsonObject } from "../../../provider/api/json";
import { isMapping } from "../../../provider/api/json";
import type { ConfigReader } from "../../../provider/config";
import { SECRET, SIGNATURE } from "../../../provider/markedSecrets";
import { rebuild } from "../../../provider/plugin/values";
import { MASKED } from "../../../provider/secrets";
import { cliFailure, StackError } from "../failures";
import { isCloudEndpointType, type State } from "../managed";
import { openProject, stackConfig, stackState } from "../pulumi";

/* A stack as `drift` uses it, and how the Pulumi CLI runs it. */

/** What a run of Pulumi did with one resource. */
export interface Step {
  /** The engine's operation: `same`, `update`, `create-replacement`… */
  op: string;
  urn: string;
  id?: string;
  /** The outputs after the step, `[secret]` in place of each secret. */
  outputs?: JsonObject;
}

/** What a run of Pulumi reported, whether it succeeded or not. */
export interface Run {
  ok: boolean;
  steps: Step[];
  diagnostics: { severity: string; message: string; urn?: string }[];
}

export interface DriftStack {
  readonly name: string;
  /** Secrets decrypted. */
  config(): Promise<ConfigReader>;
  /** Secrets decrypted. */
  state(): Promise<State>;
  /** Whether the last `up` or `destroy` failed, so that the state may lack what the program has: `pulumi stack history`. */
  lastUpdateFailed(): Promise<boolean>;
  /** Reads what is live, and writes nothing: `pulumi refresh --preview-only`. */
  refreshPreview(): Promise<Run>;
  /** Everything that the program would change: `pulumi preview`. */
  preview(): Promise<Run>;
  /** What `repair` would do; writes nothing: `pulumi preview --refresh --target`. */
  repairPreview(urns: string[]): Promise<Run>;
  /** Writes what is live of these resources into the state, then runs the program: `pulumi up --refresh --target`. */
  repair(urns: string[]): Promise<Run>;
}

/** Opens the stacks of the project in a folder: those with these names, or else the selected one. */
export type OpenStacks = (
  folder: string,
  names: string[],
  interruption: Interruption,
) => Promise<DriftStack[]>;

/** The errors that a run reported, of one resource or of all; undefined if there are none. */
export function errorsOf({ diagnostics }: Run, urn?: string): string | undefined {
  const errors = diagnostics.filter(
    (one) => one.severity === "error" && (urn === undefined || one.urn === urn),
  );
  // The engine and the provider may both report the same error.
  const messages = [...new Set(errors.map(({ message }) => message.trim()))];
  return messages.length > 0 ? messages.join("; ") : undefined;
}

/** Work that would have begun after the command was interrupted. */
export class InterruptedError extends UserError {
  constructor() {
    super("it was interrupted");
  }
}

/**
 * The first Ctrl-C, or a pipeline's cancellation, lets Pulumi finish what it has begun and write its state. Nothing more
 * begins, and the report names what was not checked. The second one ends this process at once.
 */
export interface Interruption {
  /** Nothing more may begin. */
  stopped: AbortSignal;
  /** Pulumi has not received the signal itself. */
  forward: AbortSignal;
  /** Removes the listeners. */
  end(): void;
}

/** The exit code that shells give to a command that Ctrl-C has ended. */
const INTERRUPTED = 130;

export function onInterruption(log: (message: string) => void): Interruption {
  const stopped = new AbortController();
  const forward = new AbortController();
  const end = () => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.removeListener(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals) => {
    // Without a listener of ours, the Automation API would end Pulumi and this process at the first signal.
    if (stopped.signal.aborted) process.exit(INTERRUPTED);
    log(
      "interrupted: waiting until Pulumi has finished what it began; interrupt again to end everything at once",
    );
    stopped.abort();
    // A terminal sends Ctrl-C to Pulumi too, and a second signal would make Pulumi drop what it is doing.
    if (name !== "SIGINT" || process.stdin.isTTY !== true) forward.abort();
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, onSignal);
  return { stopped: stopped.signal, forward: forward.signal, end };
}

/** Opens stacks that the Pulumi CLI runs, through the Automation API. */
export const openWithPulumi: OpenStacks = async (folder, names, interruption) => {
  const project = await openProject(folder, "drift", "");
  // The Automation API would otherwise select each stack, also for the user's later commands.
  project.selectStack = async () => {};
  if (names.length > 0) return Promise.all(names.map((name) => openStack(project, name, interruption)));
  const selected = await project.stack();
  if (selected) return [await openStack(project, selected.name, interruption)];
  throw new StackError("no stack is selected: give --stack, or select one with `pulumi stack select`");
};

/** The message of a repair in the stack's history. */
export const REPAIR_MESSAGE = "pulumi-endpoints drift --fix";

/** The number of entries that are read from a stack's history at once. */
const PAGE_SIZE = 100;

/**
 * Whether the last `up` or `destroy` failed. A refresh does not count: checks and recoveries run it, and it deploys
 * nothing. Nor does a repair that succeeded: it ran only for its targets, and the rest is still not deployed.
 *
 * @param history A page of the stack's history, newest first, counted from 1. A page after the last one is empty.
 */
export async function lastUpdateFailed(
  history: (size: number, page: number) => Promise<Pick<UpdateSummary, "kind" | "message" | "result">[]>,
): Promise<boolean> {
  for (let page = 1; ; page++) {
    const entries = await history(PAGE_SIZE, page);
    if (entries.length === 0) return false;
    const last = entries.find(
      ({ kind, message, result }) =>
        kind === "destroy" || (kind === "update" && !(message === REPAIR_MESSAGE && result === "succeeded")),
    );
    if (last) return last.result === "failed";
  }
}

async function openStack(
  project: LocalWorkspace,
  name: string,
  { stopped, forward: signal }: Interruption,
): Promise<DriftStack> {
  const { Stack } = await import("@pulumi/pulumi/automation/index.js");
  const stack = await Stack.select(name, project);
  const run = (start: (options: RunOptions) => Promise<unknown>) => {
    if (stopped.aborted) throw new InterruptedError();
    return recorded((onEvent) => start({ onEvent, signal }));
  };
  return {
    name,
    config: () => stackConfig(project, name),
    state: () => stackState(project, name),
    lastUpdateFailed: () => lastUpdateFailed((size, page) => stack.history(size, page, false)),
    refreshPreview: () => run((options) => stack.previewRefresh(options)),
    preview: () => run((options) => stack.preview(options)),
    repairPreview: (target) => run((options) => stack.preview({ ...options, refresh: true, target })),
    repair: (target) =>
      run((options) => stack.up({ ...options, refresh: true, target, message: REPAIR_MESSAGE })),
  };
}

interface RunOptions {
  onEvent: (event: EngineEvent) => void;
  signal: AbortSignal;
}

/** Records a run. A failed run has its reason among its events; one without events never began, and throws. */
async function recorded(start: (onEvent: RunOptions["onEvent"]) => Promise<unknown>): Promise<Run> {
  const run: Run = { ok: true, steps: [], diagnostics: [] };
  const onEvent = ({ resOutputsEvent, diagnosticEvent }: EngineEvent) => {
    if (diagnosticEvent && !diagnosticEvent.ephemeral) {
      const { severity, message, urn } = diagnosticEvent;
      // Colours are written as `<{%reset%}>`.
      const text = message.replace(/<\{%[^%]*%\}>/g, "").trim();
      run.diagnostics.push({ severity, message: text, ...(urn && { urn }) });
    }
    if (!resOutputsEvent || !isCloudEndpointType(resOutputsEvent.metadata.type)) return;
    const { op, urn, old, new: current } = resOutputsEvent.metadata;
    const id = current?.id || old?.id;
    const outputs = current?.outputs && masked(current.outputs);
    run.steps.push({ op, urn, ...(id && { id }), ...(isMapping(outputs) && { outputs }) });
  };
  try {
    await start(onEvent);
    return run;
  } catch (error) {
    if (cliFailure(error) && errorsOf(run) !== undefined) return { ...run, ok: false };
    throw error;
  }
}

/** Events have the form of a secret, without its content. */
const masked = (value: unknown) =>
  rebuild(value, (signed) => (signed[SIGNATURE] === SECRET ? MASKED : signed));
