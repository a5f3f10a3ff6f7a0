import {
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";

/** Headers that belong to one connection, and are never passed on; beside those that `Connection` names. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
];

/** A request on its way to the application. */
export interface Passed {
  /** Path and query. */
  uri: string;
  body: Buffer;
  /** Headers beside those of the request, by lower-case name. */
  more: readonly (readonly [string, string])[];
}

/**
 * Passes a request on, its body byte for byte and its headers in their order and spelling; resolves to the answer.
 *
 * @param signal Breaks the request off, also in the middle of its answer.
 */
export function forward(
  upstream: URL,
  incoming: IncomingMessage,
  passed: Passed,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = upstream.protocol === "https:" ? httpsRequest : httpRequest;
  const options: RequestOptions = {
    method: incoming.method ?? "GET",
    // URLs write an IPv6 address in brackets, sockets do not.
    host: upstream.hostname.replace(/^\[|\]$/g, ""),
    port: upstream.port,
    path: passed.uri,
    headers: headersOf(incoming, passed),
    agent: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    send(options, resolve).on("error", reject).end(passed.body);
  });
}

/** Passes the application's answer back. Where either side dies in the middle of it, both connections are ended. */
export async function passBack(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(
    answer.statusCode ?? 502,
    answer.statusMessage,
    without(answer, hopByHop(answer)).flat(),
  );
  await pipeline(answer, response);
}

function headersOf(incoming: IncomingMessage, { body, more }: Passed): string[] {
  const dropped = hopByHop(incoming).add("content-length");
  // There is one host; every other header may stand several times.
  if (more.some(([name]) => name === "host")) dropped.add("host");
  const length = body.length > 0 || incoming.headers["content-length"] !== undefined;
  return [
    ...without(incoming, dropped),
    ...more,
    ...(length ? [["content-length", `${body.length}`] as const] : []),
  ].flat();
}

function hopByHop({ headers }: IncomingMessage): Set<string> {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  return new Set([...HOP_BY_HOP, ...named]);
}

function without({ rawHeaders }: IncomingMessage, dropped: ReadonlySet<string>): [string, string][] {
  const headers: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (!dropped.has(name.toLowerCase())) headers.push([name, value]);
  }
  return headers;
}
