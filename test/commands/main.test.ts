import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { commandLine, commands } from "../../sdk/commands/main";
import { until } from "../until";
import { runInProcess, startCommand } from "./runCommand";

test("a command ends without a message if the reader of its output has ended, as with head", async () => {
  const { child, printed, ended } = startCommand(["emulator", "--api-key", "key"]);
  await until(() => /^export/m.test(printed.stdout));
  const [baseUrl = ""] = /http:\S+\d/.exec(printed.stdout) ?? [];
  child.stdout.destroy();
  await once(child.stdout, "close");
  await fetch(`${baseUrl}/endpoints`).catch(() => {});
  expect(await ended).toBe(141);
  expect(printed.stderr).toBe("");
});

test("a command ends with a readable error if the shell cannot write its result to a file", () => {
  const main = join(import.meta.dirname, "../../dist/sdk/commands/main.js");
  const full = openSync("/dev/full", "w");
  const { status, stderr } = spawnSync(process.execPath, [main, "help"], { stdio: ["ignore", full, "pipe"] });
  expect([status, `${stderr}`]).toEqual([
    1,
    "pulumi-endpoints: the output cannot be written: the disk is full\n",
  ]);
});

test("an unknown command is a usage error, with the nearest name and the list of commands", async () => {
  const { code, stderr } = await runInProcess(commandLine, ["emulater"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    / {2}adopt [\s\S]*\n\npulumi-endpoints: there is no command emulater; did you mean emulator\?\n$/,
  );
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
  for (const name of Object.keys(commands)) {
    expect(help).toMatch(new RegExp(`^  ${name} {2,}\\S`, "m"));
    const own = await printed(name, "--help");
    expect(own).toContain(`\nUsage: npx pulumi-endpoints ${name}`);
    expect(`${help}${own}`, "80 columns").not.toMatch(/.{81}/);
  }
  expect(await printed("help", "adopt")).toContain("Usage: npx pulumi-endpoints adopt");
});

test("drift fails with a clear message if there is no Pulumi CLI on the PATH", async () => {
  vi.stubEnv("PATH", "/usr/bin:/bin");
  const { code, stderr } = await runInProcess(commandLine, ["drift"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/needs the Pulumi CLI, and there is no pulumi on the PATH/);
});

/** Mistakes in the arguments, with the only line on stderr. After a mistake in an option, the line has a hint. */
const MISTAKES: [line: string, message: string][] = [
  ["check-policy --strikt x", "--strikt is no option; did you mean --strict?"],
  ["check-policy --strict=yes x", "--strict takes no value"],
  ["check-policy", "there is no file to check"],
  ["check-policy x --url a", "--url is not a URL; write scheme and host, as in https://shop.example.com"],
  ["check-policy x --json - --github", "--github and --json exclude each other"],
  ["check-policy x --request GET", "a request has a method and a URL: GET https://shop.example.com/admin"],
  ["check-policy x --strict --request https://a.b", "--strict and --request exclude each other"],
  ["check-policy x --header a:b", "--header needs --request"],
  ["check-policy x --request https://a.b --header x", "--header takes a name and a value: X-Role: admin"],
  ["check-policy x --request https://a.b --client-ip x", "--client-ip takes an IP address"],
  [
    "check-policy x --request https://a.b --vault canary",
    "--vault takes a vault, a name and a value: hooks/github=VALUE",
  ],
  ["emulator extra", "there is an argument too many: extra"],
  ["emulator --port", "--port needs a value, N; write one that starts with a dash as --port=-…"],
  ["emulator --seed -3", "--seed needs a value, N; write one that starts with a dash as --seed=-…"],
  ["emulator --seed=-3", "--seed takes a whole number from 0 to 100000"],
  ["emulator --port 70000", "--port takes a whole number from 0 to 65535"],
  ["emulator --port 1 --port 2", "--port can be given only once"],
  ["emulator --api-key=", "--api-key must not be empty"],
  ["emulator --connect https://a.internal=http://127.0.0.1:1", "--connect needs --serve"],
  ["stacks --jobs 1", "--projects is missing: a file that lists folders and stacks"],
  ["stacks --projects x --jobs 121", "--jobs 121 leaves none of 120 requests to each job"],
  ["stacks --projects x --jobs 0", "--jobs takes a whole number from 1 to 1000000"],
  ["stacks --projects x --budget 1.5", "--budget takes a whole number from 1 to 1000000"],
  ["drift --cwd . --projects x", "--cwd and --projects exclude each other"],
  ["drift --html no/x", "--html names no/x, which is in a folder that does not exist"],
  ["drift --html -", "--html takes the name of a file"],
  ["drift --html .", "--html takes a file, and . is a folder"],
  ["drift --html x --json x", "--json and --html name the same file"],
  ["adopt --cwd .", "--cwd needs --stack"],
  ["adopt --projects x", "--projects needs --stack"],
  ["adopt --force", "--force needs --out"],
  ["adopt --format yaml", "--format takes program or import"],
  ["adopt --stack x --projects nowhere.yaml", "nowhere.yaml does not exist"],
  ["drift --known x", "--known is no option"],
  ["who-has", "the URL is empty; write scheme and host, as in https://shop.example.com"],
  ["who-has https://a.b c", "there is an argument too many: c"],
  ["new quickstart a b", "there is an argument too many: b"],
];

test.each(MISTAKES)("%s is a usage error", async (line, message) => {
  const { code, stdout, stderr } = await runInProcess(commandLine, line.split(" "));
  const [name] = line.split(" ");
  expect([code, stdout]).toEqual([2, ""]);
  const hint = message.startsWith("--") ? " (--help lists the options)" : "";
  expect(stderr).toBe(`pulumi-endpoints ${name}: ${message}${hint}\n`);
});
