import { once } from "node:events";
import { Emulator, type EmulatorOptions } from "../testing/emulator";
import { type Command, EXIT, parseOptions, runCommand, type Streams, UsageError } from "./command";

const HELP = `Runs the service on this machine, for trying things out without an account.

Usage: npx pulumi-endpoints emulator [options]

  --port N              the port on 127.0.0.1 (default: a free one)
  --api-key K           the key to accept (default: a random one)
  --version-header H    the header that holds the API version (default: Service-Version)
  --seed N              start with N endpoints of mixed types (default: 0)
  --help                this text

Prints one line for each request, and ends on Ctrl-C. Endpoints are kept in memory only.`;

const command: Command = {
  name: "emulator",
  help: HELP,

  async run(args, { stdout }) {
    const { seed, ...settings } = optionsOf(args);
    const print = (line: string) => stdout.write(`${line}\n`);
    const emulator = await Emulator.start({
      ...settings,
      onAnswer: ({ method, path, status }) => print(`${method} ${path} ${status || "dropped"}`),
    }).catch((error: unknown) => {
      const isInUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
      throw isInUse ? new Error(`port ${settings.port} is in use; choose another with --port`) : error;
    });
    for (let index = 0; index < seed; index++) {
      emulator.seed({ type: (["cloud", "ephemeral", "edge"] as const)[index % 3] ?? "cloud" });
    }
    print(`The emulator listens on ${emulator.baseUrl}. To use it in another terminal:\n`);
    print(`export ENDPOINTS_BASE_URL=${emulator.baseUrl} ENDPOINTS_API_KEY=${quoted(emulator.apiKey)}`);
    if (settings.versionHeader) print(`export ENDPOINTS_VERSION_HEADER=${quoted(settings.versionHeader)}`);
    print("");
    await firstSignal();
    await emulator.close();
    return EXIT.done;
  },
};

/** `npx pulumi-endpoints emulator`: serves until SIGINT or SIGTERM. */
export const emulatorCommand = (args: string[], streams?: Streams): Promise<number> =>
  runCommand(command, args, streams);

function optionsOf(args: string[]): EmulatorOptions & { seed: number } {
  const values = parseOptions(args, {
    port: { type: "string" },
    "api-key": { type: "string" },
    "version-header": { type: "string" },
    seed: { type: "string" },
  });
  const { port, seed, "api-key": apiKey, "version-header": versionHeader } = values;
  if (apiKey !== undefined && !/^\S+$/.test(apiKey))
    throw new UsageError("--api-key must not be empty or contain spaces");
  if (versionHeader !== undefined && !/^[\w-]+$/.test(versionHeader))
    throw new UsageError("--version-header must be the name of a header");
  return {
    ...(port === undefined ? {} : { port: wholeNumber("--port", port, 65535) }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(versionHeader === undefined ? {} : { versionHeader }),
    seed: seed === undefined ? 0 : wholeNumber("--seed", seed, 100_000),
  };
}

function wholeNumber(option: string, text: string, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= most))
    throw new UsageError(`${option} takes a whole number from 0 to ${most}, not ${JSON.stringify(text)}`);
  return value;
}

async function firstSignal(): Promise<void> {
  const ended = new AbortController();
  const signals = ["SIGINT", "SIGTERM"].map((name) => once(process, name, { signal: ended.signal }));
  await Promise.race(signals);
  // Without the listeners, a second signal ends the process at once.
  ended.abort();
  await Promise.allSettled(signals);
}

/** A word of a shell, in single quotes if it needs them. */
function quoted(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
