// Exits with 1 if a tag, package.json and the changelog do not have the same version, or if its states are not recorded:
//   node .github/build/release.mjs v0.1.0
import { existsSync, readFileSync } from "node:fs";

const [tag = ""] = process.argv.slice(2);
const urlOf = (file) => new URL(`../../${file}`, import.meta.url);
const read = (file) => readFileSync(urlOf(file), "utf8");
const { version } = JSON.parse(read("package.json"));
const [, released, date] = /^## (\S+) - (.+)$/m.exec(read("CHANGELOG.md")) ?? [];

const problems = [
  tag !== `v${version}` && `the tag is ${tag || "missing"}, and package.json has the version ${version}`,
  released !== version &&
    `the changelog begins with ${released ?? "no version"}, and package.json has ${version}`,
  released === version &&
    !/^\d{4}-\d{2}-\d{2}$/.test(date ?? "") &&
    `the changelog says "${date}", and no date`,
  ...["dynamic", "plugin"]
    .map((provider) => `test/e2e/states/${version}-${provider}.json`)
    .map((file) => !existsSync(urlOf(file)) && `there is no ${file}: run npm run record:states`),
].filter(Boolean);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
