import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/folders";
import { PulumiFailed, pulumi } from "../index";

/* Tests how the output and events of the CLI are read, with a script in place of the CLI. */

/** Runs a script in place of the CLI, whose last argument is the event log. */
function run(script: string, signal?: AbortSignal) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "pulumi"), `#!/bin/sh\nfor last; do :; done\n${script}\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
  return pulumi(["up"], { cwd: process.cwd(), env, events: true, signal });
}

const STEP =
  '{"resOutputsEvent":{"metadata":{"op":"update","urn":"urn:a","new":{"id":"ep_1","outputs":{}}}}}';

test("a run whose event log was cut because the CLI was killed has failed, with the steps before the cut", async () => {
  const failure = await run(`printf '%s\\n%s' '${STEP}' '{"resOut' >"$last"\nkill -9 $$`).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(PulumiFailed);
  expect(failure).toMatchObject({ code: -1, result: { run: { steps: [{ op: "update", id: "ep_1" }] } } });
});

test("after an interruption, no command starts", async () => {
  const isStarted = join(temporaryFolder(), "started");
  const signal = AbortSignal.abort(new Error("it was interrupted"));
  await expect(run(`touch ${isStarted}`, signal)).rejects.toThrow("it was interrupted");
  expect(existsSync(isStarted)).toBe(false);
});

test("a stack that does not exist is an error with the next step", async () => {
  await expect(run("echo \"error: no stack named 'prd' found\" >&2; exit 1")).rejects.toThrow(
    "no stack named 'prd' found: `pulumi stack ls --all` lists the stacks",
  );
});

test("a foreign text in the CLI's message is one line, and starts no command of a pipeline", async () => {
  await expect(run("printf 'error: a\\nb \\342\\200\\256c ##[error]d' >&2; exit 1")).rejects.toThrow(
    /^a b \\u\{202e\}c #\\u\{23\}\[error\]d$/,
  );
});
