import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/*
 * Every phase of a command starts the provider anew (and a preview of one resource takes seconds as it is), so what a
 * start costs is kept small: in a process of its own, what is loaded, and what is left running.
 */
const PROVIDER = resolve("dist/provider/index.js");
const SDK = resolve("dist/sdk/index.js");

/** Runs a script in a new process, and gives what it logged as JSON. */
async function inNewProcess(script: string, module = PROVIDER): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--eval", script, module]);
  return JSON.parse(stdout);
}

const loaded = `[...new Set(Object.keys(require.cache)
  .map((file) => /node_modules[\\\\/]((@[^\\\\/]+[\\\\/])?[^\\\\/]+)/.exec(file)?.[1])
  .filter(Boolean))]`;

test("the provider loads no HTTP client, no YAML parser and no Pulumi when it starts, and does nothing", async () => {
  const script = `require(process.argv[1]); console.log(JSON.stringify({
    packages: ${loaded}, running: process.getActiveResourcesInfo().filter((kind) => kind !== "PipeWrap") }))`;
  expect(await inNewProcess(script)).toEqual({ packages: ["zod"], running: [] });
});

test("a check and a diff load nothing more, and make no request", async () => {
  const script = `const provider = require(process.argv[1]);
    const settings = { "endpoints:apiKey": "key", "endpoints:baseUrl": "http://127.0.0.1:9" };
    provider.configure({ config: { get: (key) => settings[key] } });
    const news = { url: "https://shop.example.com", trafficPolicy: { on_http_request: [] } };
    provider.check({}, news)
      .then(({ inputs }) => provider.diff("ep_1", { url: "https://old.example.com" }, inputs))
      .then(({ changes }) => { console.log(JSON.stringify({ changes, packages: ${loaded} })); process.exit(); });`;
  expect(await inNewProcess(script)).toEqual({ changes: true, packages: ["zod"] });
});

test("a program's import of the package loads neither an HTTP client nor a YAML parser", async () => {
  const packages = await inNewProcess(
    `require(process.argv[1]); console.log(JSON.stringify(${loaded})); process.exit();`,
    SDK,
  );
  expect(packages).toContain("@pulumi/pulumi");
  expect(packages).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(undici|yaml)$/)]));
});
