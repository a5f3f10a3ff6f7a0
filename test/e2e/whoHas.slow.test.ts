import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Emulator } from "../../sdk/testing";
import { emulatedService } from "../emulatedService";
import { Backend, cli } from "../projects";

/* What is printed beside a second project on the account is obeyed to the letter, on the real CLI. Then the test looks at what is live. */

const urls = ({ endpoints }: Emulator) => endpoints.map(({ id, url }) => `${id} ${url}`).sort();

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

  test("a killed run in a pool of five is continued by the printed list, and six members stay six", async () => {
    const emulator = await emulatedService();
    const backend = new Backend(emulator);
    const url = "https://pool.example.com";
    const pooled = (name: string, more = "") =>
      `new CloudEndpoint(${name}, { url: "${url}", poolingEnabled: true${more} }, { protect: true });\n`;
    const other = await backend.project(pooled('"theirs"'), { name: "api" });
    await other.up();
    const loop = (count: number, list = "", more = "") =>
      `${list}\nfor (let i = 0; i < ${count}; i++) { const name = \`web-\${i}\`; ${pooled("name", more)} }`;
    const project = await backend.project(loop(3));
    await project.up();

    // A run has begun two more creates, and was killed: the members are live, and the state has their URLs only.
    const file = join(backend.folder, ".pulumi/stacks/shop/test.json");
    const state = JSON.parse(readFileSync(file, "utf8"));
    const latest = state.checkpoint.latest;
    const [member] = latest.resources.filter(({ id }: { id?: string }) => id?.startsWith("ep_"));
    const begun = ["web-3", "web-4"].map((name) => {
      emulator.seed({ type: "cloud", url, pooling_enabled: true });
      const { id: _, outputs: __, ...resource } = { ...member, urn: member.urn.replace(/web-\d$/, name) };
      return { type: "creating", resource };
    });
    latest.pending_operations = begun;
    writeFileSync(file, JSON.stringify(state));
    const live = urls(emulator);
    expect(live).toHaveLength(6);

    const asked = await project.command("who-has", url);
    expect(asked.stdout).toContain("creating: 'web-3' of the stack shop/test, on this URL");
    const { stdout } = await project.command("drift");
    const [list = ""] = /const lost: Record<string, string> = .*;/.exec(stdout) ?? [];
    const [, command = ""] = /Then run `(pulumi refresh .*? && pulumi up [^`]*)`/.exec(stdout) ?? [];
    project.edit(loop(5, list.replace(": Record<string, string>", ""), ", adopt: lost[name]"));
    const printed = await project.sh(command);
    expect(new Set(printed.match(/: adopts ep_\w+/g))).toHaveProperty("size", 2);
    expect(urls(emulator)).toEqual(live);
    expect(await project.ids()).toHaveLength(5);
    project.edit(loop(5));
    await project.sh("pulumi preview --expect-no-changes");
    expect(await project.command("drift")).toMatchObject({ code: 0 });
    expect(await other.command("drift")).toMatchObject({ code: 0 });
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
