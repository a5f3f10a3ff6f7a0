import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../package/pack";
import { mistakesInPython } from "./pythonProgram";
import { examplesIn, schemaExamples, schemaItems } from "./schemaExamples";

/* Without Pulumi's CLI. Slow tests compile the examples in TypeScript and Go, and run those in YAML. */

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

test.each([
  ["endpoints.CloudEndpoint(", "endpoints.Endpoint(", "class or function Endpoint"],
  ["traffic_policy=", "trafficPolicy=", "parameter trafficPolicy"],
  ["agent.url", "agent.address", "attribute address"],
])("the check finds the mistake if %s is replaced by %s", (right, wrong, mistake) => {
  expect(mistakesInPython(example.replace(right, wrong))).toContain(`there is no ${mistake}`);
});
