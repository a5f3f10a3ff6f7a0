import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const here = import.meta.dirname;
const page = readFileSync(join(here, "../../docs/reliability.md"), "utf8");
const [, section = ""] = /^## Guarantees\n([\s\S]*?)^## /m.exec(page) ?? [];
const rows = section.split("\n").filter((line) => /^\| [A-Z]/.test(line));

const folder = join(here, "../scenarios");
const scenarios = readdirSync(folder)
  .map((file) => readFileSync(join(folder, file), "utf8"))
  .join("\n");

test.each(rows.map((row) => row.split(" | ")))(
  "the guarantee “%s” is held by scenarios with these names",
  (...cells) => {
    const names = [...(cells.at(-1) ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !scenarios.includes(name))).toEqual([]);
  },
);

test("the page on reliability has a table of guarantees", () => expect(rows.length).toBeGreaterThan(3));
