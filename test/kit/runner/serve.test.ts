import { createServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import type { Emulator } from "../../../sdk/testing";
import { HELLO, startEmulator } from "./policies";

const FRONT = {
  on_http_request: [{ actions: [{ type: "forward-internal", config: { url: "https://app.internal" } }] }],
};

interface Received {
  status: number | undefined;
  text: string;
}

/** Sends requests to the server of an emulator whose endpoint forwards to an application. */
async function serve(emulator: Emulator) {
  const lines: string[] = [];
  const port = await emulator.serve({
    onReply: ({ method, url, status }) => lines.push(`${method} ${url} ${status}`),
  });
  const send = (host: string, body = "", headers: Record<string, string> = {}) =>
    new Promise<Received>((resolve, reject) => {
      httpRequest({ port, method: body ? "POST" : "GET", headers: { ...headers, host } }, async (reply) =>
        resolve({ status: reply.statusCode, text: (await buffer(reply)).toString() }),
      )
        .on("error", reject)
        .end(body);
    });
  return { port, send, lines };
}

async function withApplication(application: Parameters<Emulator["connect"]>[1]) {
  const emulator = await startEmulator({ "https://shop.example.com": FRONT });
  emulator.connect("https://app.internal", application);
  return emulator;
}

/** A server that answers with these bytes. */
async function rawServer(answer: string): Promise<string> {
  const server = createServer().on("upgrade", () => {});
  server.on("connection", (socket) => {
    socket.removeAllListeners("data").once("data", () => socket.end(answer));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("an application that does not listen is named, to the client and in the terminal", async () => {
  const emulator = await withApplication("http://127.0.0.1:9");
  const { send, lines } = await serve(emulator);
  expect(await send("shop.example.com")).toEqual({
    status: 502,
    text: "the application of https://app.internal failed: connect ECONNREFUSED 127.0.0.1:9\n",
  });
  expect(lines).toEqual(["GET https://shop.example.com/ 502"]);
});

test.each<[application: () => unknown, words: string]>([
  [() => undefined, "it returned no response"],
  [() => Response.error(), "it returned no response"],
  [() => Promise.reject(new Error("out of tea")), "out of tea"],
])("an application that fails is named: %s", async (application, words) => {
  const emulator = await withApplication(application as () => Response);
  const failed = emulator.fetch("https://shop.example.com/");
  await expect(failed).rejects.toThrow(`the application of https://app.internal failed: ${words}`);
  await expect(failed).rejects.toMatchObject({
    name: "ApplicationFailed",
    trace: [{ outcome: "matched", actions: [{ result: expect.stringContaining(words) }] }],
  });
});

test("a policy can go on if the application fails", async () => {
  const emulator = await startEmulator({
    "https://shop.example.com": {
      on_http_request: [
        {
          actions: [
            { type: "forward-internal", config: { url: "https://app.internal", on_error: "continue" } },
            { type: "custom-response", config: { status_code: 503 } },
          ],
        },
      ],
    },
  });
  emulator.connect("https://app.internal", "http://127.0.0.1:9");
  expect((await emulator.fetch("https://shop.example.com/")).status).toBe(503);
});

test.each([
  ["HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n", "changed the protocol"],
  ["HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", "answered with the status 999"],
])("a local server that answers %j fails the request", async (answer, words) => {
  const emulator = await withApplication(await rawServer(answer));
  await expect(emulator.fetch("https://shop.example.com/")).rejects.toThrow(words);
});

test("an application is a function, or the URL of a server without a path", async () => {
  for (const url of ["127.0.0.1:9", "http://127.0.0.1:9/app", "ftp://127.0.0.1"])
    await expect(withApplication(url)).rejects.toThrow(`${url} is no URL of a local server without a path`);
});

test("an application gets the addresses that the service adds", async () => {
  const emulator = await withApplication((request) =>
    Response.json(["for", "host", "proto"].map((name) => request.headers.get(`x-forwarded-${name}`))),
  );
  const reply = await emulator.fetch("https://shop.example.com/", { clientIp: "203.0.113.7" });
  expect(await reply.json()).toEqual(["203.0.113.7", "shop.example.com", "https"]);
});

test("a host counts in any letter case, and every odd request gets an answer", async () => {
  const emulator = await startEmulator({
    "https://shop.example.com": { on_http_request: [{ actions: [HELLO] }] },
  });
  const { port, send, lines } = await serve(emulator);
  expect(await send("SHOP.example.com:8080")).toEqual({ status: 200, text: "hello" });
  expect((await send("a b")).text).toMatch(/^no public endpoint answers https:\/\/a b\//);
  expect((await send("me@shop.example.com")).text).toMatch(/^the URL https:\/\/me@shop/);
  expect((await send("shop.example.com", "a".repeat(17_000_000))).text).toMatch(/a body of over 16 MiB/);
  const raw = await new Promise<string>((resolve) => {
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(
        "GET http://shop.example.com/ HTTP/1.1\r\nHost: shop.example.com\r\nConnection: close\r\n\r\n",
      ),
    );
    buffer(socket).then((all) => resolve(all.toString()));
  });
  expect(raw).toMatch(/^HTTP\/1\.1 501 /);
  expect(lines).toHaveLength(5);
});
