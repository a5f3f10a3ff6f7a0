import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plain, secret } from "../../pulumi-cli/index";
import { removeAtExit } from "../cleanup";
import { Unsupported } from "../errors";
import {
  type Command,
  type CommandOptions,
  type ConfigValue,
  type Driver,
  type ExportedState,
  RunFailed,
  type RunOptions,
  type RunResult,
  type StackOptions,
} from "../types";
import { Checkpoint } from "./checkpoint";
import type { RunOutcome } from "./deployment";
import { BUILT_IN, stackReferences } from "./mockedProvider";
import type { RunSetup } from "./processes";
import { fullKey, type Project, readProject } from "./project";
import { DYNAMIC } from "./providerCalls";
import { runDestroy, runProgram, runRefresh } from "./runs";

/** The default number of steps that run at once. The variable `PULUMI_PARALLEL` changes it. */
const PARALLEL = 8;

interface TestEngineOptions extends StackOptions {
  /** The time limit for the start of a provider, in milliseconds. Default: two minutes. */
  startLimit?: number;
}

/**
 * A driver that runs a Pulumi program without the Pulumi CLI, for tests and demonstrations, not for deployments. The program and
 * its providers are real processes that use Pulumi's protocol. The engine between them does what Pulumi's engine does, or fails
 * with an error.
 */
export class TestEngine implements Driver {
  private running: Promise<unknown> = Promise.resolve();
  private isClosed = false;
  private readonly project: Project;
  private readonly config: Map<string, ConfigValue>;
  private readonly temporaryFolder: string;
  private readonly remove: () => void;
  private readonly stateFile: string;

  /** @throws Error if the program's folder is no Pulumi project. */
  constructor(private readonly options: TestEngineOptions) {
    this.project = readProject(options.program, options.ownPackages);
    this.config = new Map(Object.entries(this.project.config));
    for (const [key, value] of Object.entries(options.config ?? {}))
      this.config.set(fullKey(this.project.name, key), value);
    this.temporaryFolder = mkdtempSync(join(tmpdir(), "pulumi-kit-"));
    this.remove = removeAtExit(() => rmSync(this.temporaryFolder, { recursive: true, force: true }));
    this.stateFile = options.stateFile ?? join(this.temporaryFolder, "state.json");
  }

  run(command: Command, given: CommandOptions): Promise<RunResult> {
    const options = { refresh: this.project.refreshesFirst, ...given };
    return this.runExclusively(async () => {
      const started = performance.now();
      const outcome = await this[command](options);
      const seconds = (performance.now() - started) / 1000;
      const outputs = plain(outcome.outputs);
      const result = { ...outcome, outputs, command, seconds, requests: [] };
      const isChanged = Object.keys(result.changes).some((op) => op !== "same" && op !== "read");
      if (options.expectNoChanges && result.ok && isChanged) {
        const what = command === "up" ? "update" : command;
        const message = `no changes were expected for ${what} but changes were proposed`;
        result.ok = false;
        result.diagnostics.push({ severity: "error", message });
        result.text += `error: ${message}\n`;
      }
      if (!result.ok) throw new RunFailed(result);
      return result;
    });
  }

  private async preview(options: RunOptions): Promise<RunOutcome> {
    if (!options.refresh) return runProgram(this.setup(true), options);
    // A preview must not change the state, so the refresh works on a copy.
    const stateFile = join(this.temporaryFolder, "refreshed.json");
    rmSync(stateFile, { force: true });
    if (existsSync(this.stateFile)) copyFileSync(this.stateFile, stateFile);
    const refresh = await runRefresh({ ...this.setup(false), stateFile }, options);
    if (!refresh.ok) return refresh;
    return withRefreshSteps(refresh, await runProgram({ ...this.setup(true), stateFile }, options));
  }

  private async up(options: RunOptions): Promise<RunOutcome> {
    const preview = options.skipPreview ? undefined : await this.preview(options);
    if (preview && !preview.ok) return preview;
    const refresh = options.refresh ? await runRefresh(this.setup(false), options) : undefined;
    if (refresh && !refresh.ok) return refresh;
    const update = withRefreshSteps(refresh, await runProgram(this.setup(false), options));
    return preview ? { ...update, text: `${preview.text}\n${update.text}` } : update;
  }

  private refresh(options: RunOptions): Promise<RunOutcome> {
    return runRefresh(this.setup(options.previewOnly ?? false), options);
  }

  private async destroy({ target = [], refresh }: RunOptions): Promise<RunOutcome> {
    if (target.length > 0) throw new Unsupported("destroying only targets");
    const refreshed = refresh ? await runRefresh(this.setup(false), {}) : undefined;
    if (refreshed && !refreshed.ok) return refreshed;
    return withRefreshSteps(refreshed, await runDestroy(this.setup(false)));
  }

  private import(): Promise<RunOutcome> {
    throw new Unsupported("importing by command");
  }

  exportState(): Promise<ExportedState> {
    return this.runExclusively(async () => new Checkpoint(this.stateFile).export());
  }

  importState(state: ExportedState): Promise<void> {
    return this.runExclusively(async () => {
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
    this.isClosed = true;
    await this.running;
    this.remove();
  }

  /** Runs one command at a time, because concurrent commands would overwrite each other's state. */
  private runExclusively<T>(work: () => Promise<T>): Promise<T> {
    if (this.isClosed) return Promise.reject(new Error("this stack is closed"));
    const result = this.running.then(work);
    this.running = result.catch(() => {});
    return result;
  }

  private setup(dryRun: boolean): RunSetup {
    const { project, stateFile, options } = this;
    const { stackName: stack = "test" } = options;
    const env = { ...process.env, ...options.env };
    const config = [...this.config].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      project,
      stack,
      env,
      parallel: Number(env["PULUMI_PARALLEL"]) || PARALLEL,
      dryRun,
      startLimit: options.startLimit ?? 120_000,
      stateFile,
      mocksOf: (package_) => this.mocksOf(package_),
      config: Object.fromEntries(
        config.map(([key, value]) => [key, typeof value === "string" ? value : secret(value.secret)]),
      ),
    };
  }

  /** The mocks for a package. Undefined for dynamic resources, plugins and packages under test, because their own code runs. */
  private mocksOf(package_: string): TestEngineOptions["others"] {
    if (package_ === BUILT_IN) return stackReferences(this.options.stackReferences);
    const isServed =
      package_ === DYNAMIC || this.project.own.has(package_) || this.project.plugins.has(package_);
    return isServed ? undefined : this.options.others;
  }
}

function withRefreshSteps(refresh: RunOutcome | undefined, run: RunOutcome): RunOutcome {
  const read = refresh?.steps.filter(({ id }) => id !== undefined) ?? [];
  run.steps.unshift(...read.map((step) => ({ ...step, op: "refresh" as const, diff: [] })));
  return run;
}
