import { setMaxListeners } from "node:events";
import type { EngineEvent, LocalWorkspace, Stack, UpdateSummary } from "@pulumi/pulumi/automation/index.js";
import { UserError } from "../../../provider/api/apiErrors";
import type { JsonObject } from "../../../provider/api/json";
import { isMapping } from "../../../provider/api/json";
import type { ConfigReader } from "../../../provider/api/settings";
import { MASKED, SECRET, SIGNATURE } from "../../../provider/endpoint/secrets";
import { rebuild } from "../../../provider/plugin/values";
import { messageOf } from "../command";
import type { Project } from "../projects";
import {
  isCloudEndpointType,
  knownIds,
  openProject,
  type State,
  stackConfig,
  stackState,
} from "../userProject";

/* A stack for `drift`, run by the Pulumi CLI. */

/** An operation of a run of Pulumi on one resource. */
export interface PulumiStep {
  /** The engine's operation: `same`, `update`, `create-replacement`… */
  op: string;
  urn: string;
  id?: string;
  /** The outputs after the step. Each secret is `[secret]`. */
  outputs?: JsonObject;
}

/** The events of a run of Pulumi that succeeded or failed. */
export interface PulumiRun {
  ok: boolean;
  steps: PulumiStep[];
  diagnostics: { severity: string; message: string; urn?: string }[];
}

export interface DriftStack {
  /** The stack's name; with several projects `project/stack`. */
  readonly name: string;
  /** The project's name. */
  readonly project: string;
  /** Secrets decrypted. */
  config(): Promise<ConfigReader>;
  /** Secrets decrypted. */
  state(): Promise<State>;
  /** Whether the last `up` or `destroy` failed, so that the state may not match the program: `pulumi stack history`. */
  lastUpdateFailed(): Promise<boolean>;
  /** Compares the state with the service, and writes nothing: `pulumi refresh --preview-only`. */
  refreshPreview(): Promise<PulumiRun>;
  /** Plans all changes of the program, and writes nothing: `pulumi preview`. */
  preview(): Promise<PulumiRun>;
  /** Plans `repair`, and writes nothing: `pulumi preview --refresh --target`. */
  repairPreview(urns: string[]): Promise<PulumiRun>;
  /** Writes the live values of these resources into the state, then runs the program: `pulumi up --refresh --target`. */
  repair(urns: string[]): Promise<PulumiRun>;
}

/** Opens the stacks of these projects. A project without names has its selected stack. */
export type OpenStacks = (projects: Project[], interruption: Interruption) => Promise<DriftStack[]>;

/** The ids of the endpoints that a known stack manages. */
export type ReadKnown = (project: Project, stack: string) => Promise<string[]>;

/** The errors of a run, for one resource or for all; undefined if there are none. */
export function errorsOf({ diagnostics }: PulumiRun, urn?: string): string | undefined {
  const errors = diagnostics.filter(
    (one) => one.severity === "error" && (urn === undefined || one.urn === urn),
  );
  // The engine and the provider may both report the same error.
  const messages = [...new Set(errors.map(({ message }) => message.trim()))];
  return messages.length > 0 ? messages.join("; ") : undefined;
}

/** Work that did not begin, because the command was interrupted. */
export const interrupted = () => new UserError("it was interrupted");

/**
 * After the first Ctrl-C, or a pipeline's cancellation, Pulumi completes its current operations and writes its state. Nothing
 * new begins, and the report names everything unchecked. The second one ends this process immediately.
 */
export interface Interruption {
  /** Nothing new may begin. */
  stopped: AbortSignal;
  /** Pulumi has not received the signal itself. */
  forward: AbortSignal;
  /** Removes the listeners. */
  end(): void;
}

/** The exit code of shells for a command that Ctrl-C has ended. */
const INTERRUPTED = 130;

