import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { emulatedService } from "../../emulatedService";
import { Backend, cli } from "../../projects";
import { seedMixed } from "../mixedAccount";
import { movable, SHOWN, seedShown } from "./terraformShow";
import { CANARIES, makeTypeScript, writes } from "./typeScriptProject";

describe.skipIf(!cli)("with the Pulumi CLI", () => {
  test("with --stack, the command sets the secrets, up changes nothing, and a second run finds nothing to adopt", async () => {
    const emulator = await emulatedService();
    seedMixed(emulator, 60);
    const before = emulator.endpoints;
    const stack = await new Backend(emulator).project("", { name: "case" });
    makeTypeScript(stack.folder);
    await stack.setSecret("secret", "of something else");
    const adopt = (...args: string[]) => stack.command("adopt", "--stack", "test", ...args);

    const { code, stderr } = await adopt("--out", "index.ts");
    expect(stderr).toMatch(/Set: 10 secrets of the stack test/);
    expect(code).toBe(0);
    const program = readFileSync(join(stack.folder, "index.ts"), "utf8");
    const settings = readFileSync(join(stack.folder, "Pulumi.test.yaml"), "utf8");
    expect(stderr + program + settings).not.toMatch(CANARIES);
    expect(program).not.toContain('requireSecret("secret")');

    await stack.up();
    await stack.pulumi("preview", "--expect-no-changes");
    await stack.pulumi("refresh", "--yes", "--expect-no-changes");
    expect(writes(emulator)).toEqual([]);
    expect(emulator.endpoints).toEqual(before);
    expect((await stack.state()).text).not.toMatch(CANARIES);

    const again = await adopt();
    expect(again.stderr).toMatch(/Left out: 40 that the stack case\/test has[\s\S]*Selected: 0 endpoints/);
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 0, stdout: "" });

    // After the first up, every `adopt` can be removed, and Pulumi deletes nothing.
    const plain = program.replaceAll(/^ {2}adopt: .*\n/gm, "");
    writeFileSync(join(stack.folder, "index.ts"), plain);
    await stack.up();
    const destroy = stack.pulumi("destroy", "--yes", "--skip-preview");
    const refusal = { result: { stdout: expect.stringContaining("because it is protected") } };
    await expect(destroy).rejects.toMatchObject(refusal);

    // An endpoint is given back as the comment in the program says.
    expect(program).toContain("`pulumi state delete --force URN`, and then remove its definition.");
    const [name] = /(?<=new CloudEndpoint\(")[^"]+/.exec(plain) ?? [];
    const { resources } = await stack.state();
    const urn = resources.find((resource) => resource.urn.endsWith(`::${name}`))?.urn ?? "";
    await stack.pulumi("state", "delete", "--force", "--yes", urn);
    writeFileSync(
      join(stack.folder, "index.ts"),
      plain.replace(/^new CloudEndpoint\([\s\S]*?, keep\);\n/m, ""),
    );
    await stack.up();
    await stack.pulumi("preview", "--expect-no-changes");
    expect((await stack.state()).resources.map(({ urn }) => urn)).not.toContain(urn);
    expect(writes(emulator)).toEqual([]);
  });

  test("a Terraform state moves without a write, and a second run lists what Terraform may forget", async () => {
    const emulator = await emulatedService();
    seedShown(emulator);
    const before = emulator.endpoints;
    const stack = await new Backend(emulator).project("", { name: "case" });
    makeTypeScript(stack.folder);
    const adopt = (...args: string[]) =>
      stack.command("adopt", "--stack", "test", "--terraform", SHOWN, ...args);

    const { code, stderr } = await adopt("--out", "index.ts");
    expect(stderr).toContain(`Selected: ${movable.length} endpoints`);
    expect(stderr).toContain("Set: 1 secret of the stack test: landingSecret");
    expect(code).toBe(0);
    await stack.up();
    await stack.pulumi("preview", "--expect-no-changes");
    expect(writes(emulator)).toEqual([]);
    expect(emulator.endpoints).toEqual(before);

    const again = await adopt();
    expect(again.stderr).toMatch(/Left out: 9 that the stack case\/test has/);
    const list = (text: string) => text.slice(text.indexOf("  terraform state rm"));
    expect(list(again.stderr)).toBe(list(stderr));
    expect(list(stderr).split("\n")).toHaveLength(movable.length + 2);
  });

  test("endpoints that other projects have are left out by their states, whose secrets stay encrypted", async () => {
    const emulator = await emulatedService();
    const backend = new Backend(emulator);
    const shop = await backend.project(
      'new endpoints.CloudEndpoint("front", { url: "https://shop.example.com" });',
    );
    await shop.up();
    const plain = await backend.project(
      'new endpoints.CloudEndpoint("front", { url: "https://plain.example.com", description: pulumi.secret("x") });',
      { name: "plain", environment: { PULUMI_CONFIG_PASSPHRASE: "of another team" } },
    );
    await plain.up();
    const { id } = emulator.seed({ type: "cloud", url: "https://free.example.com" });

    const other = await backend.project("", { name: "other" });
    const adopt = (...args: string[]) => other.command("adopt", "--stack", "test", ...args);
    const { code, stdout, stderr } = await adopt();
    expect(stderr).toContain("Left out: 1 that the stack plain/test has");
    expect(stderr).toContain("Left out: 1 that the stack shop/test has");
    expect(stdout.match(/ep_\w+/g)).toEqual([id]);
    expect(code).toBe(0);

    // The target's own name may have any form.
    const named = await shop.command("adopt", "--stack", "organization/shop/test");
    expect(named.stderr).toContain("Left out: 1 that the stack shop/test has");
    expect(named.stdout).not.toContain("shop.example.com");
    const [{ urn = "" } = {}] = await shop.endpoints();
    await shop.pulumi("state", "delete", "--yes", urn);
    const again = await shop.command("adopt", "--stack", "organization/shop/test");
    expect(again.stdout).toContain('url: "https://shop.example.com"');
  });
});
