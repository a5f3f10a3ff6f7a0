import { once } from "node:events";
import { type IncomingMessage, type RequestOptions, request, type ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { Agent } from "../../../../sdk/testing";
import { startApplication } from "./application";

const OPEN = { on_http_request: [] };

async function between(reply?: (response: ServerResponse) => void) {
  const application = await startApplication(reply);
  const agent = await Agent.start({ trafficPolicy: OPEN, upstream: application.port });
  onTestFinished(() => agent.close());
  return { agent, application };
}

/** An application that never ends its answer, and whether its connection is gone. */
function hanging(begin = false) {
  const gone: Promise<unknown>[] = [];
  const reply = (response: ServerResponse) => {
    gone.push(once(response, "close"));
    if (begin) response.writeHead(200).write("some");
  };
  return { reply, gone };
}

const send = (url: string, options: RequestOptions, body?: Buffer) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { agent: false, ...options }, resolve)
      .on("error", reject)
      .end(body);
  });

const untilReceived = (requests: unknown[]) => expect.poll(() => requests.length).toBe(1);

test("an application that dies in the middle of its answer ends the client's connection", async () => {
  const { agent } = await between((response) => {
    response.writeHead(200, { "content-length": "100" }).write("some", () => response.destroy());
  });
  const reply = await fetch(agent.url);
  expect(reply.status).toBe(200);
  await expect(reply.text()).rejects.toThrow();
  expect((await fetch(agent.url)).status).toBe(200);
});

test("an application that dies before its answer gives a 502", async () => {
  const { agent } = await between((response) => void response.destroy());
  expect((await fetch(agent.url)).status).toBe(502);
});

test.each([false, true])(
  "a client that leaves ends the request to the application (answer begun: %s)",
  async (begin) => {
    const { reply, gone } = hanging(begin);
    const { agent, application } = await between(reply);
    const client = new AbortController();
    const answer = fetch(agent.url, { signal: client.signal }).then((reply) => reply.text());
    const failed = expect(answer).rejects.toThrow();
    await untilReceived(application.requests);
    client.abort();
    await failed;
    await Promise.all(gone);
  },
);

test.each([false, true])(
  "close ends a request that hangs, on both sides (answer begun: %s)",
  async (begin) => {
    const { reply, gone } = hanging(begin);
    const { agent, application } = await between(reply);
    const failed = expect(fetch(agent.url).then((reply) => reply.text())).rejects.toThrow();
    await untilReceived(application.requests);
    await agent.close();
    await Promise.all([failed, ...gone]);
    await agent.close();
  },
);

test("headers that stand several times do so on both sides, and those of the connection are not passed on", async () => {
  const { agent, application } = await between((response) => {
    const headers = ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "Connection", "x-hop", "X-Hop", "1"];
    response.writeHead(200, headers).end();
  });
  const headers = [
    "Host",
    "a",
    "X-Many",
    "1",
    "X-Many",
    "2",
    "Connection",
    "close, X-Hop",
    "X-Hop",
    "1",
    "TE",
    "x",
  ];
  const reply = await send(agent.url, { headers: headers as never });
  reply.resume();
  expect(reply.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
  expect(reply.headers["x-hop"]).toBeUndefined();
  expect(application.requests[0]?.headers).toMatchObject({ host: "a", "x-many": "1, 2" });
  expect(Object.keys(application.requests[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(["x-hop"]));
  expect(application.requests[0]?.headers["te"]).toBeUndefined();
});

test("HEAD is answered with the headers of the answer, and no body", async () => {
  const { agent, application } = await between((response) => {
    response.writeHead(200, { "content-length": "5" }).end();
  });
  const reply = await fetch(agent.url, { method: "HEAD" });
  expect([reply.status, reply.headers.get("content-length"), await reply.text()]).toEqual([200, "5", ""]);
  expect(application.requests[0]?.method).toBe("HEAD");
});

test("bodies that are sent in chunks arrive whole, both ways, also where they are no text", async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x0d, 0x0a]);
  const { agent, application } = await between((response) => {
    response.writeHead(200).write(bytes);
    response.end(bytes);
  });
  const reply = await send(agent.url, { method: "POST", headers: { "transfer-encoding": "chunked" } }, bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of reply as AsyncIterable<Buffer>) chunks.push(chunk);
  expect(Buffer.concat(chunks)).toEqual(Buffer.concat([bytes, bytes]));
  expect(application.requests[0]?.body).toEqual(bytes);
});

test("an application on IPv6 is reached by its address in brackets", async ({ skip }) => {
  const { createServer } = await import("node:http");
  const server = createServer((_, response) => response.end("six"));
  onTestFinished(() => void server.close());
  const listening = once(server, "listening").catch(() => undefined);
  server.listen(0, "::1");
  if ((await listening) === undefined) skip("this machine has no IPv6");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const agent = await Agent.start({ trafficPolicy: OPEN, upstream: `http://[::1]:${port}` });
  onTestFinished(() => agent.close());
  expect(await (await fetch(agent.url)).text()).toBe("six");
});
