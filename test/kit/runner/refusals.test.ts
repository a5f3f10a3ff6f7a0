// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies contain expressions
import { describe, expect, test, vi } from "vitest";
import { type FetchOptions, RequestNotSimulated, signWebhook, traceText } from "../../../sdk/testing";
import {
  type Action,
  act,
  forward,
  HELLO,
  request,
  shows,
  startEmulator,
  startGateway,
  URL,
  when,
} from "./policies";

/* What the documentation of the service leaves open ends a request with an error. */

const send = startGateway();

async function expectRefused(sent: Promise<unknown>, words: RegExp): Promise<void> {
  await expect(sent).rejects.toThrow(RequestNotSimulated);
  await expect(sent).rejects.toThrow(words);
}

test.each<[expression: string, words: RegExp, options?: FetchOptions]>([
  ["conn.geo.country_code == 'DE'", /the variable conn\.geo\.country_code, which the request does not give/],
  ["req.path == '/'", /uses req\.path, which is no variable known.* did you mean req\.url\.path/],
  ["req.user_agent.is_bot", /the variable req\.user_agent\.is_bot/],
  ["actions.ngrok.oauth.identity.email != ''", /the variable actions\.ngrok\.oauth/],
  ["req.url.port == 443", /req\.url\.port, which this request lacks/],
  ["req.headers['x-role'][0] == 'admin'", /which fails \(.*guard it with 'name' in/],
  ["req.url.path", /gives no truth value/],
  ["req.url.path.startsWith('/a'", /is no valid expression: \) is missing/],
  [
    "req.url.path.includes('/a')",
    /calls includes, which is no function known to this version; did you mean contains/,
  ],
  ["req.url.path.decodeBase64() == ''", /: string\.decodeBase64\(\) is not simulated/],
  ["hash.md5('a') == ''", /: hash\.md5\(\) is not simulated/],
  ["getReqHeader('x-role') == []", /write X-Role/],
  ["getReqCookie('a').value == ''", /getReqCookie\(\) of the cookie a, which this request lacks/],
  ["getResHeader('Server') == []", /getResHeader in on_http_request/],
  ["vars.x == 1", /vars\.x|fails/],
  ["secrets.get('v', 'e') == ''", /the entry e of the vault v, which is not given/],
  ["has(req.content_type)", /a variable of the missing header content-type/],
  ["has(req.user_agent)", /a missing user-agent/],
  ["has(req.content_encoding) || has(req.location)", /a variable of the missing header/],
  ["req.content_type != ''", /the parts of the content-type/, { headers: { "content-type": "Text/HTML" } }],
  ["has(req.content_type.parameters.a)", /the parts of/, { headers: { "content-type": 'a/b; a=";"' } }],
  ["hasReqCookie('a')", /this list of cookies/, { headers: { cookie: 'a="1"' } }],
  ["hasReqCookie('a')", /this list of cookies/, { headers: { cookie: "b;a=1" } }],
  ["'x-forwarded-for' in req.headers", /x-forwarded-for, which the service adds/],
  ["hasReqHeader('X-Forwarded-Proto')", /X-Forwarded-Proto, which the service adds/],
  ["req.headers.exists(name, name == 'x-role')", /the list of headers/],
  ["has(req.url.user_password)", /the variable req\.url\.user_password/],
  ["has(req.ts.body_received)", /the variable req\.ts\.body_received/],
  ["conn.ts.start < timestamp('2030-01-01T00:00:00Z')", /the variable conn\.ts\.start/],
])("the expression %s is not guessed", async (expression, words, options) => {
  const failed = send(when(expression), options);
  await expectRefused(failed, words);
  await expect(failed).rejects.toThrow(
    /^https:\/\/shop\.example\.com on_http_request\[0\]\.expressions\[0\]: .*only the service knows/s,
  );
});

test("the message names the rule", async () => {
  const [rule] = when("'a'.md5() == ''").on_http_request;
  const sent = send({ on_http_request: [{ name: "only the office", ...rule }] });
  await expectRefused(
    sent,
    /on_http_request\[0\]\.expressions\[0\] of the rule "only the office": string\.md5\(\) is/,
  );
});

