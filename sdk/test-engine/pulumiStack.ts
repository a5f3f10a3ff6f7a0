import {
  type Command,
  type ConfigValue,
  commandOptions,
  type Driver,
  type EmulatedService,
  type ExportedState,
  type OptionsOf,
  RunFailed,
  type RunOptions,
  type RunResult,
  type StackOptions,
} from "./types";

type Running = Promise<RunResult>;

/**
 * A stack for tests: the program and its providers run in real processes, and the state is in a temporary file. With the driver
 * `kit` it needs no Pulumi CLI. `await using` closes it at the end of the block.
 *
 * ```ts
 * await using stack = await PulumiStack.create({ program: "examples/network" });
 * const { outputs, steps } = await stack.up();
 * expect(steps.map(({ op, name }) => `${op} ${name}`)).toEqual(["create gateway"]);
 * ```
 *
 * A failed run throws `RunFailed`, whose `result` has everything that a successful run returns.
 */
export class PulumiStack {
  protected constructor(
    readonly driver: "kit" | "cli",
    private readonly runner: Driver,
    private readonly service: EmulatedService = { requests: [] },
  ) {}

  /** @throws Error if the program's folder is no Pulumi project, or if the driver is `cli` and there is no CLI. */
  static async create(options: StackOptions): Promise<PulumiStack> {
    return new PulumiStack(options.driver ?? "kit", await PulumiStack.open(options), options.service);
  }

  /** Creates the driver of a stack. */
  protected static async open({ driver = "kit", ...options }: StackOptions): Promise<Driver> {
    const { CliDriver, TestEngine } = await drivers();
    if (driver === "kit") return new TestEngine(options);
    if (options.others !== undefined)
      throw new Error("others is only for the driver kit, because the CLI downloads and runs the plugins");
    if (options.stateFile !== undefined)
      throw new Error(
        "stateFile is only for the driver kit, because the CLI keeps its state in a backend; use exportState and importState",
      );
    return CliDriver.create(options);
  }

  /** Reports the steps that an `up` would take. Changes nothing. */
  preview = (options?: OptionsOf<"preview">): Running => this.run("preview", options);
  /** Previews, then updates, as `pulumi up --yes`. A failed preview ends the run. */
  up = (options?: OptionsOf<"up">): Running => this.run("up", options);
  /** Updates the state from the service, as `pulumi refresh --yes --skip-preview`. The program does not run. */
  refresh = (options?: OptionsOf<"refresh">): Running => this.run("refresh", options);
  /** Deletes all resources, as `pulumi destroy --yes --skip-preview`. The program does not run. */
  destroy = (options?: OptionsOf<"destroy">): Running => this.run("destroy", options);
  /** Imports the resources of a file, as `pulumi import --file … --yes --skip-preview`. The driver `cli` only. The program does not run. */
  import = (file: string, options?: OptionsOf<"import">): Running => this.run("import", options, file);

  /** The state as from `pulumi stack export --show-secrets`, with secrets in plain text. */
  exportState = (): Promise<ExportedState> => this.runner.exportState();
  /** Replaces the state. @throws Error if its version is not 3, or if it has an encrypted secret. */
  importState = (state: ExportedState): Promise<void> => this.runner.importState(state);
  /** Sets a value of the configuration for later runs. A key without a namespace belongs to the project. */
  setConfig = (key: string, value: ConfigValue): Promise<void> => this.runner.setConfig(key, value);
  /** Unlocks the stack after a killed run, as `pulumi cancel`. The test engine has no lock. */
  cancel = (): Promise<void> => this.runner.cancel();

  /** Removes the temporary state, and stops what the stack started. Does not destroy the resources. */
  async close(): Promise<void> {
    await this.runner.close();
  }

  /** Calls `close`, at the end of the block of an `await using`. */
  readonly [Symbol.asyncDispose] = () => this.close();

  /** Runs a command. Adds the requests that the emulated service received meanwhile to the result. */
  private async run(command: Command, options: RunOptions = {}, file?: string): Running {
    assertOptions(command, options);
    const before = this.service.requests.length;
    const requests = () => this.service.requests.slice(before);
    try {
      return { ...(await this.runner.run(command, { ...options, file })), requests: requests() };
    } catch (error) {
      throw error instanceof RunFailed ? new RunFailed({ ...error.result, requests: requests() }) : error;
    }
  }
}

/**
 * Loads the drivers. Compiled code uses `require`, because test runners such as Jest refuse `import()`. The TypeScript source uses
 * `import()`, because `require` cannot load it.
 */
const drivers = async (): Promise<typeof import("./drivers")> =>
  __filename.endsWith(".js") ? require("./drivers") : import("./drivers.js");

/** @throws TypeError for an option of another command. Ignoring it could deploy what a test only wanted to preview. */
function assertOptions(command: Command, options: RunOptions): void {
  const known: readonly string[] = commandOptions[command];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`${command} does not take the option ${unknown}; it takes ${known.join(", ")}`);
}
