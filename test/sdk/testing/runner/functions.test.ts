import { describe, expect, test } from "vitest";
import { evaluate as evaluateWith } from "../../../../sdk/testing/runner/expressions";
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
  ])("%s is refused, because RE2 and JavaScript differ", (pattern) => {
    expect(() => evaluate(`"a".matches(${JSON.stringify(pattern)})`)).toThrow(/pattern/);
  });

  test.each(["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*(.*)*(.*)*b$"])(
    "%s cannot hang the run",
    (pattern) => {
      expect(() => evaluate(`"${"a".repeat(60)}!".matches("${pattern}")`)).toThrow(/takes over 250 ms here/);
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
  test.each(calls.filter(([, result]) => result !== null))("%s gives %s", (call, result) => {
    expect(plain(evaluate(call))).toEqual(plain(evaluate(result ?? "")));
  });

  test.each(calls.filter(([, result]) => result === null))("%s is an error", (call) => {
    expect(() => evaluate(call)).toThrow(/which fails \((?!found no|Unknown)/);
  });
});
