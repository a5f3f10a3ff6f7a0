import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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
    scripts: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

/** The packed files that are not compiled source, documentation or examples. */
const OTHERS = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "dist/sdk/test-engine/engine/preload.cjs",
  "package.json",
  "provider/plugin/PulumiPlugin.yaml",
  "provider/plugin/index.js",
  "provider/plugin/package.json",
  "provider/plugin/pulumi-resource-endpoints",
  "provider/plugin/schema.json",
  "sdk/traffic-policy/ACTIONS.md",
  "sdk/traffic-policy/README.md",
  "sdk/traffic-policy/schema.json",
];

/** The lines that a git command prints. */
const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim().split("\n");

/** The folders of which the package has only types, and only those that the entry points' types refer to. */
const INTERNAL = /^(provider|sdk\/(commands|pulumi-cli|test-engine|traffic-policy))\//;

/** The declarations that can be reached from a file, and the file. */
function declarationsFrom(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, path = ""] of readFileSync(join(root, file), "utf8").matchAll(
    /(?:from |import ?\(?) *"(\.[^"]+)"/g,
  )) {
    const target = join(dirname(file), path);
    const found = [`${target}.d.ts`, `${target}/index.d.ts`].find((name) => existsSync(join(root, name)));
    if (found) declarationsFrom(found, seen);
  }
  return seen;
}

test("the package contains exactly the compiled source, the types for programs, the documentation and the examples", () => {
  const sources = ["provider", "sdk"]
    .flatMap((part) =>
      readdirSync(join(root, part), { recursive: true, encoding: "utf8" }).map((file) => `${part}/${file}`),
    )
    // Folders with walls have their tests beside their source.
    .filter((file) => file.endsWith(".ts") && !/^sdk\/[^/]+\/test\//.test(file))
    .map((file) => file.replace(/\.ts$/, ""));
  const docs = git("ls-files", "--cached", "--others", "--exclude-standard", "docs", "examples").filter(
    (file) => !file.startsWith("docs/generate/"),
  );
  const compiled = sources.map((file) => `dist/${file}.js`);
  const declarations = sources.map((file) => `dist/${file}.d.ts`);
  const entries = Object.values(manifest.exports).flatMap((target) =>
    typeof target === "string" ? [] : [join(target["types"] ?? "")],
  );
  const reached = entries.flatMap((entry) => [...declarationsFrom(entry)]);
  const types = new Set([...declarations.filter((file) => !INTERNAL.test(file.slice(5))), ...reached]);
  expect([...paths].sort()).toEqual([...compiled, ...types, ...docs, ...OTHERS].sort());
});

test("every link in the packed pages leads to a packed file and heading", () => {
  execFileSync("tar", ["-xzf", packed.tarball, "-C", folder]);
  const pages = paths.filter((path) => path.endsWith(".md"));
  const broken = pages.flatMap((page) =>
    brokenLinks(join(folder, "package", page)).map((link) => `${page}: ${link}`),
  );
  expect(pages.length).toBeGreaterThan(15);
  expect(broken).toEqual([]);
});

test("an installation runs no script of the package", () => {
  const atInstall = /^((pre|post)?(install|prepare)|prepublish)$/;
  expect(Object.keys(manifest.scripts).filter((name) => atInstall.test(name))).toEqual([]);
});

test("the package is smaller than 0.6 MB packed and 1.9 MB unpacked", () => {
  // docs/measurements.md has the sizes of its parts.
  expect(packed.size).toBeLessThan(600_000);
  expect(packed.unpackedSize).toBeLessThan(1_900_000);
});

test("publint finds no mistake", async () => {
  const data = readFileSync(packed.tarball);
  const tarball = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test("types resolve for CommonJS, ES modules, bundlers and moduleResolution: node", async () => {
  const result = await checkPackage(createPackageFromTarballData(readFileSync(packed.tarball)));
  expect(result).toMatchObject({ types: { kind: "included" }, problems: [] });
  expect(Object.keys("entrypoints" in result ? result.entrypoints : {}).sort()).toEqual(
    Object.keys(manifest.exports).sort(),
  );
});

test("npm version replaces the old version everywhere, and begins the new version's section of the changelog", () => {
  const clone = join(folder, "clone");
  git("clone", "--quiet", root, clone);
  const env = { ...process.env, npm_old_version: manifest.version, npm_new_version: "99.0.0-rc.1" };
  execFileSync(process.execPath, [join(root, ".github/build/version.mjs")], { cwd: clone, env });
  const places = '("pulumi-endpoints": "\\^|pulumi-endpoints:|[^_]VERSION = "|VERSION=)[0-9][0-9a-z.-]*';
  const folders = ["examples", "package-lock.json", "provider/service"];
  const found = git("-C", clone, "grep", "-hoE", places, "--", ...folders);
  expect(found.length).toBeGreaterThan(20);
  expect(found.filter((place) => !place.endsWith("99.0.0-rc.1"))).toEqual([]);
  expect(readFileSync(join(clone, "CHANGELOG.md"), "utf8")).toMatch(/^## 99\.0\.0-rc\.1 - unreleased$/m);
});

test("a release is refused if its tag is not the version at the top of the changelog", () => {
  const release = (tag: string) =>
    spawnSync(process.execPath, [join(root, ".github/build/release.mjs"), tag], { encoding: "utf8" });
  const { status, stderr } = release("v0.0.0");
  expect(status).toBe(1);
  expect(stderr).not.toContain("the changelog begins with");
  expect(stderr).toContain(`the tag is v0.0.0, and package.json has the version ${manifest.version}`);
  expect(release(`v${manifest.version}`).stderr).not.toContain("the tag is");
});
