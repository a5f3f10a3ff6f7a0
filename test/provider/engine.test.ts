import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { expect, test, vi } from "vitest";
import { endWithEngine, engineAddress, engineIsThere } from "../../provider/engine";

const listening = async (): Promise<{ server: Server; address: { host: string; port: number } }> => {
  const server = createServer((socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, address: { host: "127.0.0.1", port: (server.address() as AddressInfo).port } };
};

test("the engine's address is the last argument of a provider's host", () => {
  expect(engineAddress(["node", "dynamic-provider", "127.0.0.1:4711"])).toEqual({
    host: "127.0.0.1",
    port: 4711,
  });
  expect(engineAddress(["node", "vitest", "run"])).toBeUndefined();
  expect(engineAddress([])).toBeUndefined();
});

test("an engine is there as long as it listens, and where nobody knows its address", async () => {
  const { server, address } = await listening();
  expect(await engineIsThere(address)).toBe(true);
  expect(await engineIsThere(undefined)).toBe(true);
  await new Promise((resolve) => server.close(resolve));
  expect(await engineIsThere(address)).toBe(false);
});

test("a process whose engine is gone ends within seconds, and not before", async () => {
  const { server, address } = await listening();
  const end = vi.fn();
  endWithEngine(address, end);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(end).not.toHaveBeenCalled();
  await new Promise((resolve) => server.close(resolve));
  await vi.waitFor(() => expect(end).toHaveBeenCalledOnce(), { timeout: 5_000 });
});
