// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies contain expressions
import { describe, expect, test } from "vitest";
import { ConnectionClosed, type FetchOptions, signWebhook, traceText } from "../../index";
import {
  type Action,
  act,
  fetchFrom,
  forward,
  HELLO,
  headers,
  ips,
  limit,
  password,
  redirect,
  request,
  rewrite,
  send,
  shows,
  URL,
  vars,
  verify,
  when,
} from "./policies";

const CSS = "text/css; charset=utf-8";

test.each<[expression: string, path?: string, options?: FetchOptions]>([
  ["req.cookies['a'][0].value == '1'", "/", { headers: { cookie: "b=2; a=1" } }],
  ["hasReqHeader('X-Role') && getReqHeader('X-Role') == ['a']", "/", { headers: { "x-role": "a" } }],
  ["hasReqCookie('a') && getReqCookie('a').value == '1'", "/", { headers: { cookie: "a=1" } }],
  ["hasQueryParam('a') && getQueryParam('a').join(',') == '1,2'", "/?a=1&a=2"],
  ["!hasReqCookie('constructor')"],
  ["!('constructor' in req.cookies)", "/", { headers: { cookie: "__proto__=a" } }],
  ["!has(req.url.port) && !has(req.content_length)"],
  ["req.url == 'https://shop.example.com/?a=1' && req.url.contains('shop')", "/?a=1"],
  ["req.content_type.parameters['charset'] == 'utf-8'", "/", { headers: { "content-type": CSS } }],
  ["inCidrRange(conn.client_ip, '203.0.113.0/24')", "/", { clientIp: "203.0.113.7" }],
  ["conn.client_ip.is_tor_node", "/", { conn: { client_ip: { is_tor_node: true } } }],
  ["conn.client_ip.as.number == 64496", "/", { conn: { client_ip: { as: { number: 64496 } } } }],
  ["timestamp(time.now) == timestamp(1767358800)", "/", { now: () => new Date("2026-01-02T13:00:00Z") }],
  // In CEL, || is true if one side is true, even if the other side fails.
  ["conn.geo.country == 'DE' || true"],
])("the expression %s is true for %s", async (expression, path, options) => {
  const reply = await send(when(expression), options, path);
  expect(reply.trace[0]?.expressions).toEqual([{ expression, value: true }]);
  expect(reply.status).toBe(403);
});

test("no expression is evaluated after a false expression", async () => {
  const [rule, ...others] = when("req.method == 'POST'").on_http_request;
  const both = { ...rule, expressions: ["req.method == 'POST'", "conn.geo.country == 'DE'"] };
  const { trace } = await send({ on_http_request: [both, ...others] });
  expect(trace[0]).toMatchObject({ outcome: "not matched", expressions: [{ value: false }], actions: [] });
});

const basic = (text: string) => ({ headers: { authorization: `Basic ${btoa(text)}` } });
const user = (more: object = {}) => act("basic-auth", { credentials: ["user:password1"], ...more });
const office = { allow: ["203.0.113.0/24"] };
const [inside, outside] = [{ clientIp: "203.0.113.7" }, { clientIp: "198.51.100.1" }];
const unsigned = { method: "POST", body: "{}" };
const signed = { ...unsigned, headers: signWebhook("github", { body: "{}", secret: "secret" }) };

type Reply = { status: number; body?: string } & Record<string, unknown>;

test.each<[action: Action, path: string, options: FetchOptions, reply: Reply]>([
  [act("deny", { status_code: 404 }), "/", {}, { status: 404, body: "" }],
  [act("custom-response", { content: "${req.method}" }), "/", {}, { status: 200, body: "GET" }],
  [shows("${req.method} for ${conn.client_ip}"), "/", {}, { status: 200, body: "GET for 127.0.0.1" }],
  [
    redirect("$1/b$2", { from: "^(https?://[^/]+)/a(.*)$", status_code: 301, headers: { "x-a": true } }),
    "/a/1",
    {},
    { status: 301, location: `${URL}/b/1`, "x-a": "true" },
  ],
  [
    redirect("https://example.com?city=${conn.geo.city}"),
    "/",
    { conn: { geo: { city: "San Francisco" } } },
    { status: 302, location: "https://example.com?city=San%20Francisco" },
  ],
  [redirect("/a", { from: "/a" }), "/a", {}, { status: 200, body: "hello" }],
  [user({ realm: "shop" }), "/", {}, { status: 401, "www-authenticate": 'Basic realm="shop"' }],
  [password("user:password1", "me:pass:word2"), "/", basic("me:pass:word2"), { status: 200 }],
  [user(), "/", basic("user:password2"), { status: 401 }],
  [user({ enforce: false }), "/", {}, { status: 200 }],
  [ips(office), "/", inside, { status: 200 }],
  [ips(office), "/", outside, { status: 403 }],
  [ips({ allow: ["0.0.0.0/0"], deny: ["203.0.113.7/32"] }), "/", inside, { status: 403 }],
  [limit(), "/", { rateLimited: true }, { status: 429 }],
  [
    verify("secret"),
    "/",
    unsigned,
    { status: 403, body: "ERR_NGROK_3204: Request failed webhook verification" },
  ],
  [verify("secret"), "/", signed, { status: 200 }],
  [verify("${secrets.get('v', 'e')}"), "/", { ...signed, vaults: { v: { e: "secret" } } }, { status: 200 }],
  [act("log", { metadata: {} }), "/", { method: "HEAD" }, { status: 200, body: "" }],
])("%j answers for %s", async (action, path, options, expected) => {
  const reply = await send(request(action), options, path);
  const got = { ...Object.fromEntries(reply.headers), status: reply.status };
  const body = "body" in expected && { body: await reply.text() };
  expect({ ...got, ...body }, traceText(reply.trace)).toMatchObject(expected);
});

