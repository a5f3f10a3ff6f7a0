import { describe, expect, test } from "vitest";
import { evaluate as evaluateWith } from "../../../sdk/testing/runner/expressions";
import { NotSimulated } from "../../../sdk/testing/runner/trace";
import { calls } from "./documentedCalls";

const evaluate = (text: string) => evaluateWith(text, {}, {});

/** Bytes as an array of numbers, integers apart from other numbers. */
const plain = (value: unknown): unknown =>
  value instanceof Uint8Array ? [...value] : structuredClone(value);

describe("a pattern", () => {
  test.each([
    ["a\u2028b", "^a.b$", true],
    ["a\nb", "a.b", false],
    ["a\nb", "(?s)a.b", true],
    ["SHOP", "(?i)^shop$", true],
    ["a\u00a0b", "a\\sb", false],
    ["a b", "a[\\s]b", true],
    ["a\n", "a$", false],
    ["ab", "\\Aa(?P<rest>b)\\z", true],
    ["a-b_c/d", "a\\-b\\_c\\/d", true],
    ["a.b", "a[.]b", true],
    ["aéb", "^a\\w", false],
    ["a- ", "^[\\w\\s-]+$", true],
    ["a".repeat(1000), "^(?:a{100}){10}$", true],
    ["P", "^[(?P<a]$", true],
    ["- ", "^[-\\s]+$", true],
    ["\u017f", "(?i)^\\w$", true],
    ["01234567-89ab-cdef-0123-456789abcdef", "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$", true],
  ])("matches %j with %s as in RE2: %j", (text, pattern, result) => {
    expect(evaluate(`${JSON.stringify(text)}.matches(${JSON.stringify(pattern)})`)).toBe(result);
  });

  test.each([
    "(?=a)",
    "(?<!a)",
    "(a)\\1",
    "[[:alpha:]]",
    "\\pL",
    "\\x41",
    "a{,2}",
    "a{2,1001}",
    "(?i:a)",
    "(?m)^a",
    "[]a]",
    "(",
    "a++",
    "^[\\s-z]$",
    "[\\t-\\s]",
    "[\\b]",
    "[\\A]",
    "[(?P<]",
    "(?:a{100}){100}",
    "((a{2,11}){11}b){10}",
    "(?:a{7}){143}",
  ])("%s is refused, because RE2 and JavaScript differ", (pattern) => {
    expect(() => evaluate(`"a".matches(${JSON.stringify(pattern)})`)).toThrow(/pattern/);
  });

  test("(?i)\\b is refused for a letter that only JavaScript counts as one of a word", () => {
    expect(() => evaluate('"\u017f".matches("(?i)^.\\\\b")')).toThrow(/pattern with \\b/);
  });

  test.each(["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*(.*)*(.*)*b$"])(
    "%s cannot hang the run",
    (pattern) => {
      expect(() => evaluate(`"${"a".repeat(60)}!".matches("${pattern}")`)).toThrow(/takes over 1000 ms here/);
    },
  );
});

test("a hash of more than 32 bytes is that of other implementations", () => {
  const text = "Nobody inspects the spammish repetition";
  expect(evaluate(`hash.xxhash64('${text}')`)).toBe("fbcea83c8a378bf1");
  expect(evaluate("''.xxhash64()")).toBe("ef46db3751d8e999");
  expect(evaluate("'123456789'.crc64()")).toBe("b90956c775a41001");
});

