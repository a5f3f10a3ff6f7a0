#!/usr/bin/env node
import { VERSION } from "../../provider/version";

const HELP = `Usage: npx pulumi-endpoints <command>

  drift      tell what has drifted from the stacks of a Pulumi project, and repair it
  emulator   run the endpoint service on this machine, for tests and for trying things out
  demo       the whole life of an endpoint on the emulator, step by step (in the repository only)

  --help after a command tells its options; --version names this package's version.
`;

/** Each command is loaded when it is called for. It gives the process's exit code. */
const commands: Record<string, () => Promise<(args: string[]) => Promise<number>>> = {
  drift: async () => (await import("./drift.js")).driftCommand,
  emulator: async () => (await import("./emulator.js")).emulatorCommand,
  demo: async () => (await import("./demo.js")).demoCommand,
};

async function main([name = "--help", ...args]: string[]): Promise<number> {
  if (name === "--version") return print(`${VERSION}\n`);
  if (name === "--help" || name === "help") return print(HELP);
  const command = commands[name];
  if (command) return (await command())(args);
  process.stderr.write(`pulumi-endpoints: there is no command ${name}\n\n${HELP}`);
  return 2;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`pulumi-endpoints: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
