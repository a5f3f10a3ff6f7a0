import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { programFolder } from "../../../test/folders";
import { TestEngine } from "../engine/testEngine";
import { PLUGGED, type ScenarioOptions, ScenarioStack } from "./runScenario";

/* Tests that need the process of a program or a provider. `engine.test.ts` tests the engine without processes. */

async function startOnEngine(options?: ScenarioOptions): Promise<ScenarioStack> {
  const things = await ScenarioStack.onTestEngine(options);
  onTestFinished(() => things.close());
  return things;
}

test("a program that throws, rejects or exits early fails the run, nothing is deleted, and its output is shown", async () => {
  const { run, stack, env } = await startOnEngine();
  await run("up createFails.2");
  for (const [variant, message] of [
    ["throws", "the program threw"],
    ["rejects", "in apply"],
    ["exitsWell", "Program exited with non-zero exit code: 1"],
  ] as const) {
    const { ok, messages, calls } = await run(`up ${variant}`);
    expect([variant, ok, messages.join(), calls]).toEqual([
      variant,
      false,
      expect.stringContaining(message),
      [],
    ]);
  }
  env["VARIANT"] = "prints";
  const printed = JSON.stringify((await stack.preview()).diagnostics);
  for (const text of ["to stdout", "to stderr", "logged an error"]) expect(printed).toContain(text);
  expect(printed).not.toContain("not shown");
  // Dependents are deleted first.
  expect((await stack.destroy()).steps.map(({ name }) => name)).toEqual(["b", "a"]);
});

test.for<[what: string, options: ScenarioOptions | undefined, run: string, message: string]>([
  [
    "a plugin without secrets",
    { program: PLUGGED, env: { SECRETS: "no" } },
    "up rich.1",
    "do not accept secrets",
  ],
  [
    "a preview with an unknown configuration",
    { program: PLUGGED },
    "preview unknownConfig.1",
    "yet (late): use",
  ],
])("%s is refused", async ([, options, line, message]) => {
  const { messages } = await (await startOnEngine(options)).run(line);
  expect(messages.join()).toContain(message);
});

const SERVER = 'const s = require("net").createServer(); s.listen(0, () => console.log(s.address().port))';

test.for<[what: string, code: string, ...parts: string[]]>([
  ["cannot be loaded", 'require("./missing")', "ended before it was ready", "Cannot find module './missing'"],
  ["prints no port", 'console.log("here I am"); setInterval(() => {}, 1000)', "did not print", "here I am"],
  ["does not answer", `console.log("here I am"); ${SERVER}`, "does not answer", "here I am"],
])("a plugin that %s fails the run with its output in the message", async ([, code, ...parts]) => {
  const program = programFolder();
  const files = {
    "Pulumi.yaml": "{name: broken, runtime: nodejs, plugins: {providers: [{name: broken, path: plugin}]}}",
    "package.json": '{"main": "index.js"}',
    "index.js": 'new (require("@pulumi/pulumi").CustomResource)("broken:index:Thing", "a");',
    "plugin/PulumiPlugin.yaml": "runtime: nodejs",
    "plugin/package.json": '{"main": "index.js"}',
    "plugin/index.js": code,
  };
  mkdirSync(join(program, "plugin"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(program, name), text);
  // Tries longer limits, because a process can start slowly on a busy machine.
  for (let startLimit = 2000, message = ""; !parts.every((part) => message.includes(part)); startLimit *= 3) {
    expect(startLimit, message).toBeLessThan(60_000);
    const engine = new TestEngine({ program, startLimit });
    message = await engine.run("preview", {}).then(() => "it ran", String);
    await engine.close();
  }
});
