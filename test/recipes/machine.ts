import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { onTestFinished } from "vitest";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { copyOf } from "../e2e/example";
import { programFolder, temporaryFolder } from "../folders";

export const cli = await findPulumiCli();
export const recipes = join(import.meta.dirname, "../../examples/gitops");
/** The file that `npx pulumi-endpoints` runs. */
export const commandFile = join(import.meta.dirname, "../../dist/sdk/commands/main.js");

export const isInstalled = (command: string) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;

/** What follows `pulumi up` and other commands in every recipe. */
export const QUIET = "--suppress-progress --non-interactive --color never";

export interface Ran {
  code: number;
  output: string;
}

/** Notes a call, as `/folder> command arguments (key)`. */
const NOTE = `echo "\${PWD#"$ROOT"}> $(basename "$0") $*\${ENDPOINTS_API_KEY:+ ($ENDPOINTS_API_KEY)}" >>"$CALLS"`;

/** A machine on which a recipe runs: in the folder of a repository, without the environment of the tests. */
export class Machine {
  /** For the files of a run. */
  readonly scratch = temporaryFolder();
  private readonly bin = join(this.scratch, "bin");
  private readonly calls = join(this.scratch, "calls");
  /** The environment of every process. */
  readonly env: Record<string, string> = {
    PATH: [this.bin, process.env["PATH"]].join(delimiter),
    HOME: this.scratch,
    CALLS: this.calls,
    PULUMI_HOME: join(this.scratch, "pulumi"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
  /** Replaces what a recipe sets, such as the URL of the service. */
  readonly overrides: Record<string, string> = {};

  constructor(readonly folder: string) {
    this.env["ROOT"] = folder;
    mkdirSync(this.bin);
    this.standIn("npm");
    // The package's own commands are real, but for a drift check whose result a situation sets.
    this.standIn(
      "npx",
      `shift 2
      if [ "$1" = drift ] && [ -n "$DRIFT" ]; then printf "$REPORT"; exit "$DRIFT"; fi
      exec node ${commandFile} "$@"`,
    );
  }

  /** Puts a command first on the PATH: it notes its call, and runs this script. */
  standIn(name: string, script = ""): void {
    writeFileSync(join(this.bin, name), `#!/bin/sh\n${NOTE}\n${script}\n`, { mode: 0o755 });
  }

  /** The calls of stand-ins so far. */
  transcript(): string[] {
    const text = existsSync(this.calls) ? readFileSync(this.calls, "utf8") : "";
    return text.replaceAll(this.scratch, "~").split("\n").filter(Boolean);
  }

  /** Runs a command until it ends. `cancel` sends SIGINT to the process, as a CI system does that cancels a job. */
  run(
    [command = "", ...args]: string[],
    env: Record<string, string> = {},
    cancel?: AbortSignal,
  ): Promise<Ran> {
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        cwd: this.folder,
        env: { ...this.env, ...env, ...this.overrides },
        stdio: ["ignore", "pipe", "pipe"],
      });
      cancel?.addEventListener("abort", () => child.kill("SIGINT"));
      let output = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
      child.on("error", reject);
      child.on("close", (code) => resolve({ code: code ?? -1, output }));
    });
  }

  read = (file: string): string => readFileSync(join(this.scratch, file), "utf8");
}

/** A machine with a repository of two projects, each with a stack prod of two endpoints, and the file that lists them. */
export function twoProjects(): Machine {
  const root = programFolder();
  for (const project of ["api", "shop"]) {
    const folder = join(root, project);
    cpSync(copyOf("environments"), folder, { recursive: true });
    for (const file of ["Pulumi.yaml", "Pulumi.prod.yaml"]) {
      const text = readFileSync(join(folder, file), "utf8").replace(/\benvironments(?=:|$)/gm, project);
      writeFileSync(join(folder, file), text.replace(/(?=example\.com)/, `${project}.`));
    }
  }
  writeFileSync(join(root, "stacks.yaml"), "projects: [{folder: '*', stacks: [prod]}]\n");
  return new Machine(root);
}

/** Gives the machine an emulated service and the stack prod of each folder, for the real CLI. */
export async function withService(machine: Machine, ...folders: string[]): Promise<Emulator> {
  const emulator = await Emulator.start();
  onTestFinished(() => emulator.close());
  Object.assign(machine.overrides, {
    ENDPOINTS_BASE_URL: emulator.baseUrl,
    PULUMI_BACKEND_URL: `file://${machine.scratch}`,
    PULUMI_CONFIG_PASSPHRASE: "only for tests",
  });
  for (const folder of folders) {
    const { code, output } = await machine.run(["pulumi", "stack", "init", "prod", "--cwd", folder]);
    if (code !== 0) throw new Error(output);
  }
  return emulator;
}
