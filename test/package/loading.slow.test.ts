import { resolve } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { inNewProcess, LOADED } from "../provider/newProcess";
import { root } from "./pack";

/* What an import of the built package loads, and whether a test runner can load it that has no `import()`. */

test.each([
  ["dist/sdk/index.js", /sdk.(testing|test-engine)/],
  ["dist/sdk/testing/index.js", /sdk.(test-engine.(engine|cliDriver|drivers))/],
])("%s loads no library but Pulumi's and zod, and no engine", async (file, late) => {
  const script = `const { dependencies } = require("./package.json");
    require(process.argv[1]);
    const libraries = ${LOADED}.filter((name) => name in dependencies);
    const files = Object.keys(require.cache).filter((file) => ${late}.test(file));
    console.log(JSON.stringify({ libraries, files }));
    process.exit();`;
  const { libraries, files } = z
    .object({ libraries: z.array(z.string()), files: z.array(z.string()) })
    .parse(await inNewProcess(script, resolve(file)));
  expect(libraries.sort()).toEqual(["@grpc/grpc-js", "google-protobuf", "zod"]);
  expect(files).toEqual([]);
});

/** Loads the files of the package in functions without `import()`, as Jest does, and deploys an example with the test kit. */
const LIKE_JEST = `
  const { readFileSync } = require("node:fs");
  const { createRequire } = require("node:module");
  const { dirname } = require("node:path");
  const { compileFunction } = require("node:vm");
  const loaded = new Map();
  function load(file) {
    if (!file.endsWith(".js") || !file.startsWith(${JSON.stringify(resolve(root, "dist"))})) return require(file);
    const module = loaded.get(file) ?? { exports: {} };
    if (loaded.has(file)) return module.exports;
    loaded.set(file, module);
    const parameters = ["exports", "require", "module", "__filename", "__dirname"];
    const own = createRequire(file);
    const requireLikeJest = Object.assign((name) => load(own.resolve(name)), { resolve: own.resolve });
    const run = compileFunction(readFileSync(file, "utf8"), parameters, { filename: file });
    run(module.exports, requireLikeJest, module, file, dirname(file));
    return module.exports;
  }
  const { TestStack } = load(process.argv[1]);
  TestStack.create({ program: "examples/quickstart" }).then(async (stack) => {
    const { outputs } = await stack.up();
    const reply = await stack.emulator.fetch(outputs.url, { conn: {} });
    console.log(JSON.stringify([outputs.url, await reply.text()]));
    await stack.close();
  });`;

test("it loads and deploys a program where import() is refused, as in Jest", async () => {
  expect(await inNewProcess(LIKE_JEST, resolve("dist/sdk/testing/index.js"))).toEqual([
    "https://shop.example.com",
    "hello",
  ]);
});