describe("a documented call", () => {
  // Of the fields of a URL, only two are documented.
  const ofUrl = ([call]: readonly [string, ...unknown[]]) => call.startsWith("url.parse");
  test.each(calls.filter(ofUrl))("%s gives %s", (call, result) => {
    for (const field of ["scheme", "host"])
      expect(evaluate(`${call}.${field}`)).toBe(evaluate(`(${result}).${field}`));
  });

  test.each(calls.filter((call) => call[1] !== null && !ofUrl(call)))("%s gives %s", (call, result) => {
    expect(plain(evaluate(call))).toEqual(plain(evaluate(result ?? "")));
  });

  test.each(calls.filter(([, result]) => result === null))("%s is an error", (call) => {
    expect(() => evaluate(call)).toThrow(/which fails \((?!found no|Unknown)/);
  });
});

/** 900 of it are more than a text of JavaScript can be. */
const LARGE = "a".repeat(600_000);

describe("a call", () => {
  test.each([
    "'/w=='.decodeBase64() == '\ufffd'",
    "string(timestamp('2024-01-01T00:00:00.500Z')) == '2024-01-01T00:00:00.500Z'",
    "timestamp('2024-01-01T00:00:00Z').getHours('europe/berlin') == 1",
    "timestamp('2024-01-01T00:00:00Z').getHours('utc') == 0",
    "timestamp('2024-01-01T00:00:00Z').getHours('+01:00') == 1",
    "timestamp('1890-01-01T00:00:00Z').getMinutes('Europe/Berlin') == 53",
  ])("%s of bytes or times is not guessed", notGuessed);

  test.each([
    "int('') == 0",
    "int(' 1') == 1",
    "int('0b11') == 3",
    "int('+1') == 1",
    "int('9223372036854775808') > 0",
    "int(1e19) > 0",
    "int(9223372036854775808.0) > 0",
    "int(-9223372036854775808.0) < 0",
    "int(18446744073709551615u) > 0",
    "uint('') == 0u",
    "uint('0o7') == 7u",
    "double('0x10') == 16.0",
    "double('Infinity') > 1.0",
    "double('1e3') == 1000.0",
    "double('.5') == 0.5",
    "string(1000000.0) == '1000000'",
    "string(0.00001) == '0.00001'",
    "string(1e20) == '100000000000000000000'",
    "string(b'\\xff') == '\ufffd'",
    "string(duration('1s')) == '1s'",
    "timestamp('2024-02-30T00:00:00Z') == timestamp('2024-03-01T00:00:00Z')",
    "timestamp('2024-01-01T24:00:00Z') == timestamp('2024-01-02T00:00:00Z')",
    "timestamp('2024-01-01 00:00:00Z') == timestamp('2024-01-01T00:00:00Z')",
    "timestamp('2024-01-01t00:00:00z') == timestamp('2024-01-01T00:00:00Z')",
    "timestamp('2024-01-01T01:00:00+0100') == timestamp('2024-01-01T00:00:00Z')",
    "timestamp('2024-01-01T00:00:00.123456789Z') == timestamp('2024-01-01T00:00:00.123Z')",
    "timestamp('2024-01-01T00:00:00Z') + duration('1ns') == timestamp('2024-01-01T00:00:00Z')",
    "duration('1us') > duration('0s')",
    "duration('1.0005s') > duration('1s')",
    "duration('s') == duration('0s')",
    "duration('1.5ms') == duration('1ms')",
    "duration('2562048h') > duration('1s')",
  ])("%s of a conversion is not guessed", notGuessed);

  test.each([
    "url.parse('https://EXAMPLE.com').host == 'example.com'",
    "url.parse('https://example.com:443').host == 'example.com'",
    "url.parse('https://user@example.com').host == 'example.com'",
    "'https://münchen.example'.parseUrl().host == 'xn--mnchen-3ya.example'",
    "url.parse(' https://example.com').host == 'example.com'",
    "url.parse('https://example.com/a b').host == 'example.com'",
    "url.parse('https://example.com/%zz').host == 'example.com'",
    "url.parse('https:example.com').host == 'example.com'",
    "url.parse('https://example.com\\\\a').host == 'example.com'",
    "url.parse('https://0x7f.1').host == '127.0.0.1'",
    "url.parse('ftp://example.com').host == 'example.com'",
    "!has(url.parse('https://example.com').path)",
    "!('path' in url.parse('https://example.com'))",
    "url.parse('https://example.com').size() == 2",
    "url.parse('https://example.com').map(k, k).size() == 2",
    "url.parse('https://example.com') == {'scheme': 'https', 'host': 'example.com'}",
    "url.parse('https://example.com').encodeJson() != ''",
    "!'/path'.isURL()",
    "!'text'.isURL()",
    "'https://a.com/%zz'.isURL()",
    "'https://a..com'.isURL()",
    "'https://a.com:99999'.isURL()",
  ])("%s of a URL is not guessed", notGuessed);

  test.each([
    "'?a=b'.decodeQueryString().a == 'b'",
    "'a=%ff'.decodeQueryString()['a'] == '\ufffd'",
    "'a=%zz'.decodeQueryString()['a'] == '%zz'",
    "'a=1;b=2'.decodeQueryString()['a'] == '1;b=2'",
    "'a'.decodeQueryString()['a'] == ''",
    "'a=b#c'.decodeQueryString()['a'] == 'b#c'",
    "''.decodeQueryString().size() == 0",
    "queryString.decode('a=b&').size() == 1",
    "'a=%zz'.isQueryString()",
    "!'a=b c'.isQueryString()",
  ])("%s of a query is not guessed", notGuessed);

  test.each([
    "json.encode([1.0 / 0.0]) == '[null]'",
    "json.encode(-1.0 / (1.0 / 0.0)) == '0'",
    "json.encode('\\b') == '\"\\\\b\"'",
    "json.encode([1u]) != ''",
    "json.decode('1e999') > 1.0",
    "json.decode('\"\\\\ud800\"').size() == 1",
    "'1e999'.isJson()",
  ])("%s of JSON is not guessed", notGuessed);

  test.each([
    "[1u, 2u].distinct().size() == 1",
    "[duration('1s'), duration('2s')].distinct().size() == 1",
    "[1, 1.0].distinct().size() == 2",
    "[1.5, 1.5].distinct().size() == 1",
    "[{'a': 1}, {'a': 1}].distinct().size() == 1",
    "[[1], [1]].distinct().size() == 1",
    "[null, null].distinct().size() == 1",
    "[1u, 2u].sort() == [1u, 2u]",
  ])("%s of a list is not guessed", notGuessed);

  test.each([
    "'100%'.format([]) == '100%'",
    "'a'.format([1]) == 'a'",
    "'%.2d'.format([1]) == '1'",
    "'%.1s'.format(['ab']) == 'ab'",
    "'%.2%'.format([]) == '%'",
    "'%.2x'.format([1]) == '1'",
    "'%f'.format([-0.0]) == '0.000000'",
    "'%.6f'.format([8589934592.0078125]) == '8589934592.007813'",
    "'%.23f'.format([0.000000059604644775390625]) != ''",
    "'hello'.lastIndexOf('o', 5) == 4",
    "'hello'.indexOf('o', 5) == -1",
    "'hello'.indexOf('', 5) == 5",
    "'ᾳ'.upper() == 'ᾳ'",
    "'ß'.upper() == 'ß'",
    "'a  b'.split() == ['a', '', 'b']",
    "'a\\tb'.split() == ['a\\tb']",
    "''.split() == ['']",
  ])("%s of a text is not guessed", notGuessed);

  test.each([
    "!'224.0.0.1'.isPrivateIp()",
    "!'255.255.255.255'.isPrivateIp()",
    "!'198.18.0.1'.isPrivateIp()",
    "!'ff02::1'.isPrivateIp()",
    "!'fec0::1'.isPrivateIp()",
    "!'64:ff9b::1'.isPrivateIp()",
    "!inCidrRange('0:0:0:0:0:ffff:192.0.2.1', '192.0.2.0/24')",
    "!inCidrRange('0::ffff:192.0.2.1', '192.0.2.0/24')",
    "!inCidrRange('0:0:0:0:0:ffff:c000:201', '192.0.2.0/24')",
    "!inCidrRange('::192.0.2.1', '192.0.2.0/24')",
    "!inCidrRange('192.0.2.1', '0::ffff:c000:200/120')",
    "!inCidrRange('not', '192.0.2.0/24')",
    "!inCidrRange('', 'not')",
    "inCidrRange('10.0.0.1', '10.0.0.0/08')",
  ])("%s of an address is not guessed", notGuessed);

  test.each([
    "lists.range(10).map(i, lists.range(3000)).size() == 10",
    `'${"a".repeat(2000)}'.replace('a', '${LARGE}').size() > 0`,
    `'${"a".repeat(2000)}'.replace('a', '${LARGE}', 1500).size() > 0`,
    `lists.range(900).map(i, '${LARGE}').join().size() > 0`,
    `lists.range(900).map(i, 'a').join('${LARGE}').size() > 0`,
    `'${"%s".repeat(900)}'.format(lists.range(900).map(i, '${LARGE}')).size() > 0`,
    "lists.range(1000).map(i, lists.range(1000) + [1]).flatten()",
    `'${"/".repeat(400_000)}'.escapeUrl()`,
    `base64.encode(b'${"a".repeat(900_000)}')`,
    `('${LARGE}' + '${LARGE}').md5() != ''`,
  ])("%.60s makes too much, and is refused", (call) => {
    expect(() => evaluate(call)).toThrow(/more than 1,000(,000)? /);
  });

  test.each([
    ["url.parse('https://shop.example.com/a%20b?c=%20#d').host", "shop.example.com"],
    ["has(url.parse('http://localhost').host)", true],
    ["'https://shop.example.com/a?b=c'.isURL()", true],
    ["'a=b%20c+d&e='.decodeQueryString()['a']", "b c d"],
    ["json.encode({'9': 1, '10': [null, true, 1.5, 'é\"']})", '{"10":[null,true,1.5,"é\\""],"9":1}'],
    ["json.encode({})", "{}"],
    ["duration('1.234s').getMilliseconds()", 234n],
    ["duration('-1.5h') == duration('-90m') && duration('1h300ms') > duration('1h')", true],
    ["int('-9223372036854775808')", -9223372036854775808n],
    ["int(-1.9)", -1n],
    ["int(7u) + int(timestamp('1970-01-01T00:00:01Z'))", 8n],
    ["uint('7') == uint(7) && uint(7u) == 7u && uint(7.5) == 7u", true],
    ["double('-1.5') + double('2') + double(1) + double(1u) + double(0.5)", 3],
    ["string(1) + string(true) + string(b'a') + string('b') + string(dyn(2))", "1trueab2"],
    ["timestamp('2024-02-29T01:00:00.5+01:00') == timestamp(1709164800) + duration('500ms')", true],
    [
      "timestamp(timestamp('2024-02-29T00:00:00Z')) - duration(duration('1h2m3s')) < timestamp(1709164800)",
      true,
    ],
    ["'77u/YQ=='.decodeBase64().size()", 2n],
    ["timestamp('2024-07-01T00:00:00Z').getHours('Europe/Kyiv')", 3n],
    ["['\\ufffd', '😀'].sort()[0]", "\ufffd"],
    ["'a-b-c'.replace('-', '+', 5)", "a+b+c"],
    ["'a-b-c'.replace('-', '+', 0)", "a-b-c"],
    ["json.decode('{\"a\": 1}').a", 1],
    ["'{\"id\": 12345678901234567890}'.isJson()", true],
    ["'{'.isJson()", false],
    ["[true, false, true].distinct() == [true, false]", true],
    ["'%.2f %f%%'.format([2.5, 1e15])", "2.50 1000000000000000.000000%"],
    ["'hello'.lastIndexOf('o', 4)", 4n],
    ["'2001:db8::1'.isPrivateIp()", false],
    ["'fd00::1'.isPrivateIp()", true],
    ["inCidrRange('10.0.0.1', 'not')", false],
    ["inCidrRange('2001:db8::1', '::/0')", true],
    ["inCidrRange('::1', '::1/128')", true],
    ["timestamp('2024-07-01T00:00:00Z').getHours('Asia/Kolkata')", 5n],
    ["timestamp('2024-07-01T00:00:00Z').getHours('UTC')", 0n],
    ["timestamp('0001-01-01T00:00:00Z').getFullYear()", 1n],
    ["string(timestamp('2024-01-01T00:00:00Z'))", "2024-01-01T00:00:00Z"],
  ])("%s is simulated", (call, result) => {
    expect(evaluate(call)).toBe(result);
  });
});

function notGuessed(call: string): void {
  expect(() => evaluate(call)).toThrow(NotSimulated);
  expect(() => evaluate(call)).not.toThrow(/Unknown|Expected|found no/);
}
