import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { referencePage } from "../../docs/generate/page";
import { registryPages } from "../../docs/generate/registryPages";

const page = await referencePage();

test("the reference is up to date", () => {
  expect(readFileSync("docs/reference.md", "utf8"), "run `npm run generate`").toBe(page);
});

test.each(registryPages())(
  "the registry's page %s is up to date, and has what its layout needs",
  (file, text) => {
    expect(readFileSync(`docs/${file}`, "utf8"), "run `npm run generate`").toBe(text);
    expect(text).toMatch(/^---\ntitle: \S.*\nmeta_desc: \S.*\nlayout: package\n---\n/);
    for (const name of ["chooser", "choosable"]) {
      const ends = text.split(`/${name} `).length - 1;
      expect(ends, name).toBeGreaterThan(0);
      expect(ends, name).toBe(text.split(` ${name} language`).length - 1);
    }
  },
);

test("every field in the reference has a description", () => {
  const [resources = ""] = page.split("## Commands");
  const rows = resources.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter((row) => row.endsWith("|  |"))).toEqual([]);
});
