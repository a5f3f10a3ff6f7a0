#!/usr/bin/env node
import { didYouMean } from "../data/text";
import { checkFiles, checkOptions } from "./check";
import { type CliCommand, command, EXIT, type Program, whyNotWritten } from "./frame";
import { requestLine, requestOptions, tryRequest } from "./request";
import { columns } from "./terminalText";

/* `traffic-policy`. The command `check-policy` of pulumi-endpoints is the same code. */

const PROGRAM: Program = { name: "traffic-policy", start: "traffic-policy", exitAfter: () => EXIT.failed };

const FILES =
  "A file is YAML or JSON: a policy, or an agent's configuration, Kubernetes manifests, a Pulumi.yaml or the output of terraform show -json that contain policies. The file - is the standard input. The command makes no request.";

const check = command(
  {
    name: "check",
    about: "Checks traffic policies in files, and warns of what is probably wrong with them.",
    takes: "FILE…",
    options: checkOptions,
    notes: `${FILES}
Exit codes: 0 checked; 7 warnings (with --strict); 2 invalid arguments; 1 a file cannot be read.`,
    run: (values, io, files) => checkFiles(files, values, io),
  },
  PROGRAM,
);

const request = command(
  {
    name: "request",
    about: "Prints what a file's policy does with a request on this machine.",
    takes: '"METHOD URL" FILE',
    options: requestOptions,
    notes: `${FILES}
Exit codes: 0 answered; 2 invalid arguments; 1 a file cannot be read, or only the service knows the reply.`,
    run: (values, io, [line = "", ...files]) => tryRequest(requestLine(line), files, values, io),
  },
  PROGRAM,
);

const commands: Readonly<Record<string, readonly [about: string, run: CliCommand]>> = {
  check: ["warn of mistakes in traffic policies", check],
  request: ["show what a policy does with a request", request],
};

const help = () => `Usage: traffic-policy COMMAND

${columns(Object.entries(commands).map(([name, [about]]) => [name, about]))}

--help after a command lists its options.
`;

/** Runs the command that the first argument names. */
export const commandLine: CliCommand = async ([name = "--help", ...args], streams = process) => {
  const [, run] = Object.hasOwn(commands, name) ? (commands[name] ?? []) : [];
  if (run) return run(args, streams);
  if (["--help", "-h", "help"].includes(name)) {
    streams.stdout.write(help());
    return EXIT.done;
  }
  const hint = didYouMean(name, Object.keys(commands));
  streams.stderr.write(`${help()}\ntraffic-policy: there is no command ${name}${hint}\n`);
  return EXIT.usage;
};

// A test imports this module without running it.
if (require.main === module) {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader has left, as `head` does.
    if (error.code === "EPIPE") process.exit(EXIT.unread);
    process.stderr.write(`traffic-policy: the output cannot be written: ${whyNotWritten(error)}\n`);
    process.exit(EXIT.failed);
  });
  commandLine(process.argv.slice(2)).then((code) => {
    process.exitCode = code;
  });
}
