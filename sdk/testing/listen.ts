import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts to listen on 127.0.0.1 and returns the port. The port 0 selects a free one. The server does not keep this process
 * running, so that a test run ends even if a test forgets `close`.
 */
export async function listen(server: Server, port: number): Promise<number> {
  server.on("connection", (socket) => socket.unref());
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return (server.address() as AddressInfo).port;
}
