import { describe, expect, test } from "vitest";
import { UNKNOWN } from "../../../provider/endpoint/documents";
import { difference } from "../../../provider/endpoint/state";

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

test("another order of a list in a policy is a change", () => {
  const turned = { ...news, trafficPolicy: { a: [2, 1], b: 1 } };
  expect(difference(olds, turned)).toMatchObject({ changed: ["trafficPolicy"], replace: false });
});

describe("an input that the program omits", () => {
  test("is cleared if it is a description or metadata, even if somebody set it by hand", () => {
    const { description: _, ...rest } = news;
    expect(difference(olds, rest).changed).toEqual(["description"]);
    expect(difference({ ...olds, metadata: "by hand" }, news).changed).toEqual(["metadata"]);
  });

  test("is not changed if it is bindings or pooling, and the service's choice is unknown", () => {
    expect(difference({ ...olds, bindings: ["kubernetes"], poolingEnabled: true }, news).changed).toEqual([]);
  });
});

test("an unknown URL is an update, and an unknown part of a policy is a change", () => {
  expect(difference(olds, { ...news, url: UNKNOWN })).toMatchObject({ changed: ["url"], replace: false });
  const open = { ...news, trafficPolicy: { a: [1, UNKNOWN] } };
  expect(difference(olds, open).changed).toEqual(["trafficPolicy"]);
});

test("pooling counts as off if the service does not return it", () => {
  const { poolingEnabled: _, ...silent } = { ...olds, __given: ["trafficPolicy", "poolingEnabled"] };
  expect(difference(silent, { ...news, poolingEnabled: false }).changed).toEqual([]);
  expect(difference(silent, { ...news, poolingEnabled: true }).changed).toEqual(["poolingEnabled"]);
});
