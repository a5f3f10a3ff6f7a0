import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { copyOf } from "../e2e/example";
import {
  cli,
  environmentsProject,
  type Machine,
  machine,
  PULUMI_FOR_PYTHON,
  type Ran,
  recipes,
  withCommands,
  withStacks,
} from "./recipeMachine";

const script = join(recipes, "cron/endpoints.sh");
const has = (command: string) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
const needed = ["flock", "git"].every(has);

describe.skipIf(!needed)("the script for cron, with fakes of Pulumi and the drift check", () => {
  test("deploys each commit once, and again if the deployment failed", async () => {
    const { runner, remote } = clone({ pulumi: '[ "$1" = install ] || exit $(cat code)' });
    const commit = (code: number) => {
      writeFileSync(join(remote, "code"), `${code}`);
      git(remote, "commit", "--quiet", "--all", "--message", `Pulumi ends with ${code}`);
    };
    expect(await run(runner, "up")).toEqual({ code: 0, output: "" });
    expect(left(runner, "up.status")).toMatch(/^deployed [0-9a-f]{40} \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/);
    writeFileSync(join(runner.scratch, "state", "up.status"), "");
    await run(runner, "up");
    expect(deployments(runner)).toBe(1);
    // A run that has nothing to deploy writes the status again.
    expect(left(runner, "up.status")).toMatch(/^deployed [0-9a-f]{40} /);

    commit(9);
    expect(await run(runner, "up")).toMatchObject({ code: 9 });
    expect(left(runner, "up.status")).toMatch(/^failed \(9\) /);
    expect(await run(runner, "up")).toMatchObject({ code: 9 });
    commit(0);
    expect(await run(runner, "up")).toMatchObject({ code: 0 });
    expect(deployments(runner)).toBe(4);
  });

  test("deploys a Python program from a fresh checkout", async () => {
    const { runner } = clone({ pulumi: PULUMI_FOR_PYTHON }, "python");
    expect(await run(runner, "up")).toEqual({ code: 0, output: "" });
    expect(runner.calls().map((call) => call.split(" ", 2).join(" "))).toEqual([
      "npm ci",
      "pulumi install",
      "pulumi up",
    ]);
  });

  test("fails if it cannot pull the branch, and succeeds without a deployment as soon as it can", async () => {
    const { runner, remote } = clone({ pulumi: "true" });
    await run(runner, "up");
    const deployed = left(runner, "up.status").replace(/\S+\n$/, "");
    git(runner.folder, "remote", "set-url", "origin", "/nowhere");
    expect(await run(runner, "up")).toMatchObject({ code: 1 });
    expect(left(runner, "up.status")).toMatch(/^failed \(git pull\) /);
    git(runner.folder, "remote", "set-url", "origin", remote);
    expect(await run(runner, "up")).toEqual({ code: 0, output: "" });
    expect(left(runner, "up.status").startsWith(deployed)).toBe(true);
    expect(deployments(runner)).toBe(1);
  });

  test("writes the status of a drift check: drift, no drift, undeployed changes or a failed check", async () => {
    const { runner } = clone({
      npx: 'echo "report of $CODE"; [ "$CODE" = 3 ] || echo page >"$7"; exit "$CODE"',
      pulumi: 'echo "$*"; exit "$PREVIEW"',
    });
    for (const [code, preview, ends, status] of [
      [7, 1, 7, "drift"],
      [0, 0, 0, "none"],
      [0, 1, 8, "undeployed"],
      [8, 1, 8, "undeployed"],
      [8, 0, 0, "none"],
      [3, 1, 3, "check failed (3)"],
    ] as const) {
      const ran = await run(runner, "drift", { CODE: `${code}`, PREVIEW: `${preview}` });
      expect(ran).toEqual({ code: ends, output: "" });
      expect(left(runner, "drift.status").replace(/ \S+\n$/, "")).toBe(status);
      expect(left(runner, "drift.txt")).toBe(`report of ${code}\n`);
    }
    expect(runner.calls().at(-1)).toMatch(/^npx --no-install pulumi-endpoints drift --stack prod --html /);
    expect(left(runner, "preview.txt")).toMatch(/^preview --stack prod --expect-no-changes /);
  });

  test("makes the results readable for the group, but not for other users", async () => {
    const { runner } = clone({ npx: 'echo page >"$7"', pulumi: "true" });
    await run(runner, "drift");
    const state = join(runner.scratch, "state");
    const modes = ["drift.html", "drift.txt", "drift.status"].map((file) => statSync(join(state, file)).mode);
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o640, 0o640, 0o640]);
    expect(statSync(state).mode & 0o777).toBe(0o750);
  });

  test("runs only once at a time, and processes that survive a killed script keep the lock", async () => {
    const { runner } = clone({
      npx: 'touch "$STATE/started"; while [ ! -e "$STATE/end" ]; do sleep 0.1; done',
      pulumi: "true",
    });
    const state = join(runner.scratch, "state");
    const kill = 'sh "$0" drift & while [ ! -e "$STATE/started" ]; do sleep 0.1; done; kill -9 $!';
    onTestFinished(() => writeFileSync(join(state, "end"), ""));
    await runner.run(["sh", "-c", kill, script], settings(runner));
    expect(await run(runner, "up")).toMatchObject({
      code: 75,
      output: "endpoints.sh up: another run is in progress\n",
    });
    writeFileSync(join(state, "end"), "");
    await expect.poll(() => run(runner, "drift"), { timeout: 20_000 }).toMatchObject({ code: 0 });
  });

  test("fails without its settings and names the missing one", async () => {
    const { runner } = clone({});
    const { ENDPOINTS_API_KEY: _, ...rest } = settings(runner);
    const { code, output } = await runner.run(["sh", script, "drift"], rest);
    expect(code).not.toBe(0);
    expect(output).toContain("ENDPOINTS_API_KEY: the key, from a file that only this user can read");
    expect(await runner.run(["sh", script, "destroy"], settings(runner))).toMatchObject({ code: 64 });
  });
});

