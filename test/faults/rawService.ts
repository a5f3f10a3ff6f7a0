import { createServer, type Server, type ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { afterEach } from "vitest";
import { listen } from "../../sdk/testing/listen";
import { service } from "../provider/emulated";

/** A reply with arbitrary bytes. The emulator only sends valid JSON and UTF-8. */
export interface RawReply {
  status?: number;
  body?: string | Buffer | AsyncIterable<Buffer>;
}

export interface ReceivedRequest {
  method: string;
  /** With its query. */
  path: string;
}

/** More requests than any call needs: the longest call reads 1,000 pages. */
export const MAX_REQUESTS = 1010;

const servers: Server[] = [];
// This must run before the client closes, because that waits for replies, and some never end.
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Starts a server with scripted replies, and the real client and core, whose waits take no time. */
export async function rawService(settings: Record<string, string> = {}) {
  let answer: (request: ReceivedRequest) => RawReply = () => ({ status: 500 });
  let received: ReceivedRequest[] = [];
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    request.resume();
    received.push({ method: request.method ?? "", path: request.url ?? "" });
    // A refusal ends an endless call, so that the test can report it.
    const last = received[received.length - 1] ?? { method: "", path: "" };
    send(response, received.length > MAX_REQUESTS ? { status: 418 } : answer(last));
  });
  servers.push(server);
  const baseUrl = `http://127.0.0.1:${await listen(server, 0)}`;
  const parts = await service({ settings: { baseUrl, ...settings } });
  return {
    ...parts,
    baseUrl,
    /** Sets the reply to all further requests, and clears the recorded requests and messages. */
    answers(reply: RawReply | ((request: ReceivedRequest) => RawReply)) {
      answer = typeof reply === "function" ? reply : () => reply;
      received = [];
      parts.logged.length = 0;
    },
    /** The requests since then. */
    get received(): readonly ReceivedRequest[] {
      return received;
    },
  };
}

export type RawService = Awaited<ReturnType<typeof rawService>>;

function send(response: ServerResponse, { status = 200, body = "" }: RawReply) {
  response.writeHead(status, { "content-type": "application/json" });
  if (typeof body === "string" || Buffer.isBuffer(body)) response.end(body);
  // The client may close the connection early, which is no error here.
  else pipeline(Readable.from(body), response, () => {});
}
