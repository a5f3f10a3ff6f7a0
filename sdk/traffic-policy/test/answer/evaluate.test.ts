import { describe, expect, test } from "vitest";
import { evaluate as evaluateWith } from "../../answer/evaluate";
import { basicAuth } from "../../answer/functions";
import { RequestNotSimulated } from "../../answer/trace";
import { refused, simulated } from "./documentedCalls";

const evaluate = (text: string) =>
  evaluateWith(text, { values: {}, functions: { "basic_auth.encode": basicAuth } });

/** A row for each value, which replaces VALUE in the expression and in the expected message. */
const rows = (all: [text: string, words: string, values: string][]) =>
  all.flatMap(([text, words, values]) =>
    values.split(" ; ").map((value) => [text, words].map((each) => each.replace("VALUE", () => value))),
  ) as [text: string, words: string][];

describe("a documented call", () => {
  // Without the other fields of a URL, because only two are documented.
  const comparable = simulated.flatMap(([call, result]) =>
    call.startsWith("url.parse")
      ? ["scheme", "host"].map((field) => [`${call}.${field}`, `(${result}).${field}`] as const)
      : [[call, result] as const],
  );
  test.each(comparable)("%s gives %s", (call, result) => {
    expect(structuredClone(evaluate(call))).toEqual(structuredClone(evaluate(result)));
  });

  test.each(refused)("%s is refused by the name of its function", (call) => {
    expect(() => evaluate(call)).toThrow(RequestNotSimulated);
    expect(() => evaluate(call)).toThrow(
      /^(?:(?:list(?:<V>)?|string|map|timestamp|duration)\.)?(?:\w+\.)?\w+\(\) is not simulated/,
    );
  });
});

describe("a pattern", () => {
  test.each<[text: string, pattern: string, result: boolean]>([
    ["a\u2028b", "^a.b$", true],
    ["a\nb", "(?s)a.b", true],
    ["a\u00a0b", "a\\sb", false],
    ["a\n", "a$", false],
    ["\u017f", "(?i)^s\\b", false],
    ["Shop", "^(?i:s)[[:alpha:]]+\\z", true],
    ["shop-é", "(?P<name>\\pL)$", true],
    ["a".repeat(1000), "^(?:a{100}){10}$", true],
    [`${"a".repeat(60)}!`, "^(a+)+$", false],
  ])("matches %j with %s as in RE2: %j", (text, pattern, result) => {
    expect(evaluate(`${JSON.stringify(text)}.matches(${JSON.stringify(pattern)})`)).toBe(result);
  });

  test.each(["(", "[a", "a(?=b)", "(a)\\1", "a{1001}", "(?:a{100}){100}"])(
    "%s is refused, because RE2 does not accept it, and not quoted",
    (pattern) => {
      const call = () => evaluate(`"a".matches(${JSON.stringify(pattern)})`);
      expect(call).toThrow(RequestNotSimulated);
      expect(call).toThrow(/^a pattern that RE2 does not accept \([^:`]+\) is not simulated/);
    },
  );
});

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
    ["inCidrRange('10.0.0.1', 'not')", false],
    ["inCidrRange('2001:db8::1', '::/0')", true],
    ["inCidrRange('192.0.2.1', '::/0')", false],
    ["true || json.decode('') == 1", true],
  ])("%s gives %s", (call, result) => {
    expect(evaluate(call)).toEqual(result);
  });

  test.each(
    rows([
      ["int(VALUE) == 0", "this text as a number", "'' ; ' 1' ; '0b11' ; '+1'"],
      ["int(VALUE) == 0", "out of range", "'9223372036854775808' ; 1e19 ; 9223372036854775808.0"],
      ["timestamp('VALUE') > timestamp(0)", "there is no such day", "2024-02-30T00:00:00Z"],
      ["timestamp('VALUE') > timestamp(0)", "timestamp() of", "2024-01-01T24:00:00Z ; 2024-01-01t00:00:00z"],
      ["timestamp('2024-01-01VALUE') > timestamp(0)", "timestamp() of", "T00:00:00.123456789Z"],
      ["duration('VALUE') > duration('0s')", "duration() of", "1us ; 1ns ; 1.0005s ; s ; 1.5ms"],
      ["duration('VALUE') > duration('0s')", "out of range", "2562048h"],
      [
        "url.parse('https://VALUE').host != ''",
        "of this text",
        "EXAMPLE.com ; a.com:443 ; me@a.com ; a.com/%zz",
      ],
      ["url.parse('VALUE').host != ''", "of this text", "\\x20https://a.com ; https:a.com ; ftp://a.com"],
      ["url.parse('https://a.com').VALUE.size() > 0", "the list of fields of url.parse()", "map(k, k)"],
      ["VALUE.size() > 0", "() of ", "'ß'.upper() ; 'a  b'.split() ; 'a\\tb'.split() ; '😀'.split('')"],
      ["!inCidrRange('VALUE', '192.0.2.0/24')", "as IPv6", "0:0:0:0:0:ffff:192.0.2.1 ; 0::ffff:192.0.2.1"],
      ["!inCidrRange('VALUE', '192.0.2.0/24')", "as IPv6", "0:0:0:0:0:ffff:c000:201 ; ::192.0.2.1"],
      ["!inCidrRange('192.0.2.1', 'VALUE')", "a leading 0", "0::ffff:c000:200/120 ; 10.0.0.0/08"],
      ["!inCidrRange('VALUE', 'fe80::/10')", "a zone", "fe80::1%eth0"],
      [
        "VALUE",
        "()",
        "type(1) != type(2) ; bytes('a').size() == 1 ; 'a'.decodeJson() ; rand.int() ; uint(1)",
      ],
    ]),
  )("%s is not guessed: %s", (call, words) => {
    expect(() => evaluate(call)).toThrow(RequestNotSimulated);
    expect(() => evaluate(call)).toThrow(words);
    expect(() => evaluate(call)).not.toThrow(/Unknown|Expected|found no/);
  });
});
