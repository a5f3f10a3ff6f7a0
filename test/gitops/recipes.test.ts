import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../provider/api/config";
import { commandFile, recipes } from "./recipeMachine";

const files = readdirSync(recipes, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));
const pages = [...files.filter((file) => file.endsWith(".md")), join(recipes, "../../docs/gitops.md")];

test("every command and option in the recipes and their pages exists", () => {
  const text = [...files, ...pages].map((file) => readFileSync(file, "utf8")).join("\n");
  // A command may continue on the next line, or be a list in YAML.
  const lines = text.replaceAll("\\\n", " ").replaceAll(", ", " ").split("\n");
  const uses = lines.flatMap((line) => [...line.matchAll(/\bpulumi-endpoints ([a-z]+)((?: +[^ >|&`]+)*)/g)]);
  expect(new Set(uses.map(([, name]) => name))).toEqual(new Set(["drift"]));
  const { status, stdout: help } = spawnSync("node", [commandFile, "drift", "--help"], { encoding: "utf8" });
  expect(status).toBe(0);
  const options = uses.flatMap(([, , rest = ""]) => rest.match(/(?<= )--[\w-]+/g) ?? []);
  expect(options.length).toBeGreaterThan(0);
  for (const option of options) expect(help).toContain(`  ${option} `);
});

test("all recipes name the same version of the Pulumi CLI, and the version of this package", () => {
  const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
  const cli = [...text.matchAll(/(?:pulumi-version: |pulumi\/pulumi[\w-]*:)(\d+\.\d+\.\d+)/g)].map(
    ([, one]) => one,
  );
  expect(cli.length).toBe(5);
  expect(new Set(cli).size).toBe(1);
  expect(text.match(/uses: pulumi\/actions/g)).toHaveLength(3);
  const images = [...text.matchAll(/pulumi-endpoints:([\w.]+)/g)].map(([, tag]) => tag);
  expect(new Set(images)).toEqual(new Set([VERSION]));
});

/** Linters that are not npm packages. Each runs if it is installed. */
const linters = [
  {
    name: "actionlint",
    files: files.filter((file) => file.includes("/github-actions/") && file.endsWith(".yml")),
  },
  { name: "shellcheck", files: files.filter((file) => file.endsWith(".sh")) },
];

describe.each(linters)("$name", ({ name, files }) => {
  const isInstalled = spawnSync(name, ["--version"]).status === 0;
  test.skipIf(!isInstalled)("finds no mistake in the recipes", () => {
    expect(files.length).toBeGreaterThan(0);
    expect(spawnSync(name, files, { encoding: "utf8" })).toMatchObject({ status: 0, stdout: "" });
  });
});
