import { connect } from "node:net";

/** Where Pulumi's engine listens. */
interface Address {
  host: string;
  port: number;
}

/** How often the engine is looked for, in milliseconds. */
const EVERY = 1_000;

/** The engine's address, which Pulumi gives its provider hosts as the last argument; undefined outside of such a host. */
export function engineAddress(argv: readonly string[] = process.argv): Address | undefined {
  const [, host, port] = /^(127\.0\.0\.1|localhost|\[::1\]):(\d+)$/.exec(argv.at(-1) ?? "") ?? [];
  return host === undefined ? undefined : { host: host.replace(/[[\]]/g, ""), port: Number(port) };
}

/** In milliseconds. An answer that took longer is about a time too long ago. */
const FRESH = 100;

/** Whether the engine was there less than 100 ms ago: while it neither accepts nor refuses, it is asked again. */
export async function engineIsThere(address: Address | undefined): Promise<boolean> {
  if (!address) return true;
  for (;;) {
    const asked = performance.now();
    const there = await listens(address);
    if (!there || performance.now() - asked < FRESH) return there;
  }
}

/** Only a refused connection shows that the engine is gone. */
function listens(address: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: EVERY });
    const answer = (there: boolean) => {
      resolve(there);
      socket.destroy();
    };
    socket.once("connect", () => answer(true));
    socket.once("timeout", () => answer(true));
    socket.once("error", (error: NodeJS.ErrnoException) => answer(error.code !== "ECONNREFUSED"));
  });
}

/**
 * Ends this process when the engine is gone, within seconds. A provider outlives an engine that was killed, and would
 * go on with what it had been asked for: endpoints that would be in no state.
 */
export function endWithEngine(address: Address | undefined, end: () => void = () => process.exit(1)): void {
  if (!address) return;
  let missed = 0;
  const timer = setInterval(async () => {
    missed = (await listens(address)) ? 0 : missed + 1;
    // Twice, so that one odd refusal is not taken for the end.
    if (missed < 2) return;
    clearInterval(timer);
    end();
  }, EVERY);
  timer.unref();
}
