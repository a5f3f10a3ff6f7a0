import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { referencePage } from "../../docs/generate/page";

const page = await referencePage();

test("the reference is up to date", () => {
  expect(readFileSync("docs/reference.md", "utf8"), "run `npm run generate`").toBe(page);
});

test("every field in the reference has a description", () => {
  const [resources = ""] = page.split("## Commands");
  const rows = resources.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter((row) => row.endsWith("|  |"))).toEqual([]);
});
