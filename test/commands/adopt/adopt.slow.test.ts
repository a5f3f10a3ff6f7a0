import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseDocument } from "yaml";
import { type Emulator, TestStack } from "../../../sdk/testing";
import { emulatedService } from "../../emulatedService";
import { programFolder } from "../../folders";
import { Backend, cli } from "../../projects";
import { seedMixed } from "../mixedAccount";
import { runCommand } from "../runCommand";
import { seedOdd } from "./oddEndpoints";
import { movable, SHOWN, seedShown } from "./terraformShow";

const root = join(import.meta.dirname, "../../..");
const CANARIES = /CANARY|CNRY|77001122|bob: "ab"/;

/** A project for a program in TypeScript. */
function makeTypeScript(folder: string): void {
  writeFileSync(join(folder, "Pulumi.yaml"), "name: case\nruntime: nodejs\n");
  writeFileSync(join(folder, "package.json"), '{"name": "case", "main": "index.ts"}\n');
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
    ...{ noUnusedLocals: true },
    ...{ target: "es2022", module: "node16", skipLibCheck: true, types: ["node"] },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["index.ts"] }));
}

const writes = (emulator: Emulator) => emulator.requests.filter(({ method }) => method !== "GET");

test("the written program for endpoints of every kind compiles, and its first up changes nothing", async () => {
  const emulator = await emulatedService({ pageSize: 40 });
  seedMixed(emulator, 60);
  seedOdd(emulator);
  const before = emulator.endpoints;
  const where = programFolder();
  makeTypeScript(where);
  const file = join(where, "index.ts");

  const account = { ENDPOINTS_BASE_URL: emulator.baseUrl, ENDPOINTS_API_KEY: emulator.apiKey };
  const { code, stdout, stderr } = await runCommand(["adopt", "--out", file], account);
  expect(stderr).toContain("Selected: 49 endpoints");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints", "/endpoints"]);
  const program = readFileSync(file, "utf8");
  expect(stderr + program).not.toMatch(CANARIES);
  expect(program.match(/^new CloudEndpoint\(/gm)).toHaveLength(49);
  expect(program).toContain("{secrets.get('hooks', 'brex')}");
  const tsc = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", where]);
  expect(`${tsc.stdout}`).toBe("");

  const stack = await TestStack.create({
    program: where,
    emulator,
    // The types are checked above.
    env: { PULUMI_NODEJS_TRANSPILE_ONLY: "true" },
    config: { ...listedSecrets(stderr, before), "endpoints:requestsPerWindow": "100000" },
  });
  onTestFinished(() => stack.close());
  const up = await stack.up({ skipPreview: true });
  expect(up.changes).toEqual({ create: 50 });
  // All adoptions share the two pages of the list. One may read its endpoint by id before the second page arrives.
  expect(up.requests.length).toBeLessThanOrEqual(4);
  expect((await stack.preview({ expectNoChanges: true })).changes).toEqual({ same: 50 });
  expect(writes(emulator)).toEqual([]);
  expect(emulator.endpoints).toEqual(before);
});

/** Reads the secrets at the places that the command listed, as a user does. */
function listedSecrets(stderr: string, endpoints: Emulator["endpoints"]): Record<string, { secret: string }> {
  const commands = [...stderr.matchAll(/config set --secret (\w+)\n +(\S+) of '\S+' \((\S+), /g)];
  expect(commands.length).toBe(10);
  return Object.fromEntries(
    commands.map(([, name, path = "", id]) => {
      const live = endpoints.find((endpoint) => endpoint.id === id);
      const [input = "", ...inner] = path.split(/\.|\[(\d+)\]\.?/).filter((part) => part);
      const document = input === "metadata" ? live?.metadata : live?.traffic_policy;
      const value = String(
        parseDocument(document ?? "").getIn(inner.map((part) => (/^\d+$/.test(part) ? Number(part) : part))),
      );
      return [`case:${name}`, { secret: value }];
    }),
  );
}

test.skipIf(!cli)(
  "with --stack, the command sets the secrets, up changes nothing, and a second run finds nothing to adopt",
  async () => {
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
    expect(again.stderr).toMatch(
      /Left out: 40 that the stack test manages already[\s\S]*Selected: 0 endpoints/,
    );
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
  },
);

test.skipIf(!cli)(
  "a Terraform state moves without a write, and a second run lists what Terraform may forget",
  async () => {
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
  },
);

test.skipIf(!cli)(
  "endpoints that other projects have are left out by their states, whose secrets stay encrypted",
  async () => {
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
  },
);
