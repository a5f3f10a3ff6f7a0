import type * as pulumi from "@pulumi/pulumi";
import type { Diagnostic, ExportedState } from "../pulumi-cli/index";

export type { Diagnostic, ExportedResource, ExportedState } from "../pulumi-cli/index";

declare global {
  /** Newer versions of TypeScript's library have this symbol. Declared for programs that compile with an older version. */
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** A request that the emulated service received, and the status of its reply. Credentials are never recorded. */
export interface RecordedRequest {
  method: string;
  /** The path below the base URL, without the query. */
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

/** The settings of a stack for tests. */
export interface StackOptions {
  /** The folder of the Pulumi program, with its `package.json` or `Pulumi.yaml`. */
  program: string;
  /** The stack's configuration by full key (`aws:region`). */
  config?: Record<string, ConfigValue>;
  /** Environment variables for the program and the provider, in addition to those of this process. `undefined` removes one. */
  env?: Record<string, string | undefined>;
  /** The stack's name. Default: `test`. */
  stackName?: string;
  /**
   * The outputs of other stacks for `StackReference`, by the stack's name in the program: `organization/network/dev`. An output is
   * a value, or `{ secret: value }`. Any other stack is unknown. The driver `cli` creates these stacks in its backend.
   */
  stackReferences?: Record<string, Record<string, unknown>>;
  /** The driver `cli` only: the time limit of a command, in seconds. A longer command is stopped. Default: 180. */
  longestRun?: number;
  /**
   * `kit` runs the program with the test engine, `cli` with the Pulumi CLI on the PATH. Default: `kit`.
   */
  driver?: "kit" | "cli";
  /**
   * With the driver `kit`: the file of the state, so that another stack can continue with it, also after a killed run. Default: a
   * temporary file, which `close` removes.
   */
  stateFile?: string;
  /**
   * With the driver `kit`: mocks for packages without a plugin, such as `random` and `aws`, in the form of
   * `pulumi.runtime.setMocks`. They get plain values: `newResource` is called for each create, update and `get`, `call` for each
   * function. The state has the outputs they return, and keeps secrets. Previews know only the inputs. Default: such packages
   * fail the run. With `{}`, the outputs of a resource are its inputs, and a function returns its arguments.
   */
  others?: Partial<pulumi.runtime.Mocks>;
  /** The packages under test. `others` never answers for them. Default: none. */
  ownPackages?: string[];
  /** The emulated service that the provider uses. Each result has the requests that it received during the run. Default: none. */
  service?: EmulatedService;
}

/** A service that records its requests, oldest first. */
export interface EmulatedService {
  readonly requests: readonly RecordedRequest[];
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

/** The options of commands. `commandOptions` lists the options that each command takes. */
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
   * Preview and up: refresh the targets, or else all resources, first (`--refresh`). Default: false, or what `refresh: always`
   * of `Pulumi.yaml` says.
   */
  refresh?: boolean;
  /** URNs of the only resources to change (`--target`). Destroy: the driver `cli` only. Default: all. */
  target?: string[];
  /** Refresh: remove pending creates of a killed run from the state (`--clear-pending-creates`). Default: false. */
  clearPendingCreates?: boolean;
  /** Import: protect the imported resources from deletion (`--protect`). Default: true. */
  protect?: boolean;
}

/** The options that each command takes. */
export const commandOptions = {
  preview: ["expectNoChanges", "replace", "diff", "refresh", "target"],
  up: ["expectNoChanges", "replace", "diff", "skipPreview", "refresh", "target"],
  refresh: ["expectNoChanges", "diff", "previewOnly", "target", "clearPendingCreates"],
  destroy: ["diff", "target"],
  import: ["protect"],
} as const satisfies Record<string, readonly (keyof RunOptions)[]>;

export type Command = keyof typeof commandOptions;

export type OptionsOf<C extends Command> = Pick<RunOptions, (typeof commandOptions)[C][number]>;

/** The result of a command: what it did, or in a preview would do. */
export interface RunResult {
  command: Command;
  /** Whether the run succeeded. If not, `diagnostics` has the errors. */
  ok: boolean;
  /** The stack's outputs after the run, with secrets in plain text. */
  outputs: Record<string, unknown>;
  /** The steps of all resources except the stack and providers, in the order in which they ended. */
  steps: Step[];
  /** The number of steps by operation, as in Pulumi's summary. */
  changes: Partial<Record<StepOp, number>>;
  diagnostics: Diagnostic[];
  /** The duration of the command in seconds, without the work of this package before and after it. */
  seconds: number;
  /** The output for a terminal: a line for each step with its changes, the diagnostics, and the summary. */
  text: string;
  /** The requests that the emulated service received during this run. Empty if the stack has none. */
  requests: RecordedRequest[];
}

/** The options of any command, and the file of an import. */
export type CommandOptions = RunOptions & { file?: string | undefined };

/** The driver that runs the commands of a stack: the test engine or the Pulumi CLI. */
export interface Driver {
  /** @throws RunFailed */
  run(command: Command, options: CommandOptions): Promise<RunResult>;
  exportState(): Promise<ExportedState>;
  importState(state: ExportedState): Promise<void>;
  setConfig(key: string, value: ConfigValue): Promise<void>;
  cancel(): Promise<void>;
  close(): Promise<void>;
}

/** The error of a failed run. `result` has everything that a successful run returns. */
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

/** The most changes that the message lists if a run expected none. */
const MAX_CHANGES = 10;

/** `: update shop (~description), create api`. */
function changesOf({ steps }: RunResult): string {
  const changes = steps
    .filter(({ op }) => op !== "same" && op !== "read")
    .map(({ op, name, diff }) => `${op} ${name}${diff.length > 0 ? ` (${diff.join(", ")})` : ""}`);
  const more = changes.length > MAX_CHANGES ? `, and ${changes.length - MAX_CHANGES} more` : "";
  return changes.length > 0 ? `: ${changes.slice(0, MAX_CHANGES).join(", ")}${more}` : "";
}
