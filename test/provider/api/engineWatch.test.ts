import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { endWithEngine, engineAddress, engineIsThere } from "../../../provider/api/engineWatch";

const listening = async (): Promise<{ server: Server; address: { host: string; port: number } }> => {
  const server = createServer((socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, address: { host: "127.0.0.1", port: (server.address() as AddressInfo).port } };
};

test("the last argument of the provider's process is the engine's address", () => {
  expect(engineAddress(["node", "dynamic-provider", "127.0.0.1:4711"])).toEqual({
    host: "127.0.0.1",
    port: 4711,
  });
  expect(engineAddress(["node", "vitest", "run"])).toBeUndefined();
  expect(engineAddress([])).toBeUndefined();
});

test("an engine counts as running while it listens, and if its address is unknown", async () => {
  const { server, address } = await listening();
  expect(await engineIsThere(address)).toBe(true);
  expect(await engineIsThere(undefined)).toBe(true);
  await new Promise((resolve) => server.close(resolve));
  expect(await engineIsThere(address)).toBe(false);
});

// On Linux, a full queue neither accepts nor refuses a connection. Other systems may refuse it.
test.runIf(process.platform === "linux")(
  "the check waits for an engine that is too busy to accept, until it accepts or has ended",
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

    let answered = 0;
    const question = () =>
      engineIsThere(address).then((answer) => {
        answered++;
        return answer;
      });
    const first = question();
    // This is longer than the timeout of one connection.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(answered).toBe(0);
    engine.kill("SIGCONT");
    expect(await first).toBe(true);

    engine.kill("SIGSTOP");
    queue.push(...Array.from({ length: 8 }, () => connect(address).on("error", () => {})));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const second = question();
    engine.kill("SIGKILL");
    await ended;
    expect(await second).toBe(false);
  },
);

test("the provider's process ends after its engine", async () => {
  const { server, address } = await listening();
  const end = vi.fn();
  endWithEngine(address, end);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(end).not.toHaveBeenCalled();
  await new Promise((resolve) => server.close(resolve));
  await vi.waitFor(() => expect(end).toHaveBeenCalledOnce(), { timeout: 5_000 });
});
