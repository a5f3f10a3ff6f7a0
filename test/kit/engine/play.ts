import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../provider/api/json";
import { CliStack, findPulumiCli } from "../../../sdk/testing/cli";
import { TestEngine } from "../../../sdk/testing/engine/testEngine";
import type { TestStackOptions } from "../../../sdk/testing/testStack";
import {
  type Command,
  type ConfigValue,
  RunFailed,
  type RunOptions,
  type RunResult,
  type Stack,
  type StackOptions,
} from "../../../sdk/testing/types";
import { normalize } from "../../e2e/normalize";

/** A program that plays the scene in the variable SCENE, with a dynamic provider that keeps its objects in a file. */
export const THINGS = join(import.meta.dirname, "programs/things");

/** The same with a provider plugin, which logs all calls with their arguments. */
export const PLUGGED = join(import.meta.dirname, "programs/plugged");

const ROOT = join(import.meta.dirname, "../../..");
const RECORDED = join(import.meta.dirname, "recorded");

/** `npm run record` replaces the recordings, with the CLI on the PATH. */
const recording = process.env["RECORD"] === "yes";
const cli = await findPulumiCli();

/** A part of a scenario: a command in a scene, or an edit of the provider's objects. */
export type Part =
  | [Exclude<Command, "import">, string, RunOptions?]
  | ((objects: Record<string, Record<string, unknown>>) => void);

/** The result of a command. It must be equal on both engines. */
export interface Result {
  ok: boolean;
  /** Such as `update a ~text`. Sorted, since parallel operations end in any order. */
  steps: string[];
  changes: Record<string, number>;
  /** Warnings and errors, sorted. */
  messages: string[];
  /** The calls of the provider, sorted. */
  calls: string[];
}

export interface PlayOptions {
  program: string;
  env?: Record<string, string>;
  config?: Record<string, ConfigValue>;
  stackReferences?: Record<string, Record<string, unknown>>;
  /** For the test kit's engine. */
  others?: TestStackOptions["others"];
}

export type Scenario = [PlayOptions, Part[]];

const fileOf = (name: string) => join(RECORDED, `${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}.jsonl`);

