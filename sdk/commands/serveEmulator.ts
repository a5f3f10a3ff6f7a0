import { once } from "node:events";
import { Emulator } from "../testing/emulator";
import type { ServeOptions } from "../testing/runner/account";
import { traceText } from "../testing/runner/trace";
import { command, EXIT, UsageError } from "./command";
import { readState, writeState } from "./emulatorState";
import { outputFile, port, wholeNumber } from "./options";
import { clientIp, vaultsOf, vaultValue } from "./policyRequest";
import { shellWord } from "./text";

/** `npx pulumi-endpoints emulator`: serves until SIGINT or SIGTERM. */
export const emulatorCommand = command({
  name: "emulator",
  about:
    "Runs an emulator of the endpoint service on this machine, so that you can try the package without an account.",
  options: {
    port: { value: "N", help: "the port on 127.0.0.1 (default: a free one)", parse: port },
    apiKey: {
      value: "K",
      help: "the key to accept (default: a random one)",
      parse: matching(/^\S+$/, "must not contain spaces"),
    },
    state: {
      value: "FILE",
      help: "keep port, key and endpoints in this file, for the next start",
      parse: outputFile,
    },
    versionHeader: {
      value: "H",
      help: "the header that holds the API version (default: Service-Version)",
      parse: matching(/^[\w-]+$/, "takes the name of a header"),
    },
    rateLimit: {
      value: "N",
      help: "answer 429 to more than N requests a minute (default: no limit)",
      parse: wholeNumber(1, 1_000_000),
    },
    seed: {
      value: "N",
      help: "start with N endpoints of mixed types",
      parse: wholeNumber(0, 100_000),
      default: "0",
    },
    serve: {
      value: "PORT",
      help: "also answer requests to the endpoints, on this port of 127.0.0.1, by the header Host",
      parse: port,
    },
    connect: {
      value: "URL=LOCAL",
      help: "the local server behind an agent's endpoint, as in https://shop.internal=http://127.0.0.1:3000",
      parse(text: string) {
        const [, url, local] = /^(https?:\/\/[^=]+)=(https?:\/\/[^/]+)\/?$/.exec(text) ?? [];
        if (url && local) return { url, local };
        throw new UsageError("takes URL=LOCAL, as in https://shop.internal=http://127.0.0.1:3000");
      },
      isRepeatable: true,
      needs: ["serve"],
    },
    clientIp: { ...clientIp, needs: ["serve"] },
    vault: { ...vaultValue, needs: ["serve"] },
  },
  notes:
    "Prints one line for each request, and ends on Ctrl-C. Without --state, endpoints are only in memory.",

  async run({ seed, serve, connect, state: file, vault, clientIp, ...options }, { stdout }) {
    const { versionHeader, rateLimit } = options;
    const kept = file === undefined ? undefined : readState(file);
    const apiKey = options.apiKey ?? kept?.apiKey;
    const wanted = options.port ?? kept?.port;
    const print = (line: string) => stdout.write(`${line}\n`);
    const emulator = await Emulator.start({
      ...(wanted !== undefined && { port: wanted }),
      ...(apiKey !== undefined && { apiKey }),
      ...(versionHeader !== undefined && { versionHeader }),
      ...(rateLimit !== undefined && { rateLimit: { requests: rateLimit, windowSeconds: 60 } }),
      onAnswer: ({ method, path, status }) => {
        print(`${method} ${path} ${status || "dropped"}`);
        if (method !== "GET") save();
      },
    }).catch((error: unknown) => {
      throw portError(error, wanted, "--port");
    });
    const save = () => file !== undefined && writeState(file, emulator);
    for (const endpoint of kept?.endpoints.reverse() ?? []) emulator.seed(endpoint);
    for (let index = 0; index < seed; index++)
      emulator.seed({ type: (["cloud", "ephemeral", "edge"] as const)[index % 3] ?? "cloud" });
    print(`The emulator listens on ${emulator.baseUrl}. To use it in another terminal:\n`);
    print(`export ENDPOINTS_BASE_URL=${emulator.baseUrl} ENDPOINTS_API_KEY=${shellWord(emulator.apiKey)}`);
    if (versionHeader) print(`export ENDPOINTS_VERSION_HEADER=${shellWord(versionHeader)}`);
    for (const { url, local } of connect) emulator.connect(url, local);
    const connection = { clientIp, vaults: vaultsOf(vault), rateLimited: false };
    if (serve !== undefined) await serveEndpoints(emulator, { port: serve, ...connection }, print);
    print("");
    save();
    await firstSignal();
    await emulator.close();
    return EXIT.done;
  },
});

function matching(pattern: RegExp, problem: string): (text: string) => string {
  return (text) => {
    if (pattern.test(text)) return text;
    throw new UsageError(problem);
  };
}

async function serveEndpoints(
  emulator: Emulator,
  options: ServeOptions & { port: number },
  print: (line: string) => void,
): Promise<void> {
  const served = await emulator
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
    `\nThe endpoints answer on http://127.0.0.1:${served}: curl --connect-to ::127.0.0.1:${served} http://HOST/`,
  );
}

function portError(error: unknown, port: number | undefined, option: string): unknown {
  const isInUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  return isInUse ? new Error(`port ${port} is in use; choose another with ${option}`) : error;
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