test.each<[action: Action, expression: string]>([
  [headers("add-headers", { "X-Role": "2" }), "req.headers['x-role'] == ['1', '2']"],
  [headers("add-headers", { Host: "a" }), "req.headers['host'] == ['a'] && req.host == 'a'"],
  [ips({ allow: ["127.0.0.0/8"] }), "actions.ngrok.restrict_ips.matched_cidr == '127.0.0.0/8'"],
  [rewrite("/(\\w+)$", "/?path=$1"), "req.url.query == 'path=a'"],
  [rewrite("/(?P<path>a|(b))+$", "/$1$2"), "req.url.path == '/a'"],
  [vars({ a: "${req.headers}" }, { b: "${has(vars.a.host)}" }), "vars.b"],
  [user({ enforce: false }), "!actions.ngrok.basic_auth.credentials.presented"],
])("after %j, the expression %s is true", async (action, expression) => {
  const policy = { on_http_request: [{ actions: [action] }, ...when(expression).on_http_request] };
  expect((await send(policy, { headers: { "X-Role": "1" } }, "/a")).status).toBe(403);
});

test.each([
  { on_tcp_connect: [{ actions: [act("deny")] }], ...request() },
  { on_tcp_connect: [{ actions: [ips({ allow: ["10.0.0.0/8"] })] }], ...request() },
  request(act("close-connection")),
])("the policy closes the connection, so that there is no reply: %j", async (policy) => {
  await expect(send(policy)).rejects.toThrow(ConnectionClosed);
});

describe("the rules of on_http_response", () => {
  const adding = [headers("add-headers", { "X-Path": "${req.url.path}" })];
  const response = [{ expressions: ["res.headers['content-type'][0] == 'text/plain'"], actions: adding }];
  const never = [{ expressions: ["res.status_code == 500"], actions: adding }];
  const ofVars = [{ expressions: ["'a' in vars"], actions: adding }];
  const replacing = [{ actions: [act("custom-response", { status_code: 503 })] }];

  test.each<[what: string, action: Action, rules: object[], status: number, outcome: string]>([
    ["run after custom-response", HELLO, response, 200, "matched"],
    ["can replace the reply", HELLO, replacing, 503, "matched"],
    ["do not see the variables of the request", vars({ a: "1" }), ofVars, 200, "not matched"],
    ["do not run after deny", act("deny"), response, 403, "not reached"],
    ["do not matter after a refusal if none matches", user(), never, 401, "not matched"],
  ])("%s", async (_, action, rules, status, outcome) => {
    const reply = await send({ ...request(action), on_http_response: rules });
    expect([reply.status, reply.trace.at(-1)?.outcome]).toEqual([status, outcome]);
    expect(reply.headers.get("x-path")).toBe(rules === response && outcome === "matched" ? "/" : null);
  });
});

describe("forward-internal", () => {
  test("goes through the policy of the internal endpoint to the application of an agent", async () => {
    const [app, shop] = ["https://app.internal", "https://shop.internal"];
    const adding = { actions: [headers("add-headers", { "X-By": "gateway" })] };
    const received: Request[] = [];
    const endpoints = {
      [URL]: forward("https://${req.host.split('.')[0]}.internal"),
      [shop]: { on_http_request: [adding, ...forward(app).on_http_request] },
      [app]: {
        application: (request: Request) => {
          received.push(request);
          return Response.json({ ok: true }, { status: 201 });
        },
      },
    };
    const sent = { method: "POST", body: "{}", clientIp: "203.0.113.7" };
    const reply = await fetchFrom(endpoints, `${URL}/a?b=c`, sent);
    expect([reply.status, await reply.json()]).toEqual([201, { ok: true }]);
    expect(reply.trace.map(({ endpoint }) => endpoint)).toEqual([URL, shop, shop]);
    expect([received[0]?.url, await received[0]?.text()]).toEqual([`${URL}/a?b=c`, "{}"]);
    expect(Object.fromEntries(received[0]?.headers ?? [])).toMatchObject({
      host: "shop.example.com",
      "x-by": "gateway",
      "x-forwarded-for": "203.0.113.7",
      "x-forwarded-host": "shop.example.com",
      "x-forwarded-proto": "https",
    });
  });

  test("continues if the account has no such endpoint and on_error is continue", async () => {
    const [rule] = forward("https://none.internal", { on_error: "continue" }).on_http_request;
    expect((await send({ on_http_request: [rule, { actions: [HELLO] }] })).status).toBe(200);
  });
});
