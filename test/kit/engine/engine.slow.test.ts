import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { TestEngine } from "../../../sdk/testing/engine/testEngine";
import { programFolder } from "../../folders";
import { PLUGGED, type PlayOptions, THINGS, Things } from "./play";

/** Creates a program with these files, and an engine for it. */
async function engineOf(
  files: Record<string, string>,
  options: Partial<Parameters<typeof TestEngine.create>[0]>,
) {
  const folder = programFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const engine = await TestEngine.create({ program: folder, ...options });
  onTestFinished(() => engine.close());
  return engine;
}

const pattern = (text: string | RegExp) =>
  typeof text === "string" ? new RegExp(text.replace(/[^\w ]/g, "\\$&")) : text;

const open: Things<TestEngine>[] = [];
const kit = async (options?: PlayOptions): Promise<Things<TestEngine>> => {
  const things = await Things.onKit(options);
  open.push(things);
  return things;
};
const plugged = () => kit({ program: PLUGGED });
afterEach(async () => {
  for (const things of open.splice(0)) await things.close();
});

test("preview and up print steps with unknowns and secrets masked, and return the outputs in plain text", async () => {
  const { engine, env } = await kit();
  env["SCENE"] = "rich.1";
  const preview = await engine.preview();
  expect(preview.text).toContain("Previewing update (test):");
  expect(preview.text).toContain(" +  pulumi-nodejs:dynamic/things:Thing a create");
  expect(preview.text).toContain("from: [unknown]");
  expect(preview.text).toContain("secret: [secret]");
  expect(preview.text).toContain("    + 7 to create");
  const { text, outputs, diagnostics } = await engine.up();
  expect(outputs).toMatchObject({ id: "a-1", computed: "of a-1", s: [1], nested: { deep: ["a-1"] } });
  expect(diagnostics.map(({ message }) => message)).toEqual(expect.arrayContaining(["said", "warned"]));
  expect(text).toContain("Updating (test):");
  expect(text).toContain("    + 7 created");
  for (const shown of [preview.text, text]) expect(shown).not.toMatch(/hush|__provider/);
});

describe("a run fails", () => {
  test("without deleting anything if the program throws, rejects or exits early", async () => {
    const { run, engine } = await kit();
    await run("up", "createFails.2");
    for (const [scene, message] of [
      ["throws", "the program threw"],
      ["rejects", "in apply"],
      ["exitsWell", "Program exited with non-zero exit code: 1"],
    ] as const) {
      const { ok, messages, calls } = await run("up", scene);
      expect([scene, ok, messages.join()]).toEqual([scene, false, expect.stringContaining(message)]);
      expect(calls).toEqual([]);
    }
    // What depends on a resource is deleted before it.
    expect((await engine.destroy()).steps.map(({ name }) => name)).toEqual(["b", "a"]);
  });

  test("with a message that names the CLI driver if the program needs an unsupported feature", async () => {
    const { run } = await kit();
    for (const [scene, message] of [
      ["invokeTransform", "does not support transforms of invokes: use the driver"],
      ["stackTransform", "does not support transforms: use the driver"],
      ["transforms", "does not support the option transforms (of a): use the driver"],
      ["foreign", /no plugin for the package random.* the option "others", or use the driver "cli"/],
      ["remote", "does not support remote components (random:index:Thing): use the driver"],
      ["timeouts", "does not support the option customTimeouts (of a): use the driver"],
      ["version", "does not support versions and download URLs of plugins (of pulumi-nodejs:dynamic/"],
      ["asset", "does not support assets and archives: use the driver"],
      ["invoke", "there is no plugin for the package random"],
      ["unknownStack", 'unknown stack "organization/network/prod"'],
      ["stash", "does not support resources of the type pulumi:index:Stash: use the driver"],
      ["hook", "does not support resource hooks: use the driver"],
      ["deletedWith", "does not support the option deletedWith (of b): use the driver"],
      ["unready", "does not support resources that exist but are not ready: use the driver"],
      ["replaceWith", "does not support the option replaceWith (of b): use the driver"],
    ] as const) {
      const { ok, messages } = await run(scene === "unready" ? "up" : "preview", scene, {
        skipPreview: true,
      });
      expect([scene, ok, messages.join()]).toEqual([scene, false, expect.stringMatching(pattern(message))]);
    }
  });
});

test.for([
  ["random:index/randomPet:RandomPet", {}, /up failed: no animals left/],
  ["random:index/randomPet:RandomPet", { import: "p" }, /imports of resources without a provider \(a\): use/],
  ["endpoints:index:CloudEndpoint", {}, /no plugin for the package endpoints: .* them: use the driver "cli"/],
] as const)("others answers for other packages only, and its errors fail the run: %s %s", async (given) => {
  const [type, options, message] = given;
  const create = `new (require("@pulumi/pulumi").CustomResource)("${type}", "a", {}, ${JSON.stringify(options)});`;
  const newResource = () => {
    throw new Error("no animals left");
  };
  const engine = await engineOf(
    { "package.json": '{"main": "index.js"}', "index.js": create },
    { others: { newResource } },
  );
  await expect(engine.up({ skipPreview: true })).rejects.toThrow(message);
});

