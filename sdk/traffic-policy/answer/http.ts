import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Header, PolicyReply, PolicyRequest } from "./messages";
import type { Application } from "./options";
import { notSimulated } from "./trace";

/* Receives and sends the requests and replies of policies over HTTP on this machine. */

/** The longest body of a request, in bytes. */
const MAX_BODY_LENGTH = 16_777_216;

/** Reads a request as a whole. @throws RequestNotSimulated for a body of over 16 MiB. */
export async function receive(
  incoming: IncomingMessage,
  response: ServerResponse,
  url: string,
): Promise<PolicyRequest> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  const { method = "GET" } = incoming;
  const parts: Buffer[] = [];
  let length = 0;
  // Throws if the sender disconnects, so that no partial body is forwarded.
  for await (const part of incoming) {
    length += part.length;
    if (length > MAX_BODY_LENGTH) notSimulated("a body of over 16 MiB");
    parts.push(part);
  }
  return { method, url, headers: headerPairs(incoming), body: Buffer.concat(parts), signal: left.signal };
}

/** Sends a reply. If the client or the application disconnects before the end, both connections are closed. */
export async function respond(response: ServerResponse, reply: PolicyReply): Promise<void> {
  response.writeHead(reply.status, forwardableHeaders(reply.headers).flat());
  const body = reply.body === "unknown" ? "Only the service knows the text of this reply.\n" : reply.body;
  await pipeline(body instanceof Readable ? body : Readable.from([body]), response);
}

/** Sends a request to an application. Neither the body nor the order and spelling of the headers change. */
export async function toApplication(application: Application, request: PolicyRequest): Promise<PolicyReply> {
  const { method, body, url, signal } = request;
  const headers = [...forwardableHeaders(request.headers), ...(request.added ?? [])];
  if (typeof application !== "string") {
    const sent = headers.map(([name, value]): [string, string] => [name, value]);
    if (body.length > 0 && /^(?:GET|HEAD)$/.test(method))
      notSimulated(`a ${method} with a body to a function (connect a local server)`);
    const reply: unknown = await application(
      new Request(url, { method, headers: sent, ...(body.length > 0 && { body }) }),
    );
    if (!(reply instanceof Response) || reply.status < 200) throw new Error("it returned no response");
    const received = [...reply.headers];
    const content = Buffer.from(await reply.arrayBuffer());
    return { status: reply.status, headers: received, body: content };
  }
  const { pathname, search } = new URL(url);
  const send = application.startsWith("https:") ? httpsRequest : httpRequest;
  const length = body.length > 0 || request.headers.some(([name]) => name.toLowerCase() === "content-length");
  const fields = headers.filter(([name]) => name.toLowerCase() !== "content-length");
  if (length) fields.push(["content-length", `${body.length}`]);
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    send(
      application,
      { method, path: pathname + search, headers: fields.flat(), agent: false, ...(signal && { signal }) },
      resolve,
    )
      .on("error", reject)
      .on("upgrade", (_, socket) => {
        socket.destroy();
        reject(new Error("it changed the protocol of the connection"));
      })
      .end(body);
  });
  const { statusCode: status = 0 } = reply;
  if (status < 200 || status > 599) throw new Error(`it answered with the status ${status}`);
  return { status, headers: forwardableHeaders(headerPairs(reply)), body: reply };
}

const headerPairs = ({ rawHeaders }: IncomingMessage): Header[] =>
  rawHeaders.flatMap((name, index): Header[] => (index % 2 ? [] : [[name, rawHeaders[index + 1] ?? ""]]));

/** The headers of a single connection. A proxy does not forward them, nor the headers that `Connection` lists. */
const HOP_BY_HOP = "connection,keep-alive,proxy-connection,transfer-encoding,upgrade,te,trailer";

function forwardableHeaders(headers: readonly Header[]): Header[] {
  const listed = headers.flatMap(([name, value]) => (name.toLowerCase() === "connection" ? [value] : []));
  const dropped = [HOP_BY_HOP, ...listed]
    .join()
    .split(",")
    .map((name) => name.trim().toLowerCase());
  return headers.filter(([name]) => !dropped.includes(name.toLowerCase()));
}
