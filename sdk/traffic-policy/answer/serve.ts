import type { IncomingMessage, ServerResponse } from "node:http";
import { receive, respond } from "./http";
import type { PolicyReply } from "./messages";
import type { ServeOptions } from "./options";
import { answerFor, findTarget, type ListEndpoints } from "./routing";
import { ApplicationFailed, ConnectionClosed, RequestFailed } from "./trace";

/** Answers for the endpoint that the header `Host` names. Clients use plain HTTP here, so an https endpoint comes first. */
export async function serveRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  endpoints: ListEndpoints,
  { onReply = () => {}, ...options }: ServeOptions,
): Promise<void> {
  const host = (incoming.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  const { method = "", url: path = "" } = incoming;
  let url = `https://${host}${path}`;
  let reply: PolicyReply;
  try {
    const has = (scheme: string) => findTarget(endpoints, `${scheme}://${host}`, "public") !== undefined;
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
    // 0 closes the connection without a reply.
    const status = error instanceof ConnectionClosed ? 0 : error instanceof ApplicationFailed ? 502 : 501;
    onReply({ method, url, status, trace: error.trace, problem: error.message });
    if (status === 0) return void response.destroy();
    const body = Buffer.from(`${error.message}\n`);
    reply = { status, headers: [["content-type", "text/plain"]], body };
  }
  await respond(response, reply);
}
