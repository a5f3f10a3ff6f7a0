import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { brokenLinks } from "../docs/links";
import { pack, root } from "./pack";

const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-pack-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const packed = pack(folder);
const paths = packed.files.map(({ path }) => path);

const manifest = z
  .looseObject({
    version: z.string(),
    exports: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
    bin: z.record(z.string(), z.string()),
    scripts: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

/** Beside the compiled source. */
const OTHERS = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "dist/sdk/testing/engine/preload.cjs",
  "package.json",
  "provider/plugin/PulumiPlugin.yaml",
  "provider/plugin/index.js",
  "provider/plugin/package.json",
  "provider/plugin/pulumi-resource-endpoints",
  "provider/plugin/schema.json",
  "provider/policy/schema.json",
];

/** The files of the repository below these folders: what a machine has beside them is not packed. */
const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim().split("\n");

/** Programs import nothing of these, directly or through other types. */
const WITHOUT_TYPES = /^(provider\/plugin|sdk\/commands|sdk\/testing\/engine)\//;

test("the package holds each source file compiled, the types that programs can import, and nothing else that users do not need", () => {
  const sources = ["provider", "sdk"]
    .flatMap((part) =>
      readdirSync(join(root, part), { recursive: true, encoding: "utf8" }).map((file) => `${part}/${file}`),
    )
    .filter((file) => file.endsWith(".ts") && !file.startsWith("provider/plugin/schema/"))
    .map((file) => file.replace(/\.ts$/, ""));
  const docs = git("ls-files", "--cached", "--others", "--exclude-standard", "docs", "examples").filter(
    (file) => !file.endsWith(".ts") || !file.startsWith("docs/"),
  );
  const compiled = sources.map((file) => `dist/${file}.js`);
  const types = sources.filter((file) => !WITHOUT_TYPES.test(file)).map((file) => `dist/${file}.d.ts`);
  expect([...paths].sort()).toEqual([...compiled, ...types, ...docs, ...OTHERS].sort());
});

test("every link of the packed pages leads to a packed file and heading", () => {
  execFileSync("tar", ["-xzf", packed.tarball, "-C", folder]);
  const pages = paths.filter((path) => path.endsWith(".md"));
  const broken = pages.flatMap((page) =>
    brokenLinks(join(folder, "package", page)).map((link) => `${page}: ${link}`),
  );
  expect(pages.length).toBeGreaterThan(15);
  expect(broken).toEqual([]);
});

test("installing the package runs no script of it", () => {
  const atInstall = [
    "preinstall",
    "install",
    "postinstall",
    "prepublish",
    "preprepare",
    "prepare",
    "postprepare",
  ];
  expect(Object.keys(manifest.scripts).filter((name) => atInstall.includes(name))).toEqual([]);
});

test("every file that the manifest names is in the package, and commands can be executed", () => {
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target),
  );
  const commands = Object.values(manifest.bin);
  const missing = [...targets, ...commands].filter((path) => !paths.includes(path.replace(/^\.\//, "")));
  expect(missing).toEqual([]);
  for (const command of commands) {
    const [line] = readFileSync(join(root, command), "utf8").split("\n");
    expect(line, command).toBe("#!/usr/bin/env node");
  }
});

test("the package stays small enough that nobody thinks twice: 1.5 megabytes unpacked", () => {
  // What is known of policies takes 0.1 of it: their reference, their JSON Schema, and the types that editors complete.
  // The pages link to the examples and pictures, which take as much.
  expect(packed.unpackedSize).toBeLessThan(1_500_000);
});

test("publint finds no mistake", async () => {
  const data = readFileSync(packed.tarball);
  const tarball = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test("types resolve for CommonJS, ES modules and bundlers, and the old way", async () => {
  const result = await checkPackage(createPackageFromTarballData(readFileSync(packed.tarball)));
  expect(result).toMatchObject({ types: { kind: "included" }, problems: [] });
  expect(Object.keys("entrypoints" in result ? result.entrypoints : {}).sort()).toEqual(
    Object.keys(manifest.exports).sort(),
  );
});

test("the changelog begins with this version", () => {
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const [, version] = /^## (\S+) - (?:unreleased|\d{4}-\d{2}-\d{2})$/m.exec(changelog) ?? [];
  expect(version, "a heading such as: ## 0.1.0 - 2026-09-01").toBe(manifest.version);
});

test("a release is refused whose tag is not the version", () => {
  const release = (tag: string) =>
    spawnSync(process.execPath, [join(root, "test/package/release.mjs"), tag], { encoding: "utf8" });
  const { status, stderr } = release("v0.0.0");
  expect(status).toBe(1);
  expect(stderr).toContain(`the tag is v0.0.0, and package.json has the version ${manifest.version}`);
  expect(release(`v${manifest.version}`).stderr).not.toContain("the tag is");
});
