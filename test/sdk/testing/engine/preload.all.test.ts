import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TestEngine } from "../../../../sdk/testing/engine/testEngine";

/** Creates the folder of a program that is not compiled yet. */
function programOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "kit-program-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(import.meta.dirname, "../../../../node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: compiled\nruntime: nodejs\n");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** Starts an engine that caches compiled files in the folder `temporary`. */
async function start(program: string, temporary = program, transpileOnly?: string): Promise<TestEngine> {
  const env = { TMPDIR: temporary, PULUMI_NODEJS_TRANSPILE_ONLY: transpileOnly };
  const engine = await TestEngine.create({ program, env });
  onTestFinished(() => engine.close());
  return engine;
}

const up = async (engine: TestEngine) => (await engine.up({ skipPreview: true })).outputs;

/** A program that exports whether it loaded the compiler. */
const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
interface OnlyAType { text: string }
export const text: string = new pulumi.Config().get("text") ?? "none";
export const compiler = Object.keys(require.cache).some((file) => file.endsWith("/typescript.js"));

if (text === "throw") throw new Error("in the sixth line");
`;

test.each([
  ["without a configuration", {}],
  ["with a configuration", { "tsconfig.json": '{ "compilerOptions": { "strict": true } }' }],
])("a program is compiled again only if its content changes, %s", async (_, config) => {
  const folder = programOf({ ...config, "index.ts": PROGRAM });
  const engine = await start(folder);
  expect(await up(engine)).toEqual({ text: "none", compiler: true });
  expect(await up(engine)).toEqual({ text: "none", compiler: false });

  await engine.setConfig("text", "throw");
  await expect(up(engine), "the place in the source").rejects.toThrow(/index\.ts:6:/);

  const copy = programOf({ ...config, "index.ts": PROGRAM });
  const copied = await start(copy, folder);
  expect(await up(copied)).toEqual({ text: "none", compiler: false });
  await copied.setConfig("text", "throw");
  await expect(up(copied), "the copy's own place").rejects.toThrow(`${copy}/index.ts:6:`);

  await engine.setConfig("text", "again");
  writeFileSync(join(folder, "index.ts"), PROGRAM.replace('"none"', '"changed"'));
  expect(await up(engine)).toEqual({ text: "again", compiler: true });
  const cache = join(
    folder,
    readdirSync(folder).find((name) => name.startsWith("pulumi-endpoints-testing")) ?? "",
  );
  expect(
    readdirSync(cache).map((name) => name.length),
    "two whole files",
  ).toEqual([64, 64]);
});

test("types are checked if PULUMI_NODEJS_TRANSPILE_ONLY is false, even if the cache has the program", async () => {
  const folder = programOf({ "index.ts": 'export const port: number = "443";\n' });
  expect(await up(await start(folder))).toEqual({ port: "443" });
  await expect(up(await start(folder, folder, "false"))).rejects.toThrow(/index\.ts.*TS2322/);
});

test("a change of an extended tsconfig.json compiles the program again", async () => {
  const folder = programOf({
    "base.json": '{ "compilerOptions": { "removeComments": false } }',
    "tsconfig.json": '{ "extends": "./base.json" }',
    "index.ts": "export const source: string = (() => { /* why */ return 1; }).toString();\n",
  });
  const engine = await start(folder);
  expect((await up(engine))["source"]).toContain("why");
  writeFileSync(join(folder, "base.json"), '{ "compilerOptions": { "removeComments": true } }');
  expect((await up(engine))["source"]).not.toContain("why");
});

test("the error about a function that cannot be serialized names its file and line", async () => {
  const folder = programOf({
    "index.js": `const pulumi = require("@pulumi/pulumi");
class Provider { async create() { return { id: "1", outs: { text: String(native) } }; } }
const native = process.memoryUsage.bind(process);
class Thing extends pulumi.dynamic.Resource { constructor(name) { super(new Provider(), name, {}); } }
new Thing("a");
`,
    "package.json": '{ "main": "index.js" }',
  });
  await expect(up(await start(folder))).rejects.toThrow(/index\.js\(2,/);
});
