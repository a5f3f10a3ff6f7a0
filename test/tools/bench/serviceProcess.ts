import { subscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { Emulator } from "../../../sdk/testing";
import type { ServiceCounts } from "./cells";

/*
 * Runs the service in a separate process, since the test kit's engine runs in the benchmark's process and must not be
 * slowed down. It answers after 20 ms, without a rate limit. It sends its address first, and then answers each message with
 * the counts since the last one.
 */

let open = 0;
let mostOpen = 0;
subscribe("net.server.socket", (message) => {
  const { socket } = message as { socket: unknown };
  if (!(socket instanceof Socket)) return;
  open += 1;
  mostOpen = Math.max(mostOpen, open);
  socket.once("close", () => {
    open -= 1;
  });
});

async function main(): Promise<void> {
  const emulator = await Emulator.start();
  emulator.intercept(() => true, { afterCommit: true, delayMs: 20 }, Number.POSITIVE_INFINITY);
  let before = 0;
  process.on("message", async () => {
    await allClosed();
    const requests = emulator.requests.slice(before);
    before = emulator.requests.length;
    const count = (method: string, test = (_path: string) => true) =>
      requests.filter((request) => request.method === method && test(request.path)).length;
    const counts: ServiceCounts = {
      requests: {
        list: count("GET", (path) => path === "/endpoints"),
        get: count("GET", (path) => path !== "/endpoints"),
        post: count("POST"),
        patch: count("PATCH"),
        delete: count("DELETE"),
      },
      connections: mostOpen,
      endpoints: emulator.endpoints.length,
    };
    mostOpen = open;
    process.send?.(counts);
  });
  // The service must not outlive the benchmark, which can be interrupted at any time.
  process.on("disconnect", () => process.exit());
  process.send?.({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
}

/** Waits for the connections of an ended process to close, so that they do not count for the next operation. */
async function allClosed(): Promise<void> {
  for (let waits = 0; open > 0 && waits < 100; waits++) await wait(10);
}

void main();
