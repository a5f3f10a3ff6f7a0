import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { VERSION } from "../../provider/api/version";
import { commandFile, recipes } from "./machine";

const files = readdirSync(recipes, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));
const text = [...files, join(recipes, "../../docs/gitops.md")]
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");

test("every command and option in the recipes and their pages exists", () => {
  // A command may continue on the next line, or be a list in YAML.
  const lines = text.replaceAll("\\\n", " ").replaceAll(", ", " ").split("\n");
  const uses = lines.flatMap((line) => [...line.matchAll(/\bpulumi-endpoints ([a-z]+)((?: +[^ >|&`]+)*)/g)]);
  const commands = new Set(uses.map(([, name = ""]) => name));
  expect([...commands].sort()).toEqual(["drift", "new", "stacks"]);
  for (const command of commands) {
    const { stdout } = spawnSync("node", [commandFile, command, "--help"], { encoding: "utf8" });
    const ofCommand = uses.filter(([, name]) => name === command);
    const options = ofCommand.flatMap(([, , rest = ""]) => rest.match(/(?<= )--[\w-]+/g) ?? []);
    for (const option of options) expect(stdout).toContain(`  ${option} `);
  }
});

test("all recipes name the same version of the Pulumi CLI, and the version of this package", () => {
  const versions = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, version]) => version);
  const cli = versions(/(?:pulumi-version: |pulumi\/pulumi[\w-]*:)(\d+\.\d+\.\d+)/g);
  expect(cli).toEqual(Array(6).fill(cli[0]));
  const images = versions(/pulumi-endpoints:([\w.]+)/g);
  expect(new Set(images)).toEqual(new Set([VERSION.replace("+dev", "")]));
});
