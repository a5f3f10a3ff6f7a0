import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../provider/api/json";
import { errorFromWire } from "../../../provider/api/replySchemas";
import { normalizeUrl } from "../../../provider/api/url";
import {
  changesBetween,
  hasUnknown,
  metadataFromText,
  policyFromText,
  problemsOfData,
  sameData,
} from "../../../provider/endpoint/documents";
import { endpointFromWire, inputFields } from "../../../provider/endpoint/fields";
import { textPattern } from "../../../provider/endpoint/lookup";
import { secretsIn } from "../../../provider/endpoint/secrets";
import { expectLinear, expectTimes } from "../../growth";
import { hostileJson, hostileYaml } from "./hostileTexts";

/* Every parser and matcher takes time linear in its input, for hostile input too. */

describe("a policy's text", () => {
  // The library's time is not linear for all of them, which the limit of 50,000 characters bounds.
  test.each(Object.entries(hostileYaml))("as YAML of %s is parsed or refused", (_, text) => {
    const longest = text(49_000);
    expect(longest.length).toBeLessThanOrEqual(50_000);
    expect(policyFromText(longest)).toBeDefined();
  });
  test.each(Object.entries(hostileJson))("as JSON of %s takes linear time", (_, text) =>
    expectLinear(text, policyFromText, 50_000),
  );
});

test.each(Object.entries(hostileJson))("metadata's text takes linear time: %s", (_, text) =>
  expectLinear(text, metadataFromText, 50_000),
);

test("an invalid document takes about as long as a valid one", () => {
  const good = hostileJson["a valid document"]?.(500_000) ?? "";
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
  ])("%s", (_, make) => expectLinear(make, ([pattern, url]) => textPattern(pattern)(url), 10_000));
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
  expectLinear(reply, (wire) => [endpointFromWire.safeParse(wire), errorFromWire.safeParse(wire)], 40_000),
);
