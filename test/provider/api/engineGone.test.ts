import { createServer } from "node:http";
import { expect, test, vi } from "vitest";
import { UnsentError } from "../../../provider/api/apiErrors";
import { CONNECTIONS } from "../../../provider/api/client";
import type { EndpointsApi } from "../../../provider/api/endpoints";
import type { RecordedRequest } from "../../../sdk/testing";
import { methods } from "../../requests";
import { listening, startProxy, useProxy } from "../servers";
import { service, thrown } from "../service";

/* An engine that has ended cannot store a new endpoint, so no create is sent, whatever it waited for. */

/** A client and an engine that a test can end. */
async function client(settings: Record<string, string> = {}) {
  const engine = { isThere: true };
  let answered: (request: RecordedRequest) => void = () => {};
  const parts = await service({
    settings,
    onAnswer: (request) => answered(request),
    engineIsThere: async () => engine.isThere,
  });
  /** Ends the engine after the service's reply to the given number of requests with this method. */
  const endAfter = (count: number, method: string) => {
    let left = count;
    answered = (request) => {
      if (request.method === method && --left === 0) engine.isThere = false;
    };
  };
  return { ...parts, engine, endAfter };
}

const creates = (api: EndpointsApi, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      api.create({ url: `https://e${index}.example.com` }).then(
        () => "created",
        (error: unknown) => (error instanceof UnsentError ? "not sent" : String(error)),
      ),
    ),
  );
const times = (count: number, value: string) => Array<string>(count).fill(value);

test("of 64 parallel creates, only those with a connection are sent after the engine ended", async () => {
  const { emulator, api, engine } = await client();
  const { provider } = CONNECTIONS;
  emulator.intercept(
    () => {
      if (emulator.requests.length === provider) engine.isThere = false;
      return true;
    },
    { afterCommit: true, delayMs: 200 },
    64,
  );
  expect(await creates(api, 64)).toEqual([
    ...times(provider, "created"),
    ...times(64 - provider, "not sent"),
  ]);
  expect(emulator.requests).toHaveLength(provider);
});

test("a create that waits for the budget is not sent after the engine ended, but a read is", async () => {
  const { api, endAfter } = await client({
    "endpoints:requestsPerWindow": "1",
    "endpoints:windowSeconds": "0.3",
  });
  endAfter(1, "POST");
  const all = creates(api, 2);
  expect(await thrown(api.get("ep_1"))).toMatchObject({ status: 404 });
  expect(await all).toEqual(["created", "not sent"]);
});

test("a create that waits for its connection is not sent after the engine ended", async () => {
  let connected = () => {};
  const { address, tunnels } = await startProxy(new Promise((resolve) => (connected = resolve)));
  useProxy(address);
  const { emulator, api, engine } = await client();
  const create = creates(api, 1);
  await vi.waitUntil(() => tunnels.length === 1, 60_000);
  engine.isThere = false;
  connected();
  expect(await create).toEqual(["not sent"]);
  expect(emulator.requests).toEqual([]);
});

test("a lost create is looked for after the engine ended, but not sent again", async () => {
  const { emulator, core, endAfter } = await client();
  endAfter(1, "GET");
  emulator.intercept(({ method }) => method === "POST", { reset: true });
  const { cause } = await thrown(core.create({ url: "https://shop.example.com" }));
  expect(cause).toBeInstanceOf(UnsentError);
  expect(methods(emulator)).toContain("GET");
  expect(emulator.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
});

test("no byte of a create is sent before the engine has answered", async () => {
  let bytes = 0;
  let connections = 0;
  const server = createServer((_, response) => response.writeHead(201).end("{}"));
  server.on("connection", (socket) => {
    connections++;
    socket.on("data", (data) => {
      bytes += data.length;
    });
  });
  const baseUrl = `http://${await listening(server)}`;
  let answer = (_: boolean) => {};
  const engineIsThere = () =>
    new Promise<boolean>((resolve) => {
      answer = resolve;
    });
  const { api } = await service({ settings: { "endpoints:baseUrl": baseUrl }, engineIsThere });
  const error = thrown(api.create({ url: "https://shop.example.com" }));
  await vi.waitUntil(() => connections === 1, 60_000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(bytes).toBe(0);
  answer(false);
  expect(await error).toBeInstanceOf(UnsentError);
  expect(bytes).toBe(0);
});
