import { describe, expect, test } from "vitest";
import { pathText } from "../../../../provider/data/paths";
import { flatName, namesOfExpressions } from "../../policy/cel";
import { expressionWarnings, policyWarnings } from "../../policy/warnings";
import { calls } from "../answer/documentedCalls";
import { isUnknown, UNKNOWN } from "../unknown";
import { act, onRequest, onResponse, rule } from "./cases";

const when = (...expressions: unknown[]) => ({ expressions, ...rule(act("add-headers", { headers: {} })) });
const answer = (body: unknown) => rule(act("custom-response", { body }));

/** The warnings for a policy: place, offset and reason. */
const found = (policy: unknown) =>
  policyWarnings(policy, { isUnknown }).map(
    ({ path, offset, reason }) => `${pathText(path)}:${offset} ${reason}`,
  );
const reasons = (expression: string) =>
  policyWarnings(onResponse(when(expression))).map(({ reason }) => reason);

/** Calls from the pages of variables and macros, and undocumented calls, which may be right. */
const moreCalls = `
{'one': 1}.all(x, x.startsWith('o')) && [1, 2, 3].filter(x, x > 1).size() == 2
[{'name': 'b'}, {'name': 'a'}].sortBy(x, x.name)[0].name == 'a'
queryString.decode('a=b').a == 'b' && rand.int(0, 10) >= 5
hasQueryParam('q') && hasReqCookie('session') && getResCookie('session').value != ''
has(req.headers['x-custom-header']) && conn.tls.client.extensions[0].value == b' '
actions.ngrok.http_request.res.body.decodeJson().tier == 'gold'
actions.ngrok.terminate_tls.error.code != '' || actions.ngrok.terminate_tls.error_code != ''
res.cookies['sessionId'][0].max_age > duration('24h') && req.url.port == null
5 * (3 - 1) == 10 // a comment: req.path
math.greatest(1, 2) == 2 || cel.bind(x, 1, x + 1) == 2
req.?host.orValue('') == '' && optional.of(1).hasValue()
[1, 2].exists_one ( i , v , v == i ) || [1, 2].existsOne(v, v == 1)
{'a': 1}.transformMapEntry(k, v, {k: v}) == {'a': 1}
req.url.path.contains(R"""\\""") || br'\\d' == b'a' || r"""a\\""" == """a\\""""
timestamp('2026-01-31Z') < timestamp('2026-01-31T12:00:00.5+02:00')
`
  .trim()
  .split("\n");

