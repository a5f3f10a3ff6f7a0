import { createServer } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { engineAddress, exitWithEngine, isEngineAlive } from "../../../provider/pulumi/engineWatch";
import { listening } from "../servers";

async function startEngine() {
  const server = createServer((socket) => socket.on("error", () => {}));
  const [host = "", port] = (await listening(server)).split(":");
  return { server, address: { host, port: Number(port) } };
}

test("the last argument of the provider's process is the engine's address", () => {
  const address = { host: "127.0.0.1", port: 4711 };
  expect(engineAddress(["node", "dynamic-provider", "127.0.0.1:4711"])).toEqual(address);
  expect(engineAddress(["node", "vitest", "run"])).toBeUndefined();
  expect(engineAddress([])).toBeUndefined();
});

test("an engine counts as running unless it refuses the connection, also if its address is unknown", async () => {
  const { server, address } = await startEngine();
  expect(await isEngineAlive(address)).toBe(true);
  expect(await isEngineAlive(undefined)).toBe(true);
  expect(await isEngineAlive({ host: "nowhere.invalid", port: 1 })).toBe(true);
  await new Promise((resolve) => server.close(resolve));
  expect(await isEngineAlive(address)).toBe(false);
});

test("the provider's process ends after its engine, once the engine has refused two connections in a row", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { server, address } = await startEngine();
  const end = vi.fn();
  exitWithEngine(address, end);
  const look = async () => {
    vi.advanceTimersByTime(1_000);
    // This connection is made after the check's connection.
    await isEngineAlive(address);
    await new Promise(setImmediate);
    return end.mock.calls.length;
  };
  expect([await look(), await look()]).toEqual([0, 0]);
  await new Promise((resolve) => server.close(resolve));
  expect([await look(), await look(), await look()]).toEqual([0, 1, 1]);
});
