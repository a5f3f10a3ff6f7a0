import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";

/** Headers of a single connection. They are not forwarded, and neither are those that `Connection` lists. */
const HOP_BY_HOP = "connection,keep-alive,proxy-connection,transfer-encoding,upgrade,te,trailer";

/**
 * Forwards a request. The body and the order and spelling of the headers do not change.
 *
 * @param signal Aborts the request or its response.
 */
export function forward(
  upstream: URL,
  incoming: IncomingMessage,
  body: Buffer,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = upstream.protocol === "https:" ? httpsRequest : httpRequest;
  const length = body.length > 0 || incoming.headers["content-length"] !== undefined;
  const headers = forwardedHeaders(incoming, "content-length");
  if (length) headers.push("content-length", `${body.length}`);
  const { method = "GET", url: path = "/" } = incoming;
  return new Promise((resolve, reject) => {
    send(upstream, { method, path, headers, agent: false, signal }, resolve).on("error", reject).end(body);
  });
}

/** Sends the application's answer to the client. If either side disconnects before the end, both connections end. */
export async function passBack(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, forwardedHeaders(answer));
  await pipeline(answer, response);
}

/** The headers to forward: names and values in turn. */
function forwardedHeaders({ headers, rawHeaders }: IncomingMessage, more = ""): string[] {
  const dropped = `${HOP_BY_HOP},${more},${headers.connection}`
    .split(",")
    .map((name) => name.trim().toLowerCase());
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || dropped.includes(name.toLowerCase()) ? [] : [name, rawHeaders[index + 1] ?? ""],
  );
}