test("a request ends if its rules together take over a second, and the message names the rule", async () => {
  const clock = vi.spyOn(performance, "now");
  let now = 0;
  clock.mockImplementation(() => (now += 500));
  const rules = Array.from({ length: 3 }, (_, index) => ({
    name: `rule ${index}`,
    expressions: ["req.url.path.matches('b')"],
    actions: [HELLO],
  }));
  const [first] = forward("https://app.internal", { on_error: "continue" }).on_http_request;
  await expectRefused(
    send({ on_http_request: [first, ...rules] }),
    /of the rule "rule 2": a request whose expressions and/,
  );
  const rewrite = act("url-rewrite", { from: "/b", to: "/c" });
  await expectRefused(
    send(request(...Array(3).fill(rewrite))),
    /actions\[2\] \(url-rewrite\): a request whose/,
  );
  clock.mockRestore();
});

const ips = (config: object) => act("restrict-ips", { enforce: true, ...config });
const password = (...credentials: string[]) => act("basic-auth", { credentials });
const redirect = (to: string, more: object = {}) => act("redirect", { to, ...more });
const rewrite = (from: string, to: string) => act("url-rewrite", { from, to });
const vars = (...all: object[]) => act("set-vars", { vars: all });

test.each<[action: Action, words: RegExp]>([
  [act("rate-limit", {}), /\(rate-limit\): rate-limit without the option rateLimited is not/],
  [act("oauth", { provider: "google" }), /\(oauth\): oauth is not simulated/],
  [act("jwt-validation"), /jwt-validation is not/],
  [act("unheard-of"), /unheard-of is not/],
  [ips({ deny: ["10.0.0.0/8"] }), /without allow/],
  [ips({ ip_policies: ["ipp_1"] }), /IP policies are not known/],
  [ips({ allow: ["10.0.0.1"] }), /10\.0\.0\.1, which is no CIDR/],
  [act("remove-headers", { headers: ["X-Role"] }), /write x-role/],
  [act("remove-headers", { headers: ["${req.method}"] }), /an expression in headers, which takes none/],
  [act("remove-headers", { headers: ["x-forwarded-for"] }), /which the service sets/],
  [password("user:short"), /a password that does not have 8/],
  [password(`user:${"a".repeat(129)}`), /a password that does not have 8/],
  [password("user:😀😀😀😀"), /8 to 128 characters of ASCII/],
  [password("${req.headers['x-c'][0]}:password1"), /a colon in the user name/],
  [act("deny", { status: 404 }), /Unrecognized key: "status"/],
  [rewrite("shop.example.com", "x"), /more than the path and the query/],
  [rewrite("com/", "com:443/"), /more than the path and the query/],
  [rewrite("//shop", "//me@shop"), /more than the path and the query/],
  [rewrite("/", "$1x"), /a \$ in to/],
  [rewrite("x*", "y"), /empty text/],
  [rewrite("(a)+", "$1"), /a \$1 with a repeated group/],
  [rewrite("/", "/a b"), /the character " " in a URL/],
  [rewrite("/aa", "/#b"), /the character "#" in a URL/],
  [rewrite("/aa", "/é"), /the character "é" in a URL/],
  [redirect("b", { from: "a" }), /matches more than once/],
  [redirect("b", { from: "${req.headers['x-p'][0]}" }), /in a pattern/],
  [redirect("/$10x", { from: "()()()()()()()()()(aa)" }), /a \$ in to that refers to no group/],
  [redirect("/$1"), /a \$ in to/],
  [redirect("/a\nb"), /the character "\\n" in a URL/],
  [redirect("/<b>"), /the character "<" in a URL/],
  ...["ftp://a.example.com/", "//a.example.com/", "b", "/a/../b", ""].map((to): [Action, RegExp] => [
    redirect(to),
    new RegExp(`: a redirect to ${to.replaceAll("/", "\\/")} is not`),
  ]),
  [redirect("/b", { headers: { "x-a": "1\n2" } }), /the value of the header x-a/],
  [vars({ a: "1", b: "2" }), /must have one key/],
  [vars({ a: { b: 3 } }), /the type of 3/],
  ...[
    "https://app.internal/v2",
    "https://APP.internal",
    "tcp://app.internal:22",
    URL,
    "app",
    "http://a.internal",
  ].map((url): [Action, RegExp] => [act("forward-internal", { url }), /forwarding /]),
  [
    act("forward-internal", { url: "https://none.internal" }),
    /no internal endpoint https:\/\/none\.internal/,
  ],
  [act("add-headers", { headers: { "x a": "1" } }), /the header name "x a"/],
  [act("add-headers", { headers: { "x-a": "${'é'}" } }), /of the header x-a/],
  [act("custom-response", { headers: { "": "1" } }), /the header name ""/],
  [shows("${req.headers}"), /a value of this type in a text/],
  [shows("${timestamp('2024-01-01T00:00:00.500Z')}"), /a time with a fraction of a second/],
  [shows("${{'a': 1}}"), /the text/],
  [act("verify-webhook", { provider: "dropbox", secret: "secret" }), /does not know how Dropbox signs/],
  [act("verify-webhook", { provider: "github", secret: "" }), /the secret of github is empty/],
  [
    act("verify-webhook", { provider: "github", secret: "${secrets.get('v', 'e')}" }),
    /the vault v has no entry e/,
  ],
])("%j is not guessed", async (action, words) => {
  await expectRefused(send(request(action), { headers: { "x-p": "(", "x-c": "a:b" } }, "/aa"), words);
});

