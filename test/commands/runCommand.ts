import { execFile, spawn } from "node:child_process";
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

/** Runs `pulumi-endpoints` in a separate process, as a user does. By default, there is no Pulumi CLI on the PATH. */
export function runCommand(
  args: string[],
  env: Record<string, string | undefined> = {},
  cwd = process.cwd(),
): Promise<CommandResult> {
  const environment = { ...process.env, PATH: "/usr/bin:/bin", ...env };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [MAIN, ...args],
      { env: environment, cwd, maxBuffer: 64 << 20 },
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr });
      },
    );
  });
}

/** Starts it in the same way. `printed` grows while it runs, and `ended` is its exit code. */
export function startCommand(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, PATH: "/usr/bin:/bin", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (data) => {
      printed[name] += data;
    });
  const ended = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  return { child, printed, ended };
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
