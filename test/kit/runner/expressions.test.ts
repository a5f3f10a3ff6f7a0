import { describe, expect, test } from "vitest";
import { namesOfExpressions } from "../../../provider/policy/cel";
import { Budget } from "../../../sdk/testing/runner/budget";
import { evaluate as evaluateWith } from "../../../sdk/testing/runner/expressions";
import { basicAuth } from "../../../sdk/testing/runner/functions";
import { NotSimulated } from "../../../sdk/testing/runner/trace";
import { refused, simulated } from "./documentedCalls";

const evaluate = (text: string, budget = new Budget()) =>
  evaluateWith(text, { values: {}, functions: { "basic_auth.encode": basicAuth }, budget });

describe("a documented call", () => {
  // Of the fields of a URL, only two are documented.
  const comparable = simulated.flatMap(([call, result]) =>
    call.startsWith("url.parse")
      ? ["scheme", "host"].map((field) => [`${call}.${field}`, `(${result}).${field}`] as const)
      : [[call, result] as const],
  );
  test.each(comparable)("%s gives %s", (call, result) => {
    expect(structuredClone(evaluate(call))).toEqual(structuredClone(evaluate(result)));
  });

  test.each(refused)("%s is refused by the name of its function", (call) => {
    expect(() => evaluate(call)).toThrow(NotSimulated);
    expect(() => evaluate(call)).toThrow(
      /^(?:(?:list(?:<V>)?|string|map|timestamp|duration)\.)?(?:\w+\.)?\w+\(\)$/,
    );
  });

  test("exists of each documented function here, or of others with its signature", () => {
    const called = [...refused, ...simulated.map(([call]) => call)].join(" ");
    const missing = [...namesOfExpressions().functions.keys()].filter((name) => !called.includes(`${name}(`));
    // Those that need a request, or whose result varies. Others are not in the reference, or without an example.
    expect(missing).toEqual([
      ...["getReqHeader", "getQueryParam", "hasReqHeader", "hasReqCookie", "hasQueryParam", "getReqCookie"],
      ...["getResHeader", "hasResHeader", "hasResCookie", "getResCookie"],
      ...["queryString.decode", "rand.double", "rand.int", "secrets.get", "has", "decodeJson", "parseUrl"],
      ...["sortBy", "getDayOfYear", "int", "uint", "double"],
    ]);
  });
});

