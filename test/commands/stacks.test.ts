import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { stacksCommand } from "../../sdk/commands/stacks";
import { temporaryFolder } from "../folders";
import { runInProcess } from "./runCommand";

let file: string;
const run = (...args: string[]) => runInProcess(stacksCommand, args);
const matrix = async (...args: string[]) => {
  const { code, stdout } = await run("--projects", file, "--json", "-", ...args);
  expect(code).toBe(0);
  return JSON.parse(stdout).include;
};

beforeEach(() => {
  const root = temporaryFolder();
  for (const name of ["api", "web"]) {
    const folder = join(root, "services", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "Pulumi.yaml"), `name: ${name}\nruntime: nodejs\n`);
    for (const stack of ["dev", "prod"]) writeFileSync(join(folder, `Pulumi.${stack}.yaml`), "");
  }
  file = join(root, "stacks.yaml");
  writeFileSync(file, "projects: [{folder: services/*}]");
});

test("the matrix has each stack with its folder and its share of the budget, in one line", async () => {
  const folder = relative(process.cwd(), join(file, "../services/api"));
  const [first, ...others] = await matrix();
  expect(first).toEqual({ folder, project: "api", stack: "dev", requestsPerWindow: 30 });
  expect(others).toHaveLength(3);
  expect((await run("--projects", file, "--json", "-")).stdout).toMatch(/^[^\n]+\n$/);
});

test.each([
  [[], 30],
  [["--jobs", "3", "--budget", "100"], 33],
  [["--jobs", "100"], 30],
  [["--jobs", "1"], 120],
  [["--stack", "prod"], 60],
])("with %j, each job may send %d requests", async (args, share) => {
  for (const { requestsPerWindow } of await matrix(...args)) expect(requestsPerWindow).toBe(share);
});

test("the table has a line for each stack", async () => {
  const { stdout } = await run(
    "--projects",
    file,
    "--stack",
    "organization/web/prod",
    "--stack",
    "o/api/dev",
  );
  const lines = stdout.split("\n").map((line) => line.split(/ {2,}/).slice(1));
  expect(lines).toEqual([["project", "stack", "requests"], ["api", "dev", "60"], ["web", "prod", "60"], []]);
});

test.each([
  [[], /--projects is missing/],
  [["--projects", "nowhere.yaml"], /: nowhere\.yaml does not exist/],
  [["--projects", "FILE", "--jobs", "121"], /--jobs 121 leaves none of 120 requests/],
  [["--projects", "FILE", "--stack", "eu"], /lists no stack eu/],
])("%j is a usage error", async (args, message) => {
  const { code, stderr } = await run(...args.map((arg) => (arg === "FILE" ? file : arg)));
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
