#!/usr/bin/env node
import "../../provider/data/nodeVersion";
import { didYouMean } from "../../provider/data/index";
import { VERSION } from "../../provider/service/version";
import { endIfUnread } from "../io";
import { type CliCommand, EXIT, messageOf } from "./command";
import { columns } from "./text";

/** What each command does, and how to load it. Only the command that runs is loaded. */
export const commands: Record<string, [about: string, load: () => Promise<CliCommand>]> = {
  new: ["make a project from an example of the package", async () => (await import("./new.js")).newCommand],
  adopt: [
    "write a program that adopts existing endpoints, or a file to import them",
    async () => (await import("./adopt.js")).adoptCommand,
  ],
  drift: [
    "report what has drifted from the stacks, and how to put it back",
    async () => (await import("./drift.js")).driftCommand,
  ],
  "who-has": [
    "tell which stack has the endpoint on a URL",
    async () => (await import("./whoHas.js")).whoHasCommand,
  ],
  stacks: [
    "list the stacks of a file, and each job's share of the requests",
    async () => (await import("./stacks.js")).stacksCommand,
  ],
  "check-policy": [
    "warn of mistakes in traffic policies, or try a request on one",
    async () => (await import("./checkPolicy.js")).checkPolicyCommand,
  ],
  emulator: [
    "run an emulator of the endpoint service on this machine",
    async () => (await import("./serveEmulator.js")).emulatorCommand,
  ],
  demo: [
    "show the whole life of an endpoint on the emulator",
    async () => (await import("./demo.js")).demoCommand,
  ],
};

const help = () => `Usage: npx pulumi-endpoints COMMAND

${columns(Object.entries(commands).map(([name, [about]]) => [name, about]))}

--help after a command lists its options; --version prints the version.
`;

/** Runs the command that the first argument names. */
export const commandLine: CliCommand = async ([name = "--help", ...args], streams = process) => {
  const [, load] = Object.hasOwn(commands, name) ? (commands[name] ?? []) : [];
  if (load) return (await load())(args, streams);
  const [wanted] = args;
  if (name === "help" && wanted !== undefined) return commandLine([wanted, "--help"], streams);
  const isHelp = ["--help", "-h", "help"].includes(name);
  if (isHelp || ["--version", "-v"].includes(name)) {
    streams.stdout.write(isHelp ? help() : `${VERSION}\n`);
    return EXIT.done;
  }
  const hint = didYouMean(name, Object.keys(commands));
  streams.stderr.write(`${help()}\npulumi-endpoints: there is no command ${name}${hint}\n`);
  return EXIT.usage;
};

// A test, or the generator of the reference, imports this module without running it.
if (require.main === module) {
  endIfUnread("pulumi-endpoints");
  // If nobody reads the messages any more, the work goes on.
  process.stderr.on("error", () => {});
  commandLine(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      process.stderr.write(`pulumi-endpoints: ${messageOf(error)}\n`);
      process.exitCode = EXIT.failed;
    },
  );
}
