import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { listening } from "../provider/servers";

interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Starts a local application that records its requests. Its default answer is a 201 with a header. */
export async function startApplication(
  reply: (response: ServerResponse) => void = (response) =>
    response.writeHead(201, { "x-from": "application" }).end("taken"),
): Promise<{ port: number; url: string; requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = "", url = "", headers } = incoming;
    requests.push({ method, path: url, headers, body: Buffer.concat(chunks) });
    reply(response);
  });
  const address = await listening(server);
  return { port: Number(address.split(":")[1]), url: `http://${address}`, requests };
}
