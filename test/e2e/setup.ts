import { afterEach, describe, expect } from "vitest";
import {
  type ExportedState,
  RunFailed,
  type RunResult,
  type TestStack,
  type TestStackOptions,
} from "../../sdk/testing";
import { cli, newTestStack, writeProgram } from "../projects";

export { methods, writes } from "../requests";

import { normalize } from "./normalize";

/* The end-to-end tests run on two drivers: the test kit's engine and the Pulumi CLI. Without a CLI on the PATH, its runs are
 * skipped. */
const drivers = (process.env["TEST_DRIVERS"] ?? "kit,cli").split(",");

export type Start = (program: string, options?: Partial<TestStackOptions>) => Promise<TestStack>;
interface Opened {
  stack: TestStack;
  folder: string;
  /** The states before each destroy. */
  states: ExportedState[];
}

const opened: Opened[] = [];

const ON_KIT = "on the test kit's engine";
const ON_CLI = "on the Pulumi CLI";

/** The states on the test kit's engine, by test: before each destroy, and the final one. The CLI's states must be equal. */
const kitStates = new Map<string, unknown>();

/** Runs the tests on the test kit's engine and on an installed CLI, and compares the states. */
export function onBothDrivers(
  subject: string,
  cases: (start: Start, driver: TestStack["driver"]) => void,
): void {
  describe(subject, () => {
    if (drivers.includes("kit")) describe(ON_KIT, () => cases(starter("kit"), "kit"));
    if (drivers.includes("cli")) describe.skipIf(!cli)(ON_CLI, () => cases(starter("cli"), "cli"));
  });
}

/** Runs tests in which the CLI cannot differ from the test kit's engine. */
export function onKit(subject: string, cases: (start: Start) => void): void {
  describe(subject, () => cases(starter("kit")));
}

/** Runs tests of what only the CLI supports. */
export function onCli(subject: string, cases: (start: Start) => void): void {
  describe.skipIf(!cli || !drivers.includes("cli"))(`${subject}, with the Pulumi CLI on the PATH`, () =>
    cases(starter("cli")),
  );
}

afterEach(async (context) => {
  const ended = opened.splice(0);
  try {
    if (context.task.result?.state === "fail") return;
    for (const [index, { stack, states }] of ended.entries()) {
      const name = `${context.task.fullName.replace(ON_CLI, ON_KIT)} ${index}`;
      states.push(await stack.exportState());
      // A plugin's provider has the key in its inputs, as a secret.
      const others = states
        .flatMap(({ deployment }) => deployment.resources ?? [])
        .filter(({ type }) => !type.startsWith("pulumi:providers:"));
      expect(JSON.stringify(others), "no state contains the key").not.toContain(stack.emulator.apiKey);
      const normalized = states.map(normalize);
      if (stack.driver === "kit") kitStates.set(name, normalized);
      else if (name.includes(ON_KIT) && drivers.includes("kit")) {
        expect(kitStates.has(name), "the same test has passed on the test kit's engine").toBe(true);
        expect(normalized, "the states on the test kit's engine").toEqual(kitStates.get(name));
      }
    }
  } finally {
    for (const { stack } of ended) await stack.close();
  }
});

/** Returns a function that starts a stack with a given program. */
function starter(driver: TestStack["driver"]): Start {
  return async (program, options = {}) => {
    const { folder, stack } = await newTestStack(program, { driver, ...options });
    // Other tests cover previews. Without a preview before each update, a test takes half the time.
    const up = stack.up.bind(stack);
    stack.up = (runOptions) => up({ skipPreview: true, ...runOptions });
    const states: ExportedState[] = [];
    const destroy = stack.destroy.bind(stack);
    stack.destroy = async (runOptions) => {
      states.push(await stack.exportState());
      return destroy(runOptions);
    };
    opened.push({ stack, folder, states });
    return stack;
  };
}

/** A state as JSON, without its secrets. */
export const plainIn = (state: unknown): string =>
  JSON.stringify(state, (_, value) => (value?.plaintext === undefined ? value : "[secret]"));

/** Replaces the program of a running stack. */
export function edit(stack: TestStack, program: string): void {
  const found = opened.find((entry) => entry.stack === stack);
  if (!found) throw new Error("this stack was not started here");
  writeProgram(found.folder, program);
}

/** The result of a run that fails. Throws if it succeeds. */
export async function failure(run: Promise<RunResult>): Promise<RunResult> {
  try {
    await run;
  } catch (error) {
    if (error instanceof RunFailed) return error.result;
    throw error;
  }
  throw new Error("expected the run to fail");
}

export const errors = (result: RunResult) =>
  result.diagnostics
    .filter((diagnostic) => diagnostic.severity === "error")
    .map((diagnostic) => diagnostic.message);
