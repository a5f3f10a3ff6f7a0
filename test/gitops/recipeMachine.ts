import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { onTestFinished } from "vitest";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { copyOf } from "../engine/example";
import { temporaryFolder } from "../folders";

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

/** A machine with a copy of examples/environments and its stack prod, which is not deployed yet, and an emulator. */
export async function environmentsProject() {
  const emulator = await Emulator.start();
  onTestFinished(() => emulator.close());
  const prepared = machine(copyOf("environments"), { ENDPOINTS_BASE_URL: emulator.baseUrl });
  const backend = {
    PULUMI_BACKEND_URL: `file://${prepared.scratch}`,
    PULUMI_CONFIG_PASSPHRASE: "only for tests",
  };
  const init = await prepared.run(["pulumi", "stack", "init", "prod", "--non-interactive"], backend);
  if (init.code !== 0) throw new Error(init.output);
  return { machine: prepared, emulator, backend };
}
