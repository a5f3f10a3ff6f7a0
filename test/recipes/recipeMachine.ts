import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { onTestFinished } from "vitest";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { copyOf } from "../e2e/example";
import { programFolder, temporaryFolder } from "../folders";

export const cli = await findPulumiCli();
export const recipes = join(import.meta.dirname, "../../examples/gitops");

/** The file that `npx pulumi-endpoints` runs. */
export const commandFile = join(import.meta.dirname, "../../dist/sdk/commands/main.js");

export interface Ran {
  code: number;
  output: string;
}

/** Runs the commands of a recipe as the CI system does: in the project's folder, without the environment of the tests. */
export interface Machine {
  /** The project's folder. */
  readonly folder: string;
  /** Another folder, for the files of a run. */
  readonly scratch: string;
  /** The environment of every process. */
  readonly env: Record<string, string>;
  /** Variables that replace those of a recipe, such as the URL of the service. */
  readonly overrides: Record<string, string>;
  /** Runs a command until it ends. `cancel` sends SIGINT to the process, as a CI system does that cancels a job. */
  run(command: string[], env?: Record<string, string>, cancel?: AbortSignal): Promise<Ran>;
  /** The calls of the fake commands, in order. */
  calls(): string[];
}

/** A machine with this project and with fakes of npm and gh first on its PATH. */
export function machine(folder: string, overrides: Record<string, string> = {}): Machine {
  const scratch = temporaryFolder();
  const calls = join(scratch, "calls");
  writeFileSync(calls, "");
  // An installation of the package creates this file.
  const bin = join(folder, "node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "pulumi-endpoints"), `#!/bin/sh\nexec node ${JSON.stringify(commandFile)} "$@"\n`, {
    mode: 0o755,
  });
  const env = {
    PATH: [join(import.meta.dirname, "bin"), process.env["PATH"]].join(delimiter),
    HOME: scratch,
    CALLS: calls,
    PULUMI_HOME: join(scratch, "pulumi"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    NPM_CONFIG_UPDATE_NOTIFIER: "false",
    ENDPOINTS_REQUESTS_PER_WINDOW: "100000",
  };
  return {
    folder,
    scratch,
    env,
    overrides,
    calls: () => readFileSync(calls, "utf8").split("\n").filter(Boolean),
    run: ([command = "", ...args], more = {}, cancel) =>
      new Promise((resolve, reject) => {
        const process = spawn(command, args, {
          cwd: folder,
          env: { ...env, ...more, ...overrides },
          stdio: ["ignore", "pipe", "pipe"],
        });
        cancel?.addEventListener("abort", () => process.kill("SIGINT"));
        let output = "";
        for (const stream of [process.stdout, process.stderr]) stream.on("data", (data) => (output += data));
        process.on("error", reject);
        process.on("close", (code) => resolve({ code: code ?? -1, output }));
      }),
  };
}

/** Puts fake commands with these bodies first on the machine's PATH. */
export function withCommands(runner: Machine, commands: Record<string, string>): void {
  const bin = join(runner.scratch, "bin");
  mkdirSync(bin);
  for (const [name, body] of Object.entries(commands))
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >>"$CALLS"\n${body}\n`, { mode: 0o755 });
  runner.env["PATH"] = [bin, runner.env["PATH"]].join(delimiter);
}

/** A fake of Pulumi for a fresh checkout of a Python program, which does not run before the SDK is generated. */
export const PULUMI_FOR_PYTHON = `
if [ "$2" = --cwd ]; then cd "$3"; fi
case $1 in
  install) mkdir -p sdks/endpoints ;;
  *) [ -d sdks/endpoints ] || { echo "File 'sdks/endpoints' does not exist."; exit 1; } ;;
esac`;

/** A machine with a fresh checkout of the Python example, in the folder customers, and a fake of Pulumi. */
export function pythonRepository(commands: Record<string, string> = {}): Machine {
  const root = programFolder();
  cpSync(copyOf("python"), join(root, "customers"), { recursive: true });
  writeFileSync(join(root, "stacks.yaml"), "projects: [{folder: customers, stacks: [prod]}]\n");
  const runner = machine(root);
  withCommands(runner, { pulumi: PULUMI_FOR_PYTHON, ...commands });
  return runner;
}

/** A machine with a copy of examples/environments and its stack prod, which is not deployed yet, and an emulator. */
export async function environmentsProject() {
  const emulator = await Emulator.start();
  onTestFinished(() => emulator.close());
  const prepared = machine(copyOf("environments"), { ENDPOINTS_BASE_URL: emulator.baseUrl });
  const backend = await withStacks(prepared, ".");
  return { machine: prepared, emulator, backend };
}

/** The stacks of a repository with two copies of examples/environments, in the order of the file that lists them. */
export const PROJECTS = ["api", "shop"];

/** A repository with two projects and the file that lists them. */
export function repository(): string {
  const root = programFolder();
  for (const project of PROJECTS) {
    const folder = join(root, project);
    cpSync(copyOf("environments"), folder, { recursive: true });
    for (const file of ["Pulumi.yaml", "Pulumi.prod.yaml"]) {
      const text = readFileSync(join(folder, file), "utf8").replace(/\benvironments(?=:|$)/gm, project);
      writeFileSync(join(folder, file), text.replace(/(?=example\.com)/, `${project}.`));
    }
  }
  writeFileSync(join(root, "stacks.yaml"), "projects: [{folder: '*', stacks: [prod]}]\n");
  return root;
}

/** A machine with this repository, whose stacks are not deployed yet, and an emulator. */
export async function deployableRepository() {
  const emulator = await Emulator.start();
  onTestFinished(() => emulator.close());
  const prepared = machine(repository(), { ENDPOINTS_BASE_URL: emulator.baseUrl });
  const backend = await withStacks(prepared, ...PROJECTS);
  return { machine: prepared, emulator, backend };
}

/** Creates the stack prod of each project, and returns the settings of its backend. */
export async function withStacks(prepared: Machine, ...folders: string[]) {
  const backend = {
    PULUMI_BACKEND_URL: `file://${prepared.scratch}`,
    PULUMI_CONFIG_PASSPHRASE: "only for tests",
  };
  for (const folder of folders) {
    const init = ["pulumi", "stack", "init", "prod", "--non-interactive", "--cwd", folder];
    const { code, output } = await prepared.run(init, backend);
    if (code !== 0) throw new Error(output);
  }
  return backend;
}
