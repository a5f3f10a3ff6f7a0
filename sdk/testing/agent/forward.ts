import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";

/** Headers that belong to one connection, and are never passed on; beside those that `Connection` names. */
const HOP_BY_HOP = "connection,keep-alive,proxy-connection,transfer-encoding,upgrade,te,trailer";

/**
 * Passes a request on, its body byte for byte and its headers in their order and spelling; resolves to the answer.
 *
 * @param signal Breaks the request off, also in the middle of its answer.
 */
export function forward(
  upstream: URL,
  incoming: IncomingMessage,
  body: Buffer,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = upstream.protocol === "https:" ? httpsRequest : httpRequest;
  const length = body.length > 0 || incoming.headers["content-length"] !== undefined;
  const headers = passedOn(incoming, "content-length");
  if (length) headers.push("content-length", `${body.length}`);
  const { method = "GET", url: path = "/" } = incoming;
  return new Promise((resolve, reject) => {
    send(upstream, { method, path, headers, agent: false, signal }, resolve).on("error", reject).end(body);
  });
}

/** Passes the application's answer back. Where either side dies in the middle of it, both connections are ended. */
export async function passBack(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer));
  await pipeline(answer, response);
}

/** Names and values in turn, as they came. */
function passedOn({ headers, rawHeaders }: IncomingMessage, more = ""): string[] {
  const dropped = `${HOP_BY_HOP},${more},${headers.connection}`
    .split(",")
    .map((name) => name.trim().toLowerCase());
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || dropped.includes(name.toLowerCase()) ? [] : [name, rawHeaders[index + 1] ?? ""],
  );
}
