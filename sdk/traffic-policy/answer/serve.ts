import type { IncomingMessage, ServerResponse } from "node:http";
import { receive, respond } from "./http";
import type { PolicyReply } from "./messages";
import type { ServeOptions } from "./options";
import { answerFor, type Reachable, targetAt } from "./routing";
import { ApplicationFailed, ConnectionClosed, RequestFailed } from "./trace";

/* Requests over HTTP on this machine. */

/** Answers for the endpoint that the header `Host` names: one with https if there is one, as `curl` sends plain HTTP here. */
export async function serveRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  endpoints: Reachable,
  { onReply = () => {}, ...options }: ServeOptions,
): Promise<void> {
  const host = (incoming.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  const { method = "", url: path = "" } = incoming;
  let url = `https://${host}${path}`;
  let reply: PolicyReply;
  try {
    const has = (scheme: string) => targetAt(endpoints, `${scheme}://${host}`, "public") !== undefined;
    if (!has("https") && has("http")) url = `http://${host}${path}`;
    const request = await receive(incoming, response, url);
    request.headers = request.headers.map(([name, value]) => [
      name,
      name.toLowerCase() === "host" ? host : value,
    ]);
    const answer = await answerFor(endpoints, request, options);
    reply = answer.reply;
    onReply({ method, url, status: reply.status, trace: answer.trace });
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    // A client gets no status if the connection is closed.
    const status = error instanceof ConnectionClosed ? 0 : error instanceof ApplicationFailed ? 502 : 501;
    onReply({ method, url, status, trace: error.trace, problem: error.message });
    if (status === 0) return void response.destroy();
    const body = Buffer.from(`${error.message}\n`);
    reply = { status, headers: [["content-type", "text/plain"]], body };
  }
  await respond(response, reply);
}
