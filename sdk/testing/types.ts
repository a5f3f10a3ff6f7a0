/** One request that the emulator saw, with the answer that it gave. The API key is never recorded. */
export interface RecordedRequest {
  method: string;
  /** The path below the base URL, without the query: `/endpoints/ep_1`. */
  path: string;
  /** The query's parameters; empty where there is none. */
  query: Record<string, string>;
  /** The request's headers, lower-case names, without `authorization`. */
  headers: Record<string, string>;
  /** The parsed JSON body; undefined where there is none. */
  body?: unknown;
  /** The status that was answered; 0 where the connection was dropped. */
  status: number;
}

/** A value of the stack's configuration: text, or text that is to be kept secret. */
export type ConfigValue = string | { secret: string };

export interface StackOptions {
  /** Folder of the Pulumi program (it holds the program's `package.json` or `Pulumi.yaml`). */
  program: string;
  /** Stack configuration by full key (`endpoints:baseUrl`). Default: what reaches the stack's own emulator. */
  config?: Record<string, ConfigValue>;
  /** More environment for the program and the provider. Default: that of this process. */
  env?: Record<string, string | undefined>;
  /** Default: `test`. */
  stackName?: string;
  /** Default: the name in the program's `Pulumi.yaml`, else the folder's name. */
  projectName?: string;
  /** The CLI only: a command that takes longer is taken for one that hangs, and is ended. In seconds. Default: 180. */
  longestRun?: number;
}

/** What Pulumi calls the operation of a step. */
export type StepOp =
  | "same"
  | "create"
  | "update"
  | "delete"
  | "replace"
  | "create-replacement"
  | "delete-replaced"
  | "read"
  | "read-replacement"
  | "import"
  | "import-replacement"
  | "refresh"
  | "discard"
  | "discard-replaced"
  | "remove-pending-replace";

/** What happened, or in a preview would happen, to one resource. */
export interface Step {
  op: StepOp;
  urn: string;
  type: string;
  name: string;
  /** The resource's id, once there is one. */
  id?: string;
  /**
   * What Pulumi shows between `[diff: …]`: the top-level properties that change, in its own order and with its sign,
   * `+description`, `-metadata`, `~trafficPolicy`.
   */
  diff: string[];
  /** The resource's outputs after the step, or in a preview as they would be; `[secret]` in place of each secret. */
  outputs?: Record<string, unknown>;
}

export interface Diagnostic {
  severity: "debug" | "info" | "warning" | "error";
  message: string;
  /** The resource that it is about; missing where it is about the stack. */
  urn?: string;
}

export interface RunOptions {
  /** Preview, up and refresh: fail where the run would change anything, as `--expect-no-changes`. Default: false. */
  expectNoChanges?: boolean;
  /** Preview and up only: URNs (or names) of resources to replace though nothing about them changed, as `--replace`. */
  replace?: string[];
  /** Give `text` in the structural form of `--diff`: each property of a step, with its old and new value. */
  diff?: boolean;
  /** Update without previewing first, as `--skip-preview`. Refresh and destroy never preview. Default: false. */
  skipPreview?: boolean;
  /** Refresh only: report what has changed and leave the state as it is, as `--preview-only`. */
  previewOnly?: boolean;
  /** Preview and up only: refresh the targets, or else everything, before anything is changed, as `--refresh`. */
  refresh?: boolean;
  /** Preview and up only: URNs of the resources to work on. All others stay as the state has them, as `--target`. */
  target?: string[];
  /** Refresh only: forget creates that a killed run left pending, as `--clear-pending-creates`. */
  clearPendingCreates?: boolean;
}

/** Something that exists and is to be taken into the state. What else `pulumi import` can be given stands in an `ImportFile`. */
export interface ImportSpec {
  /** The type of the resource: `endpoints:index:CloudEndpoint`. */
  type: string;
  /** The name that it gets in the program. */
  name: string;
  /** The id that its provider knows it by. */
  id: string;
}

/** A file as `pulumi import --file` reads it. */
export interface ImportFile {
  file: string;
}

export interface ImportOptions {
  /** Protect what is imported from deletion. Default: true. */
  protect?: boolean;
  /** Generate the program code of what is imported. Default: false. */
  code?: boolean;
}

export type Command = "preview" | "up" | "refresh" | "destroy" | "import";

