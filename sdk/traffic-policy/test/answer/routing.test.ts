import { expect, test } from "vitest";
import { ApplicationFailed, ConnectionClosed } from "../../index";
import { act, fetchFrom, forward, request, URL } from "./policies";

const FORWARD = forward("https://app.internal");

test.each<[what: string, endpoint: object | string, reply: string]>([
  ["a policy", request(), "200 hello"],
  [
    "a policy as YAML",
    "on_http_request: [{ actions: [{ type: deny, config: { status_code: 404 } }] }]",
    "404 ",
  ],
  ["the application of an agent", { application: () => new Response("taken") }, "200 taken"],
  [
    "an agent's application behind a policy",
    { application: () => new Response(), traffic_policy: request(act("deny")) },
    "403 ",
  ],
])("an endpoint answers by %s", async (_, endpoint, expected) => {
  const reply = await fetchFrom({ [URL]: endpoint });
  expect(`${reply.status} ${await reply.text()}`).toBe(expected);
});

test("the reply has the trace of all policies on the way, and the application gets the request", async () => {
  const endpoints = {
    [URL]: FORWARD,
    "https://app.internal": {
      traffic_policy: { on_http_request: [{ name: "all", actions: [act("log", { metadata: {} })] }] },
      application: async (received: Request) => new Response(`${received.method} ${await received.text()}`),
    },
  };
  const reply = await fetchFrom(endpoints, `${URL}/a`, { method: "POST", body: "{}" });
  expect(await reply.text()).toBe("POST {}");
  expect(reply.trace).toMatchObject([
    { endpoint: URL, phase: "on_http_request", rule: 0, outcome: "matched" },
    { endpoint: "https://app.internal", name: "all", outcome: "matched", actions: [{ type: "log" }] },
  ]);
});

test.each<
  [what: string, endpoints: Record<string, object>, failure: new (...args: never[]) => Error, words: string]
>([
  [
    "closes the connection",
    { [URL]: request(act("close-connection")) },
    ConnectionClosed,
    "closed the connection",
  ],
  [
    "forwards to an application that fails",
    { [URL]: FORWARD, "https://app.internal": { application: () => Promise.reject(new Error("no")) } },
    ApplicationFailed,
    "the application of https://app.internal failed: no",
  ],
])("a policy that %s fails the request", async (_, endpoints, failure, words) => {
  const sent = fetchFrom(endpoints);
  await expect(sent).rejects.toThrow(failure);
  await expect(sent).rejects.toThrow(words);
});
