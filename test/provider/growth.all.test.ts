import { describe, test } from "vitest";
import { canonicalJson } from "../../provider/api/json";
import { normalizeUrl } from "../../provider/api/url";
import { endpointFromWire, errorFromWire } from "../../provider/api/wire";
import {
  changesBetween,
  hasUnknown,
  metadataFromText,
  policyFromText,
  problemsOfData,
  sameData,
} from "../../provider/document";
import { wildcard } from "../../provider/lookup";
import { inputFields } from "../../provider/schema";
import { secretsIn } from "../../provider/secrets";
import { expectLinear, expectTimes } from "../growth";

/* Every parser and matcher takes time linear in its input, for hostile input too. */

const lines = (size: number, line: (index: number) => string, width = 10) =>
  Array.from({ length: size / width }, (_, index) => line(index)).join("\n");
const nested = (size: number, open: string, close: string) => open.repeat(size) + close.repeat(size);

/** Texts with about `size` characters. Those with many names need a larger size, because their cost shows late. */
const manyNames: Record<string, (size: number) => string> = {
  keys: (size) => lines(size, (index) => `k${index}: 1`),
  "keys of a flow mapping": (size) => `a: {${lines(size, (index) => `k${index}: 1,`)}}`,
  "anchors and aliases": (size) =>
    `${lines(size / 2, (index) => `k${index}: &a${index} 1`, 20)}\nz: [${lines(size / 2, (index) => `*a${index},`, 10)}]`,
};
const yaml: Record<string, (size: number) => string> = {
  "equal keys": (size) => lines(size, () => "key: 1"),
  "keys without a value": (size) => `a: {${lines(size, (index) => `k${index},`)}}`,
  "keys that are mappings": (size) => "? ".repeat(size / 2),
  items: (size) => `a:\n${"- 1\n".repeat(size / 4)}`,
  "items of a flow list": (size) => `a: [${"1,".repeat(size / 2)}]`,
  levels: (size) => `a: ${nested(size / 2, "[", "]")}`,
  "levels that are never closed": (size) => `a: ${"[".repeat(size)}`,
  "levels of block lists": (size) => "- ".repeat(size / 2),
  "closing brackets": (size) => `a: ${"]".repeat(size)}`,
  commas: (size) => `a: [${",".repeat(size)}]`,
  quotes: (size) => '"'.repeat(size),
  "unknown escapes": (size) => `a: "${"\\q".repeat(size / 2)}"`,
  "spaces in quotes": (size) => `a: "a${" ".repeat(size)}\n  b"`,
  "lines of words": (size) => `a: a\n${"  b\n".repeat(size / 4)}`,
  "empty lines": (size) => `a: >\n${"\n".repeat(size)}  b`,
  comments: (size) => `a: [\n${"# x\n".repeat(size / 4)}]`,
  "anchors of one value": (size) => `a: ${"&a ".repeat(size / 3)}`,
  "aliases in a row": (size) => `a: ${"*a ".repeat(size / 3)}`,
  "one repeated alias": (size) => `a: &a 1\nb: [${"*a, ".repeat(size / 4)}]`,
  "aliases that multiply": (size) =>
    `a0: &a0 [x]\n${lines(size, (index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(9)}]`, 80)}`,
  "aliases of aliases": (size) =>
    `a0: &a0 [x]\n${lines(size, (index) => `a${index + 1}: &a${index + 1} [*a${index}]`, 30)}`,
  "merged mappings": (size) =>
    `a: &a {${lines(size / 2, (index) => `k${index}: 1,`)}}\nb: {<<: [${"*a,".repeat(size / 6)}]}`,
  "keys beside merged mappings": (size) =>
    `a: &a {}\nb: {<<: [${"*a,".repeat(size / 6)}], ${lines(size / 2, (index) => `k${index}: 1,`)}}`,
  "a repeated long number": (size) => `a: &a 0.${"0".repeat(size / 2)}\nb: [${"*a, ".repeat(size / 8)}]`,
  "mappings that merge": (size) =>
    `a: &a {x: 1}\nb:\n${lines(size, (index) => `- {<<: *a, k: ${index}}`, 20)}`,
  documents: (size) => "a: 1\n---\n".repeat(size / 9),
  tags: (size) => `a: [${"!foo 1,".repeat(size / 7)}]`,
  "tags in a row": (size) => `a: ${"!!str ".repeat(size / 6)}`,
  digits: (size) => `a: ${"9".repeat(size)}`,
  "zeros before a digit": (size) => `a: 0.${"0".repeat(size)}1`,
  "zeros in a number": (size) => `a: 1${"0".repeat(size)}1`,
  "hexadecimal digits": (size) => `a: 0x${"f".repeat(size)}`,
};

const json: Record<string, (size: number) => string> = {
  "a valid document": (size) => `{"a":[${lines(size, () => '{"b":"c"},')}1]}`,
  keys: (size) => `{${lines(size, (index) => `"k${index}":1,`)}"a":1}`,
  "an invalid document": (size) => `{"a":[${lines(size, () => '{"b":"c"},')}1]`,
  levels: (size) => nested(size / 2, "[", "]"),
  "levels of objects": (size) => nested(size / 6, '{"a":', "}"),
  "levels that are never closed": (size) => "[".repeat(size),
  "a string that is never closed": (size) => `{"a":"${"x".repeat(size)}`,
  escapes: (size) => `{"a":"${"\\n".repeat(size / 2)}`,
  "escaped quotes": (size) => `{"a":"${'\\"'.repeat(size / 2)}`,
  spaces: (size) => `{${" ".repeat(size)}x`,
  digits: (size) => `{"a":${"9".repeat(size)}}`,
  "zeros in a number": (size) => `{"a":1.${"0".repeat(size)}1}`,
  numbers: (size) => `{"a":[${"1234567890123456.5,".repeat(size / 19)}1]}`,
  "halves of characters": (size) => `{"a":"${"\ud800\\ud800".repeat(size / 7)}"}`,
};

describe("a policy's text takes linear time", () => {
  test.each(Object.entries(manyNames))("as YAML of %s", (_, text) =>
    expectLinear(text, policyFromText, 40_000),
  );
  test.each(Object.entries(yaml))("as YAML of %s", (_, text) => expectLinear(text, policyFromText, 10_000));
  test.each(Object.entries(json))("as JSON of %s", (_, text) => expectLinear(text, policyFromText, 200_000));
});

test.each(Object.entries(json))("metadata's text takes linear time: %s", (_, text) =>
  expectLinear(text, metadataFromText, 200_000),
);

test("an invalid document takes about as long as a valid one", () => {
  const good = json["a valid document"]?.(500_000) ?? "";
  return expectTimes(20, good, `${good.slice(0, -1)}]`, policyFromText);
});

/** Data with `size` keys or items. */
const data: Record<string, (size: number) => object> = {
  keys: (size) => Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, index])),
  items: (size) => Array.from({ length: size }, (_, index) => index),
  objects: (size) => Array.from({ length: size }, (_, index) => ({ a: { password: `secret ${index}` } })),
  functions: (size) => Array.from({ length: size }, () => () => 0),
};

