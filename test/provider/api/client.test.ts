import type { Server } from "node:http";
import { afterEach, expect, test, vi } from "vitest";
import { CONNECTIONS } from "../../../provider/api/client";
import { startProxy, useProxy } from "../servers";
import { CANARY_KEY, service, thrown, wholeList } from "../service";

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

test("ENDPOINTS_LOG=requests writes one line for each request, without secrets", async () => {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => lines.push(String(line)) > 0);
  vi.stubEnv("ENDPOINTS_LOG", "requests");
  const { api, emulator } = await service({ settings: { "endpoints:retryForSeconds": "0.001" } });
  const { id } = await api.create({ url: "https://shop.example.com", traffic_policy: '{"secret":"CANARY"}' });
  await thrown(api.get("ep_2Hx0000000000000000000000001"));
  emulator.intercept(() => true, { reset: true });
  await thrown(api.get(id));
  expect(lines).toEqual([
    expect.stringMatching(/^endpoints: POST \/endpoints 201 \d+ ms\n$/),
    expect.stringMatching(/^endpoints: GET \/endpoints\/ep_2Hx\d+ 404 ERR_NGROK_\d+ op_\w+ \d+ ms\n$/),
    expect.stringMatching(/^endpoints: GET \/endpoints\/ep_\w+ no answer \d+ ms\n$/),
  ]);
  expect(lines.join("")).not.toContain(CANARY_KEY);

  vi.stubEnv("ENDPOINTS_LOG", "");
  await api.get(id);
  expect(lines).toHaveLength(3);
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
