// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies contain expressions
import { expect, test } from "vitest";
import { type FetchOptions, RequestNotSimulated, signWebhook, traceText } from "../../index";
import {
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

/* Tests that a request fails where the service's documentation does not say what happens. */

async function expectRefused(sent: Promise<unknown>, words: RegExp | string): Promise<void> {
  await expect(sent).rejects.toThrow(RequestNotSimulated);
  await expect(sent).rejects.toThrow(words);
  await expect(sent).rejects.toThrow(/ (?:is|are) not simulated; only the service knows the result/);
}

type Expression = [expression: string, words: string, options?: FetchOptions, path?: string];
const sentHeaders = (headers: Record<string, string>) => ({ headers });
const content = (type: string) => sentHeaders({ "content-type": type });

test.each<Expression>([
  ["conn.geo.country_code == 'DE'", "the variable conn.geo.country_code, which the request does not give"],
  ["req.path == '/'", "uses req.path, which is no variable known to this version; did you mean req.url.path"],
  ["req.url.port == 443", "req.url.port, which this request lacks"],
  ["req.headers['x-role'][0] == 'a'", "No such key: x-role; guard it with 'name' in … &&) instead of"],
  ["req.url.path", "gives no truth value"],
  ["req.url.path.startsWith('/a'", "is no valid expression: ) is missing"],
  ["req.host.includes('/a')", "calls includes, which is no function known to this version; did you mean"],
  ["req.url.path.decodeBase64() == ''", ": string.decodeBase64() is not simulated"],
  ["getReqHeader('x-role') == []", "write X-Role"],
  ["getReqCookie('a').value == ''", "getReqCookie() of the cookie a, which this request lacks"],
  ["getResHeader('Server') == []", "getResHeader in on_http_request"],
  ["vars.x == 1", "vars.x"],
  ["secrets.get('constructor', 'name') == ''", "the vault constructor, which is not given"],
  ["has(req.user_agent)", "a missing user-agent"],
  ["req.content_type != ''", "the parts of the content-type", content("Text/HTML")],
  ["has(req.content_type.parameters.a)", "the parts of", content('a/b; a=";"')],
  ["hasReqCookie('a')", "this list of cookies", sentHeaders({ cookie: 'a="1"' })],
  ["'x-forwarded-for' in req.headers", "x-forwarded-for, which the service adds"],
  ["req.headers.exists(name, name == 'x-role')", "the list of headers"],
  ...["/%61dmin", "//admin"].flatMap((path) =>
    ["path", "uri"].map((name): Expression => [`req.url.${name} == '/a'`, "which the service may", {}, path]),
  ),
  ...["?a=1;b=2", "?c=%zz", "?c=%ff"].flatMap((query) =>
    ["'a' in req.url.query_params", "hasQueryParam('a')"].map(
      (expression): Expression => [expression, "the parameters of a", {}, `/${query}`],
    ),
  ),
])("the expression %s is not guessed: %s", async (expression, words, options, path) => {
  const failed = send(when(expression), options, path);
  await expectRefused(failed, words);
  await expect(failed).rejects.toThrow(`${URL} on_http_request[0].expressions[0]: `);
  await expect(failed).rejects.toMatchObject({ trace: [{ outcome: "undecided" }] });
});

const internal = (url: string) => act("forward-internal", { url });

test.each<[action: object, words: string]>([
  [limit(), "(rate-limit): rate-limit without the option rateLimited is not"],
  [act("oauth", { provider: "google" }), "(oauth): oauth is not simulated"],
  [ips({ deny: ["10.0.0.0/8"] }), "without allow"],
  [ips({ ip_policies: ["ipp_1"] }), "ip_policies, the account's IP policies,"],
  [ips({ allow: ["10.0.0.1"] }), "10.0.0.1, which is no CIDR"],
  [headers("remove-headers", ["X-Role"]), "write x-role"],
  [headers("remove-headers", ["${req.method}"]), "an expression in headers, which takes none"],
  [headers("remove-headers", ["x-forwarded-for"]), "which the service sets"],
  [password("user:short"), "a password that does not have 8"],
  [password("${req.headers['x-c'][0]}:password1"), "a colon in the user name"],
  [act("deny", { status: 404 }), 'Unrecognized key: "status"'],
  [act("deny", { status_code: 100 }), "the status 100"],
  [act("rate-limit", { name: "a" }), "its config (algorithm: "],
  [act("custom-response", { body: "a", content: "b" }), "body beside its deprecated name content"],
  [act("custom-response", { body: 1 }), "its config (body: "],
  [headers("add-headers", undefined), "add-headers without headers"],
  [headers("add-headers", {}), "add-headers without headers"],
  [
    headers("add-headers", Object.fromEntries([..."abcdefghijk"].map((name) => [name, 1]))),
    "more than ten headers",
  ],
  [headers("remove-headers", []), "without 1 to 10 names"],
  [password(), "without 1 to 10 pairs"],
  [act("basic-auth", { credentials: ["u:password1"], realm: '"' }), "a realm that needs escapes"],
  [act("url-rewrite", { to: "/a" }), "url-rewrite without from"],
  [rewrite("shop.example.com", "x"), "more than the path and the query"],
  [rewrite("com/", "com:443/"), "more than the path and the query"],
  [rewrite("/", "$1x"), "a $ in to"],
  [rewrite("x*", "y"), "empty text"],
  [rewrite("/", "/a b"), 'the character " " in a URL'],
  [redirect("b", { from: "a" }), "matches more than once"],
  [redirect("b", { from: "${req.headers['x-p'][0]}" }), "an expression in from"],
  [redirect("/${'$1'}", { from: "/aa" }), "a value with a $ in to"],
  [redirect("/a\nb"), 'the character "\\n" in a URL'],
  [redirect("//a.example.com/"), "a redirect to //a"],
  [redirect("/a/../b"), "a redirect to /a/../b"],
  [redirect("https://new.example.com/b", { from: "/aa" }), "a redirect from a path to a whole URL"],
  [vars({ a: "1", b: "2" }), "a map of vars without exactly one key"],
  [internal("http://a.internal"), "forwarding from https://shop.example.com/aa to http://a.internal"],
  [internal("https://none.internal"), "no internal endpoint https://none.internal"],
  [headers("add-headers", { "x-a": "${'é'}" }), "of the header x-a"],
  [shows("${req.headers}"), "a value of this type in a text"],
  [shows("${{'a': 1}}"), "the text"],
  [verify("secret", { provider: "dropbox" }), "does not know how Dropbox signs"],
  [
    verify("${secrets.get('constructor', 'name')}"),
    "the entry name of the vault constructor, which is not given",
  ],
])("the action %j is not guessed: %s", async (action, words) => {
  const sent = sentHeaders({ "x-p": "(", "x-c": "a:b" });
  await expectRefused(send({ on_http_request: [{ actions: [action, HELLO] }] }, sent, "/aa"), words);
});

const inferred = { on_http_request: [{ actions: [act("custom-response", { body: "hello" })] }] };

test.each<[policy: object, words: RegExp | string, options?: FetchOptions]>([
  [
    { ...request(limit()), on_http_response: when("'retry-after' in res.headers").on_http_request },
    "the header retry-after, which the service adds",
    { rateLimited: true },
  ],
  [{ on_http_requests: [] }, "its policy at the top (Unrecognized key"],
  [{ on_http_request: [] }, "the reply of a cloud endpoint whose policy ends without an answer"],
  [
    { ...request(redirect("/b")), on_http_response: [{ actions: [HELLO] }] },
    /on_http_response\[0\] after redirect is not simulated; .* \(GET https:\/\/shop\.example\.com\/\)$/,
  ],
  [{ on_tcp_connect: when("req.method == 'GET'").on_http_request }, "req.method in on_tcp_connect"],
  ...["res.headers.size() > 0", "has(res.content_length)", "hasResHeader('Date')"].map(
    (expression): [object, string] => [
      { ...inferred, on_http_response: when(expression).on_http_request },
      "the service adds",
    ],
  ),
])("the policy %j is not guessed", async (policy, words, options) => {
  await expectRefused(send(policy, options), words);
});

const login = (encoded: string) => sentHeaders({ authorization: `Basic ${encoded}` });
const signature = signWebhook("github", { body: "{}", secret: "a secret" });
const forged = { "x-hub-signature-256": "sha256=00" };

test.each<[options: FetchOptions, words: string, action?: ReturnType<typeof act>]>([
  [{ method: "TRACE" }, "the method TRACE"],
  [sentHeaders({ "x a": "1" }), 'the header name "x a"'],
  [sentHeaders({ "X-Forwarded-For": "192.0.2.1" }), "a request with the header X-Forwarded-For"],
  [{ ...sentHeaders({ "content-length": "3" }), body: "ab" }, "a wrong content-length, 3,"],
  [sentHeaders({ host: "evil.example.com" }), "whose header Host is evil.example.com"],
  [login("dTp*wYXNzd29yZDE="), "credentials that are not exact base64", password("u:password1")],
  [
    { body: "{}", headers: { ...forged, ...signature } },
    "several headers x-hub-signature-256",
    verify("a secret"),
  ],
])("the request %j is not answered: %s", async (options, words, action = HELLO) => {
  await expectRefused(send(request(action), options), words);
});

test("the address of a wildcard endpoint is not simulated", async () => {
  const endpoints = { "https://*.example.com": when("endpoint.url != ''") };
  await expectRefused(fetchFrom(endpoints, "https://a.b.example.com"), "the address of a wildcard");
});

test("an exact host comes before a wildcard, and among several wildcards none is chosen", async () => {
  const all = ["https://app.internal", "https://*.example.com", "https://*.b.example.com"];
  const endpoints = {
    ...Object.fromEntries(all.map((url) => [url, request()])),
    "https://a.b.example.com": request(act("deny")),
  };
  expect((await fetchFrom(endpoints, "https://a.example.com")).status).toBe(200);
  expect((await fetchFrom(endpoints, "https://a.b.example.com")).status).toBe(403);
  await expectRefused(fetchFrom(endpoints, "https://b.b.example.com"), "the choice between 2 endpoints for");
  for (const url of ["https://app.internal", "https://example.com", "http://any.example.com"])
    await expect(fetchFrom(endpoints, url)).rejects.toThrow(/^no public endpoint .*; the account has https:/);
});

test.each<[policy: object, words: string]>([
  [{ on_tcp_connect: [{ actions: [HELLO] }] }, ": on_tcp_connect of an internal endpoint"],
  [when("conn.client_ip == '127.0.0.1'"), "app.internal on_http_request[0].expressions[0]: the variable"],
  [request(ips({ allow: ["0.0.0.0/0"] })), "restrict-ips behind forward-internal"],
  [forward("https://app.internal"), "a loop of forward-internal, https://app.internal,"],
  [request(act("close-connection")), "forwarding to an endpoint that closes the connection"],
])(
  "an internal endpoint does not know the client's connection, and cannot have %j",
  async (policy, words) => {
    const policies = { [URL]: forward("https://app.internal"), "https://app.internal": policy };
    await expectRefused(fetchFrom(policies, URL, { conn: { geo: { country: "DE" } } }), words);
  },
);

test.each<[url: string, options: FetchOptions, words: RegExp]>([
  ["shop.example.com", {}, /^the URL must/],
  [`${URL}/?`, {}, /the empty query of https:\/\/shop\.example\.com\/\? is not simulated/],
  [URL, { clientIp: "" }, /^clientIp must be an IP address/],
  [URL, { conn: { geo: { land: "DE" } } }, /conn\.geo\.land is no documented variable/],
])("fetch refuses the URL %s with %j", async (url, options, words) => {
  await expect(fetchFrom({ [URL]: request() }, url, options)).rejects.toThrow(words);
});

test("the text of a refusal cannot be read, because only the service knows it", async () => {
  const reply = await send(request(password("user:password1")));
  expect([reply.status, reply.headers.get("content-type")]).toEqual([401, null]);
  await expect(reply.text()).rejects.toThrow("the text of this 401 is not simulated");
});

const LONG = 'canary "1 1';
const vaults = { v: { e: "canary-1", long: LONG } };
const [entry, long] = ["secrets.get('v', 'e')", "secrets.get('v', 'long')"];

test.each<[what: string, text: string, headers?: Record<string, string>]>([
  ["an entry of the vault", `\${${entry}}`],
  ["a variable's secret that functions changed", "${('me:' + vars.a).upper()}"],
  ["a part of the credentials", "${req.headers['authorization'][0].upper()}", { authorization: "A canary" }],
  ["what the policy encodes", "${basic_auth.encode('me', 'canary-2')}"],
  ["secrets of other actions", "${req.headers['x-a'][0]}", { "x-a": "canary-3 canary-4 canary-5" }],
])("the trace shows no secret: %s", async (_, text, sent = {}) => {
  const actions = [
    act("basic-auth", { credentials: ["user:canary-3"], enforce: false }),
    verify("canary-4", { enforce: false }),
    vars({ a: `\${${entry}}` }),
    act("log", { metadata: { text, used: `\${${long}}` } }),
    HELLO,
  ];
  const unmatched = {
    expressions: ["basic_auth.encode('me', 'canary-6') == ''"],
    actions: [password("me:canary-5")],
  };
  const { trace } = await send({ on_http_request: [unmatched, { actions }] }, { vaults, headers: sent });
  expect(traceText(trace)).toMatch(/"text":"(?:\[secret\] ?)+"/);
  expect(traceText(trace)).not.toMatch(/canary/i);
});

test("neither a redirect in the trace nor an error shows a secret", async () => {
  const { trace } = await send(request(redirect("https://a.example.com/?k=${secrets.get('v', 'e')}")), {
    vaults: { v: { e: "canary 1" } },
  });
  expect(traceText(trace)).toContain("?k=[secret]");
  const sent = send(request(internal("https://${secrets.get('v', 'e')}.internal")), { vaults });
  await expectRefused(sent, "no internal endpoint https://[secret].internal");
});