/** What the CLI did: a line for each run and for each resource that it changed, after one with the CLI's version. */
const recorded = (name: string): unknown[] =>
  readFileSync(fileOf(name), "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line));

/** Compares both engines with the recorded runs of the CLI, or replaces the recordings. */
export function playAll(scenarios: Record<string, Scenario>): void {
  const all = Object.entries(scenarios);
  describe.runIf(recording)("the CLI is recorded", { timeout: 900_000 }, () => {
    test.for(all)("%s", async ([name, scenario]) => {
      const lines = [{ cli: cliVersion() }, ...(await play(scenario, Things.onCli))];
      mkdirSync(RECORDED, { recursive: true });
      writeFileSync(fileOf(name), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    });
  });
  if (!recording) for (const [name, scenario] of all) playOnKit(name, scenario);
  describe.runIf(cli && !recording)("the CLI equals its recording", { timeout: 900_000 }, () => {
    test.for(all)("%s", async ([name, scenario]) => {
      expect(await play(scenario, Things.onCli)).toEqual(recorded(name));
    });
  });
}

export function playOnKit(name: string, scenario: Scenario): void {
  test(`the test kit's engine equals the recorded CLI: ${name}`, { timeout: 900_000 }, async () => {
    expect(await play(scenario, Things.onKit)).toEqual(recorded(name));
  });
}

function cliVersion(): string {
  if (!cli) throw new Error("recording needs a Pulumi CLI on the PATH");
  return execFileSync(cli, ["version"], { encoding: "utf8" }).trim();
}

/**
 * Plays a scenario. Returns each run, followed by the resources of the state that it has changed. Local paths and serialized
 * functions are masked.
 */
async function play(
  [options, parts]: Scenario,
  start: (options: PlayOptions) => Promise<Things<Stack>>,
): Promise<unknown[]> {
  const things = await start(options);
  const lines: unknown[] = [];
  let before = new Set<string>();
  try {
    for (const part of parts) {
      if (typeof part === "function") {
        things.objects.edit(part);
        continue;
      }
      const [command, scene, options] = part;
      const result = await things.run(command, scene, { skipPreview: true, ...options });
      const { resources, pending } = normalize(await things.engine.exportState());
      lines.push({ run: `${command} ${scene}`.trim(), ...result, pending });
      lines.push(...resources.filter((resource) => !before.has(canonicalJson(resource))));
      before = new Set(resources.map(canonicalJson));
    }
  } finally {
    await things.close();
  }
  return JSON.parse(JSON.stringify(lines), (key, value) => {
    if (key === "__provider") return "a function";
    return typeof value === "string" ? value.replaceAll(ROOT, "<root>") : value;
  });
}

/** A stack of one of the programs on one of the engines. */
export class Things<S extends Stack> {
  private constructor(
    readonly engine: S,
    readonly objects: Objects,
    readonly env: Record<string, string>,
  ) {}

  static onKit = (options?: PlayOptions) => Things.on(TestEngine, options);
  static onCli = (options?: PlayOptions) => Things.on(CliStack, options);

  private static async on<S extends Stack>(
    driver: { create: (options: StackOptions) => Promise<S> },
    options: PlayOptions = { program: THINGS },
  ): Promise<Things<S>> {
    const objects = new Objects(options.program);
    const env = { THINGS: objects.file, ...options.env };
    return new Things(await driver.create({ ...options, env }), objects, env);
  }

  readonly run = (
    command: Exclude<Command, "import">,
    scene: string,
    options: RunOptions = {},
  ): Promise<Result> => {
    this.env["SCENE"] = scene;
    return this.resultOf(this.engine[command](options));
  };

  private async resultOf(run: Promise<RunResult>): Promise<Result> {
    const result = await run.catch((error: unknown) => {
      if (error instanceof RunFailed) return error.result;
      throw error;
    });
    return {
      ok: result.ok,
      steps: result.steps.map(({ op, name, diff }) => `${op} ${name} ${diff.join(",")}`.trim()).sort(),
      changes: result.changes,
      messages: result.diagnostics
        .filter(({ severity, message }) => severity !== "info" && !/ from \$PATH at /.test(message))
        // The lines of a stack trace differ between versions of Node.js.
        .map(({ message, ...rest }) => ({ ...rest, message: message.trim().replace(/\n +at .*/g, "") }))
        // The CLI shows a refused value in Go's format.
        .map(({ message, ...rest }) => ({
          ...rest,
          message: message.replace(/ value \{.*\} has/, " value {…} has"),
        }))
        .map(({ severity, message, urn }) => `${severity} ${nameOf(urn)}: ${message}`)
        .sort(),
      calls: this.objects.calls().sort(),
    };
  }

  async close(): Promise<void> {
    await this.engine.close();
    rmSync(this.objects.folder, { recursive: true });
  }
}

/** The file with the provider's objects, so that a test can change them without the provider. */
class Objects {
  readonly folder = mkdtempSync(join(tmpdir(), "things-"));
  readonly file = join(this.folder, "objects.json");

  constructor(private readonly program: string) {}

  edit(change: (objects: Record<string, Record<string, unknown>>) => void): void {
    const objects = existsSync(this.file) ? JSON.parse(readFileSync(this.file, "utf8")) : {};
    change(objects);
    writeFileSync(this.file, JSON.stringify(objects));
  }

  /** The calls since the last call of this function. The `diff` calls of the dynamic provider are omitted. */
  calls(): string[] {
    const log = `${this.file}.log`;
    if (!existsSync(log)) return [];
    const lines = readFileSync(log, "utf8").trim().split("\n");
    rmSync(log);
    return lines.filter((line) => line !== "" && !(this.program === THINGS && line.startsWith("diff")));
  }
}

const nameOf = (urn: string | undefined) => urn?.split("::").at(-1) ?? "stack";
