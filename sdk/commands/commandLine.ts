import { VERSION } from "../../provider/api/config";
import { nearName } from "../../provider/api/text";
import { type Command, EXIT } from "./command";

const HELP = `Usage: npx pulumi-endpoints <command>

  adopt          write the TypeScript that adopts the account's cloud endpoints as they are
  import-file    list the account's cloud endpoints for \`pulumi import --file\`
  drift          report what has drifted from the stacks of a Pulumi project, and repair it
  stacks         list the projects and stacks of a file, and each job's share of the requests, for pipelines
  check-policy   warn of what is probably wrong with traffic policies in files
  policy-schema  print a JSON Schema of traffic policies, for editors
  emulator       run an emulator of the endpoint service on this machine
  demo           show the whole life of an endpoint on the emulator, step by step

  --help after a command lists its options; --version prints this package's version.
`;

/** Each command is loaded only if it is run. */
export const commands: Record<string, () => Promise<Command>> = {
  adopt: async () => (await import("./adopt.js")).adoptCommand,
  "import-file": async () => (await import("./importFile.js")).importFileCommand,
  drift: async () => (await import("./drift.js")).driftCommand,
  stacks: async () => (await import("./stacks.js")).stacksCommand,
  "check-policy": async () => (await import("./checkPolicy.js")).checkPolicyCommand,
  "policy-schema": async () => (await import("./policySchema.js")).policySchemaCommand,
  emulator: async () => (await import("./emulator.js")).emulatorCommand,
  demo: async () => (await import("./demo.js")).demoCommand,
};

/** Runs the command that the first argument names. */
export const commandLine: Command = async ([name = "--help", ...args], streams = process) => {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load) return (await load())(args, streams);
  const [wanted] = args;
  if (name === "help" && wanted !== undefined) return commandLine([wanted, "--help"], streams);
  const isHelp = ["--help", "-h", "help"].includes(name);
  if (isHelp || ["--version", "-v"].includes(name)) {
    streams.stdout.write(isHelp ? HELP : `${VERSION}\n`);
    return EXIT.done;
  }
  const near = nearName(name, Object.keys(commands));
  const suggestion = near === undefined ? "" : `; did you mean ${near}?`;
  streams.stderr.write(`pulumi-endpoints: there is no command ${name}${suggestion}\n\n${HELP}`);
  return EXIT.usage;
};
