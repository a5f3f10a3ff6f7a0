import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { copyOf } from "../engine/example";
import { cli, deployed, type Machine, machine, type Ran, recipes } from "./recipeMachine";

const script = join(recipes, "cron/endpoints.sh");
const has = (command: string) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
const needed = ["flock", "git"].every(has);

describe.skipIf(!needed)("the script for cron, with stand-ins for Pulumi and the drift check", () => {
  test("deploys each commit once, and one that failed again", async () => {
    const { on, remote } = clone({ pulumi: "exit $(cat code)" });
    const commit = (code: number) => {
      writeFileSync(join(remote, "code"), `${code}`);
      git(remote, "commit", "--quiet", "--all", "--message", `Pulumi ends with ${code}`);
    };
    expect(await run(on, "up")).toEqual({ code: 0, output: "" });
    expect(left(on, "up.status")).toMatch(/^deployed [0-9a-f]{40} \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/);
    writeFileSync(join(on.scratch, "state", "up.status"), "");
    await run(on, "up");
    expect(deployments(on)).toBe(1);
    // The status is that of the last run, whatever it had to do.
    expect(left(on, "up.status")).toMatch(/^deployed [0-9a-f]{40} /);

    commit(9);
    expect(await run(on, "up")).toMatchObject({ code: 9 });
    expect(left(on, "up.status")).toMatch(/^failed \(9\) /);
    expect(await run(on, "up")).toMatchObject({ code: 9 });
    commit(0);
    expect(await run(on, "up")).toMatchObject({ code: 0 });
    expect(deployments(on)).toBe(4);
  });

  test("reports a branch that cannot be read, and deploys nothing", async () => {
    const { on } = clone({ pulumi: "true" });
    git(on.folder, "remote", "set-url", "origin", "/nowhere");
    expect(await run(on, "up")).toMatchObject({ code: 1 });
    expect(left(on, "up.status")).toMatch(/^failed \(git pull\) /);
    expect(deployments(on)).toBe(0);
  });

  test("reports that all is well as soon as the branch can be read again, without a new commit", async () => {
    const { on, remote } = clone({ pulumi: "true" });
    await run(on, "up");
    const deployed = left(on, "up.status").replace(/\S+\n$/, "");
    git(on.folder, "remote", "set-url", "origin", "/nowhere");
    await run(on, "up");
    expect(left(on, "up.status")).toMatch(/^failed/);
    git(on.folder, "remote", "set-url", "origin", remote);
    expect(await run(on, "up")).toEqual({ code: 0, output: "" });
    expect(left(on, "up.status").startsWith(deployed)).toBe(true);
    expect(deployments(on)).toBe(1);
  });

  test("distinguishes drift, no drift and a check that failed", async () => {
    const { on } = clone({
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
      const ran = await run(on, "drift", { CODE: `${code}`, PREVIEW: `${preview}` });
      expect(ran).toEqual({ code: ends, output: "" });
      expect(left(on, "drift.status").replace(/ \S+\n$/, "")).toBe(status);
      expect(left(on, "drift.txt")).toBe(`report of ${code}\n`);
    }
    expect(on.calls().at(-1)).toMatch(/^npx --no-install pulumi-endpoints drift --stack prod --html /);
    expect(left(on, "preview.txt")).toMatch(/^preview --stack prod --expect-no-changes /);
  });

  test("lets the group read the results, and nobody else", async () => {
    const { on } = clone({ npx: 'echo page >"$7"', pulumi: "true" });
    await run(on, "drift");
    const state = join(on.scratch, "state");
    const modes = ["drift.html", "drift.txt", "drift.status"].map((file) => statSync(join(state, file)).mode);
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o640, 0o640, 0o640]);
    expect(statSync(state).mode & 0o777).toBe(0o750);
  });

  test("runs one at a time, and what outlives a killed script keeps the lock until it ends", async () => {
    const { on } = clone({
      npx: 'touch "$STATE/started"; while [ ! -e "$STATE/end" ]; do sleep 0.1; done',
      pulumi: "true",
    });
    const state = join(on.scratch, "state");
    const kill = 'sh "$0" drift & while [ ! -e "$STATE/started" ]; do sleep 0.1; done; kill -9 $!';
    onTestFinished(() => writeFileSync(join(state, "end"), ""));
    await on.run(["sh", "-c", kill, script], settings(on));
    expect(await run(on, "up")).toMatchObject({
      code: 75,
      output: "endpoints.sh up: another run is in progress\n",
    });
    writeFileSync(join(state, "end"), "");
    await expect.poll(() => run(on, "drift"), { timeout: 20_000 }).toMatchObject({ code: 0 });
  });

  test("does nothing without its settings, and names what is missing", async () => {
    const { on } = clone({});
    const { ENDPOINTS_API_KEY: _, ...rest } = settings(on);
    const { code, output } = await on.run(["sh", script, "drift"], rest);
    expect(code).not.toBe(0);
    expect(output).toContain("ENDPOINTS_API_KEY: the key, from a file that only this user can read");
    expect(await on.run(["sh", script, "destroy"], settings(on))).toMatchObject({ code: 64 });
  });
});

