import { CliStack } from "./cli";
import { Emulator } from "./emulator";
import { TestEngine } from "./engine/testEngine";
import {
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
} from "./types";

export interface TestStackOptions extends StackOptions {
  /**
   * What runs the program: the test kit's engine, which needs no CLI, or the Pulumi CLI on the PATH. Default: `kit`.
   */
  driver?: Stack["driver"];
  /**
   * With the driver `kit`: a file to keep the state in, so that another stack can take up what this one left, a killed
   * run too. Default: a temporary one, which `close` removes.
   */
  stateFile?: string;
  /** The service to use. Default: one that the stack starts for itself, and ends when it is closed. */
  emulator?: Emulator;
}

/**
 * A stack for tests: a real program process and a real provider process, an emulated service, state in a temporary
 * file. Nothing is deployed, and no Pulumi CLI or account is needed.
 *
 * ```ts
 * const stack = await TestStack.create({ program: "examples/quickstart" });
 * const { outputs, requests } = await stack.up();
 * expect(requests.map((request) => request.method)).toEqual(["POST"]);
 * await stack.close();
 * ```
 *
 * A run that fails throws `RunFailed`, whose `result` holds what a good run returns.
 */
export class TestStack implements Stack {
  private constructor(
    private readonly inner: Stack,
    /** The service that the stack talks to: seed it, edit behind the program's back, look at what it holds. */
    readonly emulator: Emulator,
    private readonly ownsEmulator: boolean,
  ) {}

  /** Throws where the program's folder is no Pulumi project, and, with the driver `cli`, where there is no CLI. */
  static async create(options: TestStackOptions): Promise<TestStack> {
    const { driver = "kit", emulator, stateFile, ...rest } = options;
    if (driver === "cli" && stateFile !== undefined) {
      throw new Error(
        "stateFile is for the driver kit: the CLI keeps its state in a backend; use exportState and importState",
      );
    }
    const service = emulator ?? (await Emulator.start());
    const reach = { "endpoints:baseUrl": service.baseUrl, "endpoints:apiKey": { secret: service.apiKey } };
    const stackOptions = {
      ...rest,
      config: { ...reach, ...options.config },
      // A key in the shell that runs the tests must be neither used nor shown.
      env: { ENDPOINTS_API_KEY: undefined, ENDPOINTS_BASE_URL: undefined, ...options.env },
    };
    try {
      const inner = await (driver === "cli"
        ? CliStack.create(stackOptions)
        : TestEngine.create({ ...stackOptions, ...(stateFile && { stateFile }) }));
      return new TestStack(inner, service, emulator === undefined);
    } catch (error) {
      if (emulator === undefined) await service.close();
      throw error;
    }
  }

  get driver(): Stack["driver"] {
    return this.inner.driver;
  }

  preview(options?: RunOptions): Promise<RunResult> {
    return this.watch(() => this.inner.preview(options));
  }

  up(options?: RunOptions): Promise<RunResult> {
    return this.watch(() => this.inner.up(options));
  }

  refresh(options?: RunOptions): Promise<RunResult> {
    return this.watch(() => this.inner.refresh(options));
  }

  destroy(options?: RunOptions): Promise<RunResult> {
    return this.watch(() => this.inner.destroy(options));
  }

  import(what: ImportSpec[] | ImportFile, options?: ImportOptions): Promise<ImportResult> {
    return this.watch(() => this.inner.import(what, options));
  }

  exportState(): Promise<ExportedState> {
    return this.inner.exportState();
  }

  importState(state: ExportedState): Promise<void> {
    return this.inner.importState(state);
  }

  setConfig(key: string, value: ConfigValue): Promise<void> {
    return this.inner.setConfig(key, value);
  }

  cancel(): Promise<void> {
    return this.inner.cancel();
  }

  async close(): Promise<void> {
    await this.inner.close();
    if (this.ownsEmulator) await this.emulator.close();
  }

  /** Adds the requests that the service saw during the run. */
  private async watch<R extends RunResult>(run: () => Promise<R>): Promise<R> {
    const before = this.emulator.requests.length;
    const requests = () => this.emulator.requests.slice(before);
    try {
      return { ...(await run()), requests: requests() };
    } catch (error) {
      throw error instanceof RunFailed ? new RunFailed({ ...error.result, requests: requests() }) : error;
    }
  }
}
