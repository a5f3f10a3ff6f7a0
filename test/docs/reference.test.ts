import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { referencePage } from "../../docs/reference/page";

test("the reference that is checked in is the one that the source gives", () => {
  expect(readFileSync("docs/reference.md", "utf8"), "run `npm run generate`").toBe(referencePage());
});

test("every field that a program can write is described", () => {
  const [resources = ""] = referencePage().split("## Commands");
  const rows = resources.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(80);
  expect(rows.filter((row) => row.endsWith("|  |"))).toEqual([]);
});
