import { createServer } from "node:http";
import { type AddressInfo, connect, type Server } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTlsServer } from "node:tls";
import { onTestFinished, vi } from "vitest";
import type { Certificate } from "../certificates";

/* Servers on this machine that end with the test. */

/** Starts a server, and returns its address. */
export async function listening(server: Server): Promise<string> {
  const open = new Set<Duplex>();
  server.on("connection", (socket) => open.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The URL under a name for which clients use a proxy, unlike for this machine's address. */
export const proxied = (baseUrl: string): string => baseUrl.replace("127.0.0.1", "service.test");

/** Makes clients use a proxy. */
export function useProxy(address: string): void {
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ["HTTPS_PROXY", "https_proxy"]) vi.stubEnv(name, `http://${address}`);
  for (const name of ["NO_PROXY", "no_proxy"]) vi.stubEnv(name, "");
}

/** A proxy that tunnels to any address. `tunnels` has the addresses. */
export async function startProxy() {
  const tunnels: string[] = [];
  const proxy = createServer();
  proxy.on("connect", ({ url = "" }, client) => {
    tunnels.push(url);
    const upstream = connect(Number(url.split(":")[1]), "127.0.0.1");
    upstream.on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    upstream.pipe(client).pipe(upstream);
  });
  return { address: await listening(proxy), tunnels };
}

/** Starts a server that decrypts and forwards to another address. Returns its base URL. */
export async function startTls(certificate: Certificate, to: string): Promise<string> {
  const server = createTlsServer(certificate, (client) => {
    const upstream = connect(Number(to.split(":")[1]), "127.0.0.1");
    upstream.on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
    upstream.pipe(client).pipe(upstream);
  });
  return `https://${await listening(server)}`;
}
