import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { z } from "zod";
import { emulatorCommand } from "../../sdk/commands/serveEmulator";
import { emulatedService } from "../emulatedService";
import { temporaryFolder } from "../folders";
import { until } from "../until";
import { startInProcess } from "./runCommand";

const listSchema = z.object({ endpoints: z.array(z.looseObject({ type: z.string() })) });

/** Starts the command, and waits until it serves. */
async function start(...args: string[]) {
  const before = process.listenerCount("SIGINT");
  const { code, printed } = startInProcess(emulatorCommand, args);
  await until(() => process.listenerCount("SIGINT") > before);
  const [line = "", baseUrl = "", key = ""] =
    /^export ENDPOINTS_BASE_URL=(\S+) ENDPOINTS_API_KEY=(\S+)$/m.exec(printed.stdout) ?? [];
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
  return { line, printed, send, types, stop };
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "the emulator prints a line for each request, and exits with 0 on %s",
  async (signal) => {
    const { line, printed, types, stop } = await start("--api-key", "it-is", "--seed", "4");
    expect(line).toMatch(/ENDPOINTS_API_KEY=it-is$/);
    expect(await types()).toEqual(["cloud", "edge", "ephemeral", "cloud"]);
    await until(() => printed.stdout.endsWith("GET /endpoints 200\n"));
    await stop(signal);
  },
);

test("the emulator keeps address, key and endpoints in the file of --state, also if it is killed", async () => {
  const file = join(temporaryFolder(), ".endpoints.json");
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

test("the emulator refuses a file of --state with another content, and a port that is in use, in one line", async () => {
  const file = join(temporaryFolder(), "package.json");
  writeFileSync(file, '{"name":"shop"}');
  const { port } = new URL((await emulatedService()).baseUrl);
  for (const [args, exitCode, message] of [
    [["--state", file], 2, `${file} is no state of the emulator; delete it, or give another file\n`],
    [["--port", port], 1, `port ${port} is in use; choose another with --port\n`],
  ] as const) {
    const { code, printed } = startInProcess(emulatorCommand, [...args]);
    expect(await code).toBe(exitCode);
    expect(printed.stderr).toContain(`pulumi-endpoints emulator: ${message}`);
  }
  expect(readFileSync(file, "utf8")).toBe('{"name":"shop"}');
});

test("the emulator ends if it cannot write the file of --state, and names it", async () => {
  const file = join(temporaryFolder(), ".endpoints.json");
  mkdirSync(`${file}.new`);
  const { code, printed } = startInProcess(emulatorCommand, ["--state", file]);
  expect(await code).toBe(1);
  expect(printed.stderr).toMatch(/emulator: \S+\.new cannot be written: EISDIR/);
  const [, baseUrl = ""] = /ENDPOINTS_BASE_URL=(\S+)/.exec(printed.stdout) ?? [];
  await expect(fetch(baseUrl)).rejects.toThrow();
});

test("an emulator that can no longer write the file of --state says so, and serves on", async () => {
  const folder = temporaryFolder();
  const { printed, send, types, stop } = await start("--state", join(folder, ".endpoints.json"));
  rmSync(folder, { recursive: true });
  await send("POST", "/endpoints", { type: "cloud", url: "https://shop.example.com" });
  expect(await types()).toEqual(["cloud"]);
  expect(printed.stdout).toContain("cannot be written");
  expect(printed.stdout).toContain("The endpoints are only in memory.");
  await stop();
});

test("the emulator answers 429 beyond --rate-limit", async () => {
  const { send, stop } = await start("--rate-limit", "2");
  const status = async () => (await send("GET", "/endpoints")).status;
  expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
  await stop();
});

test("with --serve, the endpoints answer by the header Host, and the terminal shows what their policies did", async () => {
  // Behind the agent's endpoint is the service of another emulator, which refuses a request without a key.
  const { baseUrl } = await emulatedService();
  const { printed, send, stop } = await start(
    "--serve",
    "0",
    "--connect",
    `https://shop.internal=${baseUrl}`,
  );
  const [, served = ""] = /The endpoints answer on (http:\S+):/.exec(printed.stdout) ?? [];
  // Before the first request.
  expect(printed.stdout).toMatch(
    /^No request is limited by rate-limit, and none is answered by a pool.*README\.md/m,
  );
  const actions = [{ type: "forward-internal", config: { url: "https://shop.internal" } }];
  const policy = { on_http_request: [{ expressions: ["req.method == 'PUT'"], actions }, { actions }] };
  const url = "https://shop.example.com";
  await send("POST", "/endpoints", { url, traffic_policy: JSON.stringify(policy) });
  const get = (path: string) =>
    new Promise<[status: number, body: string]>((resolve, reject) => {
      const headers = { host: "shop.example.com:8080" };
      const sent = request(served + path, { headers }, async (reply) =>
        resolve([reply.statusCode ?? 0, await text(reply)]),
      );
      sent.on("error", reject).end();
    });
  expect(await get("/endpoints?b")).toEqual([401, expect.stringContaining("ERR_NGROK")]);
  expect(printed.stdout).toMatch(
    /GET https:\/\/shop\.example\.com\/endpoints\?b 401\n {4}https:\/\/shop\.example\.com on_http_request\[0\]: not matched\n/,
  );
  await stop();
  await expect(get("/")).rejects.toThrow();
});
