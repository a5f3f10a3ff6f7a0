import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { referencePage } from "../../docs/reference/page";

const page = await referencePage();

test("the checked-in reference matches the source", () => {
  expect(readFileSync("docs/reference.md", "utf8"), "run `npm run generate`").toBe(page);
});

test("every field that a program can write is described", () => {
  const [resources = ""] = page.split("## Commands");
  const rows = resources.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter((row) => row.endsWith("|  |"))).toEqual([]);
});
