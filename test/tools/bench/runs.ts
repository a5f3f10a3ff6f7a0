import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Emulator, type RunResult, type Stack, TestStack } from "../../../sdk/testing";
import { changedCount } from "./contestants/endpoints";
import { NOOP_PACKAGE } from "./contestants/noop";

/** This package, and a provider that does nothing, whose time is the engine's share. */
export const contestants = ["ours", "noop"] as const;
export type Contestant = (typeof contestants)[number];

/** In the order in which a stack runs them. */
export const operations = ["create", "preview", "refresh", "update", "destroy"] as const;
export type Operation = (typeof operations)[number];

/** A stack: all operations of one contestant, one after the other. */
export interface Unit {
  driver: Stack["driver"];
  contestant: Contestant;
  round: number;
  /** The number of endpoints. */
  size: number;
}

export interface Measured extends Unit {
  operation: Operation;
  /** The wall time of the command. */
  seconds: number;
  /** How many requests of each method the service received. */
  requests: Record<string, number>;
  /** The size of the exported state after the operation, as JSON without spaces. */
  stateBytes: number;
}

/** Long enough for a thousand resources on the CLI. Unit: seconds. */
const LONGEST_RUN = 3600;

/** Measures each operation on a new service, which answers after 20 ms and has no rate limit. */
export async function* measure(unit: Unit): AsyncGenerator<Measured> {
  const emulator = await Emulator.start();
  emulator.intercept(() => true, { afterCommit: true, delayMs: 20 }, Number.POSITIVE_INFINITY);
  const program = newProgram(unit.contestant);
  const stack = await TestStack.create({
    ...{ driver: unit.driver, program, emulator, longestRun: LONGEST_RUN },
    env: { ENDPOINTS_REQUESTS_PER_WINDOW: "1000000" },
    config: { "endpoints:baseUrl": emulator.baseUrl, "endpoints:apiKey": { secret: emulator.apiKey } },
  });
  try {
    for (const operation of operations) {
      declare(program, unit, operation === "update");
      const before = emulator.requests.length;
      const { seconds, steps } = await run(stack, operation);
      assertSteps(operation, unit.size, steps);
      const requests: Record<string, number> = {};
      for (const { method } of emulator.requests.slice(before))
        requests[method] = (requests[method] ?? 0) + 1;
      const stateBytes = Buffer.byteLength(JSON.stringify(await stack.exportState()));
      yield { ...unit, operation, seconds, requests, stateBytes };
    }
  } finally {
    await stack.close();
    await emulator.close();
    rmSync(program, { recursive: true, force: true });
  }
}

function run(stack: Stack, operation: Operation): Promise<RunResult> {
  switch (operation) {
    case "create":
    case "update":
      return stack.up({ skipPreview: true });
    case "preview":
      return stack.preview({ expectNoChanges: true });
    case "refresh":
      return stack.refresh({ expectNoChanges: true });
    case "destroy":
      return stack.destroy();
  }
}

/** A contestant that skips a part of the work must not look faster. */
function assertSteps(operation: Operation, size: number, steps: RunResult["steps"]): void {
  const expected: Record<Operation, [ops: string[], count: number]> = {
    create: [["create"], size],
    preview: [["same"], size],
    refresh: [["refresh", "same"], size],
    update: [["update"], changedCount(size)],
    destroy: [["delete"], size],
  };
  const [ops, count] = expected[operation];
  const seen = steps.filter(({ op }) => ops.includes(op)).length;
  if (seen !== count) throw new Error(`${operation} must make ${count} steps "${ops}", but made ${seen}`);
}

/** A folder for the contestant's program, in the repository, so that it loads the package as a user's program does. */
function newProgram(contestant: Contestant): string {
  const within = join(__dirname, "programs");
  mkdirSync(within, { recursive: true });
  const folder = mkdtempSync(join(within, `${contestant}-`));
  // In JavaScript, so that no compiler is measured.
  const project = "name: bench\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n";
  writeFileSync(join(folder, "Pulumi.yaml"), project);
  writeFileSync(join(folder, "package.json"), '{"name": "bench", "main": "index.js"}\n');
  if (contestant === "noop") {
    // The provider's process loads packages only from `node_modules`.
    const installed = join(folder, "node_modules", NOOP_PACKAGE);
    mkdirSync(installed, { recursive: true });
    const provider = JSON.stringify(join(__dirname, "contestants", "noopProvider"));
    writeFileSync(join(installed, "provider.js"), `module.exports = require(${provider}).provider;\n`);
  }
  return folder;
}

/** @param changed Whether one endpoint in ten has another description. */
function declare(program: string, { contestant, size }: Unit, changed: boolean): void {
  const module = JSON.stringify(join(__dirname, "contestants", contestant));
  writeFileSync(join(program, "index.js"), `require(${module}).declare(${size}, ${changed});\n`);
}
