// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies contain expressions
import { describe, expect, test } from "vitest";
import { type FetchOptions, RequestNotSimulated, traceText } from "../../../../sdk/testing";
import { type Action, HELLO, request, send, shows, startEmulator, URL, when } from "./policies";

/* What the documentation of the service leaves open ends a request with an error. */

describe("an expression", () => {
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
    [{ type: "rate-limit", config: {} }, /\(rate-limit\): rate-limit is not simulated/],
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
    [{ type: "redirect", config: { to: "/$1" } }, /a \$ in to/],
    [{ type: "redirect", config: { to: "/b", headers: { "x-a": "1\n2" } } }, /the value of the header x-a/],
    [{ type: "add-headers", config: { headers: { "x a": "1" } } }, /the header name "x a"/],
    [
      { type: "add-headers", config: { headers: { "x-a": "${req.headers['x-u'][0]}" } } },
      /of the header x-a/,
    ],
    [{ type: "custom-response", config: { headers: { "": "1" } } }, /the header name ""/],
    [{ type: "restrict-ips", config: { allow: ["10.0.0.0/8"] } }, /enforce: Invalid input/],
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
    const failed = send(request(action), { headers: { "x-p": "(", "x-c": "a:b", "x-u": "é" } }, "/aa");
    await expect(failed).rejects.toThrow(RequestNotSimulated);
    await expect(failed).rejects.toThrow(words);
  });
});

describe("an endpoint", () => {
  test("of a pool, or of an edge, is not simulated", async () => {
    const emulator = await startEmulator({});
    for (const description of ["one", "other"])
      emulator.seed({ type: "cloud", url: URL, description, pooling_enabled: true });
    emulator.seed({ type: "edge", public_url: "https://edge.example.com" });
    await expect(emulator.fetch(URL)).rejects.toThrow(/is pooled, and only the service knows/);
    await expect(emulator.fetch("https://edge.example.com")).rejects.toThrow(/edges are not simulated/);
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

  test("shows none of its credentials in the trace, and none that the policy encodes", async () => {
    const log = {
      type: "log",
      config: {
        metadata: { a: "${req.headers['authorization'][0]}", b: "${basic_auth.encode('me', 'password2')}" },
      },
    };
    const encoded = Buffer.from("user:password1").toString("base64");
    const { trace } = await send(request(log), { headers: { Authorization: `Basic ${encoded}` } });
    expect(traceText(trace)).toContain('log: {"a":"Basic [secret]","b":"[secret]"}');
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
