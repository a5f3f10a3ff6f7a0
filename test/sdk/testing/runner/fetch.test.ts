// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies contain expressions
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ConnectionClosed,
  Emulator,
  type FetchOptions,
  RequestNotSimulated,
  signWebhook,
  traceText,
} from "../../../../sdk/testing";

const URL = "https://shop.example.com";

async function startEmulator(policies: Record<string, unknown>): Promise<Emulator> {
  const emulator = await Emulator.start();
  onTestFinished(() => emulator.close());
  for (const [url, policy] of Object.entries(policies)) seed(emulator, url, policy);
  return emulator;
}

function seed(emulator: Emulator, url: string, policy: unknown): void {
  const binding = url.endsWith(".internal") ? "internal" : "public";
  emulator.seed({ type: "cloud", url, bindings: [binding], traffic_policy: JSON.stringify(policy) });
}

type Action = { type: string; config?: unknown };

const HELLO: Action = {
  type: "custom-response",
  config: { body: "hello", headers: { "content-type": "text/plain" } },
};
const request = (...actions: Action[]) => ({ on_http_request: [{ actions: [...actions, HELLO] }] });
const when = (expression: string) => ({
  on_http_request: [{ expressions: [expression], actions: [{ type: "deny" }] }, { actions: [HELLO] }],
});

async function send(policy: unknown, options: FetchOptions = {}, path = "/") {
  const emulator = await startEmulator({ [URL]: policy });
  return emulator.fetch(URL + path, options);
}

/** What an action did to the request, by the text that it writes. */
const shows = (text: string): Action => ({
  type: "custom-response",
  config: { body: text, headers: { "content-type": "text/plain" } },
});

