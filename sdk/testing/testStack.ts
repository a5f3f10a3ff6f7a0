import { PACKAGE } from "../../provider/pulumi/typeTokens";
import { type ConfigValue, type Driver, PulumiStack, type StackOptions } from "../test-engine/index";
import { Emulator } from "./emulator";

export interface TestStackOptions extends Omit<StackOptions, "ownPackages" | "service"> {
  /** The stack's configuration by full key (`endpoints:baseUrl`). A `TestStack` adds base URL and key of its emulator. */
  config?: Record<string, ConfigValue>;
  /**
   * Environment variables for the program and the provider, in addition to those of this process. `undefined` removes a variable.
   * A `TestStack` removes those that begin with `ENDPOINTS_`, so that a developer's settings do not change a test.
   */
  env?: Record<string, string | undefined>;
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
export class TestStack extends PulumiStack {
  private constructor(
    driver: PulumiStack["driver"],
    driven: Driver,
    /** The stack's service: seed it, edit its endpoints by hand, and inspect its requests and endpoints. */
    readonly emulator: Emulator,
    private readonly ownsEmulator: boolean,
  ) {
    super(driver, driven, emulator);
  }

  /** @throws Error if the program's folder is no Pulumi project, or if the driver is `cli` and there is no CLI. */
  static override async create({ emulator, ...options }: TestStackOptions): Promise<TestStack> {
    const service = emulator ?? (await Emulator.start());
    const reach = { "endpoints:baseUrl": service.baseUrl, "endpoints:apiKey": { secret: service.apiKey } };
    const settings = Object.keys(process.env).filter((name) => name.startsWith("ENDPOINTS_"));
    try {
      const driven = await PulumiStack.open({
        ...options,
        config: { ...reach, ...options.config },
        env: { ...Object.fromEntries(settings.map((name) => [name, undefined])), ...options.env },
        ownPackages: [PACKAGE],
      });
      return new TestStack(options.driver ?? "kit", driven, service, emulator === undefined);
    } catch (error) {
      if (emulator === undefined) await service.close();
      throw error;
    }
  }

  override async close(): Promise<void> {
    await super.close();
    if (this.ownsEmulator) await this.emulator.close();
  }
}
