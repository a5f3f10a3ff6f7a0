#!/usr/bin/env node
import { didYouMean } from "../../provider/api/text";
import { VERSION } from "../../provider/api/version";
import { type CliCommand, EXIT, messageOf } from "./command";

const HELP = `Usage: npx pulumi-endpoints <command>

  new            make a project from an example of the package
  adopt          write a program that adopts existing cloud endpoints, or a file to import them
  drift          report what has drifted from the stacks of a Pulumi project, and repair it
  stacks         list the projects and stacks of a file, and each job's share of the requests, for pipelines
  check-policy   warn of what is probably wrong with traffic policies in files
  policy-schema  print a JSON Schema of traffic policies, for editors
  emulator       run an emulator of the endpoint service on this machine
  demo           show the whole life of an endpoint on the emulator, step by step

  --help after a command lists its options; --version prints this package's version.
`;

/** Each command is loaded only if it is run. */
export const commands: Record<string, () => Promise<CliCommand>> = {
  new: async () => (await import("./new.js")).newCommand,
  adopt: async () => (await import("./adopt.js")).adoptCommand,
  drift: async () => (await import("./drift.js")).driftCommand,
  stacks: async () => (await import("./stacks.js")).stacksCommand,
  "check-policy": async () => (await import("./checkPolicy.js")).checkPolicyCommand,
  "policy-schema": async () => (await import("./checkPolicy.js")).policySchemaCommand,
  emulator: async () => (await import("./serveEmulator.js")).emulatorCommand,
  demo: async () => (await import("./demo.js")).demoCommand,
};

/** Runs the command that the first argument names. */
export const commandLine: CliCommand = async ([name = "--help", ...args], streams = process) => {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load) return (await load())(args, streams);
  const [wanted] = args;
  if (name === "help" && wanted !== undefined) return commandLine([wanted, "--help"], streams);
  const isHelp = ["--help", "-h", "help"].includes(name);
  if (isHelp || ["--version", "-v"].includes(name)) {
    streams.stdout.write(isHelp ? HELP : `${VERSION}\n`);
    return EXIT.done;
  }
  const hint = didYouMean(name, Object.keys(commands));
  streams.stderr.write(`pulumi-endpoints: there is no command ${name}${hint}\n\n${HELP}`);
  return EXIT.usage;
};

// A test, or the generator of the reference, imports this module without running it.
if (require.main === module) {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    // The reader has left, as `head` does.
    process.exit(EXIT.unread);
  });
  // Messages that nobody reads end no work.
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
