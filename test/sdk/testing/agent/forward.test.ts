import { once } from "node:events";
import { type IncomingMessage, type RequestOptions, request, type ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { startAgent } from "./application";

const OPEN = { on_http_request: [] };

const between = (reply: (response: ServerResponse) => void) => startAgent({ trafficPolicy: OPEN }, reply);

/** An application that never ends its answer, and whether its connection is gone. */
function hanging(begin: boolean) {
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

test.each([
  ["a client that leaves", false],
  ["a client that leaves", true],
  ["the stand-in's close", true],
])("%s ends the request to the application (answer begun: %s)", async (who, begun) => {
  const { reply, gone } = hanging(begun);
  const { agent, application } = await between(reply);
  const client = new AbortController();
  const answer = fetch(agent.url, { signal: client.signal }).then((reply) => reply.text());
  const failed = expect(answer).rejects.toThrow();
  await untilReceived(application.requests);
  if (who === "a client that leaves") client.abort();
  else await agent.close();
  await Promise.all([failed, ...gone]);
});

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
