import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sweepReportSchema } from "../../sdk/commands/sweep/sweepReport";
import { cli, project, service } from "../provider/plugin/pulumi";

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe.skipIf(!cli)("with the Pulumi CLI, the sweep command", () => {
  test("deletes what a killed up left in a pool, once no run can be in progress, and nothing else", async () => {
    const emulator = await service();
    const endpoint = (name: string) =>
      `new (require("pulumi-endpoints").CloudEndpoint)("${name}", { url: "https://pool.example.com", poolingEnabled: true, description: "${name}" });`;
    const stack = await project(endpoint("kept"), { emulator });
    await stack.setConfig("endpoints:mark", "platform/prod");
    await stack.pulumi("up", "--yes", "--skip-preview");
    const kept = emulator.endpoints.map(({ id }) => id);

    // The endpoint exists, and its answer never arrives.
    emulator.intercept("create", { afterCommit: true, hang: true });
    stack.edit(endpoint("kept") + endpoint("lost"));
    const up = spawn("pulumi", ["up", "--yes", "--skip-preview", "--non-interactive"], {
      cwd: stack.folder,
      env: stack.env,
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => up.once("exit", resolve));
    for (let left = 600; left > 0 && emulator.endpoints.length < 2; left--) await pause(50);
    up.kill("SIGKILL");
    await ended;
    const lost = emulator.endpoints.map(({ id }) => id).filter((id) => !kept.includes(id));
    expect(lost).toHaveLength(1);

    const writes = () => emulator.requests.filter(({ method }) => method !== "GET").length;
    const before = writes();
    const sweep = (...args: string[]) =>
      stack.command("sweep", "--mark", "platform/prod", "--older-than", "0s", ...args);
    const locked = await sweep("--yes");
    expect(locked.code, locked.stdout + locked.stderr).toBe(1);
    expect(locked.stdout).toMatch(/refused: case\/test: operations are pending/);
    expect(locked.stdout).toMatch(/refused: case\/test: it is locked by a run/);
    await stack.pulumi("cancel", "--yes");
    const pending = await sweep("--yes");
    expect(pending.code).toBe(1);
    expect(pending.stdout).not.toContain("locked");
    stack.edit(endpoint("kept"));
    await stack.pulumi("refresh", "--yes", "--clear-pending-creates");

    // The stack that the marks name, and one that only exists.
    const others = join(stack.folder, "other");
    mkdirSync(others);
    writeFileSync(join(others, "Pulumi.yaml"), "name: other\nruntime: nodejs\n");
    await stack.pulumi("-C", others, "stack", "init", "dev");
    const wrong = await stack.command("sweep", "--mark", "platform/prod", "--cwd", others, "--stack", "dev");
    expect(wrong.stdout).toContain("the account: ");
    expect(await sweep("--yes", "--stack", "nobody")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("no stack named 'nobody' found"),
    });
    expect(await sweep("--yes", "--stack", "test", "--gone", "other/dev")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("--gone other/dev: this stack exists"),
    });
    const planned = await sweep("--known", "organization/other/dev", "--json", "-");
    expect(planned.code, planned.stdout + planned.stderr).toBe(7);
    const report = sweepReportSchema.parse(JSON.parse(planned.stdout));
    expect(report.planned.map(({ id }) => id)).toEqual(lost);
    expect(report.stacks).toEqual(["case/test", "other/dev"]);
    expect(writes()).toBe(before);

    const swept = await sweep("--yes", "--stack", "organization/case/test");
    expect(swept.code, swept.stdout + swept.stderr).toBe(0);
    expect(swept.stderr).toContain(
      `deleted ${lost[0]} (https://pool.example.com) of lost of the stack case/test`,
    );
    expect(emulator.endpoints.map(({ id }) => id)).toEqual(kept);
    expect(await sweep()).toMatchObject({ code: 0 });
    expect((await stack.attempt("up", "--yes", "--skip-preview", "--expect-no-changes")).code).toBe(0);
  });
});
