import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { brokenLinks } from "./links";

const root = join(import.meta.dirname, "..", "..");
const examples = readdirSync(join(root, "examples"), { recursive: true, encoding: "utf8" })
  .filter((name) => !name.split("/").includes("node_modules"))
  .map((name) => join("examples", name));
const docs = readdirSync(join(root, "docs")).map((name) => join("docs", name));
const pages = ["README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md", ...docs, ...examples].filter(
  (page) => page.endsWith(".md"),
);

test.each(pages)("%s has no broken link", (page) => {
  expect(brokenLinks(join(root, page))).toEqual([]);
});
