import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { emulatorCommand } from "../../sdk/commands/serveEmulator";
import { service } from "../provider/plugin/pulumi";
import { startInProcess } from "./runCommand";

const start = (...args: string[]) => startInProcess(emulatorCommand, args);

test.each(["SIGINT", "SIGTERM"] as const)(
  "the emulator prints a line for each request, and exits with 0 on %s",
  async (signal) => {
    const before = process.listenerCount(signal);
    const { code, printed } = start("--api-key", "it's", "--seed", "4");
    await expect.poll(() => process.listenerCount(signal)).toBe(before + 1);
    const [, baseUrl] =
      /^export ENDPOINTS_BASE_URL=(\S+) ENDPOINTS_API_KEY='it'\\''s'$/m.exec(printed.stdout) ?? [];

    const headers = { authorization: "Bearer it's", "service-version": "2" };
    const reply = await fetch(`${baseUrl}/endpoints`, { headers });
    const { endpoints } = (await reply.json()) as { endpoints: { type: string }[] };
    expect(endpoints.map(({ type }) => type)).toEqual(["cloud", "edge", "ephemeral", "cloud"]);
    await expect.poll(() => printed.stdout).toMatch(/GET \/endpoints 200\n$/);

    process.emit(signal);
    expect(await code).toBe(0);
    expect(process.listenerCount(signal)).toBe(before);
    await expect(fetch(`${baseUrl}/endpoints`, { headers })).rejects.toThrow();
  },
);

test("the emulator keeps address, key and endpoints in the file of --state, also if it is killed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, ".endpoints.json");
  const before = process.listenerCount("SIGINT");
  const started = async (...args: string[]) => {
    const { code, printed } = start("--state", file, ...args);
    await expect.poll(() => process.listenerCount("SIGINT")).toBe(before + 1);
    const [line = "", baseUrl = "", key] =
      /^export ENDPOINTS_BASE_URL=(\S+) ENDPOINTS_API_KEY=(\S+)$/m.exec(printed.stdout) ?? [];
    const send = async (method: string, path: string, body?: object) => {
      const headers = {
        authorization: `Bearer ${key}`,
        "service-version": "2",
        "content-type": "application/json",
      };
      const reply = await fetch(baseUrl + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return reply.json();
    };
    const stop = async () => {
      process.emit("SIGINT");
      await code;
    };
    return { line, send, stop };
  };
  const first = await started("--seed", "2");
  const created = await first.send("POST", "/endpoints", { type: "cloud", url: "https://shop.example.com" });
  const atKill = readFileSync(file);
  await first.stop();
  writeFileSync(file, atKill);

  const second = await started();
  expect(second.line).toBe(first.line);
  const { endpoints } = (await second.send("GET", "/endpoints")) as { endpoints: { type: string }[] };
  expect(endpoints.map(({ type }) => type)).toEqual(["cloud", "ephemeral", "cloud"]);
  expect(endpoints[0]).toEqual(created);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await second.stop();
});

test("the emulator refuses a file of --state with another content, and leaves it as it is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "package.json");
  writeFileSync(file, '{"name":"shop"}');
  const { code, printed } = start("--state", file);
  expect(await code).toBe(2);
  expect(printed.stderr).toContain(`${file} is no state of the emulator; delete it, or give another file`);
  expect(readFileSync(file, "utf8")).toBe('{"name":"shop"}');
});

test("the emulator exits with 1 and a single line if the port is in use", async () => {
  const { port } = new URL((await service()).baseUrl);
  const { code, printed } = start("--port", port);
  expect(await code).toBe(1);
  expect(printed.stderr).toBe(
    `pulumi-endpoints emulator: port ${port} is in use; choose another with --port\n`,
  );
});

test("with --serve, the endpoints answer by the header Host, and the terminal shows what their policies did", async () => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const application = createServer((_, response) => response.end("from the application"));
  const local = await new Promise<string>((resolve) => {
    application.listen(0, "127.0.0.1", () =>
      resolve(`http://127.0.0.1:${(application.address() as AddressInfo).port}`),
    );
  });
  onTestFinished(() => void application.close());
  const before = process.listenerCount("SIGINT");
  const { code, printed } = start("--serve", "0", "--connect", `https://shop.internal=${local}`);
  await expect.poll(() => process.listenerCount("SIGINT")).toBe(before + 1);
  const [, baseUrl = "", key] = /ENDPOINTS_BASE_URL=(\S+) ENDPOINTS_API_KEY=(\S+)/.exec(printed.stdout) ?? [];
  const [, served = ""] = /The endpoints answer on (http:\S+):/.exec(printed.stdout) ?? [];
  const policy = {
    on_http_request: [
      { expressions: ["req.url.path == '/closed'"], actions: [{ type: "close-connection" }] },
      { expressions: ["req.url.path == '/signed'"], actions: [{ type: "oauth" }] },
      { actions: [{ type: "forward-internal", config: { url: "https://shop.internal" } }] },
    ],
  };
  await fetch(`${baseUrl}/endpoints`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "service-version": "2", "content-type": "application/json" },
    body: JSON.stringify({ url: "https://shop.example.com", traffic_policy: JSON.stringify(policy) }),
  });
  const get = (path: string, host = "shop.example.com:8080") =>
    new Promise<[status: number, body: string]>((resolve, reject) => {
      request(served + path, { headers: { host } }, async (reply) =>
        resolve([reply.statusCode ?? 0, await text(reply)]),
      )
        .on("error", reject)
        .end();
    });
  expect(await get("/a?b")).toEqual([200, "from the application"]);
  expect(await get("/signed")).toEqual([501, expect.stringMatching(/oauth is not simulated/)]);
  expect(await get("/", "other.example.com")).toEqual([501, expect.stringMatching(/no public endpoint/)]);
  await expect(get("/closed")).rejects.toThrow();
  expect(printed.stdout).toMatch(
    /GET https:\/\/shop\.example\.com\/a\?b 200\n {4}https:\/\/shop\.example\.com on_http_request\[0\]: not matched\n/,
  );
  process.emit("SIGINT");
  expect(await code).toBe(0);
  await expect(get("/")).rejects.toThrow();
});
