import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { cell, operations } from "./cells";
import { RawFile } from "./rawFile";

const root = join(import.meta.dirname, "../..");

test("a small benchmark measures what each contestant asks of the service, and tells it", async () => {
  const out = mkdtempSync(join(tmpdir(), "pulumi-endpoints-bench-"));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  const options = ["--runs", "1", "--sizes", "10", "--drivers", "direct,kit", "--busy", "--out", out];
  const { stdout } = await promisify(execFile)("npm", ["run", "bench", "--", ...options], { cwd: root });

  const { lines = [] } = new RawFile(join(out, "comparison.jsonl"), cell).read() ?? {};
  const writes = (contestant: string, driver: string) =>
    lines
      .filter((line) => line.contestant === contestant && line.driver === driver)
      .map(({ requests: { post, patch, delete: gone } }) => [post, patch, gone]);
  const life = [
    [10, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
    [0, 1, 0],
    [0, 0, 10],
  ];
  expect([writes("ours", "direct"), writes("plain", "direct"), writes("raw", "direct")]).toEqual([
    life,
    life,
    life,
  ]);
  expect([writes("ours", "kit"), writes("plain", "kit")]).toEqual([life, life]);
  expect(writes("noop", "kit").flat()).toEqual(new Array(15).fill(0));
  expect(lines.map(({ operation }) => operation).slice(0, 5)).toEqual([...operations]);

  // The floor is one only if its state is as large.
  const state = (contestant: string) =>
    lines.find((line) => line.contestant === contestant && line.stateBytes);
  const [ours, noop] = [state("ours")?.stateBytes ?? 0, state("noop")?.stateBytes ?? 1];
  // Ours has a few notes more, such as the account's fingerprint.
  expect(ours / noop).toBeCloseTo(1, 1);

  expect(readdirSync(out).sort()).toEqual([
    "comparison-direct.svg",
    "comparison-kit.svg",
    "comparison.jsonl",
    "comparison.md",
  ]);
  expect(readFileSync(join(out, "comparison.md"), "utf8")).toContain("| create | 10 |");
  // Nothing is claimed of what was not measured.
  expect(stdout).toMatch(/^ *\? +create of 500 .*: not measured$/m);
  expect(stdout).toMatch(/^ *yes +at most eight connections/m);
});
