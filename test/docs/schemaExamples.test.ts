import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../package/pack";
import { mistakesInPython } from "./pythonProgram";
import { examplesIn, schemaExamples, schemaItems } from "./schemaExamples";

/* The examples without Pulumi's CLI. Slow tests compile the examples in TypeScript and Go, and run the examples in YAML. */

test.each(schemaItems)("$item has examples, each in four languages", ({ item }) => {
  const own = schemaExamples.filter(({ name }) => name.replace(/\d+$/, "") === item);
  const names = [...new Set(own.map(({ name }) => name))];
  expect(names).not.toEqual([]);
  for (const example of names) {
    const languages = own.filter(({ name }) => name === example).map(({ language }) => language);
    expect(languages).toEqual(["typescript", "python", "go", "yaml"]);
  }
});

const example = readFileSync(join(root, "examples/python/__main__.py"), "utf8");

test.each([...examplesIn("python"), { name: "the example python", code: example }])(
  "$name in Python uses only what the generated SDK has",
  ({ code }) => expect(mistakesInPython(code)).toEqual([]),
);

test("the check of Python programs finds a wrong class, parameter and attribute", () => {
  const wrong = 'endpoints.Endpoint("a", trafficPolicy={})\nagent.address';
  expect(mistakesInPython(wrong)).toEqual([
    "there is no class or function Endpoint",
    "there is no parameter trafficPolicy",
    "there is no attribute address",
  ]);
});
