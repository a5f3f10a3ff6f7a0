import { CliStack } from "./cli";
import { Emulator } from "./emulator";
import { TestEngine } from "./engine/testEngine";
import type { EndpointMocksOptions } from "./mocks";
import { commandOptions, RunFailed, type RunResult, type Stack, type StackOptions } from "./types";

export interface TestStackOptions extends StackOptions {
  /**
   * `kit` runs the program with the test kit's engine, `cli` with the Pulumi CLI on the PATH. Default: `kit`.
   */
  driver?: Stack["driver"];
  /**
   * With the driver `kit`: the file of the state, so that another stack can continue with it, also after a killed run. Default: a
   * temporary file, which `close` removes.
   */
  stateFile?: string;
  /**
   * With the driver `kit`: mocks for packages without a plugin, such as `random` and `aws`, in the form of `endpointMocks`. They
   * get plain values: `newResource` is called for each create, update and `get`, `call` for each function. The state has the
   * outputs they return, and keeps secrets. Previews know only the inputs. Default: such packages fail the run. With `{}`, the
   * outputs of a resource are its inputs, and a function returns its arguments.
   */
  others?: EndpointMocksOptions["others"];
  /** The emulated service. Default: a new one, which `close` stops. */
  emulator?: Emulator;
}

/**
 * A stack for tests: the program and the provider run in real processes against an emulated service, and the state is in a
 * temporary file. It needs no account and, with the driver `kit`, no Pulumi CLI. `await using` closes it at the end of the block.
 *
 * ```ts
 * await using stack = await TestStack.create({ program: "examples/quickstart" });
 * const { outputs, requests } = await stack.up();
 * expect(requests.map((request) => request.method)).toEqual(["POST"]);
 * ```
 *
 * A failed run throws `RunFailed`, whose `result` has everything that a successful run returns.
 */
export class TestStack implements Stack {
  private constructor(
    private readonly inner: Stack,
    /** The stack's service: seed it, edit its endpoints by hand, and inspect its requests and endpoints. */
    readonly emulator: Emulator,
    private readonly ownsEmulator: boolean,
  ) {}

  /** @throws Error if the program's folder is no Pulumi project, or if the driver is `cli` and there is no CLI. */
  static async create(options: TestStackOptions): Promise<TestStack> {
    const { driver = "kit", emulator, stateFile, others, ...rest } = options;
    if (driver === "cli" && others !== undefined)
      throw new Error("others is only for the driver kit, because the CLI downloads and runs the plugins");
    if (driver === "cli" && stateFile !== undefined) {
      throw new Error(
        "stateFile is only for the driver kit, because the CLI keeps its state in a backend; use exportState and importState",
      );
    }
    const service = emulator ?? (await Emulator.start());
    const reach = { "endpoints:baseUrl": service.baseUrl, "endpoints:apiKey": { secret: service.apiKey } };
    const stackOptions = {
      ...rest,
      config: { ...reach, ...options.config },
      // A key in the shell of the tests must not be used or shown.
      env: { ENDPOINTS_API_KEY: undefined, ENDPOINTS_BASE_URL: undefined, ...options.env },
    };
    try {
      const inner = await (driver === "cli"
        ? CliStack.create(stackOptions)
        : TestEngine.create({ ...stackOptions, ...(stateFile && { stateFile }), ...(others && { others }) }));
      return new TestStack(inner, service, emulator === undefined);
    } catch (error) {
      if (emulator === undefined) await service.close();
      throw error;
    }
  }

  get driver(): Stack["driver"] {
    return this.inner.driver;
  }

  preview: Stack["preview"] = (options) => this.watch(() => this.inner.preview(checked("preview", options)));
  up: Stack["up"] = (options) => this.watch(() => this.inner.up(checked("up", options)));
  refresh: Stack["refresh"] = (options) => this.watch(() => this.inner.refresh(checked("refresh", options)));
  destroy: Stack["destroy"] = (options) => this.watch(() => this.inner.destroy(checked("destroy", options)));
  import: Stack["import"] = (file, options) => this.watch(() => this.inner.import(file, options));
  exportState: Stack["exportState"] = () => this.inner.exportState();
  importState: Stack["importState"] = (state) => this.inner.importState(state);
  setConfig: Stack["setConfig"] = (key, value) => this.inner.setConfig(key, value);
  cancel: Stack["cancel"] = () => this.inner.cancel();

  async close(): Promise<void> {
    await this.inner.close();
    if (this.ownsEmulator) await this.emulator.close();
  }

  readonly [Symbol.asyncDispose] = () => this.close();

  /** Adds the requests that the service received during the run. */
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

/** @throws TypeError for an option of another command. Ignoring it could deploy what a test only wanted to preview. */
function checked<O extends object>(command: keyof typeof commandOptions, options?: O): O | undefined {
  const known: readonly string[] = commandOptions[command];
  const unknown = Object.keys(options ?? {}).find((name) => !known.includes(name));
  if (unknown === undefined) return options;
  throw new TypeError(`${command} does not take the option ${unknown}; it takes ${known.join(", ")}`);
}
