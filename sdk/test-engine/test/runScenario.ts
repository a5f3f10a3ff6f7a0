import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findPulumiCli } from "../../pulumi-cli/index";
import { PulumiStack, RunFailed, type RunOptions, type RunResult, type StackOptions } from "../index";
import { comparableState } from "./comparableState";
import { FAST_START } from "./fastStart";

/** A program with a dynamic provider that keeps its objects in a file. The environment's VARIANT selects the program's variant. */
export const THINGS = join(import.meta.dirname, "programs/things");

/** A program like `THINGS` with a provider plugin, which logs all calls with their arguments. */
export const PLUGGED = join(import.meta.dirname, "programs/plugged");

const ROOT = join(import.meta.dirname, "..");
const RECORDED = join(import.meta.dirname, "recorded");

/** Whether to replace the recordings by runs of the CLI: `npm run record`. */
const recording = process.env["RECORD"] === "yes";
const cli = await findPulumiCli();

/** A step of a scenario: a command with the program's variant (`up changes.1`), or a change of the provider's objects. */
export type ScenarioStep = string | [run: string, options: RunOptions] | ((objects: ObjectsById) => void);
export type ObjectsById = Record<string, Record<string, unknown>>;

export interface ScenarioOptions extends Pick<StackOptions, "program" | "config" | "stackReferences"> {
  env?: Record<string, string>;
  /** The mocks of other packages, for the test engine only. */
  others?: NonNullable<StackOptions["others"]>;
}

export type Scenario = [ScenarioOptions, ...ScenarioStep[]];

const fileOf = (name: string) => join(RECORDED, `${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}.jsonl`);

/** The recording of a scenario: a line for each run and each resource that it changed. The first line has the CLI's version. */
const recorded = (name: string): unknown[] =>
  readFileSync(fileOf(name), "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line));

/** Compares the CLI with its recorded runs, or replaces the recordings. */
export function testOnCli(name: string, scenario: Scenario): void {
  const what = recording ? "is recorded" : "equals its recording";
  test.skipIf(!cli)(`the CLI ${what}: ${name}`, { timeout: 900_000 }, async () => {
    const lines = await runScenario(scenario, ScenarioStack.onCli);
    if (!recording) return expect(lines).toEqual(recorded(name));
    const version = execFileSync("pulumi", ["version"], { encoding: "utf8" }).trim();
    mkdirSync(RECORDED, { recursive: true });
    const all = [{ cli: version }, ...lines].map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(fileOf(name), all.join(""));
  });
}

export function testOnEngine(name: string, scenario: Scenario): void {
  test(`the test engine equals the recorded CLI: ${name}`, { timeout: 900_000 }, async () => {
    expect(await runScenario(scenario, ScenarioStack.onTestEngine)).toEqual(recorded(name));
  });
}

/**
 * Runs a scenario. Returns each run, followed by the resources that it changed in the state. Local paths and serialized functions
 * are masked.
 */
async function runScenario(
  [options, ...parts]: Scenario,
  start: (options: ScenarioOptions) => Promise<ScenarioStack>,
): Promise<unknown[]> {
  const things = await start(options);
  const lines: unknown[] = [];
  let before = new Set<string>();
  try {
    for (const part of parts) {
      if (typeof part === "function") {
        things.edit(part);
        continue;
      }
      const [run, options] = typeof part === "string" ? [part] : part;
      const result = await things.run(run, options);
      const { resources, pending } = comparableState(await things.stack.exportState());
      lines.push({ run, ...result, pending });
      lines.push(...resources.filter((resource) => !before.has(JSON.stringify(resource))));
      before = new Set(resources.map((resource) => JSON.stringify(resource)));
    }
  } finally {
    await things.close();
  }
  return JSON.parse(JSON.stringify(lines), (key, value) => {
    if (key === "__provider") return "a function";
    return typeof value === "string" ? value.replaceAll(ROOT, "<root>") : value;
  });
}

/** A stack that runs a scenario on the test engine or the CLI, with the file of its provider's objects. */
export class ScenarioStack {
  private constructor(
    readonly stack: PulumiStack,
    readonly env: Record<string, string>,
    private readonly file: string,
    private readonly isDynamic: boolean,
  ) {}

  static onTestEngine = ({ others, ...options }: ScenarioOptions = { program: THINGS }) =>
    ScenarioStack.on({ ...options, ...(others && { others }) });
  static onCli = ({ others: _, ...options }: ScenarioOptions) =>
    ScenarioStack.on({ ...options, driver: "cli" });

  private static async on(options: StackOptions): Promise<ScenarioStack> {
    const file = join(mkdtempSync(join(tmpdir(), "things-")), "objects.json");
    const env = { ...FAST_START, THINGS: file, ...options.env };
    const stack = await PulumiStack.create({ ...options, env });
    return new ScenarioStack(stack, env, file, options.program === THINGS);
  }

  /** Runs a line such as `up changes.1`: a command and the program's variant. The result must be equal on both engines. */
  readonly run = async (line: string, options: RunOptions = {}) => {
    const [word, variant = ""] = line.split(" ");
    const command = (["preview", "up", "refresh", "destroy"] as const).find((each) => each === word);
    if (!command) throw new Error(`there is no command ${word}`);
    this.env["VARIANT"] = variant;
    const all = { ...(command === "up" && { skipPreview: true }), ...options };
    const result = await this.stack[command](all).catch((error: unknown): RunResult => {
      if (error instanceof RunFailed) return error.result;
      throw error;
    });
    return {
      ok: result.ok,
      /** The steps, such as `update a ~text`. All lists are sorted, because parallel operations end in any order. */
      steps: result.steps.map(({ op, name, diff }) => `${op} ${name} ${diff.join(",")}`.trim()).sort(),
      changes: result.changes,
      messages: result.diagnostics
        .filter(({ severity, message }) => severity !== "info" && !/ from \$PATH at /.test(message))
        .map(({ severity, message, urn }) => `${severity} ${nameOf(urn)}: ${comparable(message)}`)
        .sort(),
      calls: this.calls().sort(),
    };
  };

  /** Changes the provider's objects without a run. */
  edit(change: (objects: ObjectsById) => void): void {
    const objects = existsSync(this.file) ? JSON.parse(readFileSync(this.file, "utf8")) : {};
    change(objects);
    writeFileSync(this.file, JSON.stringify(objects));
  }

  /** The calls of the provider since the last run. The `diff` calls of the dynamic provider are omitted. */
  private calls(): string[] {
    const log = `${this.file}.log`;
    if (!existsSync(log)) return [];
    const lines = readFileSync(log, "utf8").trim().split("\n");
    rmSync(log);
    return lines.filter((line) => line !== "" && !(this.isDynamic && line.startsWith("diff")));
  }

  async close(): Promise<void> {
    await this.stack.close();
    rmSync(join(this.file, ".."), { recursive: true });
  }
}

const nameOf = (urn: string | undefined) => urn?.split("::").at(-1) ?? "stack";

/** A message without stack traces, which differ between versions of Node.js, and without values in Go's format. */
const comparable = (message: string) =>
  message
    .trim()
    .replace(/\n +at .*/g, "")
    .replace(/ value \{.*\} has/, " value {…} has");
