import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import {
  findPulumiCli,
  RunFailed,
  type RunResult,
  type Stack,
  TestStack,
  type TestStackOptions,
} from "../../sdk/testing";
import { newProject } from "../newProject";
import { normalize } from "./normalize";

/*
 * The end-to-end cases are written once and run on both drivers. A case that could not run, because there is no CLI
 * on the PATH, is reported as skipped.
 */
const drivers = (process.env["TEST_DRIVERS"] ?? "kit,cli").split(",");
const cli = drivers.includes("cli") && (await findPulumiCli());

const PLUGINS = "plugins:\n  providers:\n    - name: endpoints\n      path: ../../../provider/plugin\n";

export type Start = (program: string, options?: Partial<TestStackOptions>) => Promise<TestStack>;
interface Opened {
  stack: TestStack;
  folder: string;
}

const opened: Opened[] = [];

const ON_KIT = "on the test kit's engine";
const ON_CLI = "on the Pulumi CLI";

/** The states that the test kit's engine ended with, by case; the real engine has to end with the same. */
const kitStates = new Map<string, unknown>();

/** Runs the cases on the test kit's engine and, where it is there, on the real CLI, and compares the states they end with. */
export function onBothDrivers(subject: string, cases: (start: Start, driver: Stack["driver"]) => void): void {
  describe(subject, () => {
    if (drivers.includes("kit")) describe(ON_KIT, () => cases(starter("kit"), "kit"));
    if (drivers.includes("cli")) describe.skipIf(!cli)(ON_CLI, () => cases(starter("cli"), "cli"));
  });
}

/** Runs cases on the test kit's engine alone: what is run by the Pulumi CLI in tests of its own. */
export function onKit(subject: string, cases: (start: Start) => void): void {
  describe.skipIf(!drivers.includes("kit"))(subject, () => cases(starter("kit")));
}

afterEach(async (context) => {
  const ended = opened.splice(0);
  try {
    if (context.task.result?.state === "fail") return;
    for (const [index, { stack }] of ended.entries()) {
      const name = `${context.task.fullName.replace(ON_CLI, ON_KIT)} ${index}`;
      const exported = await stack.exportState();
      // A plugin's provider has its key among its inputs, where it is marked as a secret.
      const resources = exported.deployment.resources ?? [];
      const own = resources.filter(({ type }) => !type.startsWith("pulumi:providers:"));
      expect(JSON.stringify(own), "no state holds the key").not.toContain(stack.emulator.apiKey);
      const state = normalize(exported);
      if (stack.driver === "kit") kitStates.set(name, state);
      else if (kitStates.has(name))
        expect(state, "the state that the test kit's engine ends with").toEqual(kitStates.get(name));
    }
  } finally {
    for (const { stack } of ended) await stack.close();
  }
});

/** Starts a stack whose program is this text. */
function starter(driver: Stack["driver"]): Start {
  return async (program, options = {}) => {
    const folder = newProject("case", PLUGINS);
    writeProgram(folder, program);
    const stack = await TestStack.create({ program: folder, driver, ...options });
    // Previews have cases of their own; without one before each update, a case takes half the time.
    const up = stack.up.bind(stack);
    stack.up = (runOptions) => up({ skipPreview: true, ...runOptions });
    opened.push({ stack, folder });
    return stack;
  };
}

const HEAD = `
const pulumi = require("@pulumi/pulumi");
const { CloudEndpoint } = require("pulumi-endpoints");
`;

/** A state as text, without what it marks as secret. */
export const plainIn = (state: unknown): string =>
  JSON.stringify(state, (_, value) => (value?.plaintext === undefined ? value : "[secret]"));

/** Classes with which a program uses the plugin. */
export const PLUGIN = `
class Provider extends pulumi.ProviderResource {
  constructor(name, args = {}, options = {}) { super("endpoints", name, args, options); }
}
class PluginEndpoint extends pulumi.CustomResource {
  constructor(name, args = {}, options = {}) {
    const outputs = Object.fromEntries(["publicUrl", "trafficPolicy", "description", "metadata"].map((name) => [name, undefined]));
    super("endpoints:index:CloudEndpoint", name, { ...outputs, ...args }, options);
  }
}
`;

function writeProgram(folder: string, program: string): void {
  writeFileSync(join(folder, "index.js"), HEAD + program);
}

/** Replaces the program of a running stack. */
export function edit(stack: TestStack, program: string): void {
  const found = opened.find((entry) => entry.stack === stack);
  if (!found) throw new Error("this stack was not started here");
  writeProgram(found.folder, program);
}

/** The result of a run that must fail. */
export async function failure(run: Promise<RunResult>): Promise<RunResult> {
  try {
    await run;
  } catch (error) {
    if (error instanceof RunFailed) return error.result;
    throw error;
  }
  throw new Error("the run was to fail, and ended well");
}

export const writes = (result: RunResult) => result.requests.filter((request) => request.method !== "GET");
export const methods = (result: RunResult) => result.requests.map((request) => request.method);
export const errors = (result: RunResult) =>
  result.diagnostics
    .filter((diagnostic) => diagnostic.severity === "error")
    .map((diagnostic) => diagnostic.message);
