import { resolve } from "node:path";
import { expect, test } from "vitest";
import { inNewProcess, LOADED } from "./newProcess";

test("the plugin starts without Pulumi's runtime, which only the component needs", async () => {
  const script = `const folder = process.argv[1];
    const hasRuntime = () => Object.keys(require.cache).some((file) => /@pulumi.pulumi.(index|runtime.\\w+)\\.js$/.test(file));
    for (const file of ["provider/plugin/serve.js", "sdk/webhooks/otherLanguages.js"]) require(folder + "/" + file);
    const atStart = hasRuntime();
    require(folder + "/sdk/webhooks/construct.js");
    console.log(JSON.stringify([atStart, hasRuntime()]));
    process.exit();`;
  expect(await inNewProcess(script, resolve("dist"))).toEqual([false, true]);
});

test("the warnings load the library of expressions with the first expression", async () => {
  const script = `const { resourceWarnings } = require(process.argv[1]);
    const packagesFor = (rule) => {
      const actions = [{ type: "custom-response", config: { body: "hello $" } }];
      const lines = resourceWarnings({ trafficPolicy: { on_http_request: [{ ...rule, actions }] } });
      return [lines.length, ...${LOADED}];
    };
    console.log(JSON.stringify([packagesFor({ name: "req.host" }), packagesFor({ expressions: ["req.hots"] })]));`;
  const module = resolve("dist/sdk/policyWarnings.js");
  expect(await inNewProcess(script, module)).toEqual([
    [0],
    [1, "@marcbachmann/cel-js", "fastest-levenshtein"],
  ]);
  // An older Node.js cannot require the library, so expressions get no warnings there.
  expect(await inNewProcess(script, module, "--no-experimental-require-module")).toEqual([[0], [0]]);
});
