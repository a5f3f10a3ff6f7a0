import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("a small benchmark runs the same operations with our provider and with one that does nothing", async () => {
  const options = ["--runs", "1", "--sizes", "10", "--driver", "kit"];
  const program = join(import.meta.dirname, "bench.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...options]);
  const rows = stdout.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const measured = rows.filter(([, , size]) => size === "10");
  expect(measured.map(([, operation, , , , , requests, , ofNoop]) => [operation, requests, ofNoop])).toEqual([
    ["create", "10 POST", ""],
    ["preview", "", ""],
    ["refresh", "1 GET", ""],
    ["update", "1 PATCH", ""],
    ["destroy", "10 DELETE", ""],
  ]);
  // The time of noop is the engine's share only if the states are of about the same size.
  const [, , , , , , , state, , noopState] = measured[0] ?? [];
  expect(Number(state) / Number(noopState)).toBeCloseTo(1, 1);
});