export interface RunResult {
  command: Command;
  /** False where the run failed; see `diagnostics`. */
  ok: boolean;
  /** The stack's outputs after the run; secrets in plain, since this is a test. */
  outputs: Record<string, unknown>;
  /** Every step but the stack's own and the providers', in the order in which they ended. */
  steps: Step[];
  /** How many of the steps had each operation, as Pulumi's summary counts them. */
  changes: Partial<Record<StepOp, number>>;
  diagnostics: Diagnostic[];
  /** How long the command took, without what the test kit itself does before and after it. */
  seconds: number;
  /** What a terminal would have shown: a line a step, property changes below it, diagnostics, the summary. */
  text: string;
  /** The requests that the emulator saw during this run. Empty where the stack has no emulator of its own. */
  requests: RecordedRequest[];
}

export interface ImportResult extends RunResult {
  /** The program code of what was imported, where it was asked for. */
  code?: string;
}

/** A deployment in the form of `pulumi stack export`. */
export interface ExportedState {
  version: number;
  deployment: {
    manifest: { time: string; magic: string; version: string };
    secrets_providers?: { type: string; state?: unknown };
    resources?: ExportedResource[];
    pending_operations?: { resource: ExportedResource; type: string }[];
    metadata?: Record<string, unknown>;
  };
}

export interface ExportedResource {
  urn: string;
  type: string;
  custom: boolean;
  id?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
  parent?: string;
  provider?: string;
  dependencies?: string[];
  propertyDependencies?: Record<string, string[]>;
  [more: string]: unknown;
}

/**
 * What both drivers can do: the test kit's engine, and the real CLI where it is on the PATH. A run that fails throws
 * `RunFailed`, which carries the result.
 */
export interface Stack {
  readonly driver: "kit" | "cli";
  /** Reports what `up` would do, and changes nothing. */
  preview(options?: RunOptions): Promise<RunResult>;
  /** Previews, then updates, as `pulumi up --yes`. A preview that fails ends the run. */
  up(options?: RunOptions): Promise<RunResult>;
  /** Takes what really exists into the state, as `pulumi refresh --yes --skip-preview`. The program is not run. */
  refresh(options?: RunOptions): Promise<RunResult>;
  /** Deletes all resources, as `pulumi destroy --yes --skip-preview`. The program is not run. */
  destroy(options?: RunOptions): Promise<RunResult>;
  /** Takes over what exists, without a preview and without the program, as `pulumi import`. The driver `cli` only. */
  import(what: ImportSpec[] | ImportFile, options?: ImportOptions): Promise<ImportResult>;
  /** The state in the form of `pulumi stack export --show-secrets`: secrets are in plain. */
  exportState(): Promise<ExportedState>;
  /** Replaces the state. @throws Error for a version other than 3, and for a secret that is encrypted. */
  importState(state: ExportedState): Promise<void>;
  /** Sets a value of the configuration for the runs that follow. A key without a namespace belongs to the project. */
  setConfig(key: string, value: ConfigValue): Promise<void>;
  /** Unlocks the stack after a run that was killed, as `pulumi cancel`. The test kit's engine keeps no lock. */
  cancel(): Promise<void>;
  /** Removes the temporary state, and ends the emulator if the stack started it. Does not destroy. */
  close(): Promise<void>;
}

/** A run that did not end well. `result` holds all that a good run would have given. */
export class RunFailed extends Error {
  override readonly name = "RunFailed";
  constructor(readonly result: RunResult) {
    const errors = result.diagnostics.filter((diagnostic) => diagnostic.severity === "error");
    const messages = errors.map(({ message }) => message.trim());
    const isUnexpected = messages.some((message) => message.includes("no changes were expected"));
    super(
      `${result.command} failed: ${messages.join("; ") || result.text}${isUnexpected ? changesOf(result) : ""}`,
    );
  }
}

/** As many changes as the message of a run names that was to make none. */
const MOST_CHANGES = 10;

/** `: update shop (~description), create api`. */
function changesOf({ steps }: RunResult): string {
  const changes = steps
    .filter(({ op }) => op !== "same" && op !== "read")
    .map(({ op, name, diff }) => `${op} ${name}${diff.length > 0 ? ` (${diff.join(", ")})` : ""}`);
  const more = changes.length > MOST_CHANGES ? `, and ${changes.length - MOST_CHANGES} more` : "";
  return changes.length > 0 ? `: ${changes.slice(0, MOST_CHANGES).join(", ")}${more}` : "";
}
