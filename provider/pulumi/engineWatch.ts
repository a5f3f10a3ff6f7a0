import { connect } from "node:net";

/** The address of Pulumi's engine. */
type EngineAddress = { host: string; port: number };

/** How often the engine is checked, in milliseconds. */
const CHECK_INTERVAL = 1_000;

/** The engine's address, which is the last argument of a provider's process. Undefined in any other process. */
export function engineAddress(argv: readonly string[] = process.argv): EngineAddress | undefined {
  const [, host, port] = /^(127\.0\.0\.1|localhost|\[::1\]):(\d+)$/.exec(argv.at(-1) ?? "") ?? [];
  return host === undefined ? undefined : { host: host.replace(/[[\]]/g, ""), port: Number(port) };
}

/**
 * Whether the engine is there. Only a refused connection shows that the engine is gone. Without an answer within a second, the engine
 * counts as there.
 */
export async function isEngineAlive(address: EngineAddress | undefined): Promise<boolean> {
  if (!address) return true;
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: CHECK_INTERVAL });
    socket.once("close", () => resolve(true));
    socket.once("connect", () => socket.destroy());
    socket.once("timeout", () => socket.destroy());
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED"));
  });
}

/**
 * Ends this process within seconds after the engine has gone. A provider outlives a killed engine, and would continue to create
 * endpoints that are in no state.
 */
export function exitWithEngine(
  address: EngineAddress | undefined,
  end: () => void = () => process.exit(1),
): void {
  if (!address) return;
  // A killed engine has closed the pipes. Pulumi's host writes an uncaught error of a write, which fails again, without end.
  for (const pipe of [process.stdout, process.stderr]) pipe.on("error", () => {});
  let missed = 0;
  const timer = setInterval(async () => {
    missed = (await isEngineAlive(address)) ? 0 : missed + 1;
    // Two refusals in a row, because a single one may have another cause.
    if (missed < 2) return;
    clearInterval(timer);
    end();
  }, CHECK_INTERVAL);
  timer.unref();
}
