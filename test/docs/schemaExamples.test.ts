import { expect, test } from "vitest";
import { schemaExamples, schemaItems } from "./schemaExamples";

/* The examples without a compiler or a CLI. `programs.slow.test.ts` compiles those in TypeScript, `sdks.cli.test.ts` those in Go. */

test.each(schemaItems)("$item has one example, in four languages", ({ item }) => {
  const own = schemaExamples.filter(({ name }) => name === item);
  expect(own.map(({ language }) => language)).toEqual(["typescript", "python", "go", "yaml"]);
});
