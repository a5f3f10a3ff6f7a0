import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { CliCommand } from "../../sdk/commands/command";
import type { Emulator } from "../../sdk/testing";
import { temporaryFolder } from "../folders";

const MAIN = join(import.meta.dirname, "../../dist/sdk/commands/main.js");

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Starts `pulumi-endpoints` in a separate process, as a user does. By default, there is no Pulumi CLI on the PATH. `printed` grows
 * while it runs, and `ended` is its exit code.
 */
export function startCommand(args: string[], env: Record<string, string | undefined> = {}, cwd?: string) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...process.env, PATH: "/usr/bin:/bin", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (data) => {
      printed[name] += data;
    });
  const ended = new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? -1)));
  return { child, printed, ended };
}

/** Runs `pulumi-endpoints` in the same way until its end. */
export async function runCommand(...args: Parameters<typeof startCommand>): Promise<CommandResult> {
  const { printed, ended } = startCommand(...args);
  return { code: await ended, ...printed };
}

/** The PATH with this script in place of the Pulumi CLI. */
export function pathWithPulumi(script: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "pulumi"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return `${folder}:${process.env["PATH"]}`;
}

/** Runs a command in this process, which takes a tenth of the time. The account is set in the environment. */
export async function runInProcess(
  command: CliCommand,
  args: string[],
  account?: Pick<Emulator, "baseUrl" | "apiKey">,
): Promise<CommandResult> {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("ENDPOINTS_BASE_URL", account?.baseUrl);
  vi.stubEnv("ENDPOINTS_API_KEY", account?.apiKey);
  const { code, printed } = startInProcess(command, args);
  return { code: await code, ...printed };
}

/** Starts a command in this process. `printed` grows while it runs. */
export function startInProcess(command: CliCommand, args: string[]) {
  const printed = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof printed) => ({ write: (text: string) => (printed[name] += text) });
  return { code: command(args, { stdout: stream("stdout"), stderr: stream("stderr") }), printed };
}
