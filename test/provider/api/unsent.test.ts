import { createServer } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ConnectionError } from "../../../provider/api/apiErrors";
import { listening, useProxy } from "../servers";
import { service, thrown } from "../service";

/* A request that was never sent had no effect. A request that was sent may have had one. */

const url = "https://shop.example.com";
const DOUBT = /may have been created nevertheless/;

/** An address whose port is closed. */
async function refused(): Promise<string> {
  const server = createTcpServer();
  const address = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return address;
}

/** Reasons why a service cannot be reached, with the settings that cause them. */
const unreachable: [string, () => Promise<Record<string, string>>][] = [
  ["a refused connection", async () => ({ "endpoints:baseUrl": `http://${await refused()}` })],
  ["an unknown host", async () => ({ "endpoints:baseUrl": "http://nowhere.invalid" })],
  [
    "a failed TLS handshake",
    async () => {
      const server = createTcpServer((socket) => socket.end("no TLS\r\n"));
      return { "endpoints:baseUrl": `https://${await listening(server)}` };
    },
  ],
  [
    "a proxy that refuses the connection",
    async () => {
      useProxy(await refused());
      return {};
    },
  ],
  [
    "a proxy that does not reach the service",
    async () => {
      const proxy = createServer();
      proxy.on("connect", (_, socket) => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
      useProxy(await listening(proxy));
      return {};
    },
  ],
];

test.each(unreachable)(
  "a create after %s is repeated and fails with the reason, without a look at the list",
  async (_, settings) => {
    const { core, waits } = await service({
      settings: { "endpoints:retryForSeconds": "3", ...(await settings()) },
    });
    const { message } = await thrown(core.create({ url }));
    expect(message).toMatch(/cannot create .*POST \/endpoints: no answer .*endpoints:baseUrl/);
    expect(message).not.toMatch(/GET|could not find out|may have been created/);
    expect(waits.length).toBeGreaterThan(1);
  },
);

describe("an address that refuses connections", () => {
  const hint = /Nothing listens on http:.*`npx pulumi-endpoints emulator`/;
  const sum = (waits: number[]) => waits.reduce((all, wait) => all + wait, 0);

  test.each(["127.0.0.1", "localhost"])(
    "of this machine, %s, ends the attempt within five seconds, with the emulator in the message",
    async (host) => {
      const port = (await refused()).split(":")[1];
      const { api, waits, logged } = await service({
        settings: { "endpoints:baseUrl": `http://${host}:${port}` },
      });
      expect((await thrown(api.get("ep_1"))).message).toMatch(hint);
      expect(waits.length).toBeGreaterThan(2);
      expect(sum(waits)).toBeLessThan(5_000);
      expect(logged).toEqual([]);
    },
  );

  test("as a proxy of this machine is tried for as long as any other failure", async () => {
    useProxy(await refused());
    const { api, waits } = await service();
    expect((await thrown(api.get("ep_1"))).message).not.toMatch(hint);
    expect(sum(waits)).toBeGreaterThan(60_000);
  });
});

describe("a create that was sent", () => {
  test.each([
    ["a reset connection", { reset: true as const }],
    ["a missing reply", { hang: true as const }],
  ])("is not repeated after %s, and its error mentions a possible endpoint", async (_, fault) => {
    const { api, emulator } = await service({ settings: { "endpoints:timeoutSeconds": "0.2" } });
    // A new connection, and one that was used before.
    for (const warm of [false, true]) {
      if (warm) await thrown(api.get("ep_1"));
      emulator.intercept(({ method }) => method === "POST", fault);
      await expect(api.create({ url })).rejects.toThrow(DOUBT);
    }
    expect(emulator.requests.filter(({ method }) => method === "POST")).toHaveLength(2);
  });
});

describe("a create whose first connections were refused", () => {
  /** Starts a client. The service begins to listen after two seconds of the client's waits, which take no time. */
  async function startedLate(serve: (socket: Socket) => void) {
    const address = await refused();
    const [host, port] = address.split(":");
    const server = createTcpServer(serve);
    onTestFinished(() => void server.close());
    const engineIsThere = vi.fn(async () => true);
    const { api, clock, waits } = await service({
      settings: { "endpoints:baseUrl": `http://${address}` },
      engineIsThere,
      sleep: async () => {
        if (late() > 2_000 && !server.listening)
          await new Promise<void>((resolve) => server.listen(Number(port), host, resolve));
      },
    });
    const late = () => waits.reduce((sum, wait) => sum + wait, 0);
    return { api, engineIsThere, clock, late };
  }

  test("is sent once the service listens, after a check that the engine still runs", async () => {
    const made = JSON.stringify({ id: "ep_1", type: "cloud", url });
    const { api, engineIsThere } = await startedLate((socket) =>
      socket.on("data", () =>
        socket.end(`HTTP/1.1 201 Created\r\ncontent-length: ${made.length}\r\n\r\n${made}`),
      ),
    );
    expect(await api.create({ url })).toMatchObject({ id: "ep_1" });
    expect(engineIsThere).toHaveBeenCalled();
  });

  test("that is then lost has the time of the attempt that was sent", async () => {
    const { api, clock, late } = await startedLate((socket) => socket.on("data", () => socket.destroy()));
    const before = clock.now();
    const error = await thrown(api.create({ url }));
    expect(error).toMatchObject({ name: "ConnectionError", wentOut: true });
    expect((error as ConnectionError).sentAt).toBeGreaterThanOrEqual(before + late());
  });
});
