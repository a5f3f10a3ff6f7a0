import { readFileSync } from "node:fs";
import { join } from "node:path";
import { globSync } from "tinyglobby";
import { expect, test } from "vitest";
import { root } from "../package/pack";
import { blocksOf } from "./pages";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const lines = read("README.md").trimEnd().split("\n");
const commands = blocksOf("README.md").filter(({ language }) => language === "sh");

test("the README has at most 88 lines", () => expect(lines.length).toBeLessThanOrEqual(88));

test("a single block of the README changes when the package is on npm", () => {
  // Whatever tells that it is not there yet: how to get its file, and its version.
  const { version } = JSON.parse(read("package.json"));
  const tells = (line: string) => line.includes(version) || /on npm|npm pack|\.tgz|\bFILE\b/.test(line);
  const [block] = commands.filter(({ code }) => tells(code));
  expect(block?.code).toContain(`npm install ../pulumi-endpoints/pulumi-endpoints-${version}.tgz\n`);
  expect(lines.filter((line) => tells(line) && !block?.code.includes(line))).toEqual([]);
});

test("CI runs the README's first commands word for word", () => {
  const steps = read(".github/workflows/ci.yml").split("\n");
  const first = commands[0]?.code.trim().split("\n") ?? [];
  expect(first).toHaveLength(2);
  for (const command of first) expect(steps).toContain(`      - run: ${command}`);
});

test("until the package is on npm, nothing that users read installs it from there", () => {
  // The page of Pulumi's registry is published only after the package.
  const ignore = ["docs/installation-configuration.md", "**/node_modules/**"];
  const files = globSync(["README.md", "docs/*.md", "examples/**", "provider/**/*.ts", "sdk/**/*.ts"], {
    cwd: root,
    ignore,
  });
  expect(files.length).toBeGreaterThan(200);
  expect(files.filter((file) => /npm install (--\S+ )*"?pulumi-endpoints(?!-)/.test(read(file)))).toEqual([]);
});
