import { expect, test } from "vitest";
import { secret } from "../../pulumi-cli/index";
import { ignoreChanges } from "../ignoreChanges";

test.each<[string[], olds: object, inputs: object, result: object, failed?: string[]]>([
  [["a"], { a: 1, b: 1 }, { a: 2, b: 2 }, { a: 1, b: 2 }],
  [["a"], {}, { a: 2 }, {}],
  [["a.b"], { a: { b: 1, c: 1 } }, { a: { b: 2, c: 2 } }, { a: { b: 1, c: 2 } }],
  [["a.b"], { a: { b: 1 } }, {}, {}, ["a.b"]],
  [["a[1]"], { a: [1] }, { a: [1, 2] }, { a: [1, 2] }, ["a[1]"]],
  [["a[*].b"], { a: [{ b: 1 }, { b: 1, c: 1 }] }, { a: [{ b: 2 }, { b: 2 }] }, { a: [{ b: 1 }, { b: 1 }] }],
  [["a[*].b"], { a: [{ b: 1 }, { b: 1 }] }, { a: [{ b: 2 }] }, { a: [{ b: 1 }] }, ["a[*].b"]],
  [["*"], { a: 1, b: 1 }, { a: 2, c: 2 }, { a: 1, b: 1 }],
  [['a["b.c"]'], { a: { "b.c": 1 } }, { a: { "b.c": 2 } }, { a: { "b.c": 1 } }],
  [["a.b"], { a: secret({ b: 1 }) }, { a: { b: 2 } }, { a: { b: secret(1) } }],
  [["a.b"], { a: { b: 1 } }, { a: secret({ b: 2 }) }, { a: secret({ b: 1 }) }],
])("ignoreChanges of %j: %j, %j", (paths, olds, inputs, result, failed = []) => {
  const given = structuredClone([olds, inputs]);
  expect(ignoreChanges({ ...inputs }, { ...olds }, paths)).toEqual({ inputs: result, failed });
  expect([olds, inputs]).toEqual(given);
});
