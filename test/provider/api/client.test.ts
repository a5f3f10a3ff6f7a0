import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import type { Server } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { CONNECTIONS } from "../../../provider/api/client";
import { temporaryFolder } from "../../folders";
import { startProxy, useProxy } from "../servers";
import { CANARY_KEY, service, thrown, wholeList } from "../service";

const COMMANDS = join(import.meta.dirname, "../../../dist/sdk/commands/main.js");

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test("requests use the proxy of the environment, except for hosts in NO_PROXY", async () => {
  const { address, tunnels } = await startProxy();
  useProxy(address);
  const behind = await service();
  const { id } = await behind.api.create({ url: "https://shop.example.com" });
  await behind.api.get(id);
  expect(new Set(tunnels)).toEqual(new Set([new URL(behind.emulator.baseUrl).host]));
  const before = tunnels.length;

  useProxy(address, "127.0.0.1");
  const direct = await service();
  await direct.api.create({ url: "https://shop.example.com" });
  expect(tunnels).toHaveLength(before);
});

describe("ENDPOINTS_LOG", () => {
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
  /** Sends a create, a list, a read that is refused and one without an answer. */
  const send = async () => {
    const { api, emulator, logged } = await service({ settings: { "endpoints:retryForSeconds": "0.001" } });
    const { id } = await api.create({
      url: "https://shop.example.com",
      traffic_policy: '{"secret":"CANARY"}',
    });
    await wholeList(api);
    await thrown(api.get("ep_2Hx0000000000000000000000001"));
    emulator.intercept(() => true, { reset: true });
    await thrown(api.get(id));
    return { id, logged };
  };
  const expected = (id: string) => [
    `${time} POST /endpoints 201 \\d+ms -`,
    `${time} GET /endpoints 200 \\d+ms -`,
    `${time} GET /endpoints/ep_2Hx\\d+ 404 \\d+ms op_\\w+`,
    `${time} GET /endpoints/${id} no-answer \\d+ms -`,
  ];

  test("as `requests` writes one line for each request, without secrets", async () => {
    const lines: string[] = [];
    vi.spyOn(process.stderr, "write").mockImplementation((line) => lines.push(String(line)) > 0);
    vi.stubEnv("ENDPOINTS_LOG", "requests");
    const { id } = await send();
    expect(lines).toEqual(expected(id).map((line) => expect.stringMatching(`^endpoints: ${line}\n$`)));
    expect(lines.join("")).not.toContain(CANARY_KEY);
    vi.stubEnv("ENDPOINTS_LOG", "");
    await send();
    expect(lines).toHaveLength(4);
  });

  test("as a path appends the lines to a file that only its owner can read", async () => {
    const file = join(temporaryFolder(), "requests.log");
    vi.stubEnv("ENDPOINTS_LOG", file);
    const ids = [(await send()).id, (await send()).id];
    const lines = readFileSync(file, "utf8").split("\n");
    expect(lines.pop()).toBe("");
    expect(lines).toEqual(ids.flatMap(expected).map((line) => expect.stringMatching(`^${line}$`)));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("gets whole lines of several processes that append to one file", async () => {
    const file = join(temporaryFolder(), "requests.log");
    const { emulator } = await service();
    const { baseUrl, apiKey } = emulator;
    const env = {
      ...process.env,
      ENDPOINTS_BASE_URL: baseUrl,
      ENDPOINTS_API_KEY: apiKey,
      ENDPOINTS_LOG: file,
    };
    const list = () => promisify(execFile)(process.execPath, [COMMANDS, "adopt"], { env });
    await Promise.all([list(), list(), list()]);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines.length).toBeGreaterThanOrEqual(3);
    for (const line of lines) expect(line).toMatch(new RegExp(`^${time} GET /endpoints 200 \\d+ms -$`));
  });

  test.each([
    ["request", /^requests are not logged to ENDPOINTS_LOG: it is neither `requests` nor the path of a file/],
    ["/no/such/folder/log", /^requests are not logged to ENDPOINTS_LOG: .*ENOENT/],
  ])("as %j is warned of once, and fails no request", async (value, message) => {
    vi.stubEnv("ENDPOINTS_LOG", value);
    const { logged } = await send();
    expect(logged).toEqual([expect.stringMatching(message)]);
  });
});

test("a service that does not answer is logged once, after three seconds", async () => {
  const { api, emulator, logged } = await service();
  emulator.intercept(() => true, { reset: true }, 5);
  emulator.seed({ type: "cloud", url: "https://shop.example.com" });
  await wholeList(api);
  expect(logged).toEqual([
    `GET /endpoints: no answer (ECONNRESET: read ECONNRESET); requests to ${emulator.baseUrl} are repeated for 120 s (endpoints:retryForSeconds)`,
  ]);
  const hanging = await service();
  hanging.emulator.intercept(() => true, { afterCommit: true, delayMs: 3_500 });
  await wholeList(hanging.api);
  expect(hanging.logged).toEqual([
    expect.stringMatching(/^GET \/endpoints: no answer for 3 s; requests to http/),
  ]);
  const short = await service();
  short.emulator.intercept(() => true, { reset: true });
  await wholeList(short.api);
  expect(short.logged).toEqual([]);
});

test("60 parallel requests share a few connections, which stay open", async () => {
  const { api, emulator } = await service();
  const { id } = await api.create({ url: "https://shop.example.com" });
  await Promise.all(Array.from({ length: 60 }, () => api.get(id)));
  const open = await new Promise<number>((resolve, reject) => {
    const { server } = emulator as unknown as { server: Server };
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
  expect(open).toBeLessThanOrEqual(CONNECTIONS.provider);
  expect(CONNECTIONS.provider + CONNECTIONS.program).toBeLessThanOrEqual(8);
});
