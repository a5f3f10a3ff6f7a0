import { spawnSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { copyOf } from "../e2e/example";
import { cli, isInstalled, Machine, QUIET, type Ran, recipes, withService } from "./machine";

const script = join(recipes, "cron/endpoints.sh");

test.skipIf(!isInstalled("shellcheck"))("shellcheck finds no mistake in the script for cron", () => {
  expect(spawnSync("shellcheck", [script], { encoding: "utf8" })).toMatchObject({ status: 0, stdout: "" });
});

/** A machine with a program, and with a stand-in of Git that has the commit `$COMMIT`, and fails if it is `none`. */
function server(): Machine {
  const machine = new Machine(copyOf("environments"));
  machine.standIn("git", '[ "$COMMIT" != none ] || exit 1; if [ "$1" = rev-parse ]; then echo "$COMMIT"; fi');
  machine.standIn("pulumi", 'echo "pulumi $1"; [ "$1" = install ] || exit $PULUMI');
  return machine;
}

const settings = (machine: Machine) => ({
  PROJECT: machine.folder,
  STATE: join(machine.scratch, "state"),
  ENDPOINTS_API_KEY: "key",
  COMMIT: "a1",
});

const run = (machine: Machine, what: string, env: Record<string, string> = {}): Promise<Ran> =>
  machine.run(["sh", script, what], { ...settings(machine), ...env });

/** The line of a status, with T for its time. */
const status = (machine: Machine, what: string) =>
  machine.read(`state/${what}.status`).replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/, "T");

describe.skipIf(!isInstalled("flock"))("the script for cron", () => {
  test("deploys each commit once, and again if the deployment failed", async () => {
    const machine = server();
    const PULL = "> git pull --quiet --ff-only (key)";
    const LOOK = [PULL, "> git rev-parse HEAD (key)"];
    const up = `> pulumi up --stack prod --yes ${QUIET} (key)`;
    const DEPLOY = [...LOOK, "> npm ci (key)", "> pulumi install (key)", up];
    for (const [situation, COMMIT, PULUMI, code, line, calls] of [
      ["a first deploy", "a1", 0, 0, "deployed a1 T", DEPLOY],
      ["nothing new", "a1", 0, 0, "deployed a1 T", LOOK],
      ["a failed deploy", "b2", 9, 9, "failed (9) b2 T", DEPLOY],
      ["a failed deploy, again", "b2", 0, 0, "deployed b2 T", DEPLOY],
      ["a failed pull", "none", 0, 1, "failed (git pull) T", [PULL]],
      ["a pull that succeeds again", "b2", 0, 0, "deployed b2 T", LOOK],
    ] as const) {
      const before = machine.transcript().length;
      const ran = await run(machine, "up", { COMMIT, PULUMI: `${PULUMI}` });
      expect([situation, ran, status(machine, "up")]).toEqual([situation, { code, output: "" }, line]);
      expect(machine.transcript().slice(before), situation).toEqual(calls);
    }
    expect(machine.read("state/up.txt")).toBe("pulumi install\npulumi up\n");
  });

  test("writes the status of a drift check, and compares the program if there is no drift", async () => {
    const machine = server();
    const check =
      "> npx --no-install pulumi-endpoints drift --stack prod --html ~/state/drift.html.new (key)";
    const compare = `> pulumi preview --stack prod --expect-no-changes ${QUIET} (key)`;
    for (const [situation, DRIFT, PULUMI, code, line, calls] of [
      ["no drift", 0, 0, 0, "none T", [check, compare]],
      ["drift", 7, 0, 7, "drift T", [check]],
      ["a program that is not deployed", 0, 1, 8, "undeployed T", [check, compare]],
      ["a failed last deploy", 8, 1, 8, "undeployed T", [check, compare]],
      ["a failed last deploy that changed nothing", 8, 0, 0, "none T", [check, compare]],
      ["a wrong key", 3, 0, 3, "check failed (3) T", [check]],
    ] as const) {
      const before = machine.transcript().length;
      const env = { DRIFT: `${DRIFT}`, PULUMI: `${PULUMI}`, REPORT: `report of ${DRIFT}` };
      expect([situation, await run(machine, "drift", env)]).toEqual([situation, { code, output: "" }]);
      expect([status(machine, "drift"), machine.read("state/drift.txt")]).toEqual([line, env.REPORT]);
      expect(machine.transcript().slice(before), situation).toEqual(calls);
    }
    const modes = ["", "drift.txt", "drift.status"].map(
      (file) => statSync(join(machine.scratch, "state", file)).mode,
    );
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o750, 0o640, 0o640]);
  });

  test("runs only once at a time, and processes that survive a killed script keep the lock", async () => {
    const machine = server();
    machine.standIn("npx", 'touch "$STATE/started"; while [ ! -e "$STATE/end" ]; do sleep 0.1; done');
    const kill = 'sh "$0" drift & while [ ! -e "$STATE/started" ]; do sleep 0.1; done; kill -9 $!';
    await machine.run(["sh", "-c", kill, script], settings(machine));
    const refused = { code: 75, output: "endpoints.sh up: another run is in progress\n" };
    expect(await run(machine, "up")).toEqual(refused);
    writeFileSync(join(machine.scratch, "state/end"), "");
    await expect
      .poll(() => run(machine, "drift", { PULUMI: "0" }), { timeout: 20_000 })
      .toMatchObject({ code: 0 });
  });

  test("names a missing setting, and refuses other commands", async () => {
    const machine = server();
    const { code, output } = await run(machine, "drift", { ENDPOINTS_API_KEY: "" });
    expect(code).not.toBe(0);
    expect(output).toContain("ENDPOINTS_API_KEY: the key, from a file that only this user can read");
    expect(await run(machine, "destroy")).toMatchObject({ code: 64 });
    expect(machine.transcript()).toEqual([]);
  });

  test.skipIf(!cli)("deploys with the Pulumi CLI, and reports drift", async () => {
    const machine = new Machine(copyOf("environments"));
    const emulator = await withService(machine, ".");
    machine.standIn("git", "echo a1");
    const env = { ENDPOINTS_API_KEY: emulator.apiKey };
    expect(await run(machine, "up", env)).toMatchObject({ code: 0 });
    expect(emulator.endpoints).toHaveLength(2);
    emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
    expect(await run(machine, "drift", env)).toMatchObject({ code: 7 });
    expect(machine.read("state/drift.txt")).toContain("description");
    expect(machine.read("state/drift.html")).toMatch(/^<!doctype html>/i);
  });
});
