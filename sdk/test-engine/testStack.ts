import {
  commandOptions,
  type EmulatedService,
  RunFailed,
  type RunResult,
  type Stack,
  type StackOptions,
  type TestStackOptions,
} from "./types";

/**
 * A stack for tests: the program and its providers run in real processes, and the state is in a temporary file. With the driver
 * `kit` it needs no Pulumi CLI. `await using` closes it at the end of the block.
 *
 * ```ts
 * await using stack = await TestStack.create({ program: "examples/network" });
 * const { outputs, steps } = await stack.up();
 * expect(steps.map(({ op, name }) => `${op} ${name}`)).toEqual(["create gateway"]);
 * ```
 *
 * A failed run throws `RunFailed`, whose `result` has everything that a successful run returns.
 */
export class TestStack implements Stack {
  protected constructor(
    private readonly driven: Stack,
    private readonly service: EmulatedService = { requests: [] },
  ) {}

  /** @throws Error if the program's folder is no Pulumi project, or if the driver is `cli` and there is no CLI. */
  static async create(options: TestStackOptions): Promise<TestStack> {
    return new TestStack(await TestStack.open(options), options.service);
  }

  /** Opens a stack with its driver. */
  protected static async open({ driver = "kit", ...options }: TestStackOptions): Promise<Stack> {
    if (driver === "kit") return (await drivers()).TestEngine.create(options);
    if (options.others !== undefined)
      throw new Error("others is only for the driver kit, because the CLI downloads and runs the plugins");
    if (options.stateFile !== undefined)
      throw new Error(
        "stateFile is only for the driver kit, because the CLI keeps its state in a backend; use exportState and importState",
      );
    return (await drivers()).CliDriver.create(options);
  }

  get driver(): Stack["driver"] {
    return this.driven.driver;
  }

  preview: Stack["preview"] = (options) => this.watch(() => this.driven.preview(checked("preview", options)));
  up: Stack["up"] = (options) => this.watch(() => this.driven.up(checked("up", options)));
  refresh: Stack["refresh"] = (options) => this.watch(() => this.driven.refresh(checked("refresh", options)));
  destroy: Stack["destroy"] = (options) => this.watch(() => this.driven.destroy(checked("destroy", options)));
  import: Stack["import"] = (file, options) => this.watch(() => this.driven.import(file, options));
  exportState: Stack["exportState"] = () => this.driven.exportState();
  importState: Stack["importState"] = (state) => this.driven.importState(state);
  setConfig: Stack["setConfig"] = (key, value) => this.driven.setConfig(key, value);
  cancel: Stack["cancel"] = () => this.driven.cancel();

  async close(): Promise<void> {
    await this.driven.close();
  }

  readonly [Symbol.asyncDispose] = () => this.close();

  /** Adds the requests that the service received during the run. */
  private async watch<R extends RunResult>(run: () => Promise<R>): Promise<R> {
    const before = this.service.requests.length;
    const requests = () => this.service.requests.slice(before);
    try {
      return { ...(await run()), requests: requests() };
    } catch (error) {
      throw error instanceof RunFailed ? new RunFailed({ ...error.result, requests: requests() }) : error;
    }
  }
}

/** A stack of the Pulumi CLI on the PATH, with its state in a temporary folder. */
export class CliStack extends TestStack {
  /** @throws Error if there is no CLI, or if the program already has a settings file for a stack with this name. */
  static override async create(options: StackOptions): Promise<CliStack> {
    return new CliStack(await TestStack.open({ ...options, driver: "cli" }));
  }
}

/**
 * Loads the drivers. Compiled code requires them, because a test runner that keeps modules apart, such as Jest, refuses `import()`.
 * Only the source can be run by one that has no `require` for it.
 */
const drivers = async (): Promise<typeof import("./drivers")> =>
  __filename.endsWith(".js") ? require("./drivers") : import("./drivers.js");

/** @throws TypeError for an option of another command. Ignoring it could deploy what a test only wanted to preview. */
function checked<O extends object>(command: keyof typeof commandOptions, options?: O): O | undefined {
  const known: readonly string[] = commandOptions[command];
  const unknown = Object.keys(options ?? {}).find((name) => !known.includes(name));
  if (unknown === undefined) return options;
  throw new TypeError(`${command} does not take the option ${unknown}; it takes ${known.join(", ")}`);
}
