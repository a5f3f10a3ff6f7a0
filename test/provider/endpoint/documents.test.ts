import { expect, test } from "vitest";
import { canonicalJson } from "../../../provider/data/index";
import { changesBetween, metadataFromText, sameData } from "../../../provider/endpoint/documents";

test.each([
  ['{"b": 1, "a": 2}', { b: 1, a: 2 }],
  ["{not json", "{not json"],
  ['\ufeff{"a": 1}', { a: 1 }],
  ['{"n": 12345678901234567890}', '{"n": 12345678901234567890}'],
  ["[9007199254740993]", "[9007199254740993]"],
  ["[1e-400]", "[1e-400]"],
  ["[123456789012345, 1.5E+30, 5e-324]", [123456789012345, 1.5e30, 5e-324]],
])("metadata's text %j is kept as %j", (text, data) => expect(metadataFromText(text)).toEqual({ data }));

test("canonical JSON ignores the order of keys, but not that of lists, and keeps nulls", () => {
  expect(canonicalJson({ b: { d: null, c: 2 }, a: [2, null] })).toBe('{"a":[2,null],"b":{"c":2,"d":null}}');
  expect(sameData({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
  expect(sameData([1, 2], [2, 1])).toBe(false);
});

test("changes of a document have the smallest possible paths", () => {
  const before = { on: [{ actions: [{ type: "deny", status: 404 }] }], gone: 1, same: { a: [1] } };
  const after = { on: [{ actions: [{ type: "deny", status: 403 }, { type: "log" }] }], same: { a: [1] } };
  expect(changesBetween(before, after, ["trafficPolicy"])).toEqual([
    { path: ["trafficPolicy", "on", 0, "actions", 0, "status"], kind: "update" },
    { path: ["trafficPolicy", "on", 0, "actions", 1], kind: "add" },
    { path: ["trafficPolicy", "gone"], kind: "delete" },
  ]);
  // A change of the type is a single update, and null is a value.
  expect(changesBetween({ a: [1], b: null }, { a: { 0: 1 }, b: null })).toEqual([
    { path: ["a"], kind: "update" },
  ]);
  expect(changesBetween({ a: null }, {})).toEqual([{ path: ["a"], kind: "delete" }]);
});