describe.skipIf(!cli || !needed)("the script for cron on the Pulumi CLI", () => {
  test("deploys the branch and reports drift", async () => {
    const { machine: runner, emulator, backend } = await environmentsProject();
    versioned(runner);
    const env = { ...backend, ENDPOINTS_API_KEY: emulator.apiKey };
    expect(await run(runner, "up", env)).toMatchObject({ code: 0 });
    expect(emulator.endpoints).toHaveLength(2);
    emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
    expect(await run(runner, "drift", env)).toMatchObject({ code: 7 });
    expect(left(runner, "drift.txt")).toContain("description");
    expect(left(runner, "drift.html")).toMatch(/^<!doctype html>/i);
  });
});

const canInstallPython =
  Boolean(cli && (await findPulumiCli(undefined, "python"))) &&
  spawnSync("python3", ["-m", "pip", "index", "versions", "parver"]).status === 0;

describe.skipIf(!canInstallPython || !needed)(
  "the script for cron on the Pulumi CLI, with Python and PyPI",
  () => {
    test("deploys a Python program from a fresh checkout", async () => {
      const emulator = await Emulator.start();
      onTestFinished(() => emulator.close());
      const runner = machine(copyOf("python"), { ENDPOINTS_BASE_URL: emulator.baseUrl });
      const backend = await withStacks(runner, ".");
      await runner.run(["pulumi", "config", "set", "--secret", "stripeSecret", "whsec_c2VjcmV0"], backend);
      versioned(runner);
      const env = { ...backend, ENDPOINTS_API_KEY: emulator.apiKey };
      expect(await run(runner, "up", env), "see up.txt").toMatchObject({ code: 0 });
      expect(emulator.endpoints).toHaveLength(3);
    });
  },
);

const settings = (runner: Machine) => ({
  PROJECT: runner.folder,
  STATE: join(runner.scratch, "state"),
  ENDPOINTS_API_KEY: "a key",
});

const run = (runner: Machine, what: string, env: Record<string, string> = {}): Promise<Ran> =>
  runner.run(["sh", script, what], { ...settings(runner), ...env });

const left = (runner: Machine, file: string) => readFileSync(join(runner.scratch, "state", file), "utf8");
const deployments = (runner: Machine) =>
  runner.calls().filter((call) => call.startsWith("pulumi up ")).length;

/** A machine with a clone of a repository with this example, and with fake commands with these bodies. */
function clone(fakes: Record<string, string>, example = "environments"): { runner: Machine; remote: string } {
  const runner = machine(copyOf(example));
  withCommands(runner, fakes);
  return { runner, remote: versioned(runner) };
}

/** Turns the project's folder into a clone, and returns the repository that it was cloned from. */
function versioned(runner: Machine): string {
  const remote = join(runner.scratch, "remote");
  mkdirSync(remote);
  writeFileSync(join(remote, "code"), "0");
  git(remote, "init", "--quiet", "--initial-branch", "main");
  git(remote, "add", "--all");
  git(remote, "commit", "--quiet", "--message", "Pulumi ends with 0");
  git(runner.folder, "init", "--quiet", "--initial-branch", "main");
  git(runner.folder, "remote", "add", "origin", remote);
  git(runner.folder, "pull", "--quiet", "--set-upstream", "origin", "main");
  return remote;
}

function git(folder: string, ...args: string[]): void {
  const author = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"];
  const { status, stderr } = spawnSync("git", ["-C", folder, ...author, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}