export function onInterruption(log: (message: string) => void): Interruption {
  const stopped = new AbortController();
  const forward = new AbortController();
  // The Automation API adds a listener for each run, and never removes it.
  setMaxListeners(0, forward.signal);
  const end = () => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.removeListener(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals) => {
    // Without a listener of ours, the Automation API would end Pulumi and this process at the first signal.
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

/** Opens stacks that the Pulumi CLI runs, through the Automation API. */
export const openWithPulumi: OpenStacks = async (projects, interruption) => {
  const stacks: DriftStack[] = [];
  for (const { folder, name: project, stacks: names } of projects) {
    const open = async () => {
      const workspace = await openProject(folder, "drift", "");
      // The Automation API would otherwise select each stack, also for the user's later commands.
      workspace.selectStack = async () => {};
      return workspace;
    };
    const selected = names.length > 0 ? undefined : await (await open()).stack();
    const all = selected ? [selected.name] : names;
    if (all.length === 0) {
      const where = projects.length > 1 ? ` in ${folder}` : "";
      throw new UserError(
        `no stack is selected${where}: give --stack, or select one with \`pulumi stack select\``,
      );
    }
    for (const name of all) {
      const shown = projects.length > 1 ? `${project}/${name.split("/").at(-1)}` : name;
      stacks.push(openStack({ name, shown, project }, await open(), interruption));
    }
  }
  return stacks;
};

export const readKnownWithPulumi: ReadKnown = async ({ folder }, stack) =>
  knownIds(await openProject(folder, "--known", ""), stack);

/** The message of a repair in the stack's history. */
export const REPAIR_MESSAGE = "pulumi-endpoints drift --fix";

/** The number of entries on a page of a stack's history. */
const PAGE_SIZE = 100;

/**
 * Whether the last `up` or `destroy` failed. A refresh does not count, because checks and recoveries run it, and it deploys
 * nothing. A successful repair does not count either, because it deploys only its targets.
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

function openStack(
  { name, shown, project }: { name: string; shown: string; project: string },
  workspace: LocalWorkspace,
  { stopped, forward: signal }: Interruption,
): DriftStack {
  let opened: Promise<Stack> | undefined;
  const stack = () => {
    opened ??= import("@pulumi/pulumi/automation/index.js").then(({ Stack }) =>
      Stack.select(name, workspace),
    );
    return opened;
  };
  const run = async (start: (stack: Stack, options: PulumiRunOptions) => Promise<unknown>) => {
    if (stopped.aborted) throw interrupted();
    const on = await stack();
    return recorded((onEvent) => start(on, { onEvent, signal }));
  };
  return {
    name: shown,
    project,
    config: () => stackConfig(workspace, name),
    state: () => stackState(workspace, name),
    lastUpdateFailed: async () => {
      const on = await stack();
      return lastUpdateFailed((size, page) => on.history(size, page, false));
    },
    refreshPreview: () => run((on, options) => on.previewRefresh(options)),
    preview: () => run((on, options) => on.preview(options)),
    repairPreview: (target) => run((on, options) => on.preview({ ...options, refresh: true, target })),
    repair: (target) =>
      run((on, options) => on.up({ ...options, refresh: true, target, message: REPAIR_MESSAGE })),
  };
}

interface PulumiRunOptions {
  onEvent: (event: EngineEvent) => void;
  signal: AbortSignal;
}

/** Records a run, also one that fails. Throws if it never began: for example, if the stack is locked. */
async function recorded(
  start: (onEvent: PulumiRunOptions["onEvent"]) => Promise<unknown>,
): Promise<PulumiRun> {
  const run: PulumiRun = { ok: true, steps: [], diagnostics: [] };
  let hasBegun = false;
  const onEvent = ({ resOutputsEvent, diagnosticEvent }: EngineEvent) => {
    hasBegun = true;
    if (diagnosticEvent && !diagnosticEvent.ephemeral) {
      const { severity, message, urn } = diagnosticEvent;
      // Colours are written as `<{%reset%}>`.
      const text = message.replace(/<\{%[^%]*%\}>/g, "").trim();
      run.diagnostics.push({ severity, message: text, ...(urn && { urn }) });
    }
    if (!resOutputsEvent || !isCloudEndpointType(resOutputsEvent.metadata.type)) return;
    const { op, urn, old, new: current } = resOutputsEvent.metadata;
    const id = current?.id || old?.id;
    const outputs = current?.outputs && withMaskedSecrets(current.outputs);
    run.steps.push({ op, urn, ...(id && { id }), ...(isMapping(outputs) && { outputs }) });
  };
  try {
    await start(onEvent);
    return run;
  } catch (error) {
    if (!hasBegun) throw error;
    if (errorsOf(run) === undefined) run.diagnostics.push({ severity: "error", message: messageOf(error) });
    return { ...run, ok: false };
  }
}

/** In events, a secret has no value. */
const withMaskedSecrets = (value: unknown) =>
  rebuild(value, (signed) => (signed[SIGNATURE] === SECRET ? MASKED : signed));
