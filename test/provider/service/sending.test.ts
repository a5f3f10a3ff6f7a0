import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ConnectionError, UnsentError } from "../../../provider/service/apiErrors";
import { MAX_CONNECTIONS } from "../../../provider/service/client";
import type { EndpointsApi } from "../../../provider/service/endpoints";
import { ALL_ENDPOINTS } from "../../../provider/service/list";
import type { RecordedRequest } from "../../../sdk/testing";
import type { ScriptedReply } from "../../../sdk/testing/emulator";
import { issue } from "../../certificates";
import { methods } from "../../requests";
import { until } from "../../until";
import { service, thrown } from "../emulated";
import { listening, useProxy } from "../servers";

/* Sending and repeating requests: an unsent request has no effect, and a sent request may have an effect. */

const url = "https://shop.example.com";
const isCreate = ({ method }: { method: string }) => method === "POST";

/** An address with a closed port. No other test can get this port, because it is reserved. */
const refused = async (): Promise<string> => "127.0.0.1:1";

describe("a connection that fails until the setup is changed", () => {
  test("ends after five seconds, and names the remedy of an untrusted certificate", async () => {
    const server = createTlsServer(issue("gateway"));
    const { core, waits } = await service({ settings: { baseUrl: `https://${await listening(server)}` } });
    const { message } = await thrown(core.create({ url }));
    expect(message).toMatch(/no answer \(DEPTH_ZERO_SELF_SIGNED_CERT.*NODE_EXTRA_CA_CERTS/);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThan(5_001);
  });

  test.each([
    ["SELF_SIGNED_CERT_IN_CHAIN", /NODE_EXTRA_CA_CERTS/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /NODE_EXTRA_CA_CERTS/],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", /NODE_EXTRA_CA_CERTS/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /for another host: correct the host in endpoints:baseUrl/],
    ["CERT_HAS_EXPIRED", /renew it on the server/],
    ["ERR_SSL_WRONG_VERSION_NUMBER", /correct the scheme or the port/],
  ])("%s names its remedy", (code, remedy) => {
    const cause = Object.assign(new Error("no"), { code });
    const request = { method: "GET", path: "/endpoints" };
    const error = new ConnectionError(request, cause, { origin: "https://a.example.com", maybeSent: true });
    expect(error.message).toMatch(remedy);
    expect(error.isSetupProblem).toBe(true);
  });
});

test.each(["8.2", "2.2", "30.00001"])(
  "with a limit of %s seconds, requests are sent",
  async (timeoutSeconds) => {
    const { api } = await service({ settings: { timeoutSeconds, retryForSeconds: "2.2" } });
    expect(await api.list.select(ALL_ENDPOINTS, "fresh")).toEqual([]);
  },
);

describe("a create that was never sent", () => {
  test.each<[string, () => Promise<Record<string, string>>]>([
    ["a refused connection", async () => ({ baseUrl: `http://${await refused()}` })],
    [
      "a failed TLS handshake",
      async () => {
        const server = createTcpServer((socket) => socket.end("no TLS\r\n"));
        return { baseUrl: `https://${await listening(server)}` };
      },
    ],
    [
      "a proxy that does not reach the service",
      async () => {
        const proxy = createServer();
        proxy.on("connect", (_, socket) => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
        useProxy(await listening(proxy));
        return { baseUrl: "https://service.test" };
      },
    ],
  ])("because of %s is repeated, and fails with the reason, without a list request", async (_, settings) => {
    const { core, waits } = await service({
      settings: { retryForSeconds: "3", ...(await settings()) },
    });
    const { message } = await thrown(core.create({ url }));
    expect(message).toMatch(/cannot create .*POST \/endpoints: no answer .*endpoints:baseUrl/);
    expect(message).not.toMatch(/GET|could not find out|may exist/);
    expect(waits.length).toBeGreaterThan(1);
  });

  test("is sent once the service listens and the engine was checked; if that attempt is lost, its time counts", async () => {
    const address = await refused();
    const [host, port] = address.split(":");
    const server = createTcpServer((socket) => socket.on("data", () => socket.destroy()));
    onTestFinished(() => void server.close());
    const isEngineAlive = vi.fn(async () => true);
    const late = () => waits.reduce((sum, wait) => sum + wait, 0);
    const { api, clock, waits } = await service({
      settings: { baseUrl: `http://${address}` },
      isEngineAlive,
      // The service begins to listen after two seconds of waits, which take no time.
      sleep: async () => {
        if (late() > 2_000 && !server.listening)
          await new Promise<void>((resolve) => server.listen(Number(port), host, resolve));
      },
    });
    const before = clock.now();
    const error = await thrown(api.create({ url }));
    expect(error).toMatchObject({ name: "ConnectionError", maybeSent: true });
    expect((error as ConnectionError).sentAt).toBeGreaterThanOrEqual(before + late());
    expect(isEngineAlive).toHaveBeenCalled();
  });
});

test.each<[string, ScriptedReply]>([
  ["a reset connection", { reset: true }],
  ["a reply that is no JSON", { status: 201, body: "no JSON" }],
  ...[302, 400, 401, 403, 404, 413].map((status): [string, ScriptedReply] => [
    `a ${status} of a gateway`,
    { status, body: "", afterCommit: true },
  ]),
])("a create is not repeated after %s, and its error mentions a possible endpoint", async (_, reply) => {
  const { api, emulator } = await service();
  await thrown(api.get("ep_1"));
  emulator.intercept(isCreate, reply);
  await expect(api.create({ url })).rejects.toThrow(/may exist nevertheless/);
  expect(emulator.requests.filter(isCreate)).toHaveLength(1);
});

describe("an address that refuses connections", () => {
  const hint = /Nothing listens on http:.*`npx pulumi-endpoints emulator`/;
  const sum = (waits: number[]) => waits.reduce((all, wait) => all + wait, 0);

  test("on this machine ends the attempts within five seconds, with the emulator in the message", async () => {
    const { api, waits, logged } = await service({ settings: { baseUrl: `http://${await refused()}` } });
    expect((await thrown(api.get("ep_1"))).message).toMatch(hint);
    expect(waits.length).toBeGreaterThan(2);
    expect(sum(waits)).toBeLessThan(5_000);
    expect(logged).toEqual([]);
  });

  test("of a proxy on this machine is retried for as long as after any other failure", async () => {
    useProxy(await refused());
    const { api, waits } = await service({ settings: { baseUrl: "https://service.test" } });
    expect((await thrown(api.get("ep_1"))).message).not.toMatch(hint);
    expect(sum(waits)).toBeGreaterThan(60_000);
  });
});

/* An engine that has ended cannot store a new endpoint, so no create is sent any more. */
describe("after the engine ended", () => {
  /** A client and an engine that a test can end, also after the reply to a request with this method. */
  async function client(settings: Record<string, string> = {}, endsAfter?: string) {
    const engine = { isThere: true };
    const onAnswer = ({ method }: RecordedRequest) => {
      if (method === endsAfter) engine.isThere = false;
    };
    const parts = await service({ settings, onAnswer, isEngineAlive: async () => engine.isThere });
    return { ...parts, engine };
  }

  const creates = (api: EndpointsApi, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        api.create({ url: `https://e${index}.example.com` }).then(
          () => "created",
          (error: unknown) => (error instanceof UnsentError ? "not sent" : String(error)),
        ),
      ),
    );

  test("of 64 parallel creates, only those that already had a connection are sent", async () => {
    const { provider } = MAX_CONNECTIONS;
    let looks = 0;
    // Each create with a connection checks the engine. The engine ends once all connections are in use.
    const isEngineAlive = async () => {
      const isThere = ++looks <= provider;
      await until(() => looks >= provider);
      return isThere;
    };
    const { emulator, api } = await service({ isEngineAlive });
    expect(await creates(api, 64)).toEqual([
      ...Array<string>(provider).fill("created"),
      ...Array<string>(64 - provider).fill("not sent"),
    ]);
    expect(emulator.requests).toHaveLength(provider);
  });

  test("a create that waits for the budget is not sent, but a read is", async () => {
    const { api } = await client({ requestsPerWindow: "1" }, "POST");
    const all = creates(api, 2);
    expect(await thrown(api.get("ep_1"))).toMatchObject({ status: 404 });
    expect(await all).toEqual(["created", "not sent"]);
  });

  test("a lost create is looked for, but not sent again", async () => {
    const { emulator, core } = await client({}, "GET");
    emulator.intercept(isCreate, { reset: true });
    const { cause } = await thrown(core.create({ url }));
    expect(cause).toBeInstanceOf(UnsentError);
    expect(methods(emulator)).toContain("GET");
    expect(emulator.requests.filter(isCreate)).toHaveLength(1);
  });
});

test("a stopped client fails a request that waits for a repetition, with its last error", async () => {
  const { emulator, api } = await service({ sleep: () => new Promise(() => {}) });
  emulator.intercept(() => true, { status: 503, body: "" });
  const error = thrown(api.get("ep_1"));
  await until(() => emulator.requests.some(({ status }) => status === 503));
  api.http.stop();
  expect(await error).toMatchObject({ status: 503 });
});