describe.each(Object.entries(data))("data with many %s takes linear time", (_, make) => {
  test.each<[string, (value: object) => unknown]>([
    ["to check", (value) => problemsOfData(value)],
    ["to search for unknown values", hasUnknown],
    ["to write", canonicalJson],
    ["to compare", (value) => sameData(value, { ...value, more: 1 })],
    ["to find the changes", (value) => changesBetween(value, Array.isArray(value) ? value.map(() => 0) : {})],
    ["to search for secrets", secretsIn],
    ["to parse as a policy", (value) => inputFields.trafficPolicy.safeParse({ value })],
  ])("%s", (_, work) => expectLinear(make, work, 10_000));
});

test("bindings take linear time to check", () =>
  expectLinear(
    (size) => Array.from({ length: size }, (_, index) => `binding ${index}`),
    (bindings) => inputFields.bindings.safeParse(bindings),
    10_000,
  ));

describe("a pattern takes time linear in the URL and the pattern", () => {
  test.each<[string, (size: number) => [pattern: string, url: string]]>([
    ["of six stars", (size) => ["*a*a*a*a*a*a*b", "a".repeat(size)]],
    ["of many stars", (size) => ["*a".repeat(size / 2), "a".repeat(size)]],
    ["of stars alone", (size) => [`${"*".repeat(size)}b`, "a".repeat(size)]],
    ["with a long part", (size) => [`*${"a".repeat(999)}b${"a".repeat(999)}*`, "a".repeat(size)]],
    [
      "that is almost the URL",
      (size) => [`*${"a".repeat(size / 4)}b${"a".repeat(size / 4)}*`, "a".repeat(size)],
    ],
  ])("%s", (_, make) => expectLinear(make, ([pattern, url]) => wildcard(pattern).test(url), 10_000));
});

test.each<[string, (size: number) => string]>([
  ["labels", (size) => `https://${"a.".repeat(size / 2)}com`],
  ["credentials", (size) => `https://${"@".repeat(size)}]`],
  ["colons", (size) => `https://${":".repeat(size)}]`],
  ["a scheme", (size) => `${"a".repeat(size)}:/`],
  ["digits", (size) => `tcp://a:${"9".repeat(size)}`],
])("a URL takes linear time: %s", (_, url) => expectLinear(url, normalizeUrl, 50_000));

test.each<[string, (size: number) => object]>([
  ["invalid bindings", (size) => ({ id: "ep_1", bindings: Array.from({ length: size }, () => 1) })],
  ["unknown fields", (size) => ({ id: "ep_1", ...data["keys"]?.(size) })],
])("a reply takes linear time to parse: %s", (_, reply) =>
  expectLinear(reply, (wire) => [endpointFromWire.safeParse(wire), errorFromWire.safeParse(wire)], 5_000),
);
