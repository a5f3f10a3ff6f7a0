import { resolve } from "node:path";
import { expect, test } from "vitest";
import { inNewProcess, LOADED, PROVIDER } from "./newProcess";

/* The cost of a start: Pulumi starts a provider for each phase of a command. */

test("the provider's start, a check and a diff load no HTTP client, no YAML parser and no Pulumi, and leave nothing open", async () => {
  const script = `const provider = require(process.argv[1]);
    const running = process.getActiveResourcesInfo().filter((kind) => kind !== "PipeWrap");
    const packages = ${LOADED};
    const settings = { "endpoints:apiKey": "key", "endpoints:baseUrl": "http://127.0.0.1:9" };
    provider.configure({ config: { get: (key) => settings[key] } });
    const news = { url: "https://shop.example.com", trafficPolicy: { on_http_request: [] } };
    provider.check({}, news)
      .then(({ inputs }) => provider.diff("ep_1", { url: "https://old.example.com" }, inputs))
      .then(({ changes }) => console.log(JSON.stringify({ running, packages, changes, later: ${LOADED} })));`;
  expect(await inNewProcess(script, PROVIDER)).toEqual({
    running: [],
    packages: ["zod"],
    changes: true,
    later: ["zod"],
  });
});

test.each([
  "dist/sdk/index.js",
  "dist/sdk/testing/index.js",
  "dist/sdk/commands/main.js",
  "dist/provider/index.js",
  "provider/plugin/index.js",
])("%s refuses a version of Node.js that is too old at once, before it loads a package", async (entry) => {
  const script = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } });
    try {
      require(process.argv[1]);
    } catch ({ message }) {
      console.log(JSON.stringify([message, ${LOADED}]));
    }`;
  const needs = /^pulumi-endpoints needs Node\.js 20 or a newer one, and this is 18\.20\.8: /;
  expect(await inNewProcess(script, resolve(entry))).toEqual([expect.stringMatching(needs), []]);
});

test("an HTTP client that cannot be loaded is an error at once, and no lost connection", async () => {
  const script = `const exports = () => { throw new Error("File is not defined"); };
    require.cache[require.resolve("undici")] = Object.defineProperty({ loaded: true }, "exports", { get: exports });
    const provider = require(process.argv[1]);
    const settings = { "endpoints:apiKey": "key", "endpoints:baseUrl": "http://127.0.0.1:9" };
    provider.configure({ config: { get: (key) => settings[key] } });
    provider.create({ url: "https://shop.example.com" }).catch(({ message }) => console.log(JSON.stringify(message)));`;
  expect(await inNewProcess(script, PROVIDER)).toBe("File is not defined");
});
