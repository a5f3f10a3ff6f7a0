import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isEngineAlive } from "../../../provider/pulumi/engineWatch";
import { until } from "../../until";

/** A process that listens like an engine, on the port that it prints. */
function startProcess(code: string) {
  const child = spawn(process.execPath, ["--eval", code], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}
const LISTEN = `require("net").createServer((socket) => socket.on("error", () => {}))
  .listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () { console.log(this.address().port) });`;

// On Linux, a full queue neither accepts nor refuses a connection. Other systems may refuse it.
test.runIf(process.platform === "linux")(
  "an engine that is too busy to accept within a second counts as running, and one that has ended does not",
  async () => {
    const engine = startProcess(LISTEN);
    const ended = once(engine, "exit");
    const [port] = await once(engine.stdout, "data");
    const address = { host: "127.0.0.1", port: Number(port) };
    engine.kill("SIGSTOP");
    const queue = Array.from({ length: 8 }, () => connect(address).on("error", () => {}));
    onTestFinished(() => {
      for (const socket of queue) socket.destroy();
    });
    await until(() => queue.some(({ readyState }) => readyState === "open"));
    expect(await isEngineAlive(address)).toBe(true);
    engine.kill("SIGKILL");
    await ended;
    expect(await isEngineAlive(address)).toBe(false);
  },
);

test("a provider ends even if it writes after its engine was killed, and does not fill the memory", async () => {
  const engine = startProcess(LISTEN);
  const [port] = await once(engine.stdout, "data");
  const module = join(import.meta.dirname, "../../../dist/provider/pulumi/engineWatch.js");
  // Like Pulumi's host, this process prints each uncaught error, also the error of a write to the engine's closed pipe.
  const provider = startProcess(`process.on("uncaughtException", (error) => console.error(error));
    require(${JSON.stringify(module)}).exitWithEngine({ host: "127.0.0.1", port: ${Number(port)} });
    setInterval(() => console.error("a line"), 50);`);
  const ended = once(provider, "exit");
  await once(provider.stderr, "data");
  provider.stdout.destroy();
  provider.stderr.destroy();
  engine.kill("SIGKILL");
  const overdue = setTimeout(() => provider.kill("SIGKILL"), 60_000);
  expect(await ended).toEqual([1, null]);
  clearTimeout(overdue);
});
