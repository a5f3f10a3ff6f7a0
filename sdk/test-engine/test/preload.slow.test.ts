import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/folders";

const PRELOAD = join(import.meta.dirname, "../engine/preload.cjs");

/** Starts a process that never ends by itself, and kills its parent. Returns the process's output, which closes at its end. */
async function orphan(folder: string, file: string): Promise<NonNullable<ChildProcess["stdout"]>> {
  const path = join(folder, file);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "console.log(process.pid); setInterval(() => {}, 1000);");
  const code = `require("node:child_process").spawn(process.execPath, ["--require", ${JSON.stringify(PRELOAD)},
    ${JSON.stringify(path)}], { stdio: "inherit" })`;
  const parent = spawn(process.execPath, ["--eval", code], { stdio: ["ignore", "pipe", "inherit"] });
  const [pid] = await once(parent.stdout, "data");
  onTestFinished(() => {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // The process has already ended.
    }
  });
  parent.kill("SIGKILL");
  return parent.stdout;
}

test("a program ends soon after its parent, but a provider may finish what it does", async () => {
  const folder = temporaryFolder();
  const provider = await orphan(folder, "provider.js");
  const program = await orphan(folder, "node_modules/@pulumi/pulumi/cmd/run/index.js");
  await once(program, "close");
  expect(provider.closed).toBe(false);
});

test("errors are written without colours, which take half a minute on Node 20", () => {
  const code = 'console.log(util.inspect(new Error("red"), { colors: true, depth: 0 }))';
  const text = execFileSync(process.execPath, ["--require", PRELOAD, "--eval", code], { encoding: "utf8" });
  expect(text).toMatch(/^Error: red/);
});