describe("an expression of the documentation causes no warning", () => {
  test.each([...calls.map(([call]) => call), ...moreCalls])("%s", (expression) => {
    const request = act("http-request", { url: "https://a", retry_condition: expression });
    expect(found(onResponse(rule(request)))).toEqual([]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
    const body = "a ${1} b ${EXPRESSION} c".replace("EXPRESSION", () => expression);
    // Except comments, which would end with the line.
    if (!expression.includes("//")) expect(found(onResponse(answer(body)))).toEqual([]);
  });

  test("with any documented variable, as text, in has() and across lines", () => {
    for (const name of namesOfExpressions().variables.keys()) {
      expect(found(onResponse(answer(`\${${name}}`))), name).toEqual([]);
      expect(reasons(`has(${name}) && true`), name).toEqual([]);
      expect(reasons(`${name.replaceAll(".", "\n  . ")} == vars.a`), name).toEqual([]);
    }
  });
});

test("different names have different flat names, except for two spellings of an error", () => {
  const { variables, functions } = namesOfExpressions();
  const names = [...variables.keys(), ...functions.keys()];
  const flat = new Set(names.map(flatName));
  const spellings = ["code", "message"].map((name) => `actions.ngrok.terminate_tls.error_${name}`);
  expect(flat.size).toBe(names.length - spellings.length);
  for (const name of names) expect(flatName(name)).toHaveLength(name.length);
});

describe("a mistake in an expression is reported at its place", () => {
  // biome-ignore format: one line for each mistake
  test.each<[expression: string, at: number, reason: RegExp]>([
    // Syntax
    ["req.host == 'a' && (req.method == 'GET'", 39, /is no valid expression: \) is missing$/],
    ["req.host == 'a", 12, /: a quote is missing$/],
    ["req.host == 'Bearer 's3cretToken", 21, /^is no valid expression: a word here is not expected$/],
    ['req.host == """a\\"""', 12, /: a quote is missing$/],
    ["req.host.matches('\\d')", 18, /: this escape does not exist; r'…' is a text without escapes$/],
    ["", 0, /: the end is not expected$/],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
    ["req.host == ${vars.host}", 12, /is an expression as a whole; leave out \$\{ and \}/],
    // Variables
    ["req.path.startsWith('/x')", 0, /^uses req\.path, which is no variable known to this version; did you mean req\.url\.path\?$/],
    ["identity.age >= 18", 0, /uses identity\.age, .*; variables begin with conn, endpoint, req, res, time, vars and actions$/],
    ["req.user_agent.bot", 0, /did you mean req\.user_agent\.is_bot\?/],
    // Functions
    ["req.url.path.includes('/x')", 13, /^calls includes, which is no function known to this version; did you mean contains\?$/],
    ["(req.host + 'a') . lowr() == ''", 19, /calls lowr, .* did you mean lower\?/],
    ["req.headers.get('a') == 'b'", 12, /calls get, which is no function/],
    // Types
    ["true && req.headers['x-role'] == 'admin'", 8, /^compares a list with text; take an item of the list with \[0\], or use exists$/],
    ["'admin' != getReqHeader('X-Role')", 0, /^compares text with a list; /],
    ["has(req.headers.role) && req.headers.role in ['admin', 'b']", 25, /^compares a list with text; /],
    ["res.status_code < '200'", 0, /^compares a number with text; remove the quotes$/],
    ["res.status_code in ['200', '204']", 0, /^compares a number with text; remove the quotes$/],
    ["req.user_agent.is_bot == 'true'", 0, /^compares a boolean with text; remove the quotes$/],
    ["req.headers['x'].size() == req.host", 0, /^compares a number with text; convert one of them, as in double\(…\)$/],
    ["conn.geo.latitude > 45", 0, /^compares text with a number; convert one of them, as in double\(…\)$/],
    ["'/a' in req.url.path", 0, /^looks into text with in; use contains$/],
    ["!conn.client_ip in ['192.0.2.1']", 0, /^applies ! to text; write !\(…\) around a condition$/],
    ["res.headers['content-type'].contains('json')", 0, /^calls contains on a list, which has no such function; take an item of the list with \[0\]/],
    ["res.status_code.startsWith('5')", 0, /^calls startsWith on a number, which has no such function$/],
    ["vars.a == 1 && req.url.path + 'x' == 2", 15, /^compares text with a number; /],
    ["req.headers['x'].map(each, each.size()) == 3", 0, /^compares a list with a number; /],
    // Expressions that the service accepts, but that never match
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
    ["'GET' == \"${req.method}\"", 9, /^has an expression as a text; leave out its quotes, \$\{ and \}$/],
    ["true && conn.client_ip in ['1.2.3.4', '10.0.0.0/8']", 8, /^compares conn\.client_ip with a network as text; use inCidrRanges\(conn\.client_ip, \[…\]\)$/],
    ["conn.client_ip == '2001:db8::/32'", 0, /use inCidrRange\(conn\.client_ip, …\)$/],
    ["conn.client_ip.matches('^203\\\\.0\\\\.113\\\\.0/24$')", 0, /compares conn\.client_ip with a network as text; use inCidrRange/],
    ["conn.client_ip.startsWith('203.0.113.0/24')", 0, /use inCidrRange\(conn\.client_ip, …\)$/],
    ["matches(conn.client_ip, '203.0.113.0/24')", 0, /use inCidrRange\(conn\.client_ip, …\)$/],
    ["req.headers['X-GitHub-Event'][0] == 'push'", 12, /^looks for X-GitHub-Event with req\.headers, which never matches: write x-github-event$/],
    ["'X-Event' in req.headers", 0, /write x-event$/],
    ["has(req.headers.Authorization)", 16, /write authorization$/],
  ])("%s", (expression, at, reason) => {
    const [warning, ...others] = policyWarnings(onResponse(when(expression)));
    expect(others).toEqual([]);
    expect(warning).toMatchObject({ offset: at, reason: expect.stringMatching(reason) });
  });
});

test.each([
  "req.headers['x-github-event'][0] == 'Push' && 'x-hub' in req.headers",
  "req.headers[\"x-github-event\"].exists(Value, Value == 'Push')",
  "hasReqHeader('X-GitHub-Event') && getResHeader('X-Customer-ID')[0] == 'Push'",
  "req.headers[vars.Name][0] == 'Name'",
  "req.headers['x-role'][0] == 'admin' && 'admin' in req.headers['x-role'] && req.headers['x'].join(',') == 'a'",
  "size(req.headers['x']) == 1 && req.headers['x'].exists(each, each.contains('a')) && req.url.path.split('/')[1] == 'a'",
  "res.status_code in [200, 201] && req.content_length > 1.5 && req.url.port == 443u && res.status_code != null",
  "!conn.client_ip.is_tor_node && !('a' in req.headers) && !(vars.a in ['b']) && vars.a == 1 && vars.a.contains('c')",
  "conn.client_ip.startsWith('203.0.113.') && conn.client_ip.matches('^203') && req.url.contains('/24')",
  "['a', 1].exists(x, x == 'b') && [[1]][0] == [2] && 'abc'.reverse() == 'cba' && [1].reverse() == [1]",
  "actions.ngrok.restrict_ips.matched_cidr in ['10.0.0.0/8']",
  "\"req.path\" == 'request.headers' // req.path",
  "['a'].exists(req, req == 'a') && ['a'].all(time, time != 'b')",
  `conn.client_ip in [${"'192.0.2.1', ".repeat(1_001)}]`,
])("no warning if it can match: %.200s", (expression) => expect(reasons(expression)).toEqual([]));

