import { execFile } from "node:child_process";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "../../../dist/sdk/commands/main.js");

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `pulumi-endpoints` as a user does; by default without a Pulumi CLI. */
export function run(
  args: string[],
  env: Record<string, string | undefined> = {},
  cwd = process.cwd(),
): Promise<Ran> {
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
