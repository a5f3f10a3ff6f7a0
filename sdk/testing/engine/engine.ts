import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Command,
  type ConfigValue,
  type ExportedState,
  type ImportFile,
  type ImportOptions,
  type ImportResult,
  type ImportSpec,
  RunFailed,
  type RunOptions,
  type RunResult,
  type Stack,
  type StackOptions,
} from "../types";
import { Checkpoint } from "./checkpoint";
import { readImportFile } from "./importFile";
import { fullKey, type Project, readProject } from "./project";
import { type Outcome, type Run, runDestroy, runImport, runProgram, runRefresh } from "./run";
import { secret } from "./values";
import { NONE, propsToWire } from "./wire";

export interface KitOptions extends StackOptions {
  /** Where the state is kept. Default: a temporary file that `close` removes. */
  stateFile?: string;
  /** How many provider calls may run at once. Default: 8. */
  parallel?: number;
}

/**
 * Runs a Pulumi program where there is no Pulumi CLI: for tests and demonstrations, never to deploy. The program and
 * its dynamic provider are real processes that speak Pulumi's own protocol; the engine between them imitates the real
 * one, and refuses what it does not imitate.
 */
export class KitEngine implements Stack {
  readonly driver = "kit";
  private running: Promise<unknown> = Promise.resolve();
  private closed = false;

  private constructor(
    private readonly options: KitOptions,
    private readonly project: Project,
    private readonly config: Map<string, ConfigValue>,
    private readonly scratch: string,
    private readonly stateFile: string,
  ) {}

  static async create(options: KitOptions): Promise<KitEngine> {
    const project = readProject(options.program, options.projectName);
    const config = new Map(Object.entries(project.config));
    for (const [key, value] of Object.entries(options.config ?? {}))
      config.set(fullKey(project.name, key), value);
    const scratch = mkdtempSync(join(tmpdir(), "pulumi-kit-"));
    return new KitEngine(options, project, config, scratch, options.stateFile ?? join(scratch, "state.json"));
  }

  /** Shows what `up` would do. Changes nothing. */
  preview(options: RunOptions = {}): Promise<RunResult> {
    return this.command("preview", options, () =>
      options.refresh ? this.previewOfRefreshed(options) : runProgram(this.run(true), options),
    );
  }

  /** A preview, then, if that went well, the update, each with processes of its own, as `pulumi up --yes`. */
  up(options: RunOptions = {}): Promise<RunResult> {
    return this.command("up", options, async () => {
      if (options.refresh && !options.skipPreview)
        throw new Error(
          "the test engine refreshes only in an update without a preview: give skipPreview too",
        );
      const preview = options.skipPreview ? undefined : await runProgram(this.run(true), options);
      if (preview && !preview.ok) return preview;
      const refresh = options.refresh ? await runRefresh(this.run(false), options) : undefined;
      if (refresh && !refresh.ok) return refresh;
      const update = await runProgram(this.run(false), options);
      return preview ? { ...update, text: `${preview.text}\n${update.text}` } : update;
    });
  }

  /** Takes into the state what is really there, as `pulumi refresh --yes --skip-preview`: each resource is read once. */
  refresh(options: RunOptions = {}): Promise<RunResult> {
    return this.command("refresh", options, () =>
      runRefresh(this.run(options.previewOnly ?? false), options),
    );
  }

  /** Deletes everything, as `pulumi destroy --yes`. The program is not run. */
  destroy(options: RunOptions = {}): Promise<RunResult> {
    return this.command("destroy", options, () => runDestroy(this.run(false), options));
  }

  /** Takes over what exists, as `pulumi import --yes --skip-preview`. Generates no code: that takes the real CLI. */
  import(what: ImportSpec[] | ImportFile, options: ImportOptions = {}): Promise<ImportResult> {
    return this.command("import", {}, async () => {
      if (options.code)
        throw new Error("the test engine generates no code for what it imports; the driver cli does");
      const specs = Array.isArray(what) ? what : readImportFile(what.file);
      return runImport(this.run(false), specs, options.protect ?? true);
    });
  }

  exportState(): Promise<ExportedState> {
    return this.alone(async () => new Checkpoint(this.stateFile).export());
  }

  importState(state: ExportedState): Promise<void> {
    return this.alone(async () => {
      const checkpoint = new Checkpoint(this.stateFile);
      checkpoint.load(state);
      checkpoint.save();
    });
  }

  async setConfig(key: string, value: ConfigValue): Promise<void> {
    this.config.set(fullKey(this.project.name, key), value);
  }

  async cancel(): Promise<void> {}

  async close(): Promise<void> {
    this.closed = true;
    await this.running;
    rmSync(this.scratch, { recursive: true, force: true });
  }

  /** Refreshes a copy of the state, which is all that a preview may write. */
  private async previewOfRefreshed(options: RunOptions): Promise<Outcome> {
    const stateFile = join(this.scratch, "refreshed.json");
    if (existsSync(this.stateFile)) copyFileSync(this.stateFile, stateFile);
    else rmSync(stateFile, { force: true });
    const refresh = await runRefresh({ ...this.run(false), stateFile }, options);
    return refresh.ok ? runProgram({ ...this.run(true), stateFile }, options) : refresh;
  }

  /** One run at a time: two on one state would undo each other's work. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(new Error("this stack is closed"));
    const result = this.running.then(work);
    this.running = result.catch(() => {});
    return result;
  }

  private run(dryRun: boolean): Run {
    const { project, scratch, stateFile, options } = this;
    const env = { ...process.env, ...options.env };
    const { stackName: stack = "test", parallel = 8 } = options;
    const config = [...this.config].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      launch: { project, stack, env, scratch, parallel, dryRun },
      stateFile,
      config: Object.fromEntries(
        config.map(([key, value]) => [key, typeof value === "string" ? value : secret(value.secret)]),
      ),
    };
  }

  /** The result of a command, thrown where it failed. */
  private command(
    command: Command,
    { expectNoChanges = false }: RunOptions,
    work: () => Promise<Outcome>,
  ): Promise<RunResult> {
    return this.alone(async () => {
      const started = performance.now();
      const outcome = await work();
      const seconds = (performance.now() - started) / 1000;
      const result = resultOf(command, outcome, seconds, expectNoChanges);
      if (!result.ok) throw new RunFailed(result);
      return result;
    });
  }
}

function resultOf(
  command: Command,
  { ok, display, outputs, text }: Outcome,
  seconds: number,
  expectNoChanges: boolean,
): RunResult {
  const { steps, changes, diagnostics } = display;
  const unwanted = expectNoChanges && ok && Object.keys(changes).some((op) => op !== "same" && op !== "read");
  if (unwanted) {
    const done = command === "preview" ? "proposed" : "occurred";
    display.report("error", `no changes were expected but changes ${done}`);
  }
  return {
    command,
    ok: ok && !unwanted,
    seconds,
    outputs: propsToWire(outputs, NONE),
    steps,
    changes,
    diagnostics,
    text: unwanted ? `${text}error: ${diagnostics.at(-1)?.message}\n` : text,
    requests: [],
  };
}
