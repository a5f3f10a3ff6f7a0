import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { RunFailed, type RunResult } from "../../../sdk/testing";
import { TestEngine } from "../../../sdk/testing/engine/testEngine";
import { programFolder } from "../../folders";
import { PLUGGED, type PlayOptions, Things } from "./play";

/* What needs a program's or a provider's own process. `engine.test.ts` has what the engine does in between. */

async function kit(options?: PlayOptions): Promise<Things<TestEngine>> {
  const things = await Things.onKit(options);
  onTestFinished(() => things.close());
  return things;
}

/** Creates a program with these files, and an engine for it. */
async function engineOf(files: Record<string, string>, startLimit?: number): Promise<TestEngine> {
  const folder = programFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const engine = await TestEngine.create({ program: folder, ...(startLimit && { startLimit }) });
  onTestFinished(() => engine.close());
  return engine;
}

async function failureOf(run: Promise<RunResult>): Promise<RunFailed> {
  const error = await run.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error instanceof RunFailed) return error;
  throw error ?? new Error("it ran");
}

test("a program that throws, rejects or exits early fails the run, nothing is deleted, and its output is shown", async () => {
  const { run, engine, env } = await kit();
  await run("up", "createFails.2");
  for (const [scene, message] of [
    ["throws", "the program threw"],
    ["rejects", "in apply"],
    ["exitsWell", "Program exited with non-zero exit code: 1"],
  ] as const) {
    const { ok, messages, calls } = await run("up", scene, { skipPreview: true });
    expect([scene, ok, messages.join()]).toEqual([scene, false, expect.stringContaining(message)]);
    expect(calls).toEqual([]);
  }
  env["SCENE"] = "prints";
  const printed = JSON.stringify((await engine.preview()).diagnostics);
  for (const text of ["to stdout", "to stderr", "logged an error"]) expect(printed).toContain(text);
  expect(printed).not.toContain("not shown");
  // What depends on a resource is deleted before it.
  expect((await engine.destroy()).steps.map(({ name }) => name)).toEqual(["b", "a"]);
});

test("the types of a TypeScript program are not checked", async () => {
  const engine = await engineOf({
    "Pulumi.yaml": "name: typed\nruntime: nodejs\n",
    "package.json": '{"main": "index.ts"}',
    "index.ts": 'export const port: number = "443";\n',
  });
  expect((await engine.up({ skipPreview: true })).outputs).toEqual({ port: "443" });
});

test("a resource that exists, but is not ready, is refused", async () => {
  const { messages } = await (await kit()).run("up", "unready", { skipPreview: true });
  expect(messages.join()).toContain(
    "does not support resources that exist but are not ready: use the driver",
  );
});

test("a plugin that does not accept secrets, or whose configuration is unknown, is refused", async () => {
  const plain = await kit({ program: PLUGGED, env: { SECRETS: "no" } });
  expect((await plain.run("preview", "rich.1")).messages.join()).toMatch(
    /does not support plugins that do not accept secrets or references \(things in/,
  );
  const { run } = await kit({ program: PLUGGED });
  expect((await run("preview", "unknownConfig.1")).messages.join()).toMatch(
    /previews with a provider whose configuration is not known yet \(late\): use/,
  );
});

const SERVER = 'const s = require("net").createServer(); s.listen(0, () => console.log(s.address().port))';

test.for<[what: string, code: string, ...parts: string[]]>([
  ["cannot be loaded", 'require("./missing")', "ended before it was ready", "Cannot find module './missing'"],
  ["prints no port", 'console.log("here I am"); setInterval(() => {}, 1000)', "did not print", "here I am"],
  ["does not answer", `console.log("here I am"); ${SERVER}`, "does not answer", "here I am"],
])("a plugin that %s fails the run with its output in the message", async ([, code, ...parts]) => {
  const files = {
    "Pulumi.yaml": "{name: broken, runtime: nodejs, plugins: {providers: [{name: broken, path: plugin}]}}",
    "package.json": '{"main": "index.js"}',
    "index.js": 'new (require("@pulumi/pulumi").CustomResource)("broken:index:Thing", "a");',
    "plugin/PulumiPlugin.yaml": "runtime: nodejs",
    "plugin/package.json": '{"main": "index.js"}',
    "plugin/index.js": code,
  };
  // A process needs longer to start on a busy machine.
  for (let limit = 2000, message = ""; !parts.every((part) => message.includes(part)); limit *= 3) {
    expect(limit, message).toBeLessThan(60_000);
    ({ message } = await failureOf((await engineOf(files, limit)).preview()));
  }
});
