import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../folders";
import { cell } from "./cells";
import { RawFile } from "./rawFile";

const root = join(import.meta.dirname, "../../..");

test("a small benchmark runs the same operations for every contestant and writes a page", async () => {
  const out = temporaryFolder();
  const options = ["--runs", "1", "--sizes", "10", "--driver", "kit", "--out", out];
  // `npm run bench` would replace dist while other tests use it.
  const run = promisify(execFile);
  await run("npx", ["tsc", "-p", "test/tools/bench"], { cwd: root });
  const program = "test/.programs/bench/test/tools/bench/bench.js";
  await run(process.execPath, [program, ...options], { cwd: root });

  const { lines = [] } = new RawFile(join(out, "comparison.jsonl"), cell).read() ?? {};
  const writes = (contestant: string) =>
    lines
      .filter((line) => line.contestant === contestant)
      .map(({ operation, requests: { post, patch, delete: gone } }) => [operation, post, patch, gone]);
  const expected = [
    ["create", 10, 0, 0],
    ["preview", 0, 0, 0],
    ["refresh", 0, 0, 0],
    ["update", 0, 1, 0],
    ["destroy", 0, 0, 10],
  ];
  expect(writes("ours")).toEqual(expected);
  expect(writes("plain")).toEqual(expected);
  expect(writes("noop").map(([, ...counts]) => counts)).toEqual(Array(5).fill([0, 0, 0]));

  // The time of noop is the engine's share only if the states are of about the same size.
  const stateOf = (contestant: string) =>
    lines.find((line) => line.contestant === contestant && line.stateBytes)?.stateBytes ?? 0;
  expect(stateOf("ours") / stateOf("noop")).toBeCloseTo(1, 1);

  expect(readdirSync(out).sort()).toEqual(["comparison.jsonl", "comparison.md"]);
  expect(readFileSync(join(out, "comparison.md"), "utf8")).toContain("| create | 10 |");
  // The documentation states this limit.
  for (const { contestant, connections } of lines)
    if (contestant === "ours") expect(connections).toBeLessThanOrEqual(8);
});
