import { once } from "node:events";
import { parseArgs } from "node:util";
import { Emulator, type EmulatorOptions } from "../testing/emulator";

const HELP = `Runs the service on this machine, for trying things out without an account.

Usage: npx pulumi-endpoints emulator [options]

  --port N              the port on 127.0.0.1 (default: a free one)
  --api-key K           the key to accept (default: a random one)
  --version-header H    the header that holds the API version (default: Service-Version)
  --seed N              start with N endpoints of mixed types (default: 0)
  --help                this text

Prints one line for each request, and ends on Ctrl-C. Endpoints are kept in memory only.`;

/** The exit codes: 0 after SIGINT or SIGTERM, 1 where it could not start, 2 for arguments that make no sense. */
export async function emulatorCommand(args: string[]): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions(args);
  } catch (error) {
    console.error(`pulumi-endpoints emulator: ${messageOf(error)} (--help lists the options)`);
    return 2;
  }
  if (options === "help") {
    console.log(HELP);
    return 0;
  }
  const { seed, ...settings } = options;
  let emulator: Emulator;
  try {
    emulator = await Emulator.start({
      ...settings,
      onAnswer: ({ method, path, status }) => console.log(`${method} ${path} ${status || "dropped"}`),
    });
  } catch (error) {
    const taken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const reason = taken ? `port ${settings.port} is in use; choose another with --port` : messageOf(error);
    console.error(`pulumi-endpoints emulator: ${reason}`);
    return 1;
  }
  for (let index = 0; index < seed; index++) {
    emulator.seed({ type: (["cloud", "ephemeral", "edge"] as const)[index % 3] ?? "cloud" });
  }
  console.log(`The emulator listens on ${emulator.baseUrl}. To use it in another terminal:\n`);
  console.log(`export ENDPOINTS_BASE_URL=${emulator.baseUrl} ENDPOINTS_API_KEY=${quoted(emulator.apiKey)}`);
  if (settings.versionHeader)
    console.log(`export ENDPOINTS_VERSION_HEADER=${quoted(settings.versionHeader)}`);
  console.log("");
  await firstSignal();
  await emulator.close();
  return 0;
}

function readOptions(args: string[]): (EmulatorOptions & { seed: number }) | "help" {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: "string" },
      "api-key": { type: "string" },
      "version-header": { type: "string" },
      seed: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return "help";
  const { port, seed, "api-key": apiKey, "version-header": versionHeader } = values;
  if (apiKey !== undefined && !/^\S+$/.test(apiKey))
    throw new Error("--api-key must not be empty or hold spaces");
  if (versionHeader !== undefined && !/^[\w-]+$/.test(versionHeader)) {
    throw new Error("--version-header must be the name of a header");
  }
  return {
    ...(port === undefined ? {} : { port: whole("--port", port, 65535) }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(versionHeader === undefined ? {} : { versionHeader }),
    seed: seed === undefined ? 0 : whole("--seed", seed, 100_000),
  };
}

function whole(option: string, text: string, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= most))
    throw new Error(`${option} takes a whole number from 0 to ${most}, not ${JSON.stringify(text)}`);
  return value;
}

async function firstSignal(): Promise<void> {
  const ended = new AbortController();
  const signals = ["SIGINT", "SIGTERM"].map((name) => once(process, name, { signal: ended.signal }));
  await Promise.race(signals);
  // The listeners go, so that a second signal ends the process at once.
  ended.abort();
  await Promise.allSettled(signals);
}

/** A shell's word: as it is where that is safe, else in single quotes. */
function quoted(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
