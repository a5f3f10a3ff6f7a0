import { expect, test } from "vitest";
import { run } from "./sdk/commands/run";

test("the demo plays an endpoint's whole life, and ends with what each step asked of the service", async () => {
  const { code, stdout, stderr } = await run(["demo"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toContain("with the test kit's engine, since no Pulumi CLI is on the PATH");
  for (const row of [
    /preview +would create 1 endpoint +no request/,
    /up +created https:\/\/shop\.example\.com +1 POST/,
    /refresh +saw that description drifted +1 GET/,
    /up again +put description back +1 PATCH/,
    /up, new policy +changed trafficPolicy in place +1 PATCH/,
    /preview, nothing new +nothing to do +no request/,
    /destroy +deleted 1 endpoint, nothing is left +1 DELETE/,
  ]) {
    expect(stdout).toMatch(row);
  }
});

test("a command that does not exist is told with those that do", async () => {
  const { code, stderr } = await run(["frobnicate"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/no command frobnicate[\s\S]*emulator/);
  expect((await run(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await run([])).stdout).toContain("Usage: npx pulumi-endpoints");
  expect((await run(["constructor"])).stderr).toContain("there is no command constructor");
  expect((await run(["emulater"])).stderr).toMatch(/did you mean emulator\?/);
  expect((await run(["help", "adopt"])).stdout).toContain("Usage: npx pulumi-endpoints adopt");
});

test("drift tells what it needs where there is no Pulumi CLI, and what is wrong with its arguments", async () => {
  const { code, stderr } = await run(["drift"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/needs the Pulumi CLI, and there is no pulumi on the PATH/);
  for (const [args, reason] of [
    [["--nonsense"], /nonsense/],
    [["--json", "/no/such/folder/report.json"], /folder that does not exist/],
    [["--cwd", "/no/such/folder"], /folder that does not exist/],
    [["prod"], /prod/],
    [["--stack", ""], /--stack must not be empty/],
    [["--html", "-"], /--html takes a file/],
    [["--html", "."], /--html names a folder/],
    [["--html", "x", "--json", "x"], /name the same file/],
  ] as const) {
    const wrong = await run(["drift", ...args]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toMatch(reason);
  }
});
