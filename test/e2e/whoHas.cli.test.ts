import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Emulator } from "../../sdk/testing";
import { emulatedService } from "../emulatedService";
import { Backend, cli } from "../projects";

/* What is printed beside a second project on the account is obeyed to the letter, on the real CLI. Then the test looks at what is live. */

const idOn = ({ endpoints }: Emulator, url: string) => endpoints.find((one) => one.url === url)?.id ?? "";

const endpoint = (name: string, more = "") =>
  `new CloudEndpoint("${name}", { url: "https://${name}.example.com"${more} });\n`;

describe.skipIf(!cli)("with the Pulumi CLI, beside another project's stack on the account", () => {
  test("a taken URL is not adopted from the stack that has it, and with one line from nobody, once", async () => {
    const emulator = await emulatedService();
    const backend = new Backend(emulator);
    const production = await backend.project(endpoint("shop", ', description: "front door"'), {
      name: "api",
    });
    await production.up();
    const project = await backend.project(endpoint("own") + endpoint("shop", ', description: "test"'));
    const url = "https://shop.example.com";
    const failed = await project.failing("pulumi up");
    const [id, before] = [idOn(emulator, url), structuredClone(emulator.endpoints)];
    expect(failed).toContain(id);

    const owned = await project.command("who-has", url);
    expect(owned).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("'shop' of the stack api/test has it"),
    });
    expect(owned.stdout).not.toContain("pulumi up");
    expect((await project.command("drift")).stdout).not.toContain("endpoints:adopt");
    expect(emulator.endpoints).toEqual(before);

    await production.sh(`pulumi state delete --force '${(await production.endpoints())[0]?.urn}'`);
    production.edit("");
    const free = await project.command("who-has", id);
    const [line = ""] = /pulumi up --config endpoints:adopt=\S+ --stack test$/m.exec(free.stdout) ?? [];
    await project.sh(line);
    expect(await project.ids()).toEqual(emulator.endpoints.map((one) => one.id).sort());
    expect(idOn(emulator, url)).toBe(id);
    await production.up();
    await project.sh("pulumi config rm endpoints:adopt\npulumi preview --expect-no-changes");
    expect(emulator.endpoints).toHaveLength(2);
    expect(await project.command("who-has", url)).toMatchObject({
      stdout: expect.stringContaining("'shop' of the stack shop/test has it"),
    });
  });

  test("a pool whose members all have owners leads nobody to adopt another stack's member", async () => {
    const emulator = await emulatedService();
    const backend = new Backend(emulator);
    const url = "https://pool.example.com";
    const member = (name: string) =>
      `new CloudEndpoint("${name}", { url: "${url}", poolingEnabled: true });\n`;
    const theirs = await backend.project(member("theirs"), { name: "api" });
    await theirs.up();
    const project = await backend.project(member("ours"));
    await project.up();
    const owned = await project.command("who-has", url);
    expect(owned.stdout).toContain('See "A URL that is taken"');
    emulator.seed({ type: "cloud", url, pooling_enabled: true });
    const free = await project.command("who-has", url);
    expect(free.stdout).toContain('See "Adopt members of a pool"');
    expect(owned.stdout + free.stdout).not.toContain("pulumi up");
  });

  test("a locked stack is unlocked by the page's command, and drift then prints what continues", async () => {
    const emulator = await emulatedService();
    const project = await new Backend(emulator).project(endpoint("shop"));
    const locks = join(project.env["PULUMI_BACKEND_URL"]?.replace("file://", "") ?? "", ".pulumi/locks");
    const folder = join(locks, "organization/shop/test");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "00000000-0000-0000-0000-000000000000.json"), "{}");
    expect(await project.failing("pulumi up")).toContain("locked");
    await project.sh("pulumi cancel\nnpx pulumi-endpoints drift\npulumi up");
    expect(await project.ids()).toEqual(emulator.endpoints.map(({ id }) => id));
  });
});
