import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Project } from "./project";

/**
 * Loaded before everything else in a program and in a provider. Two thirds of the SDK's own start are two libraries that
 * only the serialization of functions needs: they are loaded when something of them is used. On Node 20.20
 * `util.inspect(error, {colors: true})` runs away on certain stack lines, and a program that throws then takes half a
 * minute to end, also under the real CLI.
 */
const PRELOAD = `const Module = require("node:module");
const load = Module._load;
const late = { typescript: /typescript-shim\\.js$/, "@npmcli/arborist": /codePaths\\.js$/ };
Module._load = (request, parent, ...rest) => {
  if (!late[request]?.test(parent?.filename)) return load(request, parent, ...rest);
  Module._resolveFilename(request, parent);
  return new Proxy({}, { get: (_, key) => key === "__esModule" || load(request, parent, ...rest)[key] });
};
const util = require("node:util");
const inspect = util.inspect;
const plain = (value, options, ...rest) =>
  inspect(value, options && typeof options === "object" ? { ...options, colors: false } : options, ...rest);
util.inspect = Object.assign(plain, inspect);
`;

/** No process outlives for long the one that started it. */
const followParent = (milliseconds: number) => `const parent = process.ppid;
setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), ${milliseconds}).unref();
`;
/** A program whose engine is gone reports that without end. */
const PROGRAM = PRELOAD + followParent(500);
/** What a provider does when its engine is gone is its own matter, and under test; one that was never asked does nothing. */
const PROVIDER = PRELOAD + followParent(60_000);

export type OnLine = (line: string) => void;

/** A child process that is never left behind: `stop` returns when it is gone. */
export class Child {
  readonly exited: Promise<number>;

  constructor(
    private readonly process: ChildProcess,
    onLine: (line: string, isError: boolean) => void,
  ) {
    for (const stream of ["stdout", "stderr"] as const) {
      const input = process[stream];
      if (input) createInterface({ input }).on("line", (line) => onLine(line, stream === "stderr"));
    }
    this.exited = new Promise((resolve) => {
      process.on("error", () => resolve(-1));
      process.on("close", (code) => resolve(code ?? -1));
    });
  }

  /** Asks it to end with the signal, and makes it after `patience` milliseconds. */
  async stop(signal: NodeJS.Signals, patience: number): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
    const timer = setTimeout(() => this.process.kill("SIGKILL"), patience);
    await this.exited;
    clearTimeout(timer);
  }
}

export interface Launch {
  project: Project;
  stack: string;
  env: Record<string, string | undefined>;
  /** A folder of the engine's own, for what it must write to run. */
  scratch: string;
  parallel: number;
  dryRun: boolean;
  /** The packages whose providers the stack's runs have needed so far. */
  packages: Set<string>;
}

/** Finds a module of the program's own SDK, so that program and provider are of one version. */
export function resolveFrom(folder: string, module: string): string {
  try {
    return createRequire(join(folder, "package.json")).resolve(module);
  } catch {
    throw new Error(`${module} is not installed in ${folder} or above it: run npm install there first`);
  }
}

function startNode(
  { project, env, scratch }: Launch,
  args: string[],
  preload: string,
  more: Record<string, string>,
): ChildProcess {
  const file = join(scratch, preload === PROVIDER ? "provider.cjs" : "program.cjs");
  writeFileSync(file, preload);
  const options = `${env["NODE_OPTIONS"] ?? ""} --require ${JSON.stringify(file)}`.trim();
  return spawn(process.execPath, args, {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, NODE_OPTIONS: options, ...more },
  });
}

/** Runs the program as the Node language host does. Configuration is JSON, as the host hands it over. */
export function startProgram(
  launch: Launch,
  config: { values: string; secretKeys: string },
  address: string,
  onLine: OnLine,
): Child {
  const { project, stack, parallel, dryRun } = launch;
  const flags = {
    monitor: address,
    engine: address,
    project: project.name,
    stack,
    organization: "organization",
    "root-directory": project.root,
    parallel,
    pwd: project.folder,
  };
  const args = [
    resolveFrom(project.folder, "@pulumi/pulumi/cmd/run"),
    ...Object.entries(flags).map(([key, value]) => `--${key}=${value}`),
    ...(dryRun ? ["--dry-run"] : []),
    project.entry,
  ];
  const child = startNode(launch, args, PROGRAM, {
    PULUMI_CONFIG: config.values,
    PULUMI_CONFIG_SECRET_KEYS: config.secretKeys,
    ...(project.typescript && { PULUMI_NODEJS_TYPESCRIPT: "true" }),
  });
  return new Child(child, onLine);
}

/** Starts a provider process; `port` is the one that it prints first. */
export function startProvider(
  launch: Launch,
  args: string[],
  env: Record<string, string>,
  onLine: OnLine | undefined,
): { child: Child; port: Promise<number> } {
  let print: (port: number) => void = () => {};
  const printed = new Promise<number>((resolve) => {
    print = resolve;
  });
  let isReady = false;
  const said: string[] = [];
  const child = new Child(startNode(launch, args, PROVIDER, env), (line, isError) => {
    if (!isReady && !isError && /^\d+$/.test(line)) {
      isReady = true;
      return print(Number(line));
    }
    if (!isReady) said.push(line);
    onLine?.(line);
  });
  const ended = child.exited.then(() => {
    const words = said.length > 0 ? `; it said:\n${said.join("\n")}` : "";
    throw new Error(`the provider process ${args[0]} ended before it was ready${words}`);
  });
  const port = Promise.race([printed, ended]);
  // One that was started ahead may never be asked for.
  port.catch(() => {});
  return { child, port };
}