describe.skipIf(!cli || !needed)("the script for cron on the Pulumi CLI", () => {
  test("deploys the branch, and sees what somebody changed", async () => {
    const { machine: on, emulator, backend } = await deployed();
    versioned(on);
    const env = { ...backend, ENDPOINTS_API_KEY: emulator.apiKey };
    expect(await run(on, "up", env)).toMatchObject({ code: 0 });
    expect(emulator.endpoints).toHaveLength(2);
    emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
    expect(await run(on, "drift", env)).toMatchObject({ code: 7 });
    expect(left(on, "drift.txt")).toContain("description");
    expect(left(on, "drift.html")).toMatch(/^<!doctype html>/i);
  });
});

const settings = (on: Machine) => ({
  PROJECT: on.folder,
  STATE: join(on.scratch, "state"),
  ENDPOINTS_API_KEY: "a key",
});

const run = (on: Machine, what: string, env: Record<string, string> = {}): Promise<Ran> =>
  on.run(["sh", script, what], { ...settings(on), ...env });

const left = (on: Machine, file: string) => readFileSync(join(on.scratch, "state", file), "utf8");
const deployments = (on: Machine) => on.calls().filter((call) => call.startsWith("pulumi up ")).length;

/** A machine with a clone of a repository, and stand-ins with these bodies, which are called first. */
function clone(standIns: Record<string, string>): { on: Machine; remote: string } {
  const on = machine(copyOf("environments"));
  const bin = join(on.scratch, "bin");
  mkdirSync(bin);
  for (const [name, body] of Object.entries(standIns)) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >>"$CALLS"\n${body}\n`, { mode: 0o755 });
  }
  on.env["PATH"] = [bin, on.env["PATH"]].join(delimiter);
  return { on, remote: versioned(on) };
}

/** Makes the project's folder a clone; gives the repository that it is a clone of. */
function versioned(on: Machine): string {
  const remote = join(on.scratch, "remote");
  mkdirSync(remote);
  writeFileSync(join(remote, "code"), "0");
  git(remote, "init", "--quiet", "--initial-branch", "main");
  git(remote, "add", "--all");
  git(remote, "commit", "--quiet", "--message", "Pulumi ends with 0");
  git(on.folder, "init", "--quiet", "--initial-branch", "main");
  git(on.folder, "remote", "add", "origin", remote);
  git(on.folder, "pull", "--quiet", "--set-upstream", "origin", "main");
  return remote;
}

function git(folder: string, ...args: string[]): void {
  const author = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"];
  const { status, stderr } = spawnSync("git", ["-C", folder, ...author, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}