describe("a pattern", () => {
  test.each<[text: string, pattern: string, result: boolean]>([
    ["a\u2028b", "^a.b$", true],
    ["a\nb", "a.b", false],
    ["a\nb", "(?s)a.b", true],
    ["SHOP", "(?i)^shop$", true],
    ["a\u00a0b", "a\\sb", false],
    ["a b", "a[\\s]b", true],
    ["a\u00a0b", "a\\Sb", true],
    ["a\n", "a$", false],
    ["a-b@c/d", "a\\-b\\@c\\/d", true],
    ["a.b", "a[.]b", true],
    ["a@b", "^[\\w\\@]+$", true],
    ["a-b", "^[a\\-b]+$", true],
    ["aéb", "^a\\w", false],
    ["a- ", "^[\\w\\s-]+$", true],
    ["^", "^[^^]$", false],
    ["a".repeat(1000), "^(?:a{100}){10}$", true],
    ["P", "^[(?P<a]$", true],
    ["\u017f", "(?i)^\\w$", true],
    ["the bot", "(?i)\\bBOT\\b", true],
    ["01234567-89ab-cdef-0123-456789abcdef", "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$", true],
  ])("matches %j with %s as in RE2: %j", (text, pattern, result) => {
    expect(evaluate(`${JSON.stringify(text)}.matches(${JSON.stringify(pattern)})`)).toBe(result);
  });

  test.each<[pattern: string, words: RegExp | string]>([
    ["(?=a)", "(?= in a pattern"],
    ["(?<!a)", "(?<! in a pattern"],
    ["(?P<a>b)", "(?P in a pattern"],
    ["(?i:a)", "(?i in a pattern"],
    ["(?m)^a", "(?m in a pattern"],
    ["(a)\\1", "\\1 in a pattern"],
    ["\\pL", "\\p in a pattern"],
    ["\\x41", "\\x in a pattern"],
    ["\\Aa\\z", "\\A in a pattern"],
    ...["[[:alpha:]]", "[]a]", "[^]", "[\\s-z]", "[\\t-\\s]", "[\\b]", "[\\S]", "[a", "[z-a]"].map(
      (one): [string, RegExp] => [one, /\[ in a pattern|none in JavaScript/],
    ),
    ["a{,2}", "{ in a pattern"],
    ["(", "none in JavaScript"],
    ["a)", "none in JavaScript"],
    ["a++", "none in JavaScript"],
    ...["a{2,1001}", "(?:a{100}){100}", "((a{2,11}){11}b){10}", "((a{9}){0,}){143}"].map(
      (one): [string, string] => [one, "repeats a part over 1000 times"],
    ),
  ])("%s is refused by name", (pattern, words) => {
    expect(() => evaluate(`"a".matches(${JSON.stringify(pattern)})`)).toThrow(words);
  });

  test("is refused if it is so long that to compile it would take minutes", () => {
    const pattern = "(".repeat(50_000) + ")".repeat(50_000);
    expect(() => evaluate(`"a".matches("${pattern}")`)).toThrow("a pattern of over 1000 characters");
  });

  test("(?i)\\b is refused for a letter that only JavaScript counts as one of a word", () => {
    expect(() => evaluate('"\u017f".matches("(?i)^.\\\\b")')).toThrow(/pattern with \\b/);
  });
});

const list = `[${Array.from({ length: 400 }, (_, index) => index).join()}]`;
const nested = `${list}.all(a, ${list}.all(b, ${list}.all(c, a + b + c >= 0)))`;

test.each([
  nested,
  // CEL's || is true if one side is, even if the other fails.
  `${nested} || true`,
  `${list}.map(a, ${list}.map(b, ${list}.exists_one(c, a + b == c))).size() > 0`,
  ...["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*(.*)*(.*)*b$"].map(
    (pattern) => `"${"a".repeat(60)}!".matches("${pattern}")`,
  ),
])("the time of a request ends an expression that would take minutes, and all after it: %#", (expression) => {
  const budget = new Budget(20);
  for (const text of [expression, "'a'.matches('a')"])
    expect(() => evaluate(text, budget)).toThrow(/a request whose expressions and patterns take over/);
});

/** Two of them are longer than a call takes. */
const LARGE = "a".repeat(600_000);

describe("a call", () => {
  test.each<[call: string, result: unknown]>([
    ["url.parse('https://shop.example.com/a%20b?c=%20#d').host", "shop.example.com"],
    ["has(url.parse('http://localhost').host)", true],
    ["duration('-1.5h') == duration('-90m') && duration('1h300ms') > duration('1h')", true],
    ["int('-9223372036854775808')", -9223372036854775808n],
    ["int(-1.9)", -1n],
    ["int(7u) + int(timestamp('1970-01-01T00:00:01Z'))", 8n],
    ["double('-1.5') + double('2') + double(1) + double(1u) + double(0.5)", 3],
    ["timestamp('2024-02-29T01:00:00.5+01:00') == timestamp(1709164800) + duration('500ms')", true],
    ["timestamp(timestamp('2024-02-29T00:00:00Z')) - duration(duration('1h')) < timestamp(1709164800)", true],
    ["'a,b,c'.split(',', 2)", ["a", "b"]],
    ["'😀'.size()", 1n],
    ["inCidrRange('10.0.0.1', 'not')", false],
    ["inCidrRange('2001:db8::1', '::/0')", true],
    ["inCidrRange('::1', '::1/128')", true],
    ["inCidrRange('192.0.2.1', '::/0')", false],
    ["inCidrRange('192.0.2.1', '192.0.2.0/33')", false],
    ["[1, 2, 3].filter(x, x > 1)", [2n, 3n]],
    ["true || json.decode('') == 1", true],
  ])("%s gives %s", (call, result) => {
    expect(evaluate(call)).toEqual(result);
  });

  test.each<[call: string, words?: RegExp]>([
    // Conversions
    ...[
      ...["int('') == 0", "int(' 1') == 1", "int('0b11') == 3", "int('+1') == 1", "int(1e19) > 0"],
      ...["int('9223372036854775808') > 0", "int(9223372036854775808.0) > 0"],
      ...["int(-9223372036854775808.0) < 0", "int(18446744073709551615u) > 0"],
      ...[
        "double('0x10') == 16.0",
        "double('Infinity') > 1.0",
        "double('1e3') == 1000.0",
        "double('.5') > 0.0",
      ],
      ...["2024-02-30T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01 00:00:00Z", "2024-01-01t00:00:00z"].map(
        (time) => `timestamp('${time}') > timestamp(0)`,
      ),
      "timestamp('2024-01-01T01:00:00+0100') > timestamp(0)",
      "timestamp('2024-01-01T00:00:00.123456789Z') > timestamp(0)",
      ...["1us", "1ns", "1.0005s", "s", "1.5ms", "2562048h"].map(
        (text) => `duration('${text}') > duration('0s')`,
      ),
    ].map((call): [string] => [call]),
    // URLs
    ...[
      ...[
        "https://EXAMPLE.com",
        "https://example.com:443",
        "https://user@example.com",
        " https://example.com",
      ],
      ...[
        "https://example.com/a b",
        "https://example.com/%zz",
        "https:example.com",
        "https://example.com\\\\a",
      ],
      ...["https://0x7f.1", "ftp://example.com", "https://münchen.example"],
    ].map((url): [string, RegExp] => [`url.parse('${url}').host != ''`, /url\.parse\(\) of this text/]),
    ["!has(url.parse('https://example.com').path)", /path of url\.parse\(\)/],
    ["url.parse('https://example.com').size() == 2", /the list of fields of url\.parse\(\)/],
    ["url.parse('https://example.com').map(k, k).size() == 2", /the list of fields/],
    // Texts
    ...[
      "'ᾳ'.upper()",
      "'ß'.upper()",
      "'a  b'.split()",
      "'a\\tb'.split()",
      "''.split()",
      "'😀'.split('')",
    ].map((call): [string, RegExp] => [`${call}.size() > 0`, /(?:upper|split)\(\) of/]),
    // Addresses
    ...[
      ...["'0:0:0:0:0:ffff:192.0.2.1', '192.0.2.0/24'", "'0::ffff:192.0.2.1', '192.0.2.0/24'"],
      ...["'0:0:0:0:0:ffff:c000:201', '192.0.2.0/24'", "'::192.0.2.1', '192.0.2.0/24'"],
      ...["'192.0.2.1', '0::ffff:c000:200/120'", "'10.0.0.1', '10.0.0.0/08'", "'fe80::1%eth0', 'fe80::/10'"],
    ].map((args): [string, RegExp] => [
      `!inCidrRange(${args})`,
      /an IPv4 address as IPv6, a zone, or a length/,
    ]),
    ["!inCidrRange('not', '192.0.2.0/24')", /a text that is no address/],
    // What only CEL or its library has
    ["b'a'.hex() == '61'", /calls hex, which is no function/],
    ...["type(1) != type(2)", "dyn(2) == 2", "bool('true')", "bytes('a').size() == 1"].map(
      (call): [string, RegExp] => [call, /^(?:type|dyn|bool|bytes)\(\)$/],
    ),
    ...["'a'.decodeJson()", "[3, 1].sortBy(x, x)", "rand.int()", "string(1)", "uint(1)", "[1].reverse()"].map(
      (call): [string, RegExp] => [call, /^[\w.<>]+\(\)$/],
    ),
  ])("%s is not guessed", (call, words = /./) => {
    expect(() => evaluate(call)).toThrow(NotSimulated);
    expect(() => evaluate(call)).toThrow(words);
    expect(() => evaluate(call)).not.toThrow(/Unknown|Expected|found no/);
  });

  test.each([
    `('${LARGE}' + '${LARGE}').upper()`,
    `['${LARGE}', '${LARGE}'].join()`,
    `['a', 'b', 'c'].join('${LARGE}')`,
  ])("takes and makes at most a million characters: row %#", (call) => {
    expect(() => evaluate(call)).toThrow(/^a text or list of more than 1,000,000 characters/);
  });
});
