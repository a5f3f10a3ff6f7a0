import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { CliStack } from "../../../../sdk/testing/cli";
import { KitEngine } from "../../../../sdk/testing/engine";
import {
  type Command,
  type ImportOptions,
  type ImportSpec,
  RunFailed,
  type RunOptions,
  type RunResult,
  type Stack,
  type StackOptions,
} from "../../../../sdk/testing/types";
import { normalize } from "../../../engine/normalize";

/** A program with many scenes, and a dynamic provider whose objects live in a file. */
export const THINGS = join(import.meta.dirname, "programs/things");

/** The same for a provider plugin; its log holds all that it was asked, with the arguments. */
export const PLUGGED = join(import.meta.dirname, "programs/plugged");

/** What two engines must agree on after a command. */
export interface Seen {
  ok: boolean;
  /** `update a ~text`, sorted: eight things at once end in any order. */
  steps: string[];
  changes: Record<string, number>;
  /** Warnings and errors, sorted. */
  said: string[];
  state: unknown;
  /** What the provider was called for, sorted. */
  calls: string[];
}

export type Edit = Parameters<Objects["edit"]>[0];

/** A command in a scene, an import, or what somebody does behind the engine's back. */
export type Part =
  | [Exclude<Command, "import">, string, RunOptions?]
  | { imports: ImportSpec[]; protect?: boolean }
  /** The update of a scene, interrupted when the provider has been called so. */
  | { interrupted: string; at: string }
  | Edit;

/** Plays the parts one after the other on both engines, which have to agree. */
export async function playOnBoth(
  parts: Part[],
  options = THE_THINGS,
): Promise<{ kit: Seen[]; real: Seen[] }> {
  const [kit, real] = await Promise.all([
    Things.onKit(options).then((each) => play(each, parts)),
    Things.onCli(options).then((each) => play(each, parts)),
  ]);
  return { kit, real };
}

async function play(things: Things<Stack>, parts: Part[]): Promise<Seen[]> {
  const seen: Seen[] = [];
  try {
    for (const part of parts) {
      if (typeof part === "function") things.objects.edit(part);
      else if ("interrupted" in part) seen.push(await things.interrupted(part.interrupted, part.at));
      else if ("imports" in part) seen.push(await things.import(part.imports, part));
      else seen.push(await things.run(part[0], part[1], { skipPreview: true, ...part[2] }));
    }
  } finally {
    await things.close();
  }
  return seen;
}

const THE_THINGS: Pick<StackOptions, "program" | "env" | "config"> = { program: THINGS };

/** A stack of the program, on either engine. */
export class Things<S extends Stack> {
  private constructor(
    readonly engine: S,
    readonly objects: Objects,
    readonly env: Record<string, string>,
  ) {}

  static async onKit(options = THE_THINGS): Promise<Things<KitEngine>> {
    const objects = new Objects(options.program);
    const env = { THINGS: objects.file, ...options.env };
    return new Things(await KitEngine.create({ ...options, env }), objects, env);
  }

  static async onCli(options = THE_THINGS): Promise<Things<CliStack>> {
    const objects = new Objects(options.program);
    const env = { THINGS: objects.file, ...options.env };
    return new Things(await CliStack.create({ ...options, env }), objects, env);
  }

  readonly run = (
    command: Exclude<Command, "import">,
    scene: string,
    options: RunOptions = {},
  ): Promise<Seen> => {
    this.env["SCENE"] = scene;
    return this.see(this.engine[command](options));
  };

  import(specs: ImportSpec[], options: ImportOptions): Promise<Seen> {
    return this.see(this.engine.import(specs, options));
  }

  async interrupted(scene: string, at: string): Promise<Seen> {
    const controller = new AbortController();
    const run = this.run("up", scene, { skipPreview: true, interrupt: controller.signal });
    await Promise.race([run, this.objects.called(at)]);
    controller.abort();
    return run;
  }

  private async see(run: Promise<RunResult>): Promise<Seen> {
    const result = await run.catch((error: unknown) => {
      if (error instanceof RunFailed) return error.result;
      throw error;
    });
    return {
      ok: result.ok,
      steps: result.steps.map(({ op, name, diff }) => `${op} ${name} ${diff.join(",")}`.trim()).sort(),
      changes: result.changes,
      said: result.diagnostics
        .filter(({ severity }) => severity !== "info")
        .map(({ severity, message, urn }) => `${severity} ${nameOf(urn)}: ${message.trim()}`)
        .sort(),
      state: normalize(await this.engine.exportState()),
      calls: this.objects.calls().sort(),
    };
  }

  async close(): Promise<void> {
    await this.engine.close();
    rmSync(this.objects.folder, { recursive: true });
  }
}

/** What the provider's objects are, where somebody else can get at them. */
class Objects {
  readonly folder = mkdtempSync(join(tmpdir(), "things-"));
  readonly file = join(this.folder, "objects.json");

  constructor(private readonly program: string) {}

  edit(change: (objects: Record<string, Record<string, unknown>>) => void): void {
    const objects = existsSync(this.file) ? JSON.parse(readFileSync(this.file, "utf8")) : {};
    change(objects);
    writeFileSync(this.file, JSON.stringify(objects));
  }

  /** Waits until the log has a line that begins so. */
  async called(beginning: string): Promise<void> {
    const log = `${this.file}.log`;
    while (!existsSync(log) || !readFileSync(log, "utf8").includes(`\n${beginning} `)) await setTimeout(50);
  }

  /** The calls since the last time; of a dynamic provider, without those that only ask. */
  calls(): string[] {
    const log = `${this.file}.log`;
    if (!existsSync(log)) return [];
    const lines = readFileSync(log, "utf8").trim().split("\n");
    rmSync(log);
    return lines.filter((line) => line !== "" && !(this.program === THINGS && line.startsWith("diff")));
  }
}

const nameOf = (urn: string | undefined) => urn?.split("::").at(-1) ?? "stack";