describe("the state", () => {
  test("keeps the pending operations of a killed run until a refresh clears them", async () => {
    const { engine, run, env } = await kit();
    await run("up", "createFails.2");
    const state = await engine.exportState();
    const [lost] = (state.deployment.resources ?? []).filter(({ id }) => id === "b-1");
    if (!lost) throw new Error("b is not in the state");
    state.deployment.pending_operations = [{ resource: { ...lost, urn: `${lost.urn}x` }, type: "creating" }];
    await engine.importState(state);
    env["SCENE"] = "createFails.2";
    const { diagnostics } = await engine.up();
    expect(diagnostics[0]?.message).toContain(
      "with 1 pending operations from previous deployment.\n  * urn:",
    );
    expect((await engine.exportState()).deployment.pending_operations).toHaveLength(1);
    await engine.refresh({ clearPendingCreates: true });
    expect((await engine.exportState()).deployment.pending_operations).toBeUndefined();
  });

  test("contains each operation on disk while the provider runs it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "kit-state-"));
    const stateFile = join(folder, "state.json");
    const env = { THINGS: join(folder, "objects.json"), SCENE: "waiting" };
    const engine = await TestEngine.create({ program: THINGS, env, stateFile });
    const pending = () =>
      existsSync(stateFile)
        ? JSON.parse(readFileSync(stateFile, "utf8")).deployment.pending_operations?.length
        : undefined;
    const run = engine.up();
    await expect.poll(pending, { timeout: 120_000 }).toBe(8);
    writeFileSync(`${env.THINGS}.go`, "");
    await run;
    await engine.close();
    const next = await TestEngine.create({ program: THINGS, env, stateFile });
    expect((await next.up()).changes).toEqual({ same: 13 });
    await next.close();
    rmSync(folder, { recursive: true });
  });
});

describe("with a plugin", () => {
  test("a preview refuses a provider with an unknown configuration", async () => {
    const { run } = await plugged();
    const { ok, messages } = await run("preview", "unknownConfig.1");
    expect(ok).toBe(false);
    expect(messages.join()).toMatch(
      /previews with a provider whose configuration is not known yet \(late\): use/,
    );
    expect((await run("up", "unknownConfig.1", { skipPreview: true })).ok).toBe(true);
  });

  test.for([
    ["newName", /does not support aliases of providers \(of mine-2\): use the driver/],
    [
      "importKind",
      /does not support the replacement of a, which still has the option import: use the driver/,
    ],
    ["importReplaces", /does not support an import in place of an existing resource \(a\): use the driver/],
    [
      "importRead",
      /does not support a resource that is only read in one run, but not in another \(a\): use the driver/,
    ],
    ["aliasTwice", /::c' and '.*::b' both have the old resource '.*::a', by name or alias/],
  ] as const)(
    "up refuses a change of identity that the engine does not support: %s",
    async ([scene, message]) => {
      const { run, objects } = await plugged();
      objects.edit((all) => Object.assign(all, { kinds: { kind: "there" }, there: { n: 1 } }));
      expect((await run("up", `${scene}.1`)).ok).toBe(true);
      const { ok, messages, calls } = await run("up", `${scene}.2`);
      expect([ok, messages.join()]).toEqual([false, expect.stringMatching(message)]);
      expect(calls.filter((call) => /^(create|update|delete) /.test(call))).toEqual([]);
    },
  );

  test.for([
    [
      "cannot be loaded",
      'require("./missing")',
      "ended before it was ready; its output:",
      "Cannot find module './missing'",
    ],
    [
      "prints no port",
      'console.log("here I am"); setInterval(() => {}, 1000)',
      "did not print its port",
      "here I am",
    ],
    [
      "does not answer",
      'console.log("here I am"); const s = require("net").createServer(); s.listen(0, () => console.log(s.address().port))',
      "does not answer",
      "here I am",
    ],
  ])("a plugin that %s fails the run with its output in the message", async ([, code = "", ...parts]) => {
    const files = {
      "Pulumi.yaml": "{name: broken, runtime: nodejs, plugins: {providers: [{name: broken, path: plugin}]}}",
      "package.json": '{"main": "index.js"}',
      "index.js": 'new (require("@pulumi/pulumi").CustomResource)("broken:index:Thing", "a");',
      "plugin/PulumiPlugin.yaml": "runtime: nodejs",
      "plugin/package.json": '{"main": "index.js"}',
      "plugin/index.js": code,
    };
    const engine = await engineOf(files, { startLimit: 30_000 });
    const { message } = await engine.preview().then(
      () => new Error("it ran"),
      (error: Error) => error,
    );
    for (const part of parts) expect(message).toContain(part);
  });

  test("a plugin that does not accept secrets is refused", async () => {
    const { run } = await kit({ program: PLUGGED, env: { SECRETS: "no" } });
    const { messages } = await run("preview", "rich.1");
    expect(messages.join()).toMatch(
      /does not support plugins that do not accept secrets or references \(things in/,
    );
  });

  test("an import by command is refused", async () => {
    const { engine } = await plugged();
    await expect(engine.import([])).rejects.toThrow(
      /does not support importing by command: use the driver "cli"/,
    );
  });
});

test("the output of a program becomes diagnostics, except debug messages", async () => {
  const { engine, env } = await kit();
  env["SCENE"] = "prints";
  const failed = await engine
    .preview()
    .catch((error: { result: { diagnostics: unknown[] } }) => error.result);
  const texts = JSON.stringify(failed.diagnostics);
  for (const text of ["to stdout", "to stderr", "logged an error"]) expect(texts).toContain(text);
  expect(texts).not.toContain("not shown");
});

test("the types of a TypeScript program are checked only if PULUMI_NODEJS_TRANSPILE_ONLY is false", async () => {
  const files = {
    "Pulumi.yaml": "name: typed\nruntime: nodejs\n",
    "package.json": '{"main": "index.ts"}',
    "index.ts": 'export const port: number = "443";\n',
  };
  const [unset, off] = [undefined, "false"].map((value) =>
    engineOf(files, { env: { PULUMI_NODEJS_TRANSPILE_ONLY: value } }),
  );
  expect((await (await unset)?.up({ skipPreview: true }))?.outputs).toEqual({ port: "443" });
  await expect((await off)?.up({ skipPreview: true })).rejects.toThrow(/index\.ts.*TS2322/);
});
