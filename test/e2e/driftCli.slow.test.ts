import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { reportSchema } from "../../sdk/commands/drift/report";
import { REPAIR_MESSAGE } from "../../sdk/commands/drift/stack";
import { cli, project, service } from "../provider/plugin/pulumi";
import { idOf, policy } from "./driftPrograms";

const PROGRAM = `
const { CloudEndpoint: Dynamic } = require("pulumi-endpoints");
const named = (name, more) => ({ url: "https://" + name + ".example.com", trafficPolicy: ${JSON.stringify(policy(404))}, ...more });
new Dynamic("described", named("described", { description: "front door" }));
new Dynamic("secret", named("secret", { trafficPolicy: pulumi.secret(${JSON.stringify(policy(404, "CANARY-1"))}) }));
new Dynamic("deleted", named("deleted"));
new Dynamic("kept", named("kept"));
new Dynamic("left", named("left", { url: "https://left.internal" }));
new CloudEndpoint("plugged", named("plugged"), { deleteBeforeReplace: true });
`;

describe.skipIf(!cli)("with the Pulumi CLI, the drift command", () => {
  test("exits with 8 after a failed up, until an up succeeds", async () => {
    const emulator = await service();
    const one = 'new (require("pulumi-endpoints").CloudEndpoint)("one", { url: "https://one.example.com" });';
    const stack = await project(one, { emulator });
    const drift = () => stack.command("drift", "--stack", "test");
    await stack.pulumi("up", "--yes", "--skip-preview");
    expect(await drift()).toMatchObject({ code: 0 });
    const taken = emulator.seed({ type: "cloud", url: "https://two.example.com" });
    stack.edit(one + one.replaceAll("one", "two"));
    await expect(stack.pulumi("up", "--yes", "--skip-preview")).rejects.toThrow();
    // A refresh deploys nothing, so the stack is still undeployed.
    await stack.pulumi("refresh", "--yes");
    const failed = await drift();
    expect(failed.code, failed.stdout + failed.stderr).toBe(8);
    expect(failed.stdout).toContain("its last update failed");
    emulator.remove(taken.id);
    await stack.pulumi("up", "--yes", "--skip-preview");
    expect(await drift()).toMatchObject({ code: 0 });
  });

  test("repairs two of three stacks, and says of a locked one that nothing ran", async () => {
    const emulator = await service();
    const program = `const { CloudEndpoint: Dynamic } = require("pulumi-endpoints");
new Dynamic("one", { url: "https://" + pulumi.getStack() + ".example.com", description: "front door" });`;
    const stack = await project(program, { emulator });
    const names = ["test", "two", "three"];
    for (const name of names) {
      if (name !== "test") await stack.pulumi("stack", "init", name);
      await stack.setConfig("endpoints:baseUrl", emulator.baseUrl);
      await stack.setConfig("endpoints:apiKey", { secret: emulator.apiKey });
      await stack.pulumi("up", "--yes", "--skip-preview");
      emulator.edit(idOf(emulator, name), { description: "by hand" });
    }
    const locks = join(stack.folder, ".pulumi/locks/organization/case/three");
    mkdirSync(locks, { recursive: true });
    const lock = { pid: 1, username: "nobody", hostname: "elsewhere", timestamp: "2026-01-02T03:04:05Z" };
    writeFileSync(join(locks, "00000000-0000-0000-0000-000000000000.json"), JSON.stringify(lock));
    const ended = await stack.command("drift", "--fix", ...names.flatMap((name) => ["--stack", name]));
    expect(ended.stderr).not.toContain("Warning");
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain("2 repaired, 1 not repaired");
    expect(ended.stdout).toMatch(/not repaired: the stack is currently locked/);
    expect(ended.stdout).not.toContain("The state may already hold the live values");
  });

  test("finds and repairs drift of the stack in --stack, checks the selected stack without it, and keeps the selection", async () => {
    const emulator = await service();
    const stack = await project(PROGRAM, { emulator });
    await stack.pulumi("up", "--yes", "--skip-preview");
    await stack.pulumi("stack", "init", "selected");
    emulator.edit(idOf(emulator, "described"), { description: "by hand" });
    emulator.edit(idOf(emulator, "secret"), { traffic_policy: JSON.stringify(policy(403, "CANARY-2")) });
    emulator.edit(idOf(emulator, "plugged"), { traffic_policy: JSON.stringify(policy(403)) });
    emulator.edit(emulator.endpoints.find(({ url }) => url === "https://left.internal")?.id ?? "", {
      bindings: ["public"],
    });
    emulator.remove(idOf(emulator, "deleted"));
    const other = emulator.seed({ type: "cloud", url: "https://other.example.com" });

    const marked = emulator.requests.length;
    const found = await stack.command("drift", "--stack", "test", "--json", "-");
    expect(found.code, found.stderr).toBe(7);
    expect(new Set(emulator.requests.slice(marked).map(({ method }) => method))).toEqual(new Set(["GET"]));
    const report = reportSchema.parse(JSON.parse(found.stdout));
    const status = "trafficPolicy.on_http_request[0].actions[0].config.status_code";
    expect(
      report.stacks[0]?.drifted.map(({ name, drift, changes }) => [
        name,
        drift,
        changes.map(({ path }) => path),
      ]),
    ).toEqual([
      ["deleted", "deleted", []],
      ["described", "changed", ["description"]],
      ["left", "changed", ["bindings"]],
      ["plugged", "changed", [status]],
      ["secret", "changed", [status.replace("status_code", "secret"), status]],
    ]);
    expect(report.accounts.map(({ unmanaged }) => unmanaged.map(({ id }) => id))).toEqual([[other.id]]);
    expect(found.stdout + found.stderr).not.toContain("CANARY");
    expect(found.stderr).toContain("1 of 1 stack read\n");

    const fixed = await stack.command("drift", "--fix", "--stack", "test", "--stack", "selected");
    expect(fixed.code, fixed.stdout + fixed.stderr).toBe(0);
    expect(fixed.stdout).toContain("5 of 6 cloud endpoints drifted (4 changed, 1 deleted), 5 repaired");
    // Later checks recognize a repair in the history by this message.
    const { stdout: history } = await stack.pulumi("stack", "history", "--json", "--stack", "test");
    expect(JSON.parse(history)[0]).toMatchObject({ kind: "update", message: REPAIR_MESSAGE });
    expect(emulator.endpoints).toContainEqual(other);

    // Pulumi's targets exclude a renamed endpoint, so the repair must neither refresh it nor report it as repaired.
    stack.edit(
      PROGRAM.replace(
        'Dynamic("described", named("described", { description: "front door" }))',
        'Dynamic("renamed", named("described", { description: "front door" }), { aliases: [{ name: "described" }] })',
      ),
    );
    emulator.edit(idOf(emulator, "described"), { description: "by hand again" });
    const writes = () => emulator.requests.filter(({ method }) => method !== "GET").length;
    const before = { writes: writes(), state: (await stack.state()).resources };
    const renamed = await stack.command("drift", "--fix", "--stack", "test");
    expect(renamed.code, renamed.stdout + renamed.stderr).toBe(1);
    expect(renamed.stdout).toContain("not repaired: the program does not have this endpoint any more");
    expect({ writes: writes(), state: (await stack.state()).resources }).toEqual(before);
    emulator.edit(idOf(emulator, "described"), { description: "front door" });

    const selected = await stack.command("drift");
    expect(selected.code, selected.stderr).toBe(0);
    expect(selected.stdout).toContain("Stack selected: none of 0 cloud endpoints drifted");
    await stack.pulumi("stack", "select", "test");
    await stack.setConfig("endpoints:apiKey", { secret: "of-nobody" });
    const refused = await stack.command("drift");
    expect(refused.code, refused.stdout).toBe(3);
    expect(refused.stdout).toMatch(/0 of 6 cloud endpoints compared[\s\S]*endpoints: .*status 401/);

    const missing = await stack.command("drift", "--stack", "nope");
    expect(missing.code).toBe(1);
    expect(missing.stdout).toMatch(/unchecked nope: the stack's state: no stack named 'nope' found/);
  });
});