test("a variable or function that its phase does not have causes a warning, once for each expression", () => {
  const rules = [when("req.host == req.method", "conn.client_ip == ''", "hasResHeader('server')")];
  const phases = ["on_tcp_connect", "on_http_request", "on_http_response", "on_event_stream_message"];
  const all = found(Object.fromEntries(phases.map((phase) => [phase, rules])));
  expect(all.filter((warning) => warning.includes("which does not exist"))).toEqual([
    "on_tcp_connect[0].expressions[0]:0 uses req.host, which does not exist in on_tcp_connect",
    "on_tcp_connect[0].expressions[2]:0 calls hasResHeader, which does not exist in on_tcp_connect",
    "on_http_request[0].expressions[2]:0 calls hasResHeader, which does not exist in on_http_request",
  ]);
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are expressions of the policy's
describe("expressions are found", () => {
  const LIMIT = { name: "req.host", algorithm: "sliding_window", capacity: 1, rate: "60s" };
  const names = { a: "req.host", b: "vars.tier", c: "req.hots", d: "vars", e: "req.host or so", f: "a" };

  // biome-ignore format: one line for each config
  test.each<[what: string, type: string, config: object, places: string[]]>([
    ["as whole texts", "rate-limit", { ...LIMIT, bucket_key: ["conn.client_ip", "req.hots"] }, ["bucket_key[1]:0"]],
    ["as whole texts", "http-request", { url: "https://a", retry_condition: "last_attempt.res.statusCode == 500 && attemps < 2" }, ["retry_condition:38"]],
    ["in ${…}", "add-headers", { headers: { a: "x ${a.b} y ${ {'c': '}'}['c'] + c.d }" } }, ["headers.a:4", "headers.a:32"]],
    ["in ${…} in lists", "http-request", { url: "https://${a.b}", query_params: [{ key: "k", value: "${c.d}" }] }, ["url:10", "query_params[0].value:2"]],
    ["in ${…} in variables", "set-vars", { vars: [{ a: "${b.c}" }, { d: { e: ["${f.g}"] } }] }, ["vars[0].a:2", "vars[1].d.e[0]:2"]],
    ["in ${…} at any depth", "log", { metadata: { a: { b: ["${c.d}"] } } }, ["metadata.a.b[0]:2"]],
    ["in no value that takes none", "remove-headers", { headers: ["${a.b}"] }, []],
    ["as a variable's name without ${}", "add-headers", { headers: names }, ["headers.a:0"]],
  ])("%s: %s", (_, type, config, places) => {
    const warnings = found(onRequest(rule(act(type, config))));
    expect(warnings.map((text) => text.replace(/^.*\.config\.?/, "").replace(/ (?:uses|is text).*/, ""))).toEqual(places);
  });

  test("in the conditions of a rule, with or without the rest of it", () => {
    expect(found(onRequest(when("true", "a.b")))).toEqual([
      expect.stringMatching(/^on_http_request\[0\]\.expressions\[1\]:0 uses a\.b/),
    ]);
    expect(expressionWarnings(["req.hots"], isUnknown)).toEqual([
      { path: ["expressions", 0], offset: 0, reason: expect.stringMatching(/^uses req\.hots/) },
    ]);
  });

  test("whose long names are cut in a warning", () => {
    const long = "x".repeat(1_000);
    for (const expression of [`req.${long} == 1`, `${long}(1)`, `req.headers['${long}A'] == []`]) {
      const [warning = ""] = found(onRequest(when(expression)));
      expect(warning).toContain("x".repeat(90));
      expect(warning.length).toBeLessThan(400);
    }
  });

  test.each(["${", "a ${req.path", "{{ req.path }}", `\${${UNKNOWN}}`, "it's ${1}"])(
    "and no other text is taken for one: %s",
    (body) => expect(found(onRequest(answer(body)))).toEqual([]),
  );

  test("but not if they are unknown", () =>
    expect(found(onRequest(when("a.b", UNKNOWN), answer(UNKNOWN)))).toHaveLength(1));
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above
