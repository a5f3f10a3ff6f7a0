import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type Application, signWebhook } from "../../sdk/testing";
import { act, forward, HELLO, URL } from "../../sdk/traffic-policy/test/answer/policies";
import { until } from "../until";
import { startApplication } from "./application";
import { startEmulator } from "./policies";

const HOST = "shop.example.com";

/** An emulator whose endpoint forwards to an application, after other actions. */
async function forwarding(application: Application, more: object = {}, ...actions: object[]) {
  const [rule] = forward("https://app.internal", more).on_http_request;
  const emulator = await startEmulator({
    [URL]: { on_http_request: [{ actions: [...actions, ...(rule?.actions ?? []), HELLO] }] },
  });
  emulator.connect("https://app.internal", application);
  return emulator;
}

/** The server of an emulator that forwards, and the reported lines. */
async function serve(application: Application, ...actions: object[]) {
  const emulator = await forwarding(application, {}, ...actions);
  const lines: string[] = [];
  const port = await emulator.serve({
    onReply: ({ method, url, status }) => lines.push(`${method} ${url} ${status}`),
  });
  const send = (headers: Record<string, string>, body: string | Buffer = "", path = "/") =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const method = body.length > 0 ? "POST" : "GET";
      httpRequest({ port, method, path, headers, agent: false }, resolve).on("error", reject).end(body);
    });
  const text = async (reply: IncomingMessage) => `${reply.statusCode} ${await buffer(reply)}`;
  return { emulator, port, send, text, lines };
}

/** A server that answers with these bytes. */
const rawServer = async (answer: string) =>
  (await startApplication((response) => response.socket?.end(answer))).url;

test("a verified request reaches the application unchanged, and the client gets its answer", async () => {
  const application = await startApplication();
  const verify = act("verify-webhook", { provider: "github", secret: "a secret" });
  const { send, text, lines } = await serve(application.url, verify);
  const body = Buffer.concat([Buffer.from('{ "a" : "é✓" }\r\n'), Buffer.from([0xff, 0xfe, 0x00])]);
  const signature = signWebhook("github", { body, secret: "a secret" });
  const reply = await send({ ...signature, host: HOST, "X-More": "1" }, body, "/hook?b=2&a=%20");
  expect([reply.headers["x-from"], await text(reply)]).toEqual(["application", "201 taken"]);
  expect((await send({ host: HOST }, body)).statusCode).toBe(403);
  expect(application.requests).toMatchObject([
    { method: "POST", path: "/hook?b=2&a=%20", headers: { "x-more": "1", host: HOST } },
  ]);
  expect(application.requests[0]?.headers["content-length"]).toBe(`${body.length}`);
  expect(application.requests[0]?.body.equals(body)).toBe(true);
  expect(lines).toEqual([`POST ${URL}/hook?b=2&a=%20 201`, `POST ${URL}/ 403`]);
});

test.each<[application: () => unknown, words: string]>([
  [() => "http://127.0.0.1:9", "connect ECONNREFUSED 127.0.0.1:9"],
  [() => () => Response.error(), "it returned no response"],
  [() => () => Promise.reject(new Error("out of tea")), "out of tea"],
  [() => rawServer("HTTP/1.1 101 A\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n"), "changed the protocol"],
  [() => rawServer("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"), "answered with the status 999"],
])("a failing application is named, or the policy continues: %s", async (start, words) => {
  const application = (await start()) as Application;
  const { emulator, send, text, lines } = await serve(application);
  await expect(emulator.fetch(URL)).rejects.toMatchObject({
    name: "ApplicationFailed",
    message: expect.stringMatching(`the application of https://app.internal failed: .*${words}`),
    trace: [{ outcome: "matched", actions: [{ result: expect.stringContaining(words) }, {}] }],
  });
  expect(await text(await send({ host: HOST }))).toMatch(
    `502 the application of https://app.internal failed: `,
  );
  expect(lines).toEqual([`GET ${URL}/ 502`]);
  const lenient = await forwarding(application, { on_error: "continue" });
  expect(await (await lenient.fetch(URL)).text()).toBe("hello");
});

test("a host matches in any letter case, and every odd request gets an answer", async () => {
  const { send, text, lines } = await serve(() => new Response("taken"));
  const answerTo = async (host: string, body = "") => text(await send({ host }, body));
  expect(await answerTo("SHOP.example.com:8080")).toBe("200 taken");
  expect(await answerTo("a b")).toMatch(/^501 no public endpoint answers https:\/\/a b\//);
  expect(await answerTo("me@shop.example.com")).toMatch(/^501 the URL https:\/\/me@shop/);
  expect(await answerTo(HOST, "a".repeat(17_000_000))).toMatch(/^501 a body of over 16 MiB/);
  expect(lines).toHaveLength(4);
});

test("the request to the application ends if the client disconnects", async () => {
  const gone: Promise<unknown>[] = [];
  const application = await startApplication((response) => {
    gone.push(once(response, "close"));
    response.writeHead(200).write("some");
  });
  const { port } = await serve(application.url);
  const client = httpRequest({ port, headers: { host: HOST }, agent: false }).end();
  client.on("error", () => {});
  await until(() => gone.length === 1);
  client.destroy();
  await Promise.all(gone);
});

test("repeated headers are forwarded in both directions, but headers of the connection are not", async () => {
  const application = await startApplication((response) => {
    const headers = ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "Connection", "x-hop", "X-Hop", "1"];
    response.writeHead(200, headers).end();
  });
  const { port } = await serve(application.url);
  const headers = [
    "Host",
    HOST,
    "X-Many",
    "1",
    "X-Many",
    "2",
    "TE",
    "x",
    "Connection",
    "X-Hop",
    "X-Hop",
    "1",
  ];
  const [reply] = await once(httpRequest({ port, headers, agent: false }).end(), "response");
  reply.resume();
  expect(reply.headers).toMatchObject({ "set-cookie": ["a=1", "b=2"] });
  expect(reply.headers).not.toHaveProperty("x-hop");
  const [received] = application.requests;
  expect(received?.headers).toMatchObject({ host: HOST, "x-many": "1, 2" });
  for (const name of ["x-hop", "te"]) expect(received?.headers).not.toHaveProperty(name);
});
