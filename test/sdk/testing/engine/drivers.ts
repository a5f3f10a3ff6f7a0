import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliStack } from "../../../../sdk/testing/cli";
import { KitEngine } from "../../../../sdk/testing/engine";
import { type Command, RunFailed, type RunOptions, type Stack } from "../../../../sdk/testing/types";
import { normalize } from "../../../engine/normalize";

/** A program with many scenes, and a dynamic provider whose objects live in a file. */
export const THINGS = join(import.meta.dirname, "programs/things");

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

/** A stack of the program, on either engine. */
export class Things<S extends Stack> {
  private constructor(
    readonly engine: S,
    readonly objects: Objects,
    readonly env: Record<string, string>,
  ) {}

  static async onKit(): Promise<Things<KitEngine>> {
    const objects = new Objects();
    const env = { THINGS: objects.file };
    return new Things(await KitEngine.create({ program: THINGS, env }), objects, env);
  }

  static async onCli(): Promise<Things<CliStack>> {
    const objects = new Objects();
    const env = { THINGS: objects.file };
    return new Things(await CliStack.create({ program: THINGS, env }), objects, env);
  }

  readonly run = async (command: Command, scene: string, options: RunOptions = {}): Promise<Seen> => {
    this.env["SCENE"] = scene;
    const result = await this.engine[command](options).catch((error: unknown) => {
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
  };

  async close(): Promise<void> {
    await this.engine.close();
    rmSync(this.objects.folder, { recursive: true });
  }
}

/** What the provider's objects are, where somebody else can get at them. */
class Objects {
  readonly folder = mkdtempSync(join(tmpdir(), "things-"));
  readonly file = join(this.folder, "objects.json");

  edit(change: (objects: Record<string, Record<string, unknown>>) => void): void {
    const objects = existsSync(this.file) ? JSON.parse(readFileSync(this.file, "utf8")) : {};
    change(objects);
    writeFileSync(this.file, JSON.stringify(objects));
  }

  /** The calls since the last time, without those that only ask. */
  calls(): string[] {
    const log = `${this.file}.log`;
    if (!existsSync(log)) return [];
    const lines = readFileSync(log, "utf8").trim().split("\n");
    rmSync(log);
    return lines.filter((line) => line !== "" && !line.startsWith("diff"));
  }
}

const nameOf = (urn: string | undefined) => urn?.split("::").at(-1) ?? "stack";
