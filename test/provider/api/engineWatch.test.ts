import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { endWithEngine, engineAddress, engineIsThere } from "../../../provider/api/engineWatch";
import { listening } from "../servers";

async function startEngine() {
  const server = createServer((socket) => socket.on("error", () => {}));
  const [host = "", port] = (await listening(server)).split(":");
  return { server, address: { host, port: Number(port) } };
}

test("the last argument of the provider's process is the engine's address", () => {
  expect(engineAddress(["node", "dynamic-provider", "127.0.0.1:4711"])).toEqual({
    host: "127.0.0.1",
    port: 4711,
  });
  expect(engineAddress(["node", "vitest", "run"])).toBeUndefined();
  expect(engineAddress([])).toBeUndefined();
});

test("an engine counts as running while it listens, and if its address is unknown", async () => {
  const { server, address } = await startEngine();
  expect(await engineIsThere(address)).toBe(true);
  expect(await engineIsThere(undefined)).toBe(true);
  await new Promise((resolve) => server.close(resolve));
  expect(await engineIsThere(address)).toBe(false);
});

// On Linux, a full queue neither accepts nor refuses a connection. Other systems may refuse it.
test.runIf(process.platform === "linux")(
  "an engine that is too busy to accept within a second counts as running, and one that has ended does not",
  async () => {
    const code = `require("net").createServer((socket) => socket.on("error", () => {}))
      .listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () { console.log(this.address().port) })`;
    const engine = spawn(process.execPath, ["--eval", code], { stdio: ["ignore", "pipe", "ignore"] });
    const ended = once(engine, "exit");
    const [port] = await once(engine.stdout, "data");
    const address = { host: "127.0.0.1", port: Number(port) };
    engine.kill("SIGSTOP");
    const queue = Array.from({ length: 8 }, () => connect(address).on("error", () => {}));
    onTestFinished(() => {
      for (const socket of queue) socket.destroy();
      engine.kill("SIGKILL");
    });
    await vi.waitFor(() => expect(queue.some(({ readyState }) => readyState === "open")).toBe(true));
    expect(await engineIsThere(address)).toBe(true);
    engine.kill("SIGKILL");
    await ended;
    expect(await engineIsThere(address)).toBe(false);
  },
);

test("the provider's process ends after its engine", async () => {
  const { server, address } = await startEngine();
  const end = vi.fn();
  endWithEngine(address, end);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(end).not.toHaveBeenCalled();
  await new Promise((resolve) => server.close(resolve));
  await vi.waitFor(() => expect(end).toHaveBeenCalledOnce(), { timeout: 5_000 });
});

test("a provider that writes after its engine was killed ends, too, and does not fill the memory", async () => {
  const { server, address } = await startEngine();
  // Like Pulumi's host, it writes each uncaught error, also that of a write to the engine's closed pipe.
  const code = `process.on("uncaughtException", (error) => console.error(error));
    require(${JSON.stringify(join(import.meta.dirname, "../../../dist/provider/api/engineWatch.js"))}).endWithEngine(${JSON.stringify(address)});
    setInterval(() => console.error("a line"), 50);`;
  const provider = spawn(process.execPath, ["--eval", code], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void provider.kill("SIGKILL"));
  const ended = once(provider, "exit");
  await once(provider.stderr, "data");
  provider.stdout.destroy();
  provider.stderr.destroy();
  await new Promise((resolve) => server.close(resolve));
  const overdue = setTimeout(() => provider.kill("SIGKILL"), 8_000);
  expect(await ended).toEqual([1, null]);
  clearTimeout(overdue);
});
