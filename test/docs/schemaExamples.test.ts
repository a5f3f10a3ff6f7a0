import { expect, test } from "vitest";
import { schemaExamples, schemaItems } from "./schemaExamples";

/* The examples without Pulumi's CLI. Slow tests compile the examples in TypeScript and Go, and run the examples in YAML. */

test.each(schemaItems)("$item has one example, in four languages", ({ item }) => {
  const own = schemaExamples.filter(({ name }) => name === item);
  expect(own.map(({ language }) => language)).toEqual(["typescript", "python", "go", "yaml"]);
});
