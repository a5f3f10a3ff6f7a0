// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies contain expressions
import { describe, expect, test } from "vitest";
import { type FetchOptions, RequestNotSimulated, signWebhook, traceText } from "../../../sdk/testing";
import { type Action, HELLO, request, send, shows, startEmulator, URL, when } from "./policies";

/* What the documentation of the service leaves open ends a request with an error. */

describe("an expression", () => {
  test.each<[expression: string, words: RegExp, options?: FetchOptions]>([
    [
      "conn.geo.country_code == 'DE'",
      /the variable conn\.geo\.country_code, which the request does not give/,
    ],
    ["req.path == '/'", /uses req\.path, which is no variable known.* did you mean req\.url\.path/],
    ["req.user_agent.is_bot", /the variable req\.user_agent\.is_bot/],
    ["actions.ngrok.oauth.identity.email != ''", /the variable actions\.ngrok\.oauth/],
    ["req.url.port == 443", /req\.url\.port, which this request lacks/],
    ["req.headers['x-role'][0] == 'admin'", /which fails \(/],
    ["req.url.path", /gives no truth value/],
    ["req.url.path.startsWith('/a'", /is no valid expression: \) is missing/],
    ["getReqHeader('x-role') == []", /write X-Role/],
    ["req.url.path.matches('(?=a)')", /this pattern/],
    ["req.url.path.matches('(a)\\\\1')", /this pattern/],
    ["'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('^(a+)+$')", /takes over \d+ ms/],
    ["vars.x == 1", /vars\.x|fails/],
    ["getResHeader('Server') == []", /getResHeader in on_http_request/],
    ["[3, 1].sortBy(x, x) == [1, 3]", /sortBy/],
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
    ["'abc'.replace('', '-', 2) == ''", /replace\(\) of the empty text/],
    ["'😀'.split('').size() == 1", /split\(\) of characters beyond U\+FFFF/],
    ["'%.1f'.format([0.25]) == '0.2'", /%f of format\(\) with this value/],
    ["'%f'.format([1e300]) == ''", /%f of format\(\) with this value/],
    ["'\\uFEFFa'.trim() == 'a'", /trim\(\) of this text/],
    ["json.decode('9007199254740993') == 1.0", /an integer beyond 2\^53 in JSON/],
    ["'%.101f'.format([0.5]) == ''", /%f of format\(\) with this value/],
    ["json.encode(['<']) == ''", /JSON of a text with <, > or &/],
    ["'a=1&a=2'.decodeQueryString()['a'] == '1'", /a repeated name in a query/],
    ["json.encode([9007199254740993]) == ''", /an integer beyond 2\^53 in JSON/],
  ])("%s is not guessed", async (expression, words, options) => {
    const failed = send(when(expression), options);
    await expect(failed).rejects.toThrow(RequestNotSimulated);
    await expect(failed).rejects.toThrow(words);
    await expect(failed).rejects.toThrow(
      /^https:\/\/shop\.example\.com on_http_request\[0\]\.expressions\[0\]: .*only the service knows/s,
    );
  });
});

