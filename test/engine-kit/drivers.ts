import { execFile, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KitEngine } from "../../sdk/testing/engine/index";
import { type Command, type ExportedState, RunFailed, type RunOptions } from "../../sdk/testing/types";

export const THINGS = join(__dirname, "programs/things");

export const hasCli = spawnSync("pulumi", ["version"]).status === 0;

/** What two engines must agree on after a command. */
export interface Seen {
  ok: boolean;
  /** `update a ~text`, sorted: eight things at once end in any order. */
  steps: string[];
  changes: Record<string, number>;
  /** Warnings and errors, sorted. */
  said: string[];
  state: unknown;
  /** What the provider was called for. */
  calls: string[];
}

/** Both drivers run the same scenes; the objects of the provider are in a file of each driver's own. */
export interface Driver {
  run(command: Command, scene: string, options?: RunOptions): Promise<Seen>;
  /** Changes the provider's objects behind the engine's back. */
  edit(change: (objects: Record<string, Record<string, unknown>>) => void): void;
  setConfig(key: string, value: string | { secret: string }): Promise<void>;
  close(): Promise<void>;
}

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

/** Ids, times and places in source code differ from run to run; the rest must not. */
export function normalized(state: ExportedState): unknown {
  const resources = (state.deployment.resources ?? []).map(
    ({ created, modified, sourcePosition, stackTrace, ...rest }) => ({
      ...rest,
      ...(rest.type === "pulumi:providers:pulumi-nodejs" && { id: "provider" }),
      ...(rest.provider && { provider: rest.provider.replace(/::[^:]*$/, "::provider") }),
      times: [typeof created, typeof modified],
    }),
  );
  // What is made at the same time ends in any order.
  resources.sort((a, b) => (a.urn < b.urn ? -1 : a.urn > b.urn ? 1 : 0));
  return { resources, pending: state.deployment.pending_operations?.length ?? 0 };
}

export async function kitDriver(): Promise<
  Driver & { engine: KitEngine; objects: Objects; env: Record<string, string> }
> {
  const objects = new Objects();
  const env: Record<string, string> = { THINGS: objects.file };
  const engine = await KitEngine.create({ program: THINGS, env });
  return {
    engine,
    objects,
    env,
    edit: (change) => objects.edit(change),
    setConfig: (key, value) => engine.setConfig(key, value),
    async run(command, scene, options = {}) {
      env["SCENE"] = scene;
      const result = await engine[command](options).catch((error: unknown) => {
        if (error instanceof RunFailed) return error.result;
        throw error;
      });
      const steps = result.steps.map(({ op, name, diff }) => `${op} ${name} ${diff.join(",")}`.trim()).sort();
      const said = result.diagnostics.filter(({ severity }) => severity !== "info");
      return {
        ok: result.ok,
        steps,
        changes: result.changes,
        said: said.map(({ severity, message, urn }) => `${severity} ${name(urn)}: ${message.trim()}`).sort(),
        state: normalized(await engine.exportState()),
        calls: objects.calls(),
      };
    },
    async close() {
      await engine.close();
      rmSync(objects.folder, { recursive: true });
    },
  };
}

function name(urn: string | undefined): string {
  return urn?.split("::").at(-1) ?? "stack";
}

interface EngineEvent {
  diagnosticEvent?: { urn?: string; message: string; severity: string };
  resOutputsEvent?: { metadata: { op: string; urn: string; type: string } };
  summaryEvent?: { resourceChanges: Record<string, number> };
}

/** The real CLI on a backend of its own, with previews left out: they are not what is compared. */
export async function cliDriver(): Promise<Driver> {
  const objects = new Objects();
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    THINGS: objects.file,
    PULUMI_BACKEND_URL: `file://${objects.folder}`,
    PULUMI_CONFIG_PASSPHRASE: "x",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DEBUG_COMMANDS: "1",
  };
  // `stack init` writes a settings file beside Pulumi.yaml, which must not be the one of the sources.
  const folder = join(objects.folder, "program");
  mkdirSync(folder);
  for (const file of ["Pulumi.yaml", "package.json"]) copyFileSync(join(THINGS, file), join(folder, file));
  symlinkSync(join(__dirname, "../../node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "index.js"), `module.exports = require(${JSON.stringify(THINGS)});\n`);
  const pulumi = (...args: string[]): Promise<{ ok: boolean; out: string }> =>
    new Promise((resolve) => {
      const all = [...args, "--stack", "test", "--non-interactive", "--color", "never", "-C", folder];
      execFile("pulumi", all, { env, maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
        resolve({ ok: !error, out: stdout + stderr }),
      );
    });
  await pulumi("stack", "init", "--no-select");
  return {
    edit: (change) => objects.edit(change),
    async setConfig(key, value) {
      const secret = typeof value !== "string";
      await pulumi("config", "set", secret ? "--secret" : "--plaintext", key, secret ? value.secret : value);
    },
    async run(command, scene, { replace = [], clearPendingCreates }: RunOptions = {}) {
      env["SCENE"] = scene;
      const log = join(objects.folder, "events.json");
      rmSync(log, { force: true });
      const targets = replace.flatMap((target) => ["--replace", target]);
      const flags = command === "preview" ? [] : ["--yes", "--skip-preview"];
      if (clearPendingCreates) flags.push("--clear-pending-creates");
      const { ok, out } = await pulumi(command, ...flags, ...targets, "--parallel", "8", "--event-log", log);
      const events = readFileSync(log, "utf8")
        .trim()
        .split("\n")
        .map((line): EngineEvent => JSON.parse(line));
      const exported = await pulumi("stack", "export", "--show-secrets");
      return {
        ok,
        steps: cliSteps(events, out),
        changes: events.map((event) => event.summaryEvent?.resourceChanges).find(Boolean) ?? {},
        said: events
          .map((event) => event.diagnosticEvent)
          .filter((event) => event !== undefined)
          .filter(({ severity }) => severity === "warning" || severity === "error")
          .map(({ severity, urn, message }) => `${severity} ${name(urn)}: ${message.trim()}`)
          .sort(),
        state: normalized(JSON.parse(exported.out)),
        calls: objects.calls(),
      };
    },
    async close() {
      rmSync(objects.folder, { recursive: true });
    },
  };
}

/** Ops from the event log; the `[diff: …]` from the last line that was printed for a resource. */
function cliSteps(events: EngineEvent[], out: string): string[] {
  const diffs = new Map<string, string>();
  for (const line of out.split("\n")) {
    const found = /^ \S*\s+(\S+) (\S+) .*\[diff: ([^\]]*)\]/.exec(line);
    if (found) diffs.set(found[2] ?? "", found[3] ?? "");
  }
  return events
    .map((event) => event.resOutputsEvent?.metadata)
    .filter((metadata) => metadata !== undefined)
    .filter(({ type }) => !type.startsWith("pulumi:"))
    .map(({ op, urn }) => {
      const diff =
        op.startsWith("delete") || op.startsWith("discard") ? "" : signed(diffs.get(name(urn)) ?? "");
      return `${op} ${name(urn)} ${diff}`.trim();
    })
    .sort();
}

/** `+a,b~c` as `+a,+b,~c`. */
function signed(diff: string): string {
  const keys = [...diff.matchAll(/([+~-])([^+~-]+)/g)];
  return keys.flatMap(([, sign, names]) => (names ?? "").split(",").map((key) => `${sign}${key}`)).join(",");
}