test.each<[policy: object, words: RegExp]>([
  [{ on_http_requests: [] }, /its policy at the top \(Unrecognized key/],
  [{ on_http_request: [{ name: "a" }] }, /its policy at on_http_request\.0\.actions/],
  [{ on_http_request: [] }, /the reply of a cloud endpoint whose policy ends without an answer/],
  [
    { ...request(redirect("/b")), on_http_response: [{ actions: [HELLO] }] },
    /^https:\/\/shop\.example\.com.*on_http_response\[0\] after redirect is not simulated; .* \(GET https:\/\/shop\.example\.com\/\)$/,
  ],
  ...["req.method == 'GET'", "hasReqHeader('X-Role')"].map((expression): [object, RegExp] => [
    { on_tcp_connect: [{ expressions: [expression], actions: [act("deny")] }], ...request() },
    /in on_tcp_connect is not simulated/,
  ]),
  ...[
    ...[
      "res.headers.size() > 0",
      "res.headers.exists(name, name == 'x-a')",
      "'content-length' in res.headers",
    ],
    ...["has(res.content_length)", "hasResHeader('Content-Length')", "hasResHeader('Date')"],
    ...["has(res.content_type)", "'content-type' in res.headers", "hasResHeader('Content-Type')"],
  ].map((expression): [object, RegExp] => [
    {
      on_http_request: [{ actions: [act("custom-response", { body: "hello" })] }],
      on_http_response: [{ expressions: [expression], actions: [HELLO] }],
    },
    /which the service (adds|chooses)|to which the service adds some/,
  ]),
])("the policy %j is not guessed", async (policy, words) => {
  await expectRefused(send(policy), words);
});

test.each<[expression: string, words: RegExp, path: string, options?: FetchOptions]>([
  ...["/%61dmin", "//admin", "/admin%2Fa", "/a%2F..%2Fadmin", "/%zz"].map(
    (path): [string, RegExp, string] => [
      "req.url.path == '/admin' || req.url.path == '/admin/a'",
      /decodes this URL's path|encoded dots|invalid %/,
      path,
    ],
  ),
  ...["?a=1;b=2", "?c=%zz", "?c=%ff"].flatMap((query) =>
    ["'a' in req.url.query_params", "hasQueryParam('a')"].map((expression): [string, RegExp, string] => [
      expression,
      /the parameters of a query/,
      `/${query}`,
    ]),
  ),
  [
    "inCidrRange(conn.client_ip, '192.0.2.0/24')",
    /an IPv4 address as IPv6/,
    "/",
    { clientIp: "::ffff:192.0.2.1" },
  ],
])("the expression %s is not guessed for the request %3$s", async (expression, words, path, options) => {
  const failed = send(when(expression), options, path);
  await expectRefused(failed, words);
  await expect(failed).rejects.toMatchObject({ trace: [{ outcome: "undecided" }] });
});

const login = (encoded: string) => ({ headers: { authorization: `Basic ${encoded}` } });

test.each<[policy: object, options: FetchOptions, words: RegExp]>([
  [request(), { method: "TRACE" }, /^the method TRACE/],
  [request(), { headers: { "x a": "1" } }, /^the header name "x a"/],
  [request(), { headers: { "x-a": "1\n2" } }, /^the value of the header x-a/],
  [request(), { headers: { "x-a": " 1" } }, /^the value of the header x-a/],
  [request(), { headers: { "X-Forwarded-For": "192.0.2.1" } }, /^a request with the header X-Forwarded-For/],
  [request(), { headers: { Upgrade: "websocket" } }, /^a request with the header Upgrade/],
  [request(), { headers: { "content-length": "3" }, body: "ab" }, /^a wrong content-length, 3,/],
  [request(), { headers: { host: "evil.example.com" } }, /whose header Host is evil\.example\.com is not/],
  [
    request(),
    { headers: Object.entries({ "Content-Type": "a/b", "content-type": "c/d" }) },
    /^a request with several headers Content-Type/,
  ],
  ...["dTp*wYXNzd29yZDE=", "dTpwYXNzd29yZDE", "dTpwYXNzd29yZDE=!!"].map(
    (encoded): [object, FetchOptions, RegExp] => [
      request(password("u:password1")),
      login(encoded),
      /credentials that are not exact base64/,
    ],
  ),
  [
    request(act("verify-webhook", { provider: "github", secret: "a secret" })),
    {
      method: "POST",
      body: "{}",
      headers: Object.entries({
        "X-Hub-Signature-256": "sha256=00",
        "x-hub-signature-256":
          signWebhook("github", { body: "{}", secret: "a secret" })["X-Hub-Signature-256"] ?? "",
      }),
    },
    /several headers x-hub-signature-256/,
  ],
])("the policy %j does not answer the request %j", async (policy, options, words) => {
  await expectRefused(send(policy, options), words);
});

describe("an endpoint", () => {
  test.each(["endpoint.host", "endpoint.url", "endpoint.addr"])("of a wildcard has no %s", async (name) => {
    const emulator = await startEmulator({ "https://*.example.com": when(`${name} != ''`) });
    await expectRefused(emulator.fetch("https://a.b.example.com"), /the address of a wildcard/);
  });

  test("is chosen by its exact host before a wildcard, and not among several", async () => {
    const emulator = await startEmulator({
      "https://a.b.example.com": request(act("deny")),
      "https://*.example.com": request(),
      "https://*.b.example.com": request(),
    });
    for (const description of ["one", "other"])
      emulator.seed({ type: "cloud", url: URL, description, pooling_enabled: true });
    emulator.seed({ type: "edge", public_url: "https://edge.example.com" });
    expect((await emulator.fetch("https://a.example.com")).status).toBe(200);
    expect((await emulator.fetch("https://a.b.example.com")).status).toBe(403);
    await expectRefused(emulator.fetch("https://b.b.example.com"), /^the choice between 2 endpoints for/);
    await expectRefused(emulator.fetch(URL), /^the choice between 2 endpoints for .* is not/);
    await expectRefused(emulator.fetch("https://edge.example.com"), /^the edge https:/);
  });

  test("that is internal gets no request from outside", async () => {
    const emulator = await startEmulator({
      "https://app.internal": request(),
      "https://*.example.com": request(),
    });
    for (const url of ["https://app.internal", "https://example.com", "http://any.example.com"])
      await expect(emulator.fetch(url)).rejects.toThrow(
        /^no public endpoint answers .*; the account has https:/,
      );
  });

  test.each<[policy: object, words: RegExp]>([
    [
      { on_tcp_connect: [{ actions: [act("log", { metadata: {} })] }] },
      /: on_tcp_connect of an internal endpoint/,
    ],
    [
      { on_http_request: [{ expressions: ["conn.client_ip == '127.0.0.1'"], actions: [HELLO] }] },
      /conn\.client_ip/,
    ],
    [
      { on_http_request: [{ expressions: ["conn.geo.country == 'DE'"], actions: [HELLO] }] },
      /conn\.geo\.country/,
    ],
    [request(ips({ allow: ["0.0.0.0/0"] })), /restrict-ips behind forward-internal/],
    [forward("https://app.internal"), /a loop of forward-internal, https:\/\/app\.internal,/],
    [request(act("close-connection")), /forwarding to an endpoint that closes the connection/],
  ])(
    "that is internal knows nothing of the client's connection, and cannot have %j",
    async (policy, words) => {
      const emulator = await startEmulator({
        [URL]: forward("https://app.internal"),
        "https://app.internal": policy,
      });
      await expectRefused(emulator.fetch(URL, { conn: { geo: { country: "DE" } } }), words);
    },
  );
});

test.each<[url: string, options: FetchOptions, words: RegExp]>([
  ...["https://me:pw@shop.example.com/", "shop.example.com", "https://shop.example.com:0x/"].map(
    (url): [string, FetchOptions, RegExp] => [url, {}, /^the URL must/],
  ),
  [URL, { clientIp: "" }, /^clientIp must be an IP address/],
  [URL, { clientIp: "not an ip" }, /^clientIp must be an IP address/],
  [URL, { conn: { geo: { land: "DE" } } }, /conn\.geo\.land is no documented variable/],
  [URL, { body: {} as string }, /^body must be text or bytes/],
])("fetch refuses the URL %s with %j", async (url, options, words) => {
  const emulator = await startEmulator({ [URL]: request() });
  await expect(emulator.fetch(url, options)).rejects.toThrow(words);
});

test("the text of a refusal is one that only the service knows", async () => {
  const reply = await send(request(password("user:password1")));
  expect([reply.status, reply.headers.get("content-type")]).toEqual([401, null]);
  await expect(reply.text()).rejects.toThrow("the text of this 401 is not simulated");
});

const log = (metadata: object) => act("log", { metadata });

test.each<[what: string, actions: Action[], options: FetchOptions, shown?: string]>([
  [
    "written into actions",
    [
      act("basic-auth", { credentials: ["user:canary-1"], enforce: false }),
      act("verify-webhook", { provider: "github", secret: "canary-2", enforce: false }),
      log({ a: "${secrets.get('v', 'e')} ${req.headers['x-a'][0]}" }),
    ],
    { vaults: { v: { e: "canary-3" } }, headers: { "x-a": "canary-1 canary-2" } },
    '{"a":"[secret] [secret] [secret]"}',
  ],
  [
    "in the client's credentials, and encoded by the policy",
    [log({ a: "${req.headers['authorization'][0]}", b: "${basic_auth.encode('me', 'canary-2')}" })],
    login(btoa("user:canary-1")),
    '{"a":"[secret]","b":"[secret]"}',
  ],
  [
    "taken apart by functions",
    [log({ a: "${req.headers['authorization'][0].split(' ')[1].upper()}" })],
    login("canary-1"),
    '{"a":"[secret]"}',
  ],
  [
    "that went through a variable",
    [vars({ a: "${secrets.get('v', 'e')}" }), log({ a: "${('me:' + vars.a).upper()}" })],
    { vaults: { v: { e: "canary-1" } } },
    '{"a":"[secret]"}',
  ],
  [
    "in whatever form a text contains it",
    [
      log({
        a: "${secrets.get('v', 'e')}",
        b: "${secrets.get('v', 'e').upper()}",
        c: "${req.headers['x-b'][0]}",
      }),
      redirect("https://a.example.com/?k=${secrets.get('v', 'e')}"),
    ],
    { vaults: { v: { e: 'canary "1 1' } }, headers: { "x-b": btoa('canary "1 1') } },
  ],
])("the trace shows no secret %s", async (_, actions, options, shown = "[secret]") => {
  const later = { expressions: ["false"], actions: [password("me:canary-9")] };
  const headers = { ...(options.headers as object), "x-later": "canary-9" };
  const rules = [{ actions: [log({ a: "${req.headers['x-later'][0]}" }), ...actions, HELLO] }, later];
  const refused = /the character/;
  const text = await send({ on_http_request: rules }, { ...options, headers }).then(
    ({ trace }) => traceText(trace),
    (error: RequestNotSimulated) =>
      refused.test(error.message) ? traceText(error.trace) + error.message : `${error}`,
  );
  expect(text).toContain(shown);
  expect(text).not.toMatch(new RegExp(`canary|${btoa('canary "1 1').slice(0, 9)}`, "i"));
});

test("an error shows no secret", async () => {
  const emulator = await startEmulator({
    [URL]: request(act("forward-internal", { url: "https://${secrets.get('v', 'e')}.internal" })),
  });
  for (const description of ["one", "other"])
    emulator.seed({ type: "cloud", url: "https://topsecret.internal", description, pooling_enabled: true });
  const failed = emulator.fetch(URL, { vaults: { v: { e: "topsecret" } } });
  await expectRefused(failed, /the choice between 2 endpoints for https:\/\/\[secret\]\.internal/);
});