describe("an action", () => {
  test.each<[action: Action, words: RegExp]>([
    [{ type: "rate-limit", config: {} }, /\(rate-limit\): rate-limit without the option rateLimited is not/],
    [{ type: "oauth", config: { provider: "google" } }, /\(oauth\): oauth is not simulated/],
    [{ type: "jwt-validation" }, /jwt-validation is not/],
    [{ type: "unheard-of" }, /unheard-of is not/],
    [{ type: "restrict-ips", config: { enforce: true, deny: ["10.0.0.0/8"] } }, /without allow/],
    [
      { type: "restrict-ips", config: { enforce: true, ip_policies: ["ipp_1"] } },
      /IP policies are not known/,
    ],
    [{ type: "remove-headers", config: { headers: ["X-Role"] } }, /write x-role/],
    [
      { type: "remove-headers", config: { headers: ["${req.method}"] } },
      /an expression in headers, which takes none/,
    ],
    [
      { type: "restrict-ips", config: { enforce: true, allow: ["10.0.0.1"] } },
      /10\.0\.0\.1, which is no CIDR/,
    ],
    [{ type: "basic-auth", config: { credentials: ["user:short"] } }, /a password that does not have 8/],
    [
      { type: "basic-auth", config: { credentials: [`user:${"a".repeat(129)}`] } },
      /a password that does not have 8/,
    ],
    [{ type: "deny", config: { status: 404 } }, /Unrecognized key: "status"/],
    [
      { type: "url-rewrite", config: { from: "shop.example.com", to: "x" } },
      /more than the path and the query/,
    ],
    [{ type: "url-rewrite", config: { from: "/", to: "$1x" } }, /a \$ in to/],
    [{ type: "url-rewrite", config: { from: "x*", to: "y" } }, /empty text/],
    [{ type: "redirect", config: { from: "a", to: "b" } }, /matches more than once/],
    [{ type: "redirect", config: { from: "${req.headers['x-p'][0]}", to: "b" } }, /in a pattern/],
    [{ type: "url-rewrite", config: { from: "/", to: "/a b" } }, /the character " " in a URL/],
    [{ type: "url-rewrite", config: { from: "/aa", to: "/#b" } }, /the character "#" in a URL/],
    [{ type: "url-rewrite", config: { from: "/aa", to: "/é" } }, /the character "é" in a URL/],
    [{ type: "redirect", config: { to: "/a\nb" } }, /the character "\\n" in a URL/],
    [{ type: "redirect", config: { to: "/<b>" } }, /the character "<" in a URL/],
    [{ type: "redirect", config: { to: "ftp://a.example.com/" } }, /a redirect to ftp:/],
    [{ type: "redirect", config: { to: "//a.example.com/" } }, /a redirect to \/\/a\.example\.com/],
    [{ type: "redirect", config: { to: "b" } }, /a redirect to b /],
    [{ type: "redirect", config: { to: "/a/../b" } }, /a redirect to \/a\/\.\.\/b/],
    [{ type: "redirect", config: { to: "" } }, /a redirect to /],
    [
      { type: "redirect", config: { from: "()()()()()()()()()(aa)", to: "/$10x" } },
      /a \$ in to that refers to no group/,
    ],
    [{ type: "url-rewrite", config: { from: "com/", to: "com:443/" } }, /more than the path and the query/],
    [
      { type: "url-rewrite", config: { from: "//shop", to: "//me@shop" } },
      /more than the path and the query/,
    ],
    [{ type: "set-vars", config: { vars: [{ a: "1", b: "2" }] } }, /must have one key/],
    [{ type: "set-vars", config: { vars: [{ a: { b: 3 } }] } }, /the type of 3/],
    [{ type: "remove-headers", config: { headers: ["x-forwarded-for"] } }, /which the service sets/],
    [{ type: "basic-auth", config: { credentials: ["user:😀😀😀😀"] } }, /8 to 128 characters of ASCII/],
    ...[
      "https://app.internal/v2",
      "https://APP.internal",
      "tcp://app.internal:22",
      URL,
      "app",
      "http://a.internal",
    ].map((url): [Action, RegExp] => [{ type: "forward-internal", config: { url } }, /forwarding /]),
    [{ type: "redirect", config: { to: "/$1" } }, /a \$ in to/],
    [{ type: "redirect", config: { to: "/b", headers: { "x-a": "1\n2" } } }, /the value of the header x-a/],
    [{ type: "add-headers", config: { headers: { "x a": "1" } } }, /the header name "x a"/],
    [{ type: "add-headers", config: { headers: { "x-a": "${'é'}" } } }, /of the header x-a/],
    [{ type: "custom-response", config: { headers: { "": "1" } } }, /the header name ""/],
    [
      { type: "basic-auth", config: { credentials: ["${req.headers['x-c'][0]}:password1"] } },
      /a colon in the user name/,
    ],
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
    const failed = send(request(action), { headers: { "x-p": "(", "x-c": "a:b" } }, "/aa");
    await expect(failed).rejects.toThrow(RequestNotSimulated);
    await expect(failed).rejects.toThrow(words);
  });
});

