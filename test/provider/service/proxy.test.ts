import { createServer } from "node:http";
import { expect, test, vi } from "vitest";
import { service, thrown } from "../emulated";
import { listening } from "../servers";

/* The proxy of the environment. Undici reads `NO_PROXY`. */

const base = "https://a.example.test";

/** The tunnels that a proxy was asked for. */
async function proxy(answer = "403 Forbidden") {
  const asked: string[] = [];
  const server = createServer();
  server.on("connect", ({ url = "" }, socket) => {
    asked.push(url);
    socket.end(`HTTP/1.1 ${answer}\r\n\r\n`);
  });
  server.on("request", ({ url = "" }, response) => {
    asked.push(url);
    response.writeHead(403).end();
  });
  const address = await listening(server);
  return { asked, url: `http://${address}` };
}

const VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"];

async function request(baseUrl: string, environment: Record<string, string>): Promise<void> {
  for (const name of VARIABLES) vi.stubEnv(name, environment[name]);
  const { api } = await service({ settings: { baseUrl, retryForSeconds: "0.001" } });
  await thrown(api.get("ep_1"));
}

test.each([
  ["HTTPS_PROXY", base, 1],
  ["https_proxy", base, 1],
  ["HTTP_PROXY", base, 1],
  ["HTTPS_PROXY", "http://a.example.test", 0],
  ["HTTP_PROXY", "http://a.example.test", 0],
  ["HTTPS_PROXY", "https://127.0.0.1:1", 0],
  ["HTTP_PROXY", "http://localhost:1", 0],
])("%s has for %s %i tunnels: the key passes no proxy in plain text", async (name, baseUrl, tunnels) => {
  const { asked, url } = await proxy();
  await request(baseUrl, { [name]: url });
  expect(asked).toEqual(Array(tunnels).fill("a.example.test:443"));
});

test("NO_PROXY excludes a host", async () => {
  const { asked, url } = await proxy();
  await request(base, { HTTPS_PROXY: url, NO_PROXY: "b.test,.example.test" });
  expect(asked).toEqual([]);
});

test.each([
  "socks5://proxy:1080",
  "http://",
  "::",
  "proxy:3128",
  // A user or password with a sign of URLs, or in Latin-1.
  "http://me:1/CANARY@proxy:3128",
  "http://me:1?CANARY@proxy:3128",
  "http://me:1#CANARY@proxy:3128",
  "http://me:CANARY%@proxy:3128",
  "http://m%E4:CANARY@proxy:3128",
])("%j is named at once", async (written) => {
  for (const name of VARIABLES) vi.stubEnv(name, name === "HTTPS_PROXY" ? written : undefined);
  const { message } = await thrown(service({ settings: { baseUrl: base } }));
  expect(message).toMatch(/^HTTPS_PROXY is not the URL of an HTTP proxy, such as http:.*percent-encode/);
  expect(message).not.toContain("CANARY");
});

test.each(["https_proxy", "HTTP_PROXY"])(
  "a refused user or password of %s is sent once, and the variable is named",
  async (variable) => {
    const { asked, url } = await proxy("407 Proxy Authentication Required");
    for (const name of VARIABLES) vi.stubEnv(name, undefined);
    vi.stubEnv(variable, url.replace("//", "//me:p%40ss@"));
    const { api, core, waits } = await service({ settings: { baseUrl: base } });
    const reason = `not sent, since the proxy of ${variable} refuses its user or password`;
    expect((await thrown(core.create({ url: "https://a.test" }))).message).toContain(
      `POST /endpoints: ${reason}`,
    );
    expect((await thrown(api.get("ep_1"))).message).toContain(reason);
    expect([asked, waits]).toEqual([["a.example.test:443"], []]);
  },
);
