import { describe, expect, test } from "vitest";
import {
  canonicalJson,
  changesBetween,
  hasUnknown,
  metadataFromText,
  pathText,
  policyFromText,
  problemsOfData,
  sameData,
  UNKNOWN,
} from "../../provider/document";

const reasonOf = (text: string) => {
  const parsed = policyFromText(text);
  return "problem" in parsed ? `${parsed.problem.path}: ${parsed.problem.reason}` : "no problem";
};

describe("a policy's text", () => {
  test("is the same data as JSON and as YAML, whatever its spaces, order and comments", () => {
    const json = policyFromText('{"on_http_request": [{"name": "a", "actions": []}]}');
    const yaml = policyFromText("# comment\non_http_request:\n  - actions: []\n    name: a\n");
    expect(json).toEqual({ data: { on_http_request: [{ name: "a", actions: [] }] } });
    expect("data" in json && "data" in yaml && sameData(json.data, yaml.data)).toBe(true);
  });

  test.each([
    ['{"a": 1,}', /not valid JSON/],
    ['{"a": 1', /line 1.*not valid JSON/],
    ['{\n  "a": 1\n  "b": 2\n}', /^line [23]: is not valid JSON \(line [23], column \d+\)$/],
    ["{a: 1}", /not valid JSON/],
    ["[1, 2]", /must be a mapping/],
    ["just words", /must be a mapping/],
    ["", /must be a mapping/],
    ["a: 1\n b: 2", /^line 1: is not valid YAML/],
    ["a: 1\na: 2", /not valid YAML/],
    ["a: *b", /not valid YAML/],
    ["a: .nan", /^a: holds at a what is not a number that JSON can hold/],
    ["a: 12345678901234567890", /more digits than can be kept/],
    ['{"a": 12345678901234567890}', /more digits than can be kept/],
  ])("%j is refused", (text, reason) => {
    expect(reasonOf(text)).toMatch(reason);
  });

  test.each(['{"secret": "CANARY" oops}', "secret: CANARY\n  oops: [", '{"CANARY": }', "CANARY"])(
    "%j is refused without being quoted",
    (text) => {
      expect(reasonOf(text)).not.toContain("CANARY");
      expect(reasonOf(text)).not.toBe("no problem");
    },
  );

  test("that expands without end is refused, not followed", () => {
    const bomb = `a0: &a0 [x]\n${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`).join("\n")}`;
    expect(reasonOf(bomb)).toMatch(/alias/);
  });

  test("keeps digits inside strings, and numbers that can be kept", () => {
    const text = '{"id": "12345678901234567890", "n": 9007199254740991, "x": 0.0009008240580477391}';
    const data = { id: "12345678901234567890", n: 9007199254740991, x: 0.0009008240580477391 };
    expect(policyFromText(text)).toEqual({ data });
  });
});

describe("metadata's text", () => {
  test.each([
    ['{"b": 1, "a": 2}', { b: 1, a: 2 }],
    ["[1]", [1]],
    ["1.0", "1.0"],
    ["true", "true"],
    ["plain words", "plain words"],
    ["{not json", "{not json"],
    ['{"n": 12345678901234567890}', '{"n": 12345678901234567890}'],
  ])("%j is kept as %j", (text, data) => {
    expect(metadataFromText(text)).toEqual({ data });
  });
});

test("canonical JSON does not depend on the order of keys, but on that of lists", () => {
  expect(canonicalJson({ b: { d: 1, c: 2 }, a: [2, 1] })).toBe('{"a":[2,1],"b":{"c":2,"d":1}}');
  expect(sameData({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
  expect(sameData([1, 2], [2, 1])).toBe(false);
});

test("a key named __proto__ is a key like any other", () => {
  const parsed = policyFromText('{"__proto__": {"a": 1}, "b": 2}');
  expect("data" in parsed && canonicalJson(parsed.data)).toBe('{"__proto__":{"a":1},"b":2}');
});

test("an unknown value is found at any depth", () => {
  expect(hasUnknown({ a: [{ b: UNKNOWN }] })).toBe(true);
  expect(hasUnknown({ a: [{ b: "known" }], c: null })).toBe(false);
});

test("data that JSON cannot hold is named by its path", () => {
  const problems = problemsOfData({ a: [1, { b: Number.NaN }], c: () => 0, d: new Date(0), e: 1n });
  expect(problems.map((problem) => problem.path)).toEqual(["a[1].b", "c", "d", "e"]);
});

test("differences between documents are named by the smallest places that hold them", () => {
  const before = { on: [{ actions: [{ type: "deny", status: 404 }] }], gone: 1, same: { a: [1] } };
  const after = { on: [{ actions: [{ type: "deny", status: 403 }, { type: "log" }] }], same: { a: [1] } };
  expect(changesBetween(before, after, ["trafficPolicy"])).toEqual([
    { path: ["trafficPolicy", "on", 0, "actions", 0, "status"], kind: "update" },
    { path: ["trafficPolicy", "on", 0, "actions", 1], kind: "add" },
    { path: ["trafficPolicy", "gone"], kind: "delete" },
  ]);
});

test("what changed its kind is one difference, and null is a value", () => {
  expect(changesBetween({ a: [1], b: null }, { a: { 0: 1 }, b: null })).toEqual([
    { path: ["a"], kind: "update" },
  ]);
  expect(changesBetween({ a: null }, {})).toEqual([{ path: ["a"], kind: "delete" }]);
});

test("a path is written as Pulumi reads it", () => {
  expect(pathText(["trafficPolicy", "on_http_request", 0, "actions"])).toBe(
    "trafficPolicy.on_http_request[0].actions",
  );
  expect(pathText(["metadata", "a.b", 'say "x"', "", "c-d"])).toBe('metadata["a.b"]["say \\"x\\""][""].c-d');
});
