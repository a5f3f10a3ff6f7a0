import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { temporaryFolder } from "./tools";

const ROOT = join(import.meta.dirname, "../../..");

/** A script that loads the package in functions without `import()`, as Jest does, and runs a program with it. */
const LIKE_JEST = `
  const { readFileSync } = require("node:fs");
  const { createRequire } = require("node:module");
  const { dirname } = require("node:path");
  const { compileFunction } = require("node:vm");
  const loaded = new Map();
  function load(file) {
    if (!/test-engine.dist/.test(file)) return require(file);
    const module = loaded.get(file) ?? { exports: {} };
    if (loaded.has(file)) return module.exports;
    loaded.set(file, module);
    const parameters = ["exports", "require", "module", "__filename", "__dirname"];
    const resolve = createRequire(file).resolve;
    const run = compileFunction(readFileSync(file, "utf8"), parameters, { filename: file });
    run(module.exports, (name) => load(resolve(name)), module, file, dirname(file));
    return module.exports;
  }
  const { PulumiStack } = load(require.resolve("test-engine"));
  const stackReferences = { "organization/region/dev": { groundwater: 7 } };
  PulumiStack.create({ program: "mixed", stackReferences }).then(async (stack) => {
    console.log(JSON.stringify((await stack.up()).outputs));
    await stack.close();
  });
`;

test("the packed package runs a program in an empty folder, with no other package than those that it names", () => {
  const folder = temporaryFolder();
  const [tarball] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--pack-destination", folder], {
      cwd: join(import.meta.dirname, ".."),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).replace(/^[^[]*/s, ""),
  );
  const modules = join(folder, "node_modules");
  const own = join(modules, "test-engine");
  mkdirSync(own, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, tarball.filename), "-C", own, "--strip-components=1"]);
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  cpSync(join(import.meta.dirname, "programs/mixed"), join(folder, "mixed"), { recursive: true });
  writeFileSync(
    join(folder, "test.mjs"),
    `import { PulumiStack } from "test-engine";
    const stackReferences = { "organization/region/dev": { groundwater: 7 } };
    const stack = await PulumiStack.create({ program: "mixed", stackReferences });
    console.log(JSON.stringify((await stack.up()).outputs));
    await stack.close();`,
  );
  writeFileSync(join(folder, "test.cjs"), LIKE_JEST);
  for (const script of ["test.mjs", "test.cjs"]) {
    const printed = execFileSync(process.execPath, [script], { cwd: folder, encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual({ door: "door-red", isOpen: false, litres: 700 });
  }
});

test("the package takes the libraries in the versions of the root", () => {
  const root = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(root.dependencies).toMatchObject(manifest.dependencies);
  expect(root.peerDependencies).toMatchObject(manifest.peerDependencies);
});
