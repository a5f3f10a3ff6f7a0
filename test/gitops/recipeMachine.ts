import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { onTestFinished } from "vitest";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { copyOf } from "../engine/example";
import { temporaryFolder } from "../folders";

/*
 * The commands of the recipes, run as their runner runs them: in a folder that holds a project, by the shell that the
 * runner uses, with the environment that the recipe gives to that step, and nothing of the one that the tests run in.
 */

export const cli = await findPulumiCli();
export const recipes = join(import.meta.dirname, "../../examples/gitops");

/** What `npx pulumi-endpoints` runs. */
export const commandFile = join(import.meta.dirname, "../../dist/sdk/commands/main.js");

export interface Ran {
  code: number;
  output: string;
}

export interface Machine {
  /** The project's folder. */
  readonly folder: string;
  /** A folder beside it, for what a run leaves. */
  readonly scratch: string;
  /** What every process has. */
  readonly env: Record<string, string>;
  /** What stands in the place of what a recipe sets: the emulator for the service. */
  readonly instead: Record<string, string>;
  /** Runs a command to its end. The signal does to the process that was started what a runner does that cancels it. */
  run(command: string[], env?: Record<string, string>, cancel?: AbortSignal): Promise<Ran>;
  /** The stand-ins that were called, in order. */
  calls(): string[];
}

/** A machine with a project, stand-ins for npm and gh before everything else on its PATH. */
export function machine(folder: string, instead: Record<string, string> = {}): Machine {
  const scratch = temporaryFolder();
  const calls = join(scratch, "calls");
  writeFileSync(calls, "");
  // What installing the package puts there.
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
    instead,
    calls: () => readFileSync(calls, "utf8").split("\n").filter(Boolean),
    run: ([command = "", ...args], more = {}, cancel) =>
      new Promise((resolve, reject) => {
        const process = spawn(command, args, {
          cwd: folder,
          env: { ...env, ...more, ...instead },
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

/** A machine with a copy of examples/environments, whose stack prod keeps its state on the machine; and the service. */
export async function deployed() {
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
