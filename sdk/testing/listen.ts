import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts to listen on 127.0.0.1 and returns the port. The port 0 selects a free one. */
export function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
