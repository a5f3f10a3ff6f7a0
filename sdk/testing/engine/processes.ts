import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { PluginCommand } from "./plugins";
import type { Project } from "./project";

/**
 * On Node 20.20 `util.inspect(error, {colors: true})` runs away on certain stack lines, and a program that throws then
 * takes half a minute to end, also under the real CLI. Loaded before everything else, this leaves the colours out.
 */
const PRELOAD = `const util = require("node:util");
const inspect = util.inspect;
const plain = (value, options, ...rest) =>
  inspect(value, options && typeof options === "object" ? { ...options, colors: false } : options, ...rest);
util.inspect = Object.assign(plain, inspect);
`;

/** A program whose engine is gone reports that without end: it must not outlive the process that started it. */
const FOLLOW_PARENT = `const parent = process.ppid;
setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), 500).unref();
`;

export type Line = (stream: "stdout" | "stderr", line: string) => void;

/** A child process that is never left behind: `stop` returns when it is gone. */
export class Child {
  readonly exited: Promise<number>;

  constructor(
    private readonly process: ChildProcess,
    onLine: Line,
  ) {
    for (const stream of ["stdout", "stderr"] as const) {
      const input = process[stream];
      if (input) createInterface({ input }).on("line", (line) => onLine(stream, line));
    }
    this.exited = new Promise((resolve) => {
      process.on("error", () => resolve(-1));
      process.on("close", (code) => resolve(code ?? -1));
    });
  }

  /** Asks it to end with the signal, and makes it after `patience` milliseconds. */
  async stop(signal: NodeJS.Signals, patience: number): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return void (await this.exited);
    this.process.kill(signal);
    const timer = setTimeout(() => this.process.kill("SIGKILL"), patience);
    await this.exited;
    clearTimeout(timer);
  }
}

/** Writes the preload script into the folder and returns what `NODE_OPTIONS` must be for it to be loaded. */
function preload(folder: string, name: string, script: string, options: string | undefined): string {
  const file = join(folder, `${name}.cjs`);
  writeFileSync(file, script);
  return `${options ?? ""} --require ${JSON.stringify(file)}`.trim();
}

export interface Launch {
  project: Project;
  stack: string;
  env: Record<string, string | undefined>;
  /** A folder of the engine's own, for what it must write to run. */
  scratch: string;
  parallel: number;
  dryRun: boolean;
}

/** Finds a module of the program's own SDK, so that program and provider are of one version. */
export function resolveFrom(folder: string, module: string): string {
  try {
    return createRequire(join(folder, "package.json")).resolve(module);
  } catch {
    throw new Error(`${module} is not installed in ${folder} or above it: run npm install there first`);
  }
}

/** Runs the program as the Node language host does. Config is JSON, as the host hands it over. */
export function startProgram(
  { project, stack, env, scratch, parallel, dryRun }: Launch,
  config: { values: string; secretKeys: string },
  address: string,
  onLine: Line,
): Child {
  const flags = {
    monitor: address,
    engine: address,
    project: project.name,
    stack,
    organization: "organization",
  };
  const args = Object.entries({
    ...flags,
    "root-directory": project.root,
    parallel,
    pwd: project.folder,
  }).map(([key, value]) => `--${key}=${value}`);
  const run = resolveFrom(project.folder, "@pulumi/pulumi/cmd/run");
  const child = spawn(process.execPath, [run, ...args, ...(dryRun ? ["--dry-run"] : []), project.entry], {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...env,
      NODE_OPTIONS: preload(scratch, "program", PRELOAD + FOLLOW_PARENT, env["NODE_OPTIONS"]),
      PULUMI_CONFIG: config.values,
      PULUMI_CONFIG_SECRET_KEYS: config.secretKeys,
      ...(project.typescript && { PULUMI_NODEJS_TYPESCRIPT: "true" }),
    },
  });
  return new Child(child, onLine);
}

/** Starts a provider process; `port` is the one that it prints first. */
export function startPlugin(
  { project, env, scratch }: Launch,
  plugin: PluginCommand,
  address: string,
  onLine: Line,
): { child: Child; port: Promise<number> } {
  const child = spawn(plugin.command, [...plugin.args, address], {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...env,
      ...plugin.env,
      NODE_OPTIONS: preload(scratch, "provider", PRELOAD, env["NODE_OPTIONS"]),
      PULUMI_PROJECT: project.name,
    },
  });
  let found: (port: number) => void = () => {};
  const printed = new Promise<number>((resolve) => {
    found = resolve;
  });
  let waiting = true;
  const lines: string[] = [];
  const wrapped = new Child(child, (stream, line) => {
    if (waiting && stream === "stdout" && /^\d+$/.test(line)) {
      waiting = false;
      return found(Number(line));
    }
    if (plugin.loud) onLine(stream, line);
    else if (waiting) lines.push(line);
  });
  const ended = wrapped.exited.then(() => {
    const said = lines.length > 0 ? `; it said:\n${lines.join("\n")}` : "";
    throw new Error(`the provider process in ${plugin.folder} ended before it was ready${said}`);
  });
  ended.catch(() => {});
  return { child: wrapped, port: Promise.race([printed, ended]) };
}
