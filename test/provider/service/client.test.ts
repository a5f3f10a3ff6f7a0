import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { MAX_CONNECTIONS } from "../../../provider/service/client";
import { issue } from "../../certificates";
import { temporaryFolder } from "../../folders";
import { until } from "../../until";
import { CANARY_KEY, service, thrown, wholeList } from "../emulated";
import { proxied, startProxy, startTls, useProxy } from "../servers";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("60 requests at once share a few connections through the tunnels of a proxy", async () => {
  const { address, tunnels } = await startProxy();
  useProxy(address);
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  const { emulator } = await service();
  const baseUrl = proxied(await startTls(issue("service"), new URL(emulator.baseUrl).host));
  const behind = await service({ settings: { baseUrl, apiKey: emulator.apiKey } });
  await Promise.all(Array.from({ length: 60 }, () => thrown(behind.api.get("ep_1"))));
  expect(new Set(tunnels)).toEqual(new Set([new URL(baseUrl).host]));
  expect(tunnels.length).toBeLessThanOrEqual(MAX_CONNECTIONS.provider);
  expect(MAX_CONNECTIONS.provider + MAX_CONNECTIONS.program).toBeLessThanOrEqual(8);
  expect(emulator.requests).toHaveLength(60);
});

describe("ENDPOINTS_LOG", () => {
  /** Sends a create, a list, a read that is refused and one without an answer. */
  const send = async () => {
    const { api, emulator, logged } = await service({ settings: { retryForSeconds: "0.001" } });
    const { id } = await api.create({ url: "https://shop.example.com", traffic_policy: '{"a":"CANARY"}' });
    await wholeList(api);
    await thrown(api.get("ep_2Hx0000000000000000000000001"));
    emulator.intercept(() => true, { reset: true });
    await thrown(api.get(id));
    return { id, logged };
  };
  const expected = (id: string) =>
    ["POST /endpoints 201 #", "GET /endpoints 200 #", "GET /endpoints/ep_2Hx\\d+ 404 #op_\\w+"]
      .concat(`GET /endpoints/${id} no-answer #`)
      .map((line) => line.replace(/#$/, "#-").replace("#", "\\d+ms "))
      .map((line) => String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ${line}`);

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
    const lines = ids.flatMap(expected).join("\n");
    expect(readFileSync(file, "utf8")).toMatch(new RegExp(`^${lines}\n$`));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("as anything else is warned of once, and fails no request", async () => {
    for (const value of ["request", "/no/such/folder/log"]) {
      vi.stubEnv("ENDPOINTS_LOG", value);
      const message = /^requests are not logged to ENDPOINTS_LOG: (it is neither `requests` nor|.*ENOENT)/;
      expect((await send()).logged).toEqual([expect.stringMatching(message)]);
    }
  });
});

describe("a service that does not answer", () => {
  const repeated = (baseUrl: string) =>
    `requests to ${baseUrl} are repeated for 120 s (endpoints:retryForSeconds)`;

  test.each([
    [1, 0],
    [5, 1],
  ])("%i times in a row is logged %i times, once it has taken three seconds", async (times, messages) => {
    const { api, emulator, logged } = await service();
    emulator.intercept(() => true, { reset: true }, times);
    await wholeList(api);
    const message = `GET /endpoints: no answer (ECONNRESET: read ECONNRESET); ${repeated(emulator.baseUrl)}`;
    expect(logged).toEqual(Array(messages).fill(message));
  });

  test("to one request is logged after three seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { api, emulator, logged } = await service();
    emulator.intercept(() => true, { hang: true });
    const list = thrown(wholeList(api));
    await until(() => emulator.requests.length === 1);
    vi.advanceTimersByTime(2_900);
    expect(logged).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(logged).toEqual([`GET /endpoints: no answer for 3 s; ${repeated(emulator.baseUrl)}`]);
    vi.useRealTimers();
    await emulator.close();
    await list;
  });
});
