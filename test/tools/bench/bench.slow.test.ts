import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../folders";
import type { Contestant, Measured } from "./runs";

const root = join(import.meta.dirname, "../../..");

test("a small benchmark runs the same operations with our provider and with one that does nothing", async () => {
  const out = join(temporaryFolder(), "results.json");
  // `npm run bench` would replace dist while other tests use it.
  const run = promisify(execFile);
  await run("npx", ["tsc", "-p", "test/tools/bench"], { cwd: root });
  const program = "test/.programs/bench/test/tools/bench/bench.js";
  const options = ["--runs", "1", "--sizes", "10", "--driver", "kit", "--out", out];
  const { stdout } = await run(process.execPath, [program, ...options], { cwd: root });
  expect(stdout).toMatch(/^\| create \| 10 \| \d+\.\d\d \| \d+\.\d\d \| \d+\.\d\d \| 10 POST \| \d+ \|$/m);

  const { measured } = JSON.parse(readFileSync(out, "utf8")) as { measured: Measured[] };
  const of = (contestant: Contestant) => measured.filter((one) => one.contestant === contestant);
  expect(of("ours").map(({ operation, requests }) => ({ [operation]: requests }))).toEqual([
    { create: { POST: 10 } },
    { preview: {} },
    { refresh: { GET: 1 } },
    { update: { PATCH: 1 } },
    { destroy: { DELETE: 10 } },
  ]);
  expect(of("noop").map(({ requests }) => requests)).toEqual(Array(5).fill({}));
  // The time of noop is the engine's share only if the states are of about the same size.
  const [ours = Number.NaN, noop = Number.NaN] = [of("ours"), of("noop")].map(([first]) => first?.stateBytes);
  expect(ours / noop).toBeCloseTo(1, 1);
});
