#!/usr/bin/env node
import { parseArgs } from "node:util";
import { EXIT, endIfUnread, messageOf, type Streams } from "../data/io";
import { didYouMean } from "../data/text";
import { UsageError } from "../data/userError";
import { checkFiles } from "./check";
import { tryRequest } from "./request";

/* The program `traffic-policy`. The command `check-policy` of pulumi-endpoints runs the same code. */

const HELP = `Usage: traffic-policy check [options] FILE…
       traffic-policy request [options] "METHOD URL" FILE

check warns of what is probably wrong with the traffic policies in files.
  --url URL    the URL of the cloud endpoint that gets the policies
               (default: the endpoint that the file names for each policy)
  --strict     exit with 7 if there are warnings
  --github     write annotations for GitHub Actions
  --json F     write the result as JSON to this file; - prints it

request prints what a file's policy does with a request on this machine.
  --header "X-Role: admin"      a header; can be repeated
  --body TEXT                   the body (default: none)
  --client-ip IP                the client's address (default: 127.0.0.1)
  --conn geo.country_code=DE    a variable below conn; can be repeated
  --vault hooks/github=VALUE    a value in a vault; can be repeated
  --json F                      as above

A file is YAML or JSON: a policy, or an agent's configuration, Kubernetes
manifests, a Pulumi.yaml or the output of terraform show -json that contain
policies. The file - is the standard input. No command makes a request.

Exit codes: 0 checked, or answered; 7 warnings (with --strict); 2 invalid
arguments; 1 a file cannot be read, or only the service knows the reply.
`;

const TEXT = { type: "string" } as const;
const TEXTS = { type: "string", multiple: true } as const;
const SWITCH = { type: "boolean" } as const;

/** Runs the command that the first argument names, and returns the exit code. */
export async function policyCommandLine(
  args: string[],
  { stdout, stderr }: Streams = process,
): Promise<number> {
  const [command = "help", ...rest] = args;
  const name = `traffic-policy ${command}`;
  const log = (line: string) => void stderr.write(`${line}\n`);
  const io = { stdout, stderr, log, name };
  const of = { args: rest, allowPositionals: true };
  try {
    if (command === "help" || args.includes("--help") || args.includes("-h")) {
      stdout.write(HELP);
      return EXIT.done;
    }
    if (command === "check") {
      const options = { url: TEXT, strict: SWITCH, github: SWITCH, json: TEXT };
      const { values, positionals } = parseArgs({ ...of, options });
      return await checkFiles(positionals, values, io);
    }
    if (command === "request") {
      const options = { header: TEXTS, body: TEXT, "client-ip": TEXT, conn: TEXTS, vault: TEXTS, json: TEXT };
      const { values, positionals } = parseArgs({ ...of, options });
      const [line = "", ...files] = positionals;
      return await tryRequest(line, files, { ...values, clientIp: values["client-ip"] }, io);
    }
    const hint = didYouMean(command, ["check", "request"]);
    throw new UsageError(`there is no such command${hint} (--help lists them)`);
  } catch (error) {
    log(`${name}: ${messageOf(error)}`);
    // The errors of parseArgs are TypeErrors with a code.
    const isUsage = error instanceof UsageError || (error instanceof TypeError && "code" in error);
    return isUsage ? EXIT.usage : EXIT.failed;
  }
}

// A test imports this module without running it.
if (require.main === module) {
  endIfUnread("traffic-policy");
  policyCommandLine(process.argv.slice(2)).then((code) => {
    process.exitCode = code;
  });
}
