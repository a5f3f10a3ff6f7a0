import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseDocument } from "yaml";
import { type Emulator, TestStack } from "../../../../sdk/testing";
import { cli, project, service } from "../../../provider/plugin/pulumi";
import { seedMixed } from "../mixedAccount";
import { run } from "../run";

const root = join(import.meta.dirname, "../../../..");
const CANARIES = /CANARY|CNRY|77001122|bob: "ab"/;

/** A project for a program in TypeScript, where it finds this package as a user's does. */
function folder(): string {
  const programs = join(root, "test", ".programs");
  mkdirSync(programs, { recursive: true });
  const made = mkdtempSync(join(programs, "adopt-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  makeTypeScript(made);
  return made;
}

function makeTypeScript(folder: string): void {
  writeFileSync(join(folder, "Pulumi.yaml"), "name: case\nruntime: nodejs\n");
  writeFileSync(join(folder, "package.json"), '{"name": "case", "main": "index.ts"}\n');
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
    ...{ target: "es2022", module: "node16", skipLibCheck: true, types: ["node"] },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["index.ts"] }));
}

const reach = ({ baseUrl, apiKey }: Emulator) => ({ ENDPOINTS_BASE_URL: baseUrl, ENDPOINTS_API_KEY: apiKey });
const writes = (emulator: Emulator) => emulator.requests.filter(({ method }) => method !== "GET");

test("an account of 150 endpoints becomes a program that compiles, and whose first up makes no write", async () => {
  const emulator = await service();
  seedMixed(emulator, 150);
  const before = emulator.endpoints;
  const where = folder();
  const file = join(where, "index.ts");

  const { code, stdout, stderr } = await run(["adopt", "--out", file], reach(emulator));
  expect(stderr).toContain("Taken: 100 endpoints");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints", "/endpoints"]);
  const program = readFileSync(file, "utf8");
  expect(stderr + program).not.toMatch(CANARIES);
  expect(program.match(/^const \w+ = new CloudEndpoint\($/gm)).toHaveLength(100);
  expect(program).toContain("{secrets.get('hooks', 'brex')}");
  compiles(where);
  isFormatted(program);

  const stack = await TestStack.create({
    program: where,
    emulator,
    // Its types are checked already, once.
    env: { PULUMI_NODEJS_TRANSPILE_ONLY: "true" },
    config: { ...listedSecrets(stderr, before), "endpoints:requestsPerWindow": "100000" },
  });
  onTestFinished(() => stack.close());
  const up = await stack.up({ skipPreview: true });
  expect(up.changes).toEqual({ create: 101 });
  // The adoptions share the two pages of the list; a single read may have come before the second page.
  expect(up.requests.length).toBeLessThanOrEqual(4);
  expect((await stack.preview({ expectNoChanges: true })).changes).toEqual({ same: 101 });
  expect(writes(emulator)).toEqual([]);
  expect(emulator.endpoints).toEqual(before);

  // As the program says: after the first up every `adopt` can be taken out, and nothing is deleted.
  writeFileSync(file, program.replaceAll(/^ {4}adopt: .*\n/gm, ""));
  await stack.up({ skipPreview: true });
  await stack.destroy();
  expect(writes(emulator)).toEqual([]);
});

/** The values that the listed places lead to, as somebody would find and set them. */
function listedSecrets(stderr: string, endpoints: Emulator["endpoints"]): Record<string, { secret: string }> {
  const commands = [...stderr.matchAll(/config set --secret (\w+)\n +(\S+) of (\S+) /g)];
  expect(commands.length).toBe(8);
  return Object.fromEntries(
    commands.map(([, name, path = "", id]) => {
      const live = endpoints.find((endpoint) => endpoint.id === id);
      const [input = "", ...inner] = path.split(/\.|\[(\d+)\]\.?/).filter((part) => part);
      const document = input === "metadata" ? live?.metadata : live?.traffic_policy;
      const value = String(
        parseDocument(document ?? "").getIn(inner.map((part) => (/^\d+$/.test(part) ? Number(part) : part))),
      );
      return [`case:${name}`, { secret: value.replace(/^Bearer /, "").replace(/\n$/, "") }];
    }),
  );
}

function compiles(folder: string): void {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
}

function isFormatted(program: string): void {
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "format", "--line-width=110", "--indent-style=space", "--stdin-file-path=program.ts"];
  expect(program).toBe(execFileSync(process.execPath, args, { input: program, encoding: "utf8" }));
}

test.skipIf(!cli)(
  "with a stack, its secrets are set there, its program changes nothing on the CLI, and it has all the second time",
  async () => {
    const emulator = await service();
    seedMixed(emulator, 150);
    const before = emulator.endpoints;
    const stack = await project("", { emulator });
    makeTypeScript(stack.folder);
    await stack.setConfig("secret", { secret: "of something else" });
    const adopt = (...args: string[]) => run(["adopt", "--stack", "test", ...args], stack.env, stack.folder);

    const { code, stderr } = await adopt("--out", "index.ts");
    expect(stderr).toMatch(/Set: 8 secrets of the stack test/);
    expect(code).toBe(0);
    const program = readFileSync(join(stack.folder, "index.ts"), "utf8");
    const settings = readFileSync(join(stack.folder, "Pulumi.test.yaml"), "utf8");
    expect(stderr + program + settings).not.toMatch(CANARIES);
    expect(program).not.toContain('requireSecret("secret")');

    await stack.pulumi("up", "--yes", "--skip-preview");
    await stack.pulumi("preview", "--expect-no-changes");
    await stack.pulumi("refresh", "--yes", "--expect-no-changes");
    expect(writes(emulator)).toEqual([]);
    expect(emulator.endpoints).toEqual(before);
    expect((await stack.state()).text).not.toMatch(CANARIES);

    const again = await adopt();
    expect(again.stderr).toMatch(
      /Left out: 100 that the stack test manages already[\s\S]*Taken: 0 endpoints/,
    );
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 0, stdout: "" });
  },
);
