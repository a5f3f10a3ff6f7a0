import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../folders";
import { cell } from "./cells";
import { RawFile } from "./rawFile";

const root = join(import.meta.dirname, "../..");

test("a small benchmark takes every contestant through the same life and writes a page", async () => {
  const out = temporaryFolder();
  const options = ["--runs", "1", "--sizes", "10", "--driver", "kit", "--out", out];
  // Not `npm run bench`, which would build anew below the other tests.
  const run = promisify(execFile);
  await run("npx", ["tsc", "-p", "test/bench"], { cwd: root });
  const program = "test/.programs/bench/test/bench/bench.js";
  await run(process.execPath, [program, ...options], { cwd: root });

  const { lines = [] } = new RawFile(join(out, "comparison.jsonl"), cell).read() ?? {};
  const writes = (contestant: string) =>
    lines
      .filter((line) => line.contestant === contestant)
      .map(({ operation, requests: { post, patch, delete: gone } }) => [operation, post, patch, gone]);
  const life = [
    ["create", 10, 0, 0],
    ["preview", 0, 0, 0],
    ["refresh", 0, 0, 0],
    ["update", 0, 1, 0],
    ["destroy", 0, 0, 10],
  ];
  expect(writes("ours")).toEqual(life);
  expect(writes("plain")).toEqual(life);
  expect(writes("noop").map(([, ...counts]) => counts)).toEqual(Array(5).fill([0, 0, 0]));

  // The engine's own share is comparable only if its state is as large. Ours has a few notes more.
  const stateOf = (contestant: string) =>
    lines.find((line) => line.contestant === contestant && line.stateBytes)?.stateBytes ?? 0;
  expect(stateOf("ours") / stateOf("noop")).toBeCloseTo(1, 1);

  expect(readdirSync(out).sort()).toEqual(["comparison.jsonl", "comparison.md"]);
  expect(readFileSync(join(out, "comparison.md"), "utf8")).toContain("| create | 10 |");
  // Which the docs say of each command.
  for (const { contestant, connections } of lines)
    if (contestant === "ours") expect(connections).toBeLessThanOrEqual(8);
});
