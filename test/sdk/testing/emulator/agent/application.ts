import { createServer, type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Seen {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A local application behind the agent, which keeps what it has seen and answers 201 with a header of its own. */
export async function startApplication(): Promise<{ port: number; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = "", url = "", headers } = incoming;
    seen.push({ method, path: url, headers, body: Buffer.concat(chunks) });
    response.writeHead(201, { "x-from": "application" }).end("taken");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

/** Sends the head and a part of the body, and breaks off. Resolves when the connection is gone. */
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
