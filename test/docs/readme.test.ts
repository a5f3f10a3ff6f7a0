import { readFileSync } from "node:fs";
import { join } from "node:path";
import { globSync } from "tinyglobby";
import { expect, test } from "vitest";
import { root } from "../package/pack";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const lines = read("README.md").trimEnd().split("\n");

test("the README has at most 120 lines", () => expect(lines.length).toBeLessThanOrEqual(120));

test("a single line of the README changes when the package is on npm", () => {
  // Whatever tells that it is not there yet: how to get its file, and its version.
  const { version } = JSON.parse(read("package.json"));
  const tells = (line: string) => line.includes(version) || /on npm|npm pack|\.tgz|\bFILE\b/.test(line);
  expect(lines.filter(tells)).toEqual([
    `npm install ../pulumi-endpoints/pulumi-endpoints-${version}.tgz # \`npm pack\` makes it in the clone, until the package is on npm`,
  ]);
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
