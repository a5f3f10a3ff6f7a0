import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { ConnectionClosed, RequestFailed } from "./trace";
import type { Header, PolicyReply, PolicyRequest } from "./values";

/* Requests and replies of policies as real HTTP on this machine. */

/** The application behind an agent's endpoint: a function, or the URL of a local server without a path. */
export type Application = string | ((request: Request) => Response | Promise<Response>);

/** @param url The URL of the endpoint, for the path of the request. */
export async function receive(
  incoming: IncomingMessage,
  response: ServerResponse,
  url: string,
): Promise<PolicyRequest> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  const { method = "GET", url: path = "/" } = incoming;
  // Throws if the sender disconnects, so that no partial body is forwarded.
  const body = await buffer(incoming);
  return { method, url: url + path, headers: pairs(incoming), body, signal: left.signal };
}

/** Sends the reply that `answer` gives. Without one, the client gets the reason with 501. */
export async function respond(response: ServerResponse, answer: () => Promise<PolicyReply>): Promise<void> {
  let reply: PolicyReply;
  try {
    reply = await answer();
  } catch (error) {
    if (error instanceof ConnectionClosed) return void response.destroy();
    if (!(error instanceof RequestFailed)) throw error;
    reply = {
      status: 501,
      headers: [["content-type", "text/plain"]],
      body: Buffer.from(`${error.message}\n`),
    };
  }
  response.writeHead(reply.status, kept(reply.headers).flat());
  // If either side disconnects before the end, both connections end.
  const body = reply.body === "unknown" ? "Only the service knows the text of this reply.\n" : reply.body;
  await pipeline(body instanceof Readable ? body : Readable.from([body]), response);
}

/** Sends a request to an application. The body and the order and spelling of the headers do not change. */
export async function toApplication(application: Application, request: PolicyRequest): Promise<PolicyReply> {
  const { method, body, url, signal } = request;
  const headers = kept(request.headers);
  if (typeof application !== "string") {
    const hasBody = method !== "GET" && method !== "HEAD";
    const sent = headers.map(([name, value]): [string, string] => [name, value]);
    const reply = await application(new Request(url, { method, headers: sent, ...(hasBody && { body }) }));
    return {
      status: reply.status,
      headers: [...reply.headers],
      body: Buffer.from(await reply.arrayBuffer()),
    };
  }
  const { pathname, search } = new URL(url);
  const path = /^\w+:\/\/[^/?]*(.*)$/.exec(url)?.[1] || pathname + search;
  const send = application.startsWith("https:") ? httpsRequest : httpRequest;
  const length = body.length > 0 || request.headers.some(([name]) => name.toLowerCase() === "content-length");
  const fields = headers.filter(([name]) => name.toLowerCase() !== "content-length");
  if (length) fields.push(["content-length", `${body.length}`]);
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    send(
      application,
      { method, path, headers: fields.flat(), agent: false, ...(signal && { signal }) },
      resolve,
    )
      .on("error", reject)
      .end(body);
  });
  return { status: reply.statusCode ?? 502, headers: kept(pairs(reply)), body: reply };
}

const pairs = ({ rawHeaders }: IncomingMessage): Header[] =>
  rawHeaders.flatMap((name, index): Header[] => (index % 2 ? [] : [[name, rawHeaders[index + 1] ?? ""]]));

/** Headers of a single connection. They are not forwarded, and neither are those that `Connection` lists. */
const HOP_BY_HOP = "connection,keep-alive,proxy-connection,transfer-encoding,upgrade,te,trailer";

function kept(headers: readonly Header[]): Header[] {
  const listed = headers.flatMap(([name, value]) => (name.toLowerCase() === "connection" ? [value] : []));
  const dropped = [HOP_BY_HOP, ...listed]
    .join()
    .split(",")
    .map((name) => name.trim().toLowerCase());
  return headers.filter(([name]) => !dropped.includes(name.toLowerCase()));
}
