import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { emulatorCommand } from "../../sdk/commands/serveEmulator";
import { service } from "../provider/plugin/pulumi";
import { startInProcess } from "./runCommand";

const listSchema = z.object({ endpoints: z.array(z.looseObject({ type: z.string() })) });

/** Starts the command, and waits until it serves. */
async function start(...args: string[]) {
  const before = process.listenerCount("SIGINT");
  const { code, printed } = startInProcess(emulatorCommand, args);
  await expect.poll(() => process.listenerCount("SIGINT")).toBe(before + 1);
  const [line = "", baseUrl = "", word = ""] =
    /^export ENDPOINTS_BASE_URL=(\S+) ENDPOINTS_API_KEY=(\S+)$/m.exec(printed.stdout) ?? [];
  // As a shell reads the word.
  const key = word
    .split("'\\''")
    .map((part) => part.replaceAll("'", ""))
    .join("'");
  const send = (method: string, path: string, body?: object) => {
    const json = { "content-type": "application/json", connection: "close" };
    const headers = { ...json, authorization: `Bearer ${key}`, "service-version": "2" };
    return fetch(baseUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  };
  const types = async () => {
    const { endpoints } = listSchema.parse(await (await send("GET", "/endpoints")).json());
    return endpoints.map(({ type }) => type);
  };
  const stop = async (signal: NodeJS.Signals = "SIGINT") => {
    process.emit(signal);
    expect(await code).toBe(0);
    expect(process.listenerCount("SIGINT")).toBe(before);
    await expect(send("GET", "/endpoints")).rejects.toThrow();
  };
  return { line, word, printed, send, types, stop };
}

/** A file in a folder of its own. */
function temporaryFile(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, name);
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "the emulator prints a line for each request, and exits with 0 on %s",
  async (signal) => {
    const { word, printed, types, stop } = await start("--api-key", "it's", "--seed", "4");
    expect(word).toBe("'it'\\''s'");
    expect(await types()).toEqual(["cloud", "edge", "ephemeral", "cloud"]);
    await expect.poll(() => printed.stdout).toMatch(/GET \/endpoints 200\n$/);
    await stop(signal);
  },
);

test("the emulator keeps address, key and endpoints in the file of --state, also if it is killed", async () => {
  const file = temporaryFile(".endpoints.json");
  const first = await start("--state", file, "--seed", "2");
  const url = "https://shop.example.com";
  await first.send("POST", "/endpoints", { type: "cloud", url });
  const atKill = readFileSync(file);
  await first.stop();
  writeFileSync(file, atKill);

  const second = await start("--state", file);
  expect(second.line).toBe(first.line);
  expect(await second.types()).toEqual(["cloud", "ephemeral", "cloud"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await second.stop();
  expect(JSON.parse(readFileSync(file, "utf8")).endpoints[0]).toMatchObject({ url });
});

test("the emulator refuses a file of --state with another content, and leaves it as it is", async () => {
  const file = temporaryFile("package.json");
  writeFileSync(file, '{"name":"shop"}');
  const { code, printed } = startInProcess(emulatorCommand, ["--state", file]);
  expect(await code).toBe(2);
  expect(printed.stderr).toContain(`${file} is no state of the emulator; delete it, or give another file`);
  expect(readFileSync(file, "utf8")).toBe('{"name":"shop"}');
});

test("the emulator exits with 1 and a single line if the port is in use", async () => {
  const { port } = new URL((await service()).baseUrl);
  const { code, printed } = startInProcess(emulatorCommand, ["--port", port]);
  expect(await code).toBe(1);
  const message = `port ${port} is in use; choose another with --port`;
  expect(printed.stderr).toBe(`pulumi-endpoints emulator: ${message}\n`);
});

test("the emulator answers 429 beyond --rate-limit", async () => {
  const { send, stop } = await start("--rate-limit", "2");
  const status = async () => (await send("GET", "/endpoints")).status;
  expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
  await stop();
});

test("with --serve, the endpoints answer by the header Host, and the terminal shows what their policies did", async () => {
  const application = createServer((_, response) => response.end("from the application"));
  await new Promise<void>((resolve) => application.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void application.close());
  const { port } = application.address() as AddressInfo;
  const connected = `https://shop.internal=http://127.0.0.1:${port}`;
  const { printed, send, stop } = await start("--serve", "0", "--connect", connected);
  const [, served = ""] = /The endpoints answer on (http:\S+):/.exec(printed.stdout) ?? [];
  const policy = {
    on_http_request: [
      { expressions: ["req.url.path == '/closed'"], actions: [{ type: "close-connection" }] },
      { expressions: ["req.url.path == '/signed'"], actions: [{ type: "oauth" }] },
      { actions: [{ type: "forward-internal", config: { url: "https://shop.internal" } }] },
    ],
  };
  const url = "https://shop.example.com";
  await send("POST", "/endpoints", { url, traffic_policy: JSON.stringify(policy) });
  const get = (path: string, host = "shop.example.com:8080") =>
    new Promise<[status: number, body: string]>((resolve, reject) => {
      const sent = request(served + path, { headers: { host } }, async (reply) =>
        resolve([reply.statusCode ?? 0, await text(reply)]),
      );
      sent.on("error", reject).end();
    });
  expect(await get("/a?b")).toEqual([200, "from the application"]);
  expect(await get("/signed")).toEqual([501, expect.stringMatching(/oauth is not simulated/)]);
  expect(await get("/", "other.example.com")).toEqual([501, expect.stringMatching(/no public endpoint/)]);
  await expect(get("/closed")).rejects.toThrow();
  expect(printed.stdout).toMatch(
    /GET https:\/\/shop\.example\.com\/a\?b 200\n {4}https:\/\/shop\.example\.com on_http_request\[0\]: not matched\n/,
  );
  await stop();
  await expect(get("/")).rejects.toThrow();
});
