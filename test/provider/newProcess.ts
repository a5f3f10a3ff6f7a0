import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";

/* Scripts in new processes that list the loaded packages. They need `npm run build`. */

export const PROVIDER = resolve("dist/provider/index.js");

/** An expression for the names of the loaded packages. */
export const LOADED = `[...new Set(Object.keys(require.cache)
  .map((file) => /node_modules[\\\\/]((@[^\\\\/]+[\\\\/])?[^\\\\/]+)/.exec(file)?.[1])
  .filter(Boolean))]`;

/** Runs a script in a new process with a module's path as its argument, and parses its output as JSON. */
export async function inNewProcess(script: string, module: string, ...options: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [...options, "--eval", script, module]);
  return JSON.parse(stdout);
}
