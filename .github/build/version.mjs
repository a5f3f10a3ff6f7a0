// What `npm version` runs: writes the new version wherever the old one stands, and begins its section of the changelog.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const { npm_old_version: before, npm_new_version: after } = process.env;
if (!before || !after) throw new Error("npm runs this: npm version 0.2.0 --no-git-tag-version");

/** What stands before the version: a requirement, the tag of an image, a file, a build argument, the constant. */
const PLACES = [
  '"pulumi-endpoints": "^',
  "pulumi-endpoints:",
  "pulumi-endpoints-",
  "VERSION=",
  'VERSION = "',
];

const files = execFileSync(
  "git",
  ["ls-files", "README.md", "docs", "examples", "package-lock.json", "provider/service/version.ts"],
  {
    encoding: "utf8",
  },
);
for (const file of files.trim().split("\n")) {
  const text = readFileSync(file, "utf8");
  const changed = PLACES.reduce((all, place) => all.replaceAll(place + before, place + after), text);
  if (changed !== text) writeFileSync(file, changed);
}

const changelog = readFileSync("CHANGELOG.md", "utf8");
const open = `## ${before} - unreleased`;
const begun = `## ${after} - unreleased`;
writeFileSync(
  "CHANGELOG.md",
  changelog.includes(open) ? changelog.replace(open, begun) : changelog.replace(/^## /m, `${begun}\n\n## `),
);