describe("an endpoint", () => {
  test.each(["endpoint.host", "endpoint.url", "endpoint.addr"])(
    "of a wildcard does not tell which address %s is",
    async (name) => {
      const emulator = await startEmulator({ "https://*.example.com": when(`${name} != ''`) });
      await expect(emulator.fetch("https://a.b.example.com")).rejects.toThrow(/the address of a wildcard/);
    },
  );

  test("is not chosen among several wildcards", async () => {
    const emulator = await startEmulator({
      "https://*.example.com": request(),
      "https://*.b.example.com": request(),
    });
    expect((await emulator.fetch("https://a.example.com")).status).toBe(200);
    await expect(emulator.fetch("https://a.b.example.com")).rejects.toThrow(/the choice between 2 endpoints/);
  });

  test("that is internal has no on_tcp_connect", async () => {
    const forward = { type: "forward-internal", config: { url: "https://app.internal" } };
    const emulator = await startEmulator({
      [URL]: { on_http_request: [{ actions: [forward] }] },
      "https://app.internal": {
        on_tcp_connect: [{ actions: [{ type: "log", config: { metadata: {} } }] }],
        ...request(),
      },
    });
    await expect(emulator.fetch(URL)).rejects.toThrow(/on_tcp_connect of an internal endpoint/);
  });

  test("of a pool, or of an edge, is not simulated", async () => {
    const emulator = await startEmulator({});
    for (const description of ["one", "other"])
      emulator.seed({ type: "cloud", url: URL, description, pooling_enabled: true });
    emulator.seed({ type: "edge", public_url: "https://edge.example.com" });
    await expect(emulator.fetch(URL)).rejects.toThrow(/^the choice between 2 endpoints for .* is not/);
    await expect(emulator.fetch("https://edge.example.com")).rejects.toThrow(/^the edge https:/);
  });
});

describe("a request", () => {
  test.each<[options: FetchOptions, words: RegExp]>([
    [{ method: "TRACE" }, /^the method TRACE/],
    [{ headers: { "x a": "1" } }, /^the header name "x a"/],
    [{ headers: { "x-a": "1\n2" } }, /^the value of the header x-a/],
    [{ headers: { "x-a": " 1" } }, /^the value of the header x-a/],
    [{ headers: { "X-Forwarded-For": "192.0.2.1" } }, /^a request with the header X-Forwarded-For/],
    [{ headers: { Upgrade: "websocket" } }, /^a request with the header Upgrade/],
    [{ headers: { "content-length": "3" }, body: "ab" }, /^a wrong content-length, 3,/],
    [
      {
        headers: [
          ["Content-Type", "a/b"],
          ["content-type", "c/d"],
        ],
      },
      /^a request with several headers Content-Type/,
    ],
  ])("that no ordinary client sends is refused: %j", async (options, words) => {
    const failed = send(request(), options);
    await expect(failed).rejects.toThrow(RequestNotSimulated);
    await expect(failed).rejects.toThrow(words);
  });

  test.each(["https://me:pw@shop.example.com/", "shop.example.com", "https://shop.example.com:0x/"])(
    "needs a URL without credentials: %s",
    async (url) => {
      const emulator = await startEmulator({ [URL]: request() });
      await expect(emulator.fetch(url)).rejects.toThrow(/^the URL must/);
    },
  );

  test("with two signatures is neither verified nor refused", async () => {
    const verify = { type: "verify-webhook", config: { provider: "github", secret: "a secret of hooks" } };
    const headers = signWebhook("github", { body: "{}", secret: "a secret of hooks" });
    const twice = [["X-Hub-Signature-256", "sha256=00"] as const, ...Object.entries(headers)];
    await expect(send(request(verify), { method: "POST", headers: twice, body: "{}" })).rejects.toThrow(
      /several headers x-hub-signature-256/,
    );
  });
});

describe("the reply", () => {
  test("of a refusal has a text that only the service knows", async () => {
    const auth = { type: "basic-auth", config: { credentials: ["user:password1"] } };
    const ips = { type: "restrict-ips", config: { enforce: true, allow: ["10.0.0.0/8"] } };
    for (const [action, status] of [
      [auth, 401],
      [ips, 403],
    ] as const) {
      const reply = await send(request(action));
      expect([reply.status, reply.headers.get("content-type")]).toEqual([status, null]);
      await expect(reply.text()).rejects.toThrow(`the text of this ${status} is not simulated`);
    }
  });

  test.each([
    "res.headers.size() > 0",
    "res.headers.exists(name, name == 'x-a')",
    "'content-length' in res.headers",
    "has(res.content_length)",
    "hasResHeader('Content-Length')",
    "hasResHeader('Date')",
  ])("of custom-response can have headers of the service: %s", async (expression) => {
    const policy = { ...request(), on_http_response: [{ expressions: [expression], actions: [HELLO] }] };
    await expect(send(policy)).rejects.toThrow(/which the service (adds|chooses)/);
  });
});

