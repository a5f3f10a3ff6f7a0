import { once } from "node:events";
import { type IncomingMessage, type RequestOptions, request, type ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { startAgent } from "./application";

const OPEN = { on_http_request: [] };

const startWith = (reply: (response: ServerResponse) => void) => startAgent({ trafficPolicy: OPEN }, reply);

/** A reply that never ends. `gone` resolves when the application's connections are closed. */
function hanging(begin: boolean) {
  const gone: Promise<unknown>[] = [];
  const reply = (response: ServerResponse) => {
    gone.push(once(response, "close"));
    if (begin) response.writeHead(200).write("some");
  };
  return { reply, gone };
}

const send = (url: string, options: RequestOptions) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { agent: false, ...options }, resolve)
      .on("error", reject)
      .end();
  });

test("the client's connection is closed if the application disconnects in the middle of its answer", async () => {
  const { agent } = await startWith((response) => {
    response.writeHead(200, { "content-length": "100" }).write("some", () => response.destroy());
  });
  const reply = await fetch(agent.url);
  expect(reply.status).toBe(200);
  await expect(reply.text()).rejects.toThrow();
  expect((await fetch(agent.url)).status).toBe(200);
});

test.each([
  ["if the client disconnects", false],
  ["if the client disconnects", true],
  ["if the agent stops", true],
])("the request to the application ends %s (answer begun: %s)", async (reason, begun) => {
  const { reply, gone } = hanging(begun);
  const { agent, application } = await startWith(reply);
  const client = new AbortController();
  const answer = fetch(agent.url, { signal: client.signal }).then((reply) => reply.text());
  const failed = expect(answer).rejects.toThrow();
  await expect.poll(() => application.requests.length).toBe(1);
  if (reason === "if the client disconnects") client.abort();
  else await agent.close();
  await Promise.all([failed, ...gone]);
});

test("repeated headers are forwarded in both directions, but headers of the connection are not", async () => {
  const { agent, application } = await startWith((response) => {
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
