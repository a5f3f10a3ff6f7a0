import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/*
 * Pulumi starts a provider for each phase of a command, so a start must be cheap. These tests start a new process, and list
 * the loaded packages and the open handles.
 */
const PROVIDER = resolve("dist/provider/index.js");
const SDK = resolve("dist/sdk/index.js");

/** Runs a script in a new process, and parses its output as JSON. */
async function inNewProcess(script: string, module = PROVIDER): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--eval", script, module]);
  return JSON.parse(stdout);
}

const loaded = `[...new Set(Object.keys(require.cache)
  .map((file) => /node_modules[\\\\/]((@[^\\\\/]+[\\\\/])?[^\\\\/]+)/.exec(file)?.[1])
  .filter(Boolean))]`;

test("the provider's start loads no HTTP client, no YAML parser and no Pulumi, and leaves nothing open", async () => {
  const script = `require(process.argv[1]); console.log(JSON.stringify({
    packages: ${loaded}, running: process.getActiveResourcesInfo().filter((kind) => kind !== "PipeWrap") }))`;
  expect(await inNewProcess(script)).toEqual({ packages: ["zod"], running: [] });
});

test("a check and a diff load no further package", async () => {
  const script = `const provider = require(process.argv[1]);
    const settings = { "endpoints:apiKey": "key", "endpoints:baseUrl": "http://127.0.0.1:9" };
    provider.configure({ config: { get: (key) => settings[key] } });
    const news = { url: "https://shop.example.com", trafficPolicy: { on_http_request: [] } };
    provider.check({}, news)
      .then(({ inputs }) => provider.diff("ep_1", { url: "https://old.example.com" }, inputs))
      .then(({ changes }) => { console.log(JSON.stringify({ changes, packages: ${loaded} })); process.exit(); });`;
  expect(await inNewProcess(script)).toEqual({ changes: true, packages: ["zod"] });
});

test("the package's import in a program loads no HTTP client and no YAML parser", async () => {
  const packages = await inNewProcess(
    `require(process.argv[1]); console.log(JSON.stringify(${loaded})); process.exit();`,
    SDK,
  );
  expect(packages).toContain("@pulumi/pulumi");
  expect(packages).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(undici|yaml)$/)]));
});

test("the warnings load the library of expressions with the first expression", async () => {
  const script = `const { resourceWarnings } = require(process.argv[1]);
    const packagesFor = (rule) => {
      const actions = [{ type: "custom-response", config: { body: "hello $" } }];
      const lines = resourceWarnings({ trafficPolicy: { on_http_request: [{ ...rule, actions }] } });
      return [lines.length, ...${loaded}];
    };
    console.log(JSON.stringify([packagesFor({ name: "req.host" }), packagesFor({ expressions: ["req.hots"] })]));`;
  expect(await inNewProcess(script, resolve("dist/provider/policy/resourceWarnings.js"))).toEqual([
    [0],
    [1, "@marcbachmann/cel-js", "fastest-levenshtein"],
  ]);
});
