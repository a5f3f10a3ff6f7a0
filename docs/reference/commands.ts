import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../../provider/plugin/schema/docs";

/** The commands' own help, by asking each for it as a user does. */
export function commandHelp(): { name: string; help: string }[] {
  const names = [...run("--help").matchAll(/^ {2}([a-z][\w-]*) {2,}\S/gm)].map(([, name = ""]) => name);
  if (names.length === 0) throw new Error("the commands' help lists no command");
  return names.map((name) => ({ name, help: run(name, "--help").trim() }));
}

function run(...args: string[]): string {
  const main = join(root, "dist", "sdk", "commands", "main.js");
  return execFileSync(process.execPath, [main, ...args], { encoding: "utf8" });
}
