import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../folders";
import { root } from "../package/pack";
import { brokenLinks } from "./links";
import { pages } from "./pages";

const examples = readdirSync(join(root, "examples"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md") && !name.split("/").includes("node_modules"))
  .map((name) => join("examples", name));
const linking = [...pages, ".github/CONTRIBUTING.md", ".github/SECURITY.md", ...examples];

test.each(linking)("%s has no broken link", (page) => {
  expect(brokenLinks(join(root, page))).toEqual([]);
});

test("a link to a missing file, folder or heading is broken", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "there"));
  const links = [
    "there",
    "#a-title",
    "page.md#a-title",
    "gone.md",
    "#gone",
    "page.md#gone",
    "https://gone.example",
  ];
  const text = `# A title\n\n${links.map((link) => `[x](${link})`).join("\n")}\n\n\`\`\`sh\n# Gone\n[x](in-code)\n\`\`\`\n`;
  writeFileSync(join(folder, "page.md"), text);
  expect(brokenLinks(join(folder, "page.md"))).toEqual(["gone.md", "#gone", "page.md#gone"]);
});
