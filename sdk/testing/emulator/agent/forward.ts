import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";

/** Headers that belong to one connection, and are never passed on. */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer"]);

/** Where the application listens, from a port or a URL. */
export function upstreamUrl(upstream: number | string): URL {
  return typeof upstream === "number" || /^\d+$/.test(upstream)
    ? new URL(`http://127.0.0.1:${upstream}`)
    : new URL(upstream);
}

/** Passes a request on, its body byte for byte and its headers in their order and spelling; resolves to the answer. */
export function forward(
  upstream: URL,
  incoming: IncomingMessage,
  body: Buffer,
  more: Record<string, string>,
): Promise<IncomingMessage> {
  const send = upstream.protocol === "https:" ? httpsRequest : httpRequest;
  const options: RequestOptions = {
    method: incoming.method ?? "GET",
    host: upstream.hostname,
    port: upstream.port,
    path: incoming.url ?? "/",
    headers: headersOf(incoming, body, more),
    agent: false,
  };
  return new Promise((resolve, reject) => {
    send(options, resolve).once("error", reject).end(body);
  });
}

function headersOf(incoming: IncomingMessage, body: Buffer, more: Record<string, string>) {
  const headers: string[] = [];
  const names = new Set(Object.keys(more).map((name) => name.toLowerCase()));
  for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
    const [name = "", value = ""] = incoming.rawHeaders.slice(index, index + 2);
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || lower === "content-length" || names.has(lower)) continue;
    headers.push(name, value);
  }
  for (const [name, value] of Object.entries(more)) headers.push(name, value);
  if (body.length > 0 || incoming.headers["content-length"] !== undefined)
    headers.push("content-length", `${body.length}`);
  return headers;
}

/** The headers of the application's answer, without those of its connection. */
export function answerHeaders(answer: IncomingMessage): string[] {
  const headers: string[] = [];
  for (let index = 0; index < answer.rawHeaders.length; index += 2) {
    const [name = "", value = ""] = answer.rawHeaders.slice(index, index + 2);
    if (!HOP_BY_HOP.has(name.toLowerCase())) headers.push(name, value);
  }
  return headers;
}
