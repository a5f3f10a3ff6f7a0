import { once } from "node:events";
import { isIP } from "node:net";
import { Emulator } from "../testing/emulator";
import type { ServeOptions } from "../testing/runner/account";
import { traceText } from "../testing/runner/trace";
import { assertFile, command, EXIT, shellWord, UsageError } from "./command";
import { readState, writeState } from "./emulatorState";
import { vaultsOf } from "./policyRequest";

const HELP = `Runs an emulator of the endpoint service on this machine, so that you can try the package without an account.

Usage: npx pulumi-endpoints emulator [options]

  --port N              the port on 127.0.0.1 (default: a free one)
  --api-key K           the key to accept (default: a random one)
  --state FILE          keep port, key and endpoints in this file, for the next start
  --version-header H    the header that holds the API version (default: Service-Version)
  --serve PORT          also answer requests to the endpoints, on this port of 127.0.0.1, by the header Host
  --connect URL=LOCAL   with --serve: the local server behind an agent's endpoint, as in
                        https://shop.internal=http://127.0.0.1:3000; can be repeated
  --client-ip IP        with --serve: the clients' address (default: 127.0.0.1)
  --vault V/NAME=VALUE  with --serve: a value in one of the service's vaults; can be repeated
  --seed N              start with N endpoints of mixed types (default: 0)
  --help                this text

Prints one line for each request, and ends on Ctrl-C. Without --state, endpoints are only in memory.`;

/** `npx pulumi-endpoints emulator`: serves until SIGINT or SIGTERM. */
export const emulatorCommand = command({
  name: "emulator",
  help: HELP,
  options: {
    port: { type: "string" },
    "api-key": { type: "string" },
    state: { type: "string" },
    "version-header": { type: "string" },
    serve: { type: "string" },
    connect: { type: "string", multiple: true, default: [] },
    "client-ip": { type: "string", default: "127.0.0.1" },
    vault: { type: "string", multiple: true, default: [] },
    seed: { type: "string", default: "0" },
  },

  async run({ port, seed, serve, connect, state: file, vault, ...options }, { stdout }) {
    const { "api-key": key, "version-header": versionHeader, "client-ip": clientIp } = options;
    if (!isIP(clientIp)) throw new UsageError("--client-ip takes an IP address");
    const connection = { clientIp, vaults: vaultsOf(vault), rateLimited: false };
    if (file !== undefined) assertFile("--state", file);
    const kept = file === undefined ? undefined : readState(file);
    const apiKey = key ?? kept?.apiKey;
    const wanted = port === undefined ? kept?.port : wholeNumber("--port", port, 65535);
    if (apiKey !== undefined && !/^\S+$/.test(apiKey))
      throw new UsageError("--api-key must not be empty or contain spaces");
    if (versionHeader !== undefined && !/^[\w-]+$/.test(versionHeader))
      throw new UsageError("--version-header must be the name of a header");
    const endpoints = wholeNumber("--seed", seed, 100_000);
    const servedPort = serve === undefined ? undefined : wholeNumber("--serve", serve, 65535);
    const connected = connect.map((each) => {
      const [, url = "", local = ""] = /^(https?:\/\/[^=]+)=(https?:\/\/[^/]+)\/?$/.exec(each) ?? [];
      if (!local) throw new UsageError(`--connect takes URL=LOCAL, not ${JSON.stringify(each)}`);
      return { url, local };
    });
    const print = (line: string) => stdout.write(`${line}\n`);
    const emulator = await Emulator.start({
      ...(wanted !== undefined && { port: wanted }),
      ...(apiKey !== undefined && { apiKey }),
      ...(versionHeader !== undefined && { versionHeader }),
      onAnswer: ({ method, path, status }) => {
        print(`${method} ${path} ${status || "dropped"}`);
        if (method !== "GET") save();
      },
    }).catch((error: unknown) => {
      throw portError(error, wanted, "--port");
    });
    const save = () => file !== undefined && writeState(file, emulator);
    for (const endpoint of kept?.endpoints.reverse() ?? []) emulator.seed(endpoint);
    for (let index = 0; index < endpoints; index++)
      emulator.seed({ type: (["cloud", "ephemeral", "edge"] as const)[index % 3] ?? "cloud" });
    print(`The emulator listens on ${emulator.baseUrl}. To use it in another terminal:\n`);
    print(`export ENDPOINTS_BASE_URL=${emulator.baseUrl} ENDPOINTS_API_KEY=${shellWord(emulator.apiKey)}`);
    if (versionHeader) print(`export ENDPOINTS_VERSION_HEADER=${shellWord(versionHeader)}`);
    for (const { url, local } of connected) emulator.connect(url, local);
    if (servedPort !== undefined) await serveEndpoints(emulator, { port: servedPort, ...connection }, print);
    print("");
    save();
    await firstSignal();
    await emulator.close();
    return EXIT.done;
  },
});

async function serveEndpoints(
  emulator: Emulator,
  options: ServeOptions & { port: number },
  print: (line: string) => void,
): Promise<void> {
  const port = await emulator
    .serve({
      ...options,
      onReply: ({ method, url, status, trace, problem }) => {
        print(`${method} ${url} ${status || "closed"}`);
        if (trace.length > 0) print(traceText(trace).trimEnd().replace(/^/gm, "    "));
        if (status > 0 && problem !== undefined) print(`    ${problem}`);
      },
    })
    .catch((error: unknown) => {
      throw portError(error, options.port, "--serve");
    });
  print(
    `\nThe endpoints answer on http://127.0.0.1:${port}: curl --connect-to ::127.0.0.1:${port} http://HOST/`,
  );
}

function portError(error: unknown, port: number | undefined, option: string): unknown {
  const isInUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  return isInUse ? new Error(`port ${port} is in use; choose another with ${option}`) : error;
}

function wholeNumber(option: string, text: string, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= most))
    throw new UsageError(`${option} takes a whole number from 0 to ${most}, not ${JSON.stringify(text)}`);
  return value;
}

async function firstSignal(): Promise<void> {
  const ended = new AbortController();
  // Neither the emulator nor a listener for signals keeps the process running.
  const running = setInterval(() => {}, 60_000);
  const signals = ["SIGINT", "SIGTERM"].map((name) => once(process, name, { signal: ended.signal }));
  await Promise.race(signals);
  clearInterval(running);
  // Without listeners, a second signal ends the process immediately.
  ended.abort();
  await Promise.allSettled(signals);
}
