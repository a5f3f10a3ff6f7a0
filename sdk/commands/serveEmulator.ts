import { once } from "node:events";
import { Emulator } from "../testing/emulator";
import { traceText } from "../traffic-policy/index";
import { command, EXIT, messageOf, UsageError } from "./command";
import { readState, writeState } from "./emulatorState";
import { outputFile, port as portNumber, wholeNumber } from "./options";
import { shellWord } from "./text";

/** `npx pulumi-endpoints emulator`: serves until SIGINT or SIGTERM. */
export const emulatorCommand = command({
  name: "emulator",
  about:
    "Runs an emulator of the endpoint service on this machine, so that you can try the package without an account.",
  options: {
    port: { value: "N", help: "the port on 127.0.0.1 (default: a free one)", parse: portNumber },
    apiKey: {
      value: "K",
      help: "the key to accept (default: a random one)",
      parse(text: string) {
        if (/^\S+$/.test(text)) return text;
        throw new UsageError("must not contain spaces");
      },
    },
    state: {
      value: "FILE",
      help: "keep port, key and endpoints in this file, for the next start",
      parse: outputFile,
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
      parse: portNumber,
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
  },
  notes:
    "Prints one line for each request, and ends on Ctrl-C. Without --state, endpoints are only in memory.",

  async run({ seed, serve, connect, state: file, rateLimit, ...options }, { stdout }) {
    const kept = file === undefined ? undefined : readState(file);
    const apiKey = options.apiKey ?? kept?.apiKey;
    const wanted = options.port ?? kept?.port;
    const print = (line: string) => stdout.write(`${line}\n`);
    const emulator = await Emulator.start({
      ...(wanted !== undefined && { port: wanted }),
      ...(apiKey !== undefined && { apiKey }),
      ...(rateLimit !== undefined && { rateLimit: { requests: rateLimit, windowSeconds: 60 } }),
      onAnswer: ({ method, path, status }) => {
        print(`${method} ${path} ${status || "dropped"}`);
        if (method !== "GET") saveOrSay();
      },
    }).catch((error: unknown) => {
      throw portError(error, wanted, "--port");
    });
    const save = () => file !== undefined && writeState(file, emulator);
    const saveOrSay = () => {
      try {
        save();
      } catch (error) {
        print(`${messageOf(error)}. The endpoints are only in memory.`);
      }
    };
    try {
      for (const endpoint of kept?.endpoints.reverse() ?? []) emulator.seed(endpoint);
      for (let index = 0; index < seed; index++)
        emulator.seed({ type: (["cloud", "ephemeral", "edge"] as const)[index % 3] ?? "cloud" });
      print(`The emulator listens on ${emulator.baseUrl}. To use it in another terminal:\n`);
      print(`export ENDPOINTS_BASE_URL=${emulator.baseUrl} ENDPOINTS_API_KEY=${shellWord(emulator.apiKey)}`);
      for (const { url, local } of connect) emulator.connect(url, local);
      if (serve !== undefined) await serveEndpoints(emulator, serve, print);
      print("");
      save();
      await firstSignal();
    } finally {
      await emulator.close();
    }
    return EXIT.done;
  },
});

/** Answers requests to the endpoints, and prints each with its trace. */
export async function serveEndpoints(
  emulator: Emulator,
  port: number,
  print: (line: string) => void,
): Promise<void> {
  const served = await emulator
    .serve({
      port,
      rateLimited: false,
      onReply: ({ method, url, status, trace, problem }) => {
        print(`${method} ${url} ${status || "closed"}`);
        if (trace.length > 0) print(traceText(trace).trimEnd().replace(/^/gm, "    "));
        if (status > 0 && problem !== undefined) print(`    ${problem}`);
      },
    })
    .catch((error: unknown) => {
      throw portError(error, port, "--serve");
    });
  print(
    `\nThe endpoints answer on http://127.0.0.1:${served}: curl --connect-to ::127.0.0.1:${served} http://HOST/`,
  );
  print(
    'No request is limited by rate-limit, and none is answered by a pool: "What is simulated" in sdk/traffic-policy/README.md has the rest.',
  );
}

function portError(error: unknown, port: number | undefined, option: string): unknown {
  const isInUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  return isInUse ? new Error(`port ${port} is in use; choose another with ${option}`) : error;
}

/** Waits for SIGINT or SIGTERM. */
export async function firstSignal(): Promise<void> {
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
