import { createServer, type IncomingHttpHeaders, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { Agent, type AgentOptions, signWebhook } from "../../../sdk/testing";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Starts a local application behind the agent, which records its requests. By default it answers 201 with a header. */
export async function startApplication(
  reply: (response: ServerResponse) => void = (response) =>
    response.writeHead(201, { "x-from": "application" }).end("taken"),
): Promise<{ port: number; requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = "", url = "", headers } = incoming;
    requests.push({ method, path: url, headers, body: Buffer.concat(chunks) });
    reply(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

/** Sends the headers and half of the body, then disconnects. Resolves when the connection is closed. */
export function sendHalf(url: string, headers: Record<string, string>, body: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const half = request(url, {
      method: "POST",
      headers: { ...headers, "content-length": `${body.length}` },
    });
    half.on("error", () => {});
    half.on("close", () => resolve());
    half.write(body.subarray(0, body.length >> 1), () => setTimeout(() => half.destroy(), 20));
  });
}

/** Starts an agent in front of a local application. Both stop after the test. */
export async function startAgent(options: AgentOptions, reply?: (response: ServerResponse) => void) {
  const application = await startApplication(reply);
  const agent = await Agent.start({ upstream: application.port, ...options });
  onTestFinished(() => agent.close());
  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, path = "/") =>
    fetch(agent.url + path, { method: "POST", body, headers });
  const signed = (body: string, path?: string) =>
    post(body, signWebhook("github", { body, secret: SECRET }), path);
  return { agent, application, post, signed };
}

export const SECRET = "CANARY-c2VjcmV0";
export const GITHUB = ["--verify-webhook", "github", "--verify-webhook-secret", SECRET];

/** A policy of these actions, and the action that verifies GitHub's webhooks. */
export const policyOf = (...actions: object[]) => ({ on_http_request: [{ actions }] });
export const verifying = (more: object = {}) => ({
  type: "verify-webhook",
  config: { provider: "github", secret: SECRET, ...more },
});
