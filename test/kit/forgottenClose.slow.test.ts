import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { programFolder, temporaryFolder } from "../folders";
import { until } from "../until";

const PROGRAM = join(import.meta.dirname, "../../examples/quickstart");

/**
 * Runs a test file with `node --test`, and returns its exit code, the rest of its temporary folder, and whether a process outlives
 * the run.
 */
async function runNodeTest(body: string) {
  const temporary = temporaryFolder();
  const file = join(programFolder(), "forgetful.test.mjs");
  writeFileSync(
    file,
    `import test from "node:test";
    import assert from "node:assert/strict";
    import { Emulator, TestStack } from "pulumi-endpoints/testing";
    const program = ${JSON.stringify(PROGRAM)};
    ${body}`,
  );
  // A run that hangs is stopped, and then has no exit code. A detached process leads a group of all its children.
  const env = { ...process.env, TMPDIR: temporary };
  const child = spawn(process.execPath, ["--test", file], {
    env,
    timeout: 150_000,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [[code], output] = await Promise.all([once(child, "exit"), text(child.stdout)]);
  // Node and Pulumi's ts-node keep their caches of compiled code there.
  const left = readdirSync(temporary).filter((name) => !/^(node-compile-cache|ts-node-)/.test(name));
  return { code, output, left, isAlive: () => hasProcesses(child.pid ?? 0) };
}

/** Whether a process group has a process. */
function hasProcesses(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

test.each([
  [
    "forget to close what they started",
    1,
    `test("forgets", async () => {
      const stack = await TestStack.create({ program });
      await stack.up({ skipPreview: true });
      await (await Emulator.start()).serve();
    });
    test("fails", async () => {
      await TestStack.create({ program });
      assert.fail("this test fails");
    });`,
  ],
  [
    "exit during a command",
    0,
    `test("exits", async () => {
      const stack = await TestStack.create({ program });
      stack.emulator.intercept("create", { hang: true });
      void stack.up({ skipPreview: true });
      while (stack.emulator.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
      process.exit(3);
    });`,
  ],
])("tests that %s leave no process and no folder", async (_, passed, body) => {
  const { code, output, left, isAlive } = await runNodeTest(body);
  expect(output).toContain(`pass ${passed}\n`);
  expect([code, left]).toEqual([1, []]);
  await until(() => !isAlive());
});
