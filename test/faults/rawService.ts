import { createServer, type Server, type ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { afterEach } from "vitest";
import { listen } from "../../sdk/testing/listen";
import { service } from "../provider/service";

/** A reply to the last byte, which the emulator does not give: it speaks only good HTTP, JSON and UTF-8. */
export type RawReply =
  | {
      status?: number;
      headers?: Record<string, string>;
      /** A list is sent part by part, as slowly as the client reads. */
      body?: string | Buffer | Iterable<Buffer> | AsyncIterable<Buffer>;
      /** Bytes that stand behind the reply on its connection, where no reply is due. */
      behind?: string;
    }
  /** The status line and all that follows; then the connection ends. */
  | { raw: string | Buffer };

export interface Asked {
  method: string;
  /** With its query. */
  path: string;
}

/** More than any call needs: 1,000 pages at most. A client that asks on is running in a circle. */
export const MOST_REQUESTS = 1010;

const servers: Server[] = [];
// This runs before the client is closed, which waits for replies that will never end.
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** The real client and core, whose waits take no time, before a server that answers with whatever the test gives it. */
export async function rawService(settings: Record<string, string> = {}) {
  let answer: (asked: Asked) => RawReply = () => ({ status: 500 });
  let asked: Asked[] = [];
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    request.resume();
    asked.push({ method: request.method ?? "", path: request.url ?? "" });
    // A refusal that is never tried again ends the circle, so that the test can report it.
    const last = asked[asked.length - 1] ?? { method: "", path: "" };
    send(response, asked.length > MOST_REQUESTS ? { status: 418 } : answer(last));
  });
  servers.push(server);
  const baseUrl = `http://127.0.0.1:${await listen(server, 0)}`;
  const parts = await service({ settings: { "endpoints:baseUrl": baseUrl, ...settings } });
  return {
    ...parts,
    baseUrl,
    /** Answers every request from now on in this way, and forgets what was asked and said. */
    answers(reply: RawReply | ((asked: Asked) => RawReply)) {
      answer = typeof reply === "function" ? reply : () => reply;
      asked = [];
      parts.logged.length = 0;
    },
    /** What was asked since. */
    get asked(): readonly Asked[] {
      return asked;
    },
  };
}

export type RawService = Awaited<ReturnType<typeof rawService>>;

function send(response: ServerResponse, reply: RawReply) {
  if ("raw" in reply) {
    response.socket?.end(reply.raw);
    return;
  }
  const { status = 200, headers = {}, body = "", behind = "" } = reply;
  const { socket } = response;
  if (behind) socket?.cork();
  response.writeHead(status, { "content-type": "application/json", ...headers });
  if (typeof body === "string" || Buffer.isBuffer(body)) response.end(body);
  // The client may hang up in the middle, which is no failure here.
  else pipeline(Readable.from(body), response, () => {});
  if (behind) {
    socket?.write(behind);
    socket?.uncork();
  }
}