describe("an expression", () => {
  test.each<[expression: string, path: string, options: FetchOptions]>([
    ["req.url.path.startsWith('/admin')", "/admin/users", {}],
    ["req.url.path == '/admin' && req.method == 'POST'", "/admin", { method: "post" }],
    ["req.headers['x-role'][0] == 'admin'", "/", { headers: { "X-Role": "admin" } }],
    ["'x-role' in req.headers", "/", { headers: { "X-Role": "" } }],
    ["has(req.headers.cookie)", "/", { headers: { cookie: "a=1" } }],
    ["req.cookies['a'][0].value == '1'", "/", { headers: { cookie: "b=2; a=1" } }],
    [
      "hasReqHeader('X-Role') && getReqHeader('X-Role') == ['admin']",
      "/",
      { headers: { "x-role": "admin" } },
    ],
    ["getQueryParam('a').join(',') == '1,2'", "/?a=1&a=2", {}],
    ["req.url.query_params['a'][1] == '2'", "/?a=1&a=2", {}],
    ["!has(req.url.port) && !has(req.content_length)", "/", {}],
    ["req.url == 'https://shop.example.com/?a=1' && req.url.contains('shop')", "/?a=1", {}],
    [
      "req.content_type == 'text/css' && req.content_type.parameters['charset'] == 'utf-8'",
      "/",
      { headers: { "content-type": "text/css; charset=utf-8" } },
    ],
    ["conn.client_ip == '203.0.113.7'", "/", { clientIp: "203.0.113.7" }],
    ["inCidrRange(conn.client_ip, '203.0.113.0/24')", "/", { clientIp: "203.0.113.7" }],
    ["conn.client_ip.is_tor_node", "/", { conn: { client_ip: { is_tor_node: true } } }],
    ["conn.geo.country_code in ['DE', 'FR']", "/", { conn: { geo: { country_code: "DE" } } }],
    [
      "'com.github' in conn.client_ip.categories",
      "/",
      { conn: { client_ip: { categories: ["com.github"] } } },
    ],
    ["conn.client_ip.as.number == 64496", "/", { conn: { client_ip: { as: { number: 64496 } } } }],
    [
      "conn.tls.client.subject.organization[0] == 'Example'",
      "/",
      { conn: { tls: { client: { subject: { organization: ["Example"] } } } } },
    ],
    ["endpoint.host == 'shop.example.com' && endpoint.port == 443", "/", {}],
    [
      "timestamp(time.now).getHours('Europe/Berlin') == 14",
      "/",
      { now: () => new Date("2026-01-02T13:00:00Z") },
    ],
    ["req.url.path.matches('(?i)^/ADMIN/\\\\d+$')", "/admin/7", {}],
    ["req.headers.exists(name, name == 'x-role')", "/", { headers: { "x-role": "1" } }],
    // CEL's || is true if one side is, whatever the other would be.
    ["conn.geo.country == 'DE' || true", "/", {}],
    ['"it\'s req.url.path".size() == 17', "/", {}],
  ])("%s is true for %s", async (expression, path, options) => {
    const reply = await send(when(expression), options, path);
    expect(reply.trace[0]?.expressions).toEqual([{ expression, value: true }]);
    expect(reply.status).toBe(403);
  });

  test.each<[expression: string, words: RegExp, options?: FetchOptions]>([
    [
      "conn.geo.country_code == 'DE'",
      /the variable conn\.geo\.country_code, which the request does not give/,
    ],
    ["req.path == '/'", /Unknown variable: req/],
    ["req.user_agent.is_bot", /the variable req\.user_agent\.is_bot/],
    ["actions.ngrok.oauth.identity.email != ''", /the variable actions\.ngrok\.oauth/],
    ["req.url.port == 443", /req\.url\.port, which this request lacks/],
    ["req.headers['x-role'][0] == 'admin'", /which fails \(/],
    ["req.url.path", /gives no truth value/],
    ["req.url.path.startsWith('/a'", /which fails \(Expected RPAREN/],
    ["getReqHeader('x-role') == []", /write X-Role/],
    ["req.url.path.matches('(?=a)')", /this pattern/],
    ["req.url.path.matches('(a)\\\\1')", /this pattern/],
    ["'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('^(a+)+$')", /takes over \d+ ms/],
    ["vars.x == 1", /vars\.x|fails/],
    ["getResHeader('Server') == []", /getResHeader in on_http_request/],
    ["[3, 1].sortBy(x, x) == [1, 3]", /sortBy/],
  ])("%s is not guessed", async (expression, words, options) => {
    const failed = send(when(expression), options);
    await expect(failed).rejects.toThrow(RequestNotSimulated);
    await expect(failed).rejects.toThrow(words);
    await expect(failed).rejects.toThrow(
      /^https:\/\/shop\.example\.com on_http_request\[0\]\.expressions\[0\]: .*only the service knows/s,
    );
  });

  test("is not evaluated after one that is false", async () => {
    const rule = {
      expressions: ["req.method == 'POST'", "conn.geo.country == 'DE'"],
      actions: [{ type: "deny" }],
    };
    const reply = await send({ on_http_request: [rule, { actions: [HELLO] }] });
    expect(reply.trace[0]).toMatchObject({
      outcome: "not matched",
      expressions: [{ value: false }],
      actions: [],
    });
  });
});

describe("an action", () => {
  test.each<
    [
      what: string,
      action: Action,
      options: FetchOptions,
      path: string,
      status: number,
      more: Record<string, string>,
    ]
  >([
    ["deny", { type: "deny", config: { status_code: 404 } }, {}, "/", 404, { body: "" }],
    [
      "custom-response",
      shows("${req.method} for ${conn.client_ip}"),
      {},
      "/",
      200,
      { body: "GET for 127.0.0.1" },
    ],
    [
      "redirect without from",
      { type: "redirect", config: { to: "/new" } },
      {},
      "/old",
      302,
      { location: `${URL}/new` },
    ],
    [
      "redirect of a part",
      { type: "redirect", config: { from: "/v1/", to: "/v2/", status_code: 301 } },
      {},
      "/v1/a?b=c",
      301,
      { location: `${URL}/v2/a?b=c` },
    ],
    [
      "redirect with a group",
      {
        type: "redirect",
        config: {
          from: "^(https?://[^/]+)/products(.*)$",
          to: "$1/store$2",
          headers: { "x-redirected": true },
        },
      },
      {},
      "/products/1",
      302,
      { location: `${URL}/store/1`, "x-redirected": "true" },
    ],
    [
      "redirect with blanks",
      { type: "redirect", config: { to: "https://example.com?city=${conn.geo.city}" } },
      { conn: { geo: { city: "San Francisco" } } },
      "/",
      302,
      { location: "https://example.com?city=San%20Francisco" },
    ],
    [
      "redirect to the same URL",
      { type: "redirect", config: { from: "/a", to: "/a" } },
      {},
      "/a",
      200,
      { body: "hello" },
    ],
    [
      "redirect that does not match",
      { type: "redirect", config: { from: "/b", to: "/c" } },
      {},
      "/a",
      200,
      { body: "hello" },
    ],
    [
      "basic-auth without credentials",
      { type: "basic-auth", config: { credentials: ["user:password1"], realm: "shop" } },
      {},
      "/",
      401,
      { "www-authenticate": 'Basic realm="shop"' },
    ],
    [
      "basic-auth with the right ones",
      { type: "basic-auth", config: { credentials: ["user:pass:word1"] } },
      { headers: { authorization: `Basic ${btoa("user:pass:word1")}` } },
      "/",
      200,
      {},
    ],
    [
      "basic-auth with wrong ones",
      { type: "basic-auth", config: { credentials: ["user:password1"] } },
      { headers: { authorization: `Basic ${btoa("user:password2")}` } },
      "/",
      401,
      {},
    ],
    [
      "basic-auth that is not enforced",
      { type: "basic-auth", config: { credentials: ["user:password1"], enforce: false } },
      {},
      "/",
      200,
      {},
    ],
    [
      "restrict-ips for an allowed address",
      { type: "restrict-ips", config: { allow: ["203.0.113.0/24"] } },
      { clientIp: "203.0.113.7" },
      "/",
      200,
      {},
    ],
    [
      "restrict-ips for another address",
      { type: "restrict-ips", config: { allow: ["203.0.113.0/24"] } },
      { clientIp: "198.51.100.1" },
      "/",
      403,
      {},
    ],
    [
      "restrict-ips for a denied one",
      { type: "restrict-ips", config: { allow: ["0.0.0.0/0"], deny: ["203.0.113.7/32"] } },
      { clientIp: "203.0.113.7" },
      "/",
      403,
      {},
    ],
    [
      "restrict-ips with version 6",
      { type: "restrict-ips", config: { allow: ["2001:db8::/32"] } },
      { clientIp: "2001:db8::7" },
      "/",
      200,
      {},
    ],
  ])("%s answers as documented", async (_, action, options, path, status, { body, ...headers }) => {
    const reply = await send(request(action), options, path);
    expect(reply.status, traceText(reply.trace)).toBe(status);
    if (body !== undefined) expect(await reply.text()).toBe(body);
    expect(Object.fromEntries(reply.headers)).toMatchObject(headers);
  });

  test.each<[action: Action, body: string]>([
    [{ type: "add-headers", config: { headers: { "X-A": "${req.method}" } } }, "${req.headers['x-a'][0]}"],
    [{ type: "remove-headers", config: { headers: ["x-role"] } }, "${'x-role' in req.headers ? '' : 'GET'}"],
    [
      { type: "url-rewrite", config: { from: "/(\\w+)$", to: "/?path=$1" } },
      "${req.url.query == 'path=a' ? 'GET' : req.url.raw}",
    ],
    [
      { type: "set-vars", config: { vars: [{ a: "${req.headers}" }, { b: "${has(vars.a.host)}" }] } },
      "${vars.b ? 'GET' : ''}",
    ],
    [
      { type: "log", config: { metadata: { method: "${req.method}" } } },
      "${actions.ngrok.log.metadata.method}",
    ],
    [
      { type: "basic-auth", config: { credentials: ["user:password1"], enforce: false } },
      "${actions.ngrok.basic_auth.credentials.presented ? '' : 'GET'}",
    ],
  ])("%j is seen by later actions", async (action, body) => {
    const reply = await send(request(action, shows(body)), { headers: { "X-Role": "1" } }, "/a");
    expect(await reply.text()).toBe("GET");
  });

  test.each<[action: Action, words: RegExp]>([
    [{ type: "rate-limit", config: {} }, /\(rate-limit\): rate-limit is not simulated/],
    [{ type: "oauth", config: { provider: "google" } }, /\(oauth\): oauth is not simulated/],
    [{ type: "jwt-validation" }, /jwt-validation is not/],
    [{ type: "unheard-of" }, /unheard-of is not/],
    [{ type: "restrict-ips", config: { deny: ["10.0.0.0/8"] } }, /without allow/],
    [{ type: "restrict-ips", config: { ip_policies: ["ipp_1"] } }, /IP policies are not known/],
    [{ type: "remove-headers", config: { headers: ["X-Role"] } }, /write x-role/],
    [
      { type: "remove-headers", config: { headers: ["${req.method}"] } },
      /an expression in headers, which takes none/,
    ],
    [{ type: "restrict-ips", config: { allow: ["10.0.0.1"] } }, /10\.0\.0\.1, which is no CIDR/],
    [{ type: "basic-auth", config: { credentials: ["user:short"] } }, /a password that does not have 8/],
    [{ type: "deny", config: { status: 404 } }, /Unrecognized key: "status"/],
    [
      { type: "url-rewrite", config: { from: "shop.example.com", to: "x" } },
      /more than the path and the query/,
    ],
    [{ type: "url-rewrite", config: { from: "/", to: "$1x" } }, /a \$ in to/],
    [{ type: "url-rewrite", config: { from: "x*", to: "y" } }, /empty text/],
    [{ type: "redirect", config: { from: "a", to: "b" } }, /matches more than once/],
    [{ type: "redirect", config: { from: "${req.headers['x-p'][0]}", to: "b" } }, /in a pattern/],
    [shows("${req.headers}"), /a value of this type in a text/],
    [shows("${{'a': 1}}"), /the text/],
    [
      { type: "forward-internal", config: { url: "https://none.internal" } },
      /no internal endpoint https:\/\/none\.internal/,
    ],
    [
      { type: "verify-webhook", config: { provider: "dropbox", secret: "secret" } },
      /does not know how Dropbox signs/,
    ],
  ])("%j is not guessed", async (action, words) => {
    const failed = send(request(action), { headers: { "x-p": "(" } }, "/aa");
    await expect(failed).rejects.toThrow(RequestNotSimulated);
    await expect(failed).rejects.toThrow(words);
  });

  test.each(["req.method == 'GET'", "hasReqHeader('X-Role')"])(
    "has no %s in on_tcp_connect",
    async (expression) => {
      const tcp = [{ expressions: [expression], actions: [{ type: "deny" }] }];
      await expect(send({ on_tcp_connect: tcp, ...request() })).rejects.toThrow(
        /in on_tcp_connect is not simulated/,
      );
    },
  );

  test.each([
    [{ on_tcp_connect: [{ actions: [{ type: "deny" }] }], ...request() }],
    [
      {
        on_tcp_connect: [{ actions: [{ type: "restrict-ips", config: { allow: ["10.0.0.0/8"] } }] }],
        ...request(),
      },
    ],
    [request({ type: "close-connection" })],
  ])("closes the connection, so that there is no reply: %j", async (policy) => {
    await expect(send(policy)).rejects.toThrow(ConnectionClosed);
  });
});

describe("the rules of on_http_response", () => {
  const response = [
    {
      expressions: ["res.status_code >= 200", "res.headers['content-type'][0] == 'text/plain'"],
      actions: [{ type: "add-headers", config: { headers: { "X-Path": "${req.url.path}" } } }],
    },
  ];

  test("run after custom-response", async () => {
    const reply = await send({ ...request(), on_http_response: response }, {}, "/a");
    expect([reply.status, reply.headers.get("x-path")]).toEqual([200, "/a"]);
  });

  test("can replace the response", async () => {
    const replaced = [{ actions: [{ type: "custom-response", config: { status_code: 503 } }] }];
    expect((await send({ ...request(), on_http_response: replaced })).status).toBe(503);
  });

  test("do not run after deny", async () => {
    const reply = await send({ ...request({ type: "deny" }), on_http_response: response });
    expect(reply.trace.at(-1)).toMatchObject({ phase: "on_http_response", outcome: "not reached" });
  });

  test.each(["has(res.content_type)", "'content-type' in res.headers", "hasResHeader('Content-Type')"])(
    "cannot ask %s if the service infers it",
    async (expression) => {
      const policy = {
        on_http_request: [{ actions: [{ type: "custom-response", config: { body: "hello" } }] }],
        on_http_response: [{ expressions: [expression], actions: [HELLO] }],
      };
      await expect(send(policy)).rejects.toThrow(/a content-type that the service infers/);
    },
  );

  test("are not guessed after a refusal whose effect on them is not documented", async () => {
    const policy = { ...request({ type: "redirect", config: { to: "/b" } }), on_http_response: response };
    await expect(send(policy, {}, "/a")).rejects.toThrow(/whether the rules of on_http_response run/);
  });
});

describe("forward-internal", () => {
  const forward = (url: string, more: object = {}) => ({
    on_http_request: [{ actions: [{ type: "forward-internal", config: { url, ...more } }] }],
  });

  test("goes through the policy of the internal endpoint to the application of an agent", async () => {
    const emulator = await startEmulator({
      [URL]: forward("https://${req.host.split('.')[0]}.internal"),
      "https://shop.internal": {
        on_http_request: [
          { actions: [{ type: "add-headers", config: { headers: { "X-By": "gateway" } } }] },
          ...forward("https://app.internal").on_http_request,
        ],
      },
    });
    const received: Request[] = [];
    emulator.connect("https://app.internal", (request) => {
      received.push(request);
      return Response.json({ ok: true }, { status: 201 });
    });
    const reply = await emulator.fetch(`${URL}/a?b=c`, {
      method: "POST",
      body: "{}",
      clientIp: "203.0.113.7",
    });
    expect([reply.status, await reply.json()]).toEqual([201, { ok: true }]);
    expect(reply.trace.map(({ endpoint }) => endpoint)).toEqual([
      URL,
      "https://shop.internal",
      "https://shop.internal",
    ]);
    expect(await received[0]?.text()).toBe("{}");
    expect(received[0]?.url).toBe(`${URL}/a?b=c`);
    expect(Object.fromEntries(received[0]?.headers ?? [])).toMatchObject({
      host: "shop.example.com",
      "x-by": "gateway",
      "x-forwarded-for": "203.0.113.7",
      "x-forwarded-host": "shop.example.com",
      "x-forwarded-proto": "https",
    });
  });

  test("reaches a local server, byte for byte", async () => {
    const server = createServer((incoming, response) =>
      response.end(`${incoming.method} ${incoming.url} ${incoming.headers.host}`),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const emulator = await startEmulator({ [URL]: forward("https://app.internal") });
    emulator.connect("https://app.internal", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(await (await emulator.fetch(`${URL}/a%20b?c`)).text()).toBe("GET /a%20b?c shop.example.com");
  });

  test("continues if there is no such endpoint and on_error says so", async () => {
    const policy = forward("https://none.internal", { on_error: "continue" });
    policy.on_http_request.push({ actions: [HELLO] } as never);
    expect((await send(policy)).status).toBe(200);
  });

  test("tells the internal endpoint nothing of the client's connection", async () => {
    for (const first of [
      { expressions: ["conn.client_ip == '127.0.0.1'"], actions: [HELLO] },
      { actions: [{ type: "restrict-ips", config: { allow: ["0.0.0.0/0"] } }] },
    ]) {
      const emulator = await startEmulator({
        [URL]: forward("https://app.internal"),
        "https://app.internal": { on_http_request: [first, { actions: [HELLO] }] },
      });
      await expect(emulator.fetch(URL)).rejects.toThrow(/^https:\/\/app\.internal on_http_request\[0\]/);
    }
  });

  test("needs a connected application", async () => {
    const emulator = await startEmulator({ [URL]: forward("https://app.internal") });
    emulator.seed({ type: "ephemeral", url: "https://app.internal", bindings: ["internal"] });
    await expect(emulator.fetch(URL)).rejects.toThrow(
      /https:\/\/app\.internal, which the test did not connect/,
    );
  });
});

test("a verification after a rule that forwards is not reached, and the trace shows it", async () => {
  const verify = { type: "verify-webhook", config: { provider: "github", secret: "webhook-secret" } };
  const forward = { type: "forward-internal", config: { url: "https://app.internal" } };
  const emulator = await startEmulator({
    [URL]: { on_http_request: [{ actions: [forward] }, { actions: [verify] }] },
  });
  emulator.connect("https://app.internal", () => new Response());
  const unsigned = await emulator.fetch(URL, { method: "POST", body: "{}" });
  expect([unsigned.status, unsigned.trace[1]]).toMatchObject([200, { outcome: "not reached" }]);

  const [endpoint] = emulator.endpoints.filter(({ type }) => type === "cloud");
  const right = { on_http_request: [{ actions: [verify] }, { actions: [forward] }] };
  emulator.edit(endpoint?.id ?? "", { traffic_policy: JSON.stringify(right) });
  expect((await emulator.fetch(URL, { method: "POST", body: "{}" })).status).toBe(403);
  const headers = signWebhook("github", { body: "{}", secret: "webhook-secret" });
  expect((await emulator.fetch(URL, { method: "POST", body: "{}", headers })).status).toBe(200);
});

test("a trace contains no secret of an action", async () => {
  const reply = await send(
    request(
      { type: "basic-auth", config: { credentials: ["user:canary-1"], enforce: false } },
      { type: "verify-webhook", config: { provider: "github", secret: "canary-2", enforce: false } },
      { type: "log", config: { metadata: { a: "${secrets.get('v', 'e')} ${req.headers['x-a'][0]}" } } },
    ),
    { vaults: { v: { e: "canary-3" } }, headers: { "x-a": "canary-1 canary-2" } },
  );
  expect(traceText(reply.trace)).not.toContain("canary");
  expect(reply.trace[0]?.actions[2]?.result).toBe('{"a":"[secret] [secret] [secret]"}');
});

test("internal endpoints, and URLs without an endpoint, get no request from outside", async () => {
  const emulator = await startEmulator({
    "https://app.internal": request(),
    "https://*.example.com": request(),
  });
  expect((await emulator.fetch("https://any.example.com/")).status).toBe(200);
  for (const url of ["https://app.internal", "https://example.com", "http://any.example.com"])
    await expect(emulator.fetch(url)).rejects.toThrow(
      /^no public endpoint answers .*; the account has https:/,
    );
  await expect(emulator.fetch("https://any.example.com", { conn: { geo: { land: "DE" } } })).rejects.toThrow(
    /conn\.geo\.land is no documented variable/,
  );
});

describe("a request that an attacker or a mistake could make", () => {
  test.each([
    ["hasReqCookie('constructor')", {}],
    ["hasReqHeader('Constructor')", {}],
    ["'constructor' in req.cookies", { headers: { cookie: "__proto__=a" } }],
    ["inCidrRange(conn.client_ip, '::/0')", { clientIp: "192.0.2.1" }],
  ])("does not match %s", async (expression, options) => {
    expect((await send(when(expression), options)).status).toBe(200);
  });

  test.each([
    ["::ffff:192.0.2.1", "192.0.2.0/24"],
    ["192.0.2.1", "::ffff:0:0/96"],
    ["fe80::1%eth0", "fe80::/10"],
  ])("is not answered by a guess for the address %s and the network %s", async (clientIp, cidr) => {
    const sent = send(when(`inCidrRange(conn.client_ip, '${cidr}')`), { clientIp });
    await expect(sent).rejects.toThrow(RequestNotSimulated);
  });

  test.each(["?a=1;b=2", "?c=%zz", "?c=%ff"])(
    "is not answered by a guess for the query %s",
    async (query) => {
      for (const expression of ["'a' in req.url.query_params", "hasQueryParam('a')"])
        await expect(send(when(expression), {}, `/${query}`)).rejects.toThrow(RequestNotSimulated);
      expect((await send(when("req.method == 'POST'"), {}, `/${query}`)).status).toBe(200);
    },
  );

  test.each(["dTp*wYXNzd29yZDE=", "dTpwYXNzd29yZDE", "dTpwYXNzd29yZDE=!!"])(
    "is not let in with the broken base64 %s",
    async (encoded) => {
      const auth = { type: "basic-auth", config: { credentials: ["u:password1"] } };
      const right = { headers: { authorization: "Basic dTpwYXNzd29yZDE=" } };
      expect((await send(request(auth), right)).status).toBe(200);
      const broken = { headers: { authorization: `Basic ${encoded}` } };
      await expect(send(request(auth), broken)).rejects.toThrow(RequestNotSimulated);
    },
  );

  test("has no body in reply to HEAD, and no other host in its headers than in its URL", async () => {
    const reply = await send(request(), { method: "HEAD" });
    expect([reply.status, await reply.text()]).toEqual([200, ""]);
    const headers = { host: "evil.example.com" };
    await expect(send(request(), { headers })).rejects.toThrow("the header Host names evil.example.com");
  });

  test("has an address of a client, or fails before any rule", async () => {
    for (const clientIp of ["", "not an ip"])
      await expect(send(request(), { clientIp })).rejects.toThrow("clientIp must be an IP address");
  });

  test("ends in a loop of forwards, and with a list of a million numbers", async () => {
    const forward = (url: string) => ({
      on_http_request: [{ actions: [{ type: "forward-internal", config: { url } }] }],
    });
    const [a, b] = ["https://a.internal", "https://b.internal"];
    const emulator = await startEmulator({ [URL]: forward(a), [a]: forward(b), [b]: forward(a) });
    await expect(emulator.fetch(URL)).rejects.toThrow(/a loop of forward-internal, https:\/\/a\.internal,/);
    await expect(send(when("lists.range(1000000).size() > 1"))).rejects.toThrow(RequestNotSimulated);
  });

  test("shows no entry of the vault in the trace, in whatever form a text contains it", async () => {
    const vaults = { v: { short: "abcd", long: 'abcd"efgh/ij kl+' } };
    const log = {
      type: "log",
      config: { metadata: { a: "${secrets.get('v', 'long')}", b: "${secrets.get('v', 'short')}" } },
    };
    const redirect = {
      type: "redirect",
      config: { to: "https://a.example.com/?k=${secrets.get('v', 'long')}" },
    };
    const { trace } = await send({ on_http_request: [{ actions: [log, redirect] }] }, { vaults });
    expect(traceText(trace)).toContain("[secret]");
    expect(traceText(trace)).not.toMatch(/abcd|efgh/);
  });
});
