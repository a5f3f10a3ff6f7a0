import { once } from "node:events";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { driftCommand } from "../../../sdk/commands/drift";
import { commandLine, commands } from "../../../sdk/commands/main";
import { temporaryFolder } from "../../folders";
import { runCommand, runInProcess, startCommand } from "./runCommand";

test("the demo creates, repairs, changes and deletes an endpoint, and prints the requests of each step", async () => {
  const { code, stdout, stderr } = await runCommand(["demo"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toContain("with the test kit's engine, because no Pulumi CLI is on the PATH");
  for (const row of [
    /preview +would create 1 endpoint +no request/,
    /up +created https:\/\/shop\.example\.com +1 POST/,
    /refresh +saw that description drifted +1 GET/,
    /up again +put description back +1 PATCH/,
    /up, new policy +changed trafficPolicy in place +1 PATCH/,
    /preview, nothing new +nothing to do +no request/,
    /a request +the policy answered 200 +none to the API/,
    /destroy +deleted 1 endpoint, nothing is left +1 DELETE/,
  ]) {
    expect(stdout).toMatch(row);
  }
});

test("a demo that Ctrl-C ends says so, and leaves no folder", async () => {
  const temporary = temporaryFolder();
  const { child, printed, ended } = startCommand(["demo"], { TMPDIR: temporary });
  await expect.poll(() => printed.stdout, { timeout: 60_000 }).toContain("── up ");
  child.kill("SIGINT");
  expect(await ended).toBe(1);
  expect(printed.stderr).toBe(
    "pulumi-endpoints demo: ended by Ctrl-C; its processes have ended, and its folders are removed\n",
  );
  // Node and Pulumi's ts-node keep their caches of compiled code there.
  expect(readdirSync(temporary).filter((name) => !/^(node-compile-cache|ts-node-)/.test(name))).toEqual([]);
});

test("a command whose reader has left, as with head, ends without a word", async () => {
  const { child, printed, ended } = startCommand(["emulator", "--api-key", "key"]);
  await expect.poll(() => printed.stdout).toMatch(/^export/m);
  const [baseUrl = ""] = /http:\S+\d/.exec(printed.stdout) ?? [];
  child.stdout.destroy();
  await once(child.stdout, "close");
  await fetch(`${baseUrl}/endpoints`).catch(() => {});
  expect(await ended).toBe(141);
  expect(printed.stderr).toBe("");
});

test("an unknown command is a usage error, with the nearest name and the list of commands", async () => {
  const { code, stderr } = await runCommand(["emulater"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/there is no command emulater; did you mean emulator\?[\s\S]*adopt/);
  expect((await runInProcess(commandLine, ["constructor"])).stderr).toContain(
    "there is no command constructor",
  );
});

test("--version prints the version, and help prints all commands or the usage of one", async () => {
  const printed = async (...args: string[]) => (await runInProcess(commandLine, args)).stdout;
  expect(await printed("--version")).toMatch(/^\d+\.\d+\.\d+\+dev\n$/);
  const help = await printed();
  expect(help).toContain("Usage: npx pulumi-endpoints");
  expect(help, "every command works where the package is installed").not.toContain("repository");
  for (const name of Object.keys(commands)) expect(help).toMatch(new RegExp(`^  ${name} {2,}\\S`, "m"));
  expect(await printed("help", "adopt")).toContain("Usage: npx pulumi-endpoints adopt");
});

test("drift fails with a clear message if there is no Pulumi CLI on the PATH", async () => {
  vi.stubEnv("PATH", "/usr/bin:/bin");
  const { code, stderr } = await runInProcess(commandLine, ["drift"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/needs the Pulumi CLI, and there is no pulumi on the PATH/);
});

test.each([
  [["--nonsense"], /nonsense/],
  [["--json", "/no/such/folder/report.json"], /folder that does not exist/],
  [["--cwd", "/no/such/folder"], /folder that does not exist/],
  [["prod"], /prod/],
  [["--stack", ""], /--stack must not be empty/],
  [["--html", "-"], /--html takes a file/],
  [["--html", "."], /--html takes a file, and \. is a folder/],
  [["--html", "x", "--json", "x"], /name the same file/],
])("drift %j is a usage error", async (args, reason) => {
  const { code, stderr } = await runInProcess(driftCommand, args, undefined);
  expect(code).toBe(2);
  expect(stderr).toMatch(reason);
});

test.each(["--html", "--json"])(
  "drift %s does not write through a symbolic link to a file",
  async (option) => {
    const folder = temporaryFolder();
    const target = join(folder, "target");
    for (const exists of [false, true]) {
      const link = join(folder, `link-${exists}`);
      symlinkSync(target, link);
      if (exists) writeFileSync(target, "kept");
      const { code, stderr } = await runInProcess(driftCommand, [option, link]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/is a symbolic link/);
    }
    expect(readFileSync(target, "utf8")).toBe("kept");
  },
);
