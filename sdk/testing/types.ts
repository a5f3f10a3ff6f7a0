import type { ExportedState } from "../stackState";

export type { ExportedResource, ExportedState } from "../stackState";

declare global {
  /** Standard in newer libraries of TypeScript. Declared here, so that programs compile with older ones. */
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** A request that the emulator received, with the status of its reply. The API key is never recorded. */
export interface RecordedRequest {
  method: string;
  /** The path below the base URL, without the query: `/endpoints/ep_1`. */
  path: string;
  /** The query parameters; empty if there are none. */
  query: Record<string, string>;
  /** The headers, with lower-case names and without `authorization`. */
  headers: Record<string, string>;
  /** The parsed JSON body; undefined if there is none. */
  body?: unknown;
  /** The status of the reply; 0 if the connection was dropped. */
  status: number;
}

/** A value of the stack's configuration: plain text, or a secret. */
export type ConfigValue = string | { secret: string };

export interface StackOptions {
  /** The folder of the Pulumi program, with its `package.json` or `Pulumi.yaml`. */
  program: string;
  /** The stack's configuration by full key (`endpoints:baseUrl`). A `TestStack` adds base URL and key of its emulator. */
  config?: Record<string, ConfigValue>;
  /**
   * Environment variables for the program and the provider, in addition to those of this process. `undefined` removes one.
   * A `TestStack` removes `ENDPOINTS_API_KEY` and `ENDPOINTS_BASE_URL`.
   */
  env?: Record<string, string | undefined>;
  /** The stack's name. Default: `test`. */
  stackName?: string;
  /** The project's name. Default: the name in `Pulumi.yaml`, or else the folder's name. */
  projectName?: string;
  /**
   * The outputs of other stacks for `StackReference`, by the stack's name in the program: `organization/network/dev`. An output is
   * a value, or `{ secret: value }`. Any other stack is unknown. The driver `cli` creates these stacks in its backend.
   */
  stackReferences?: Record<string, Record<string, unknown>>;
  /** The driver `cli` only: the time limit of a command, in seconds. A longer command is stopped. Default: 180. */
  longestRun?: number;
}

/** The operation of a step, by Pulumi's name. */
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

/** An operation on one resource. In a preview, the planned operation. */
export interface Step {
  op: StepOp;
  urn: string;
  type: string;
  name: string;
  /** The resource's id, if it exists. */
  id?: string;
  /**
   * The top-level properties that change, with the signs and in the order of Pulumi's `[diff: …]`: `+description`,
   * `-metadata`, `~trafficPolicy`.
   */
  diff: string[];
  /** The resource's outputs after the step. In a preview, the planned ones. Each secret is `[secret]`. */
  outputs?: Record<string, unknown>;
}

export interface Diagnostic {
  severity: "debug" | "info" | "warning" | "error";
  message: string;
  /** The URN of the resource. Missing if the message is about the stack. */
  urn?: string;
}

export interface RunOptions {
  /** Preview, up and refresh: fail if there is any change (`--expect-no-changes`). Default: false. */
  expectNoChanges?: boolean;
  /** Preview and up: URNs or names of resources to replace even without a change (`--replace`). */
  replace?: string[];
  /** Show in `text` each property of a step with its old and new value (`--diff`). Default: false. */
  diff?: boolean;
  /** Up: skip the preview (`--skip-preview`). Refresh and destroy always skip it. Default: false. */
  skipPreview?: boolean;
  /** Refresh: report the changes, but keep the state (`--preview-only`). Default: false. */
  previewOnly?: boolean;
  /**
   * Preview and up: refresh the targets, or else all resources, first (`--refresh`). With the driver `kit`, an up also needs
   * `skipPreview`. Default: false.
   */
  refresh?: boolean;
  /** URNs of the only resources to change (`--target`). Destroy: the driver `cli` only. Default: all. */
  target?: string[];
  /** Refresh: remove pending creates of a killed run from the state (`--clear-pending-creates`). Default: false. */
  clearPendingCreates?: boolean;
}

/** The options that each command takes. */
export const commandOptions = {
  preview: ["expectNoChanges", "replace", "diff", "refresh", "target"],
  up: ["expectNoChanges", "replace", "diff", "skipPreview", "refresh", "target"],
  refresh: ["expectNoChanges", "diff", "previewOnly", "target", "clearPendingCreates"],
  destroy: ["diff", "target"],
} as const satisfies Record<string, readonly (keyof RunOptions)[]>;

type OptionsOf<C extends keyof typeof commandOptions> = Pick<RunOptions, (typeof commandOptions)[C][number]>;

export interface ImportOptions {
  /** Protect the imported resources from deletion. Default: true. */
  protect?: boolean;
  /** Generate program code for the imported resources. Default: false. */
  code?: boolean;
}

export type Command = "preview" | "up" | "refresh" | "destroy" | "import";

export interface RunResult {
  command: Command;
  /** Whether the run succeeded. If not, `diagnostics` has the errors. */
  ok: boolean;
  /** The stack's outputs after the run, with secrets in plain text. */
  outputs: Record<string, unknown>;
  /** The steps of all resources except the stack and providers, in the order of their ends. */
  steps: Step[];
  /** The number of steps by operation, as in Pulumi's summary. */
  changes: Partial<Record<StepOp, number>>;
  diagnostics: Diagnostic[];
  /** The duration of the command in seconds, without the test kit's own work before and after it. */
  seconds: number;
  /** The output for a terminal: a line for each step with its changes, the diagnostics, and the summary. */
  text: string;
  /** The requests that the emulator received during this run. Empty if a `CliStack` is used without a `TestStack`. */
  requests: RecordedRequest[];
}

export interface ImportResult extends RunResult {
  /** The generated program code, with the option `code`. */
  code?: string;
}

/** A stack, driven by the test kit's engine or by the Pulumi CLI. A failed run throws `RunFailed`, which has the result. */
export interface Stack {
  readonly driver: "kit" | "cli";
  /** Reports the steps that an `up` would take. Changes nothing. */
  preview(options?: OptionsOf<"preview">): Promise<RunResult>;
  /** Previews, then updates, as `pulumi up --yes`. A failed preview ends the run. */
  up(options?: OptionsOf<"up">): Promise<RunResult>;
  /** Updates the state from the service, as `pulumi refresh --yes --skip-preview`. The program does not run. */
  refresh(options?: OptionsOf<"refresh">): Promise<RunResult>;
  /** Deletes all resources, as `pulumi destroy --yes --skip-preview`. The program does not run. */
  destroy(options?: OptionsOf<"destroy">): Promise<RunResult>;
  /** Imports the resources of a file, as `pulumi import --file … --yes --skip-preview`. The driver `cli` only. The program does not run. */
  import(file: string, options?: ImportOptions): Promise<ImportResult>;
  /** The state as from `pulumi stack export --show-secrets`, with secrets in plain text. */
  exportState(): Promise<ExportedState>;
  /** Replaces the state. @throws Error if its version is not 3, or if it has an encrypted secret. */
  importState(state: ExportedState): Promise<void>;
  /** Sets a value of the configuration for later runs. A key without a namespace belongs to the project. */
  setConfig(key: string, value: ConfigValue): Promise<void>;
  /** Unlocks the stack after a killed run, as `pulumi cancel`. The test kit's engine has no lock. */
  cancel(): Promise<void>;
  /** Removes the temporary state, and stops the emulator if the stack started it. Does not destroy the resources. */
  close(): Promise<void>;
  /** Calls `close`, at the end of the block of an `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** A failed run. `result` has everything that a successful run returns. */
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

/** The most changes that the message names for a run that expected none. */
const MOST_CHANGES = 10;

/** `: update shop (~description), create api`. */
function changesOf({ steps }: RunResult): string {
  const changes = steps
    .filter(({ op }) => op !== "same" && op !== "read")
    .map(({ op, name, diff }) => `${op} ${name}${diff.length > 0 ? ` (${diff.join(", ")})` : ""}`);
  const more = changes.length > MOST_CHANGES ? `, and ${changes.length - MOST_CHANGES} more` : "";
  return changes.length > 0 ? `: ${changes.slice(0, MOST_CHANGES).join(", ")}${more}` : "";
}
