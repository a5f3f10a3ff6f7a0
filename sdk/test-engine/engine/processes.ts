import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { isSecret, type Props, plain } from "../../pulumi-cli/index";
import { removeAtExit } from "../cleanup";
import type { PartialMocks } from "../packageMocks";
import type { Project } from "./project";

const MAX_OUTPUT_LINES = 50;

export type OnLine = (line: string) => void;

/** A process of a run, which is killed when this process ends. */
export class RunningProcess {
  readonly exited: Promise<number>;

  constructor(
    private readonly process: ChildProcess,
    onLine: (line: string, isError: boolean) => void,
  ) {
    const end = removeAtExit(() => process.kill("SIGKILL"));
    for (const stream of ["stdout", "stderr"] as const) {
      const input = process[stream];
      if (input) createInterface({ input }).on("line", (line) => onLine(line, stream === "stderr"));
    }
    this.exited = new Promise((resolve) => {
      process.on("error", () => resolve(-1));
      process.on("close", (code) => resolve(code ?? -1));
    });
    void this.exited.then(end);
  }

  async stop(signal: NodeJS.Signals, patience: number): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
    const timer = setTimeout(() => this.process.kill("SIGKILL"), patience);
    await this.exited;
    clearTimeout(timer);
  }
}

export interface RunSetup {
  project: Project;
  stack: string;
  env: Record<string, string | undefined>;
  dryRun: boolean;
  /** The most steps at once. */
  parallel: number;
  /** The time limit for the start of a provider, in milliseconds. */
  startLimit: number;
  stateFile: string;
  /** The stack configuration by full keys. */
  config: Props;
  /** The mocks for a package. Undefined if the package needs a provider process. */
  mocksOf: (package_: string) => PartialMocks | undefined;
}

/** Finds a module of the program's own SDK, so that the program and its providers use the same version. */
export function resolveFrom(folder: string, module: string): string {
  try {
    return createRequire(join(folder, "package.json")).resolve(module);
  } catch {
    throw new Error(`${module} is not installed in ${folder} or above it: run npm install there first`);
  }
}

const PRELOAD = JSON.stringify(join(__dirname, "preload.cjs"));

function startNode({ project, env }: RunSetup, args: string[], more: Record<string, string>): ChildProcess {
  const options = `${env["NODE_OPTIONS"] ?? ""} --require ${PRELOAD}`.trim();
  return spawn(process.execPath, args, {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "pipe"],
    // Node 22.1 and later keep compiled code in this folder.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"), ...env, NODE_OPTIONS: options, ...more },
  });
}

/** Runs the program like the Node language host. */
export function startProgram(run: RunSetup, address: string, onLine: OnLine): RunningProcess {
  const { project, stack, dryRun, parallel, config, env } = run;
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
  const child = startNode(run, args, {
    PULUMI_CONFIG: JSON.stringify(plain(config)),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(Object.keys(config).filter((key) => isSecret(config[key]))),
    // A type check would take longer than the run.
    PULUMI_NODEJS_TRANSPILE_ONLY: env["PULUMI_NODEJS_TRANSPILE_ONLY"] ?? "true",
    ...(project.typescript && { PULUMI_NODEJS_TYPESCRIPT: "true" }),
  });
  return new RunningProcess(child, onLine);
}

/**
 * Starts a provider. `port` resolves to the port that the provider prints, and rejects if the process ends first or at the time
 * limit. `printed` returns its other output for the end of an error message.
 */
export function startProvider(
  run: RunSetup,
  args: string[],
  env: Record<string, string>,
  onLine: OnLine | undefined,
) {
  const output: string[] = [];
  const printed = () => (output.length > 0 ? `; its output:\n${output.join("\n")}` : "");
  let print: ((port: number) => void) | undefined;
  const found = new Promise<number>((resolve) => {
    print = resolve;
  });
  const child = new RunningProcess(startNode(run, args, env), (line, isError) => {
    if (print && !isError && /^\d+$/.test(line)) {
      print(Number(line));
      print = undefined;
      return;
    }
    if (output.length < MAX_OUTPUT_LINES) output.push(line);
    onLine?.(line);
  });
  const { startLimit } = run;
  const failed = Promise.race([
    child.exited.then(() => "ended before it was ready"),
    wait(startLimit, `did not print its port in ${startLimit / 1000} s`, { ref: false }),
  ]).then((what) => {
    throw new Error(`the provider process ${args[0]} ${what}${printed()}`);
  });
  return { child, port: Promise.race([found, failed]), printed };
}
