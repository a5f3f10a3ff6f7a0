import { describe, expect, test } from "vitest";
import { difference } from "../../provider/diff";
import { UNKNOWN } from "../../provider/document";

const olds = {
  url: "https://shop.example.com",
  trafficPolicy: { a: [1, 2], b: 1 },
  description: "front door",
  bindings: ["public", "internal"],
  poolingEnabled: false,
  __given: ["trafficPolicy"],
};
const news = {
  url: "https://shop.example.com",
  trafficPolicy: { b: 1, a: [1, 2] },
  description: "front door",
};

test("what is as the program wants it is no difference, whatever the order of keys", () => {
  expect(difference(olds, news)).toEqual({ changed: [], replace: false, stale: false });
});

test.each([
  ["a policy with another list order", { trafficPolicy: { a: [2, 1], b: 1 } }, ["trafficPolicy"]],
  ["another description", { description: "back door" }, ["description"]],
  ["another host", { url: "https://other.example.com" }, ["url"]],
  ["metadata that was not there", { metadata: { a: 1 } }, ["metadata"]],
])("%s is exactly that difference", (_, change, changed) => {
  const found = difference(olds, { ...news, ...change });
  expect(found.changed).toEqual(changed);
  expect(found.replace).toBe(false);
});

test("another scheme replaces the endpoint", () => {
  expect(difference(olds, { ...news, url: "tls://shop.example.com" })).toMatchObject({
    changed: ["url"],
    replace: true,
  });
});

describe("an input that is not given", () => {
  test("is cleared where it is a description or metadata, also when somebody set it by hand", () => {
    const { description: _, ...rest } = news;
    expect(difference(olds, rest).changed).toEqual(["description"]);
    expect(difference({ ...olds, metadata: "by hand" }, news).changed).toEqual(["metadata"]);
  });

  test("is left to the service where it is a list of bindings or pooling, and its choice is not known", () => {
    expect(difference({ ...olds, bindings: ["kubernetes"], poolingEnabled: true }, news).changed).toEqual([]);
  });

  test("that the service has chosen is compared with that choice", () => {
    const noted = { ...olds, __chosen: { bindings: ["internal", "public"], poolingEnabled: true } };
    expect(difference(noted, news).changed).toEqual(["poolingEnabled"]);
    expect(difference({ ...noted, bindings: ["public"] }, news).changed).toEqual([
      "bindings",
      "poolingEnabled",
    ]);
  });
});

test("the order of bindings never matters", () => {
  const given = { ...olds, __given: [...olds.__given, "bindings"] };
  expect(difference(given, { ...news, bindings: ["internal", "public"] })).toEqual({
    changed: [],
    replace: false,
    stale: false,
  });
  expect(difference(given, { ...news, bindings: ["internal"] }).changed).toEqual(["bindings"]);
});

test("an input that came or went without a difference on the service leaves the state's note out of date", () => {
  expect(difference(olds, { ...news, poolingEnabled: false })).toEqual({
    changed: [],
    replace: false,
    stale: true,
  });
});

test("an unknown value is a change and is never compared; an unknown URL is no replacement", () => {
  expect(difference(olds, { ...news, url: UNKNOWN })).toMatchObject({ changed: ["url"], replace: false });
  expect(difference(olds, { ...news, trafficPolicy: { a: [1, UNKNOWN] } }).changed).toEqual([
    "trafficPolicy",
  ]);
});

test("pooling that the service does not show is off", () => {
  const { poolingEnabled: _, ...silent } = { ...olds, __given: ["trafficPolicy", "poolingEnabled"] };
  expect(difference(silent, { ...news, poolingEnabled: false }).changed).toEqual([]);
  expect(difference(silent, { ...news, poolingEnabled: true }).changed).toEqual(["poolingEnabled"]);
});
