// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies contain expressions
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConnectionClosed, type FetchOptions, signWebhook, traceText } from "../../../sdk/testing";
import { type Action, HELLO, request, send, shows, startEmulator, URL, when } from "./policies";

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
    // CEL's || is true if one side is, whatever the other would be.
    ["conn.geo.country == 'DE' || true", "/", {}],
    ['"it\'s req.url.path".size() == 17', "/", {}],
  ])("%s is true for %s", async (expression, path, options) => {
    const reply = await send(when(expression), options, path);
    expect(reply.trace[0]?.expressions).toEqual([{ expression, value: true }]);
    expect(reply.status).toBe(403);
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
      "redirect of a URL without a path",
      { type: "redirect", config: { from: "com/$", to: "com/home" } },
      {},
      "",
      302,
      { location: `${URL}/home` },
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
      { type: "restrict-ips", config: { enforce: true, allow: ["203.0.113.0/24"] } },
      { clientIp: "203.0.113.7" },
      "/",
      200,
      {},
    ],
    [
      "restrict-ips for another address",
      { type: "restrict-ips", config: { enforce: true, allow: ["203.0.113.0/24"] } },
      { clientIp: "198.51.100.1" },
      "/",
      403,
      {},
    ],
    [
      "restrict-ips for a denied one",
      { type: "restrict-ips", config: { enforce: true, allow: ["0.0.0.0/0"], deny: ["203.0.113.7/32"] } },
      { clientIp: "203.0.113.7" },
      "/",
      403,
      {},
    ],
    [
      "restrict-ips without allow for a denied one",
      { type: "restrict-ips", config: { enforce: true, deny: ["203.0.113.0/24"] } },
      { clientIp: "203.0.113.7" },
      "/",
      403,
      {},
    ],
    [
      "restrict-ips with version 6",
      { type: "restrict-ips", config: { enforce: true, allow: ["2001:db8::/32"] } },
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
    [
      { type: "add-headers", config: { headers: { Host: "${req.method}" } } },
      "${req.headers['host'] == ['GET'] && req.host == 'GET' ? 'GET' : req.host}",
    ],
    [
      { type: "restrict-ips", config: { allow: ["127.0.0.0/8"] } },
      "${actions.ngrok.restrict_ips.action + actions.ngrok.restrict_ips.matched_cidr == 'allow127.0.0.0/8' ? 'GET' : ''}",
    ],
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
        on_tcp_connect: [
          { actions: [{ type: "restrict-ips", config: { enforce: true, allow: ["10.0.0.0/8"] } }] },
        ],
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

  test("do not see the variables of on_http_request", async () => {
    const set = { type: "set-vars", config: { vars: [{ a: "1" }] } };
    const rules = [{ expressions: ["'a' in vars"], actions: [HELLO] }];
    const reply = await send({ ...request(set), on_http_response: rules });
    expect(reply.trace.map(({ outcome }) => outcome)).toEqual(["matched", "not matched"]);
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
      await expect(send(policy)).rejects.toThrow(/which the service (adds|chooses)/);
    },
  );

  test("run after forward-internal, with the reply of the application", async () => {
    const forward = { type: "forward-internal", config: { url: "https://app.internal" } };
    const moved = {
      expressions: ["res.status_code == 302"],
      actions: [{ type: "add-headers", config: { headers: { "x-moved": "${res.location}" } } }],
    };
    const emulator = await startEmulator({
      [URL]: { on_http_request: [{ actions: [forward] }], on_http_response: [moved] },
    });
    emulator.connect(
      "https://app.internal",
      () => new Response(null, { status: 302, headers: { location: "/b" } }),
    );
    expect((await emulator.fetch(URL)).headers.get("x-moved")).toBe("/b");
  });

  test("do not matter after a refusal if none of them matches", async () => {
    const never = [{ ...response[0], expressions: ["res.status_code == 500"] }];
    const auth = { type: "basic-auth", config: { credentials: ["user:password1"] } };
    const reply = await send({ ...request(auth), on_http_response: never });
    expect([reply.status, reply.trace.at(-1)?.outcome]).toEqual([401, "not matched"]);
  });

  test("are not guessed after a refusal whose effect on them is not documented", async () => {
    const always = [{ actions: [{ type: "add-headers", config: { headers: { "x-a": "1" } } }] }];
    const policy = { ...request({ type: "redirect", config: { to: "/b" } }), on_http_response: always };
    await expect(send(policy, {}, "/a")).rejects.toThrow(
      /on_http_response\[0\] after redirect is not simulated; .* \(GET https:\/\/shop\.example\.com\/a\)$/,
    );
  });
});

describe("a path that the service may decode", () => {
  const isAdmin = (expression: string, path: string) => send(when(expression), {}, path);

  test.each(["/files/a%20b.pdf", "/caf%C3%A9", "/a//b", "/über"])(
    "is read in each way, and the answer counts if all agree: %s",
    async (path) => {
      expect((await isAdmin("req.url.path.startsWith('/admin')", path)).status).toBe(200);
      expect((await isAdmin("req.url.path != '/admin' && req.url.contains('shop')", path)).status).toBe(403);
    },
  );

  test.each(["/%61dmin", "//admin", "/admin%2Fa", "/a%2F..%2Fadmin", "/%zz"])(
    "is not guessed where it matters: %s",
    async (path) => {
      const failed = isAdmin("req.url.path == '/admin' || req.url.path == '/admin/a'", path);
      await expect(failed).rejects.toThrow(/decodes this URL's path|encoded dots|invalid %/);
      await expect(failed).rejects.toMatchObject({ trace: [{ outcome: "undecided" }, {}].slice(0, 1) });
    },
  );
});

describe("rate-limit", () => {
  const limit: Action = {
    type: "rate-limit",
    config: { name: "a", capacity: 1, rate: "60s", bucket_key: [] },
  };

  test("decides what the test says", async () => {
    expect((await send(request(limit), { rateLimited: false })).status).toBe(200);
    const limited = await send(request(limit), { rateLimited: true });
    expect([limited.status, limited.trace[0]?.actions[1]?.result]).toEqual([429, "not reached"]);
    const lenient = { ...limit, config: { enforce: false } };
    expect((await send(request(lenient), { rateLimited: true })).status).toBe(200);
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
      { expressions: ["conn.geo.country_code == 'DE'"], actions: [HELLO] },
      { actions: [{ type: "restrict-ips", config: { enforce: true, allow: ["0.0.0.0/0"] } }] },
    ]) {
      const emulator = await startEmulator({
        [URL]: forward("https://app.internal"),
        "https://app.internal": { on_http_request: [first, { actions: [HELLO] }] },
      });
      const sent = emulator.fetch(URL, { conn: { geo: { country_code: "DE" } } });
      await expect(sent).rejects.toThrow(/^https:\/\/app\.internal on_http_request\[0\]/);
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