describe("a request that an attacker or a mistake could make", () => {
  test.each([
    ["hasReqCookie('constructor')", {}],
    ["hasReqHeader('Constructor')", {}],
    ["'constructor' in req.cookies", { headers: { cookie: "__proto__=a" } }],
    ["inCidrRange(conn.client_ip, '::/0')", { clientIp: "192.0.2.1" }],
    ["inCidrRange(conn.client_ip, '192.0.2.0/33')", { clientIp: "192.0.2.1" }],
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
    await expect(send(request(), { headers })).rejects.toThrow(
      "whose header Host is evil.example.com is not",
    );
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

  test("shows none of its credentials in the trace, and none that the policy encodes", async () => {
    const log = {
      type: "log",
      config: {
        metadata: { a: "${req.headers['authorization'][0]}", b: "${basic_auth.encode('me', 'password2')}" },
      },
    };
    const encoded = Buffer.from("user:password1").toString("base64");
    const { trace } = await send(request(log), { headers: { Authorization: `Basic ${encoded}` } });
    expect(traceText(trace)).toContain('log: {"a":"[secret]","b":"[secret]"}');
  });

  test("shows neither a decoded credential nor a written one that was not needed", async () => {
    const log = {
      type: "log",
      config: {
        metadata: {
          a: "${req.headers['authorization'][0].split(' ')[1].decodeBase64()}",
          b: "${req.headers['x-a'][0]}",
        },
      },
    };
    const later = [
      {
        expressions: ["false"],
        actions: [{ type: "basic-auth", config: { credentials: ["me:password9"] } }],
      },
    ];
    const { on_http_request: rules } = request(log);
    const headers = {
      Authorization: `Basic ${Buffer.from("user:hunter2pw").toString("base64")}`,
      "X-A": "password9",
    };
    const { trace } = await send({ on_http_request: [...rules, ...later] }, { headers });
    expect(traceText(trace)).toContain('log: {"a":"[secret]","b":"[secret]"}');
  });

  test("shows no secret that went through a variable", async () => {
    const set = { type: "set-vars", config: { vars: [{ a: "${secrets.get('v', 'e')}" }] } };
    const log = { type: "log", config: { metadata: { a: "${('me:' + vars.a).encodeBase64()}" } } };
    const { trace } = await send(request(set, log), { vaults: { v: { e: "top secret" } } });
    expect(traceText(trace)).toContain('log: {"a":"[secret]"}');
  });

  test("shows no entry of the vault in an error", async () => {
    const forward = {
      type: "forward-internal",
      config: { url: "https://${secrets.get('v', 'e')}.internal" },
    };
    const emulator = await startEmulator({ [URL]: request(forward) });
    for (const description of ["one", "other"])
      emulator.seed({
        type: "cloud",
        url: "https://topsecret.internal",
        bindings: ["internal"],
        description,
        pooling_enabled: true,
      });
    const failed = emulator.fetch(URL, { vaults: { v: { e: "topsecret" } } });
    await expect(failed).rejects.toThrow(/the choice between 2 endpoints for https:\/\/\[secret\]\.internal/);
  });

  test("shows no entry of the vault in the trace, in whatever form a text contains it", async () => {
    const vaults = { v: { short: "abcd", long: 'abcd"efgh/ij kl+', blank: "abcd efgh" } };
    const log = {
      type: "log",
      config: {
        metadata: {
          a: "${secrets.get('v', 'long')}",
          b: "${secrets.get('v', 'short')}",
          c: "${url.escape(secrets.get('v', 'long'))}",
          d: "${secrets.get('v', 'long').upper()}",
          e: "${[secrets.get('v', 'long').reverse()][0]}",
        },
      },
    };
    const redirect = {
      type: "redirect",
      config: { to: "https://a.example.com/?k=${secrets.get('v', 'blank')}" },
    };
    const { trace } = await send({ on_http_request: [{ actions: [log, redirect] }] }, { vaults });
    expect(traceText(trace)).toContain("[secret]");
    expect(traceText(trace)).not.toMatch(/abcd|efgh|dcba|hgfe/i);
  });
});
