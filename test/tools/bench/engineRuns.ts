import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CliStack, type RunResult, type Stack } from "../../../sdk/testing";
import { TestEngine } from "../../../sdk/testing/engine/testEngine";
import type { Contestant, Operation } from "./cells";
import { changedCount } from "./contestants/endpoints";
import { NOOP_PACKAGE } from "./contestants/noop";
import { ProviderWatch, type Taken } from "./providerProcess";
import type { Service } from "./serviceClient";

/** Long enough for a thousand resources of a slow contestant on the CLI. Unit: seconds. */
const LONGEST_RUN = 3600;
const MARKER = "BENCH_RUN";

export interface EngineOptions {
  driver: Stack["driver"];
  contestant: Contestant;
  size: number;
  service: Service;
  env?: Record<string, string>;
}

/** A contestant's stack on an engine. */
export class EngineRuns {
  private constructor(
    private readonly size: number,
    private readonly program: Program,
    private readonly stack: Stack,
    private readonly marker: string,
  ) {}

  static async start({ driver, contestant, size, service, env }: EngineOptions): Promise<EngineRuns> {
    const program = new Program(contestant);
    const marker = randomUUID();
    const reach = { ENDPOINTS_BASE_URL: service.baseUrl, ENDPOINTS_API_KEY: service.apiKey };
    const options = {
      program: program.folder,
      longestRun: LONGEST_RUN,
      // The settings are in the environment, since the plain contestant reads them there. The rate limit is lifted.
      env: { ...env, ...reach, ENDPOINTS_REQUESTS_PER_WINDOW: "1000000", [MARKER]: marker },
    };
    const stack = await (driver === "cli" ? CliStack.create(options) : TestEngine.create(options));
    return new EngineRuns(size, program, stack, `${MARKER}=${marker}`);
  }

  /**
   * Runs an operation.
   *
   * @throws Error if the operation does not make the expected steps.
   */
  async run(operation: Operation): Promise<{ seconds: number; taken: Taken | undefined }> {
    const { stack, program, size } = this;
    program.declare(size, operation === "update");
    const watch = new ProviderWatch(this.marker);
    const run: Record<Operation, () => Promise<RunResult>> = {
      create: () => stack.up({ skipPreview: true }),
      preview: () => stack.preview({ expectNoChanges: true }),
      refresh: () => stack.refresh({ expectNoChanges: true }),
      update: () => stack.up({ skipPreview: true }),
      destroy: () => stack.destroy(),
    };
    try {
      const { seconds, steps } = await run[operation]();
      expectSteps(operation, size, steps);
      return { seconds, taken: await watch.stop() };
    } finally {
      await watch.stop();
    }
  }

  async stateBytes(): Promise<number> {
    return Buffer.byteLength(JSON.stringify(await this.stack.exportState()));
  }

  async close(): Promise<void> {
    await this.stack.close();
    this.program.remove();
  }
}

/** Throws if an operation did not change the expected number of resources. */
function expectSteps(operation: Operation, size: number, steps: RunResult["steps"]): void {
  const expected: Record<Operation, [string, number]> = {
    create: ["create", size],
    preview: ["same", size],
    refresh: ["refresh", size],
    update: ["update", changedCount(size)],
    destroy: ["delete", size],
  };
  const [op, count] = expected[operation];
  const seen = steps.filter((step) => step.op === op || (op === "refresh" && step.op === "same")).length;
  if (seen !== count) {
    const ops = [...new Set(steps.map((step) => step.op))].join(", ");
    throw new Error(`${operation} must make ${count} steps "${op}", but made ${seen} (all steps: ${ops})`);
  }
}

/** In the repository, so that the program loads the package as a user's program does. */
const ROOT = join(__dirname, "programs");

/** A contestant's Pulumi program in a new folder. It is JavaScript, so that no compiler is measured. */
class Program {
  readonly folder: string;

  constructor(private readonly contestant: Contestant) {
    mkdirSync(ROOT, { recursive: true });
    this.folder = mkdtempSync(join(ROOT, `${contestant}-`));
    this.file("Pulumi.yaml", "name: bench\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n");
    this.file("package.json", '{"name": "bench", "main": "index.js"}\n');
    if (contestant === "noop") this.installNoop();
  }

  /** @param changed Whether one endpoint in ten has another description. */
  declare(size: number, changed: boolean): void {
    const contestant = join(__dirname, "contestants", this.contestant);
    this.file("index.js", `require(${JSON.stringify(contestant)}).declare(${size}, ${changed});\n`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The provider's process loads packages only from `node_modules`. */
  private installNoop(): void {
    mkdirSync(join(this.folder, "node_modules", NOOP_PACKAGE), { recursive: true });
    const provider = JSON.stringify(join(__dirname, "contestants", "noopProvider"));
    this.file(
      `node_modules/${NOOP_PACKAGE}/provider.js`,
      `module.exports = require(${provider}).provider;\n`,
    );
  }

  private file(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }
}
