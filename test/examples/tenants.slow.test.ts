import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Tenant } from "../../examples/tenants/tenant";
import { Emulator, findPulumiCli, TestStack } from "../../sdk/testing";
import { copyOf } from "../e2e/example";
import { temporaryFolder } from "../folders";
import { root } from "../package/pack";

const cli = await findPulumiCli();

test("the program of a tenant creates a front door for each of its hosts", async () => {
  const folder = copyOf("tenants");
  const program =
    'import { programOf } from "./tenant";\nexport = programOf({ name: "acme", hosts: ["a.example.com"] });\n';
  writeFileSync(join(folder, "index.ts"), program);
  await using stack = await TestStack.create({ program: folder, driver: "kit" });
  const { outputs } = await stack.up({ skipPreview: true });
  expect(outputs).toEqual({ urls: ["https://a.example.com"] });
  const [endpoint] = stack.emulator.endpoints;
  expect(JSON.parse(endpoint?.metadata ?? "")).toEqual({ tenant: "acme" });
  expect(JSON.parse(endpoint?.traffic_policy ?? "")).toEqual({
    on_http_request: [{ actions: [{ type: "forward-internal", config: { url: "https://acme.internal" } }] }],
  });
});

test("without a CLI every tenant is a failed row of the table, and wrong arguments are refused", async () => {
  const { run } = await start(tenantsOf(3, 1), { PATH: "" });
  const { code, text, results } = await run("up", "--at-once", "2");
  expect({ code, results }).toEqual({ code: 1, results: Array(3).fill("failed") });
  expect(text).toContain("t2: Command failed with ENOENT: pulumi version\nspawn pulumi ENOENT\n");
  for (const [args, message] of [
    [["remove"], "name the tenants to remove"],
    [["up", "hooli"], "there is no tenant hooli in tenants.json"],
    [["up", "--at-once", "none"], "--at-once must be a positive number"],
    [["deploy"], "give a command: up, preview, drift or remove"],
  ] as const)
    expect(await run(...args)).toMatchObject({ code: 1, text: `${message}\n` });
});

describe.skipIf(!cli)("with the Pulumi CLI on the PATH, the example tenants", () => {
  test("deploys every tenant but one that fails or throws, shows drift of all, and removes one", async () => {
    const { emulator, run, folder } = await start(tenantsOf(4, 2));
    expect(await run("preview")).toMatchObject({ code: 0, results: Array(4).fill("create 2") });
    expect(emulator.requests).toEqual([]);

    const theirs = emulator.seed({ type: "cloud", url: "https://h0.t1.example.com" });
    const program = join(folder, "bin/tenant.js");
    const right = readFileSync(program, "utf8");
    const thrown = 'if (name === "t2") throw new Error("thrown by t2");';
    writeFileSync(program, right.replace("const doors", `${thrown} const doors`));
    const { code, text, results } = await run("up");
    expect({ code, results }).toEqual({
      code: 1,
      results: ["create 2", "failed, create 1", "failed", "create 2"],
    });
    expect(text).toContain("t1: cannot create https://h0.t1.example.com: POST /endpoints: status 400");
    expect(text).toContain("t2: thrown by t2");

    writeFileSync(program, right);
    emulator.remove(theirs.id);
    expect(await run("up")).toMatchObject({
      code: 0,
      results: ["same 2", expect.stringMatching(/create 1/), "create 2", "same 2"],
    });
    expect(await run("drift")).toMatchObject({ code: 0 });
    const [edited] = emulator.endpoints;
    emulator.edit(edited?.id ?? "", { description: "by hand" });
    expect(await run("drift")).toMatchObject({ code: 7, text: expect.stringContaining("by hand") });

    expect(await run("remove", "t1")).toMatchObject({ code: 0, results: ["delete 2"] });
    expect(urls(emulator)).toEqual(hostsOf(tenantsOf(4, 2).filter(({ name }) => name !== "t1")));
    expect(existsSync(join(folder, ".pulumi/stacks/tenants/t1.json"))).toBe(false);
  });

  test("after a kill of all processes, the next runs complete every tenant, and double nothing", async () => {
    const tenants = tenantsOf(4, 6);
    const { emulator, begin, run, sh } = await start(tenants);
    emulator.intercept("create", { afterCommit: true, delayMs: 300 }, 24);
    const killed = begin("up", "--at-once", "2");
    await vi.waitUntil(() => emulator.endpoints.length >= 8, { timeout: 120_000 });
    process.kill(-(killed.pid ?? 0), "SIGKILL");
    await once(killed, "exit");
    expect(emulator.endpoints.length).toBeLessThan(24);
    // As docs/reliability.md says: a kill can truncate these files.
    await sh("find .pulumi -name '*.attrs' -size 0 -delete");

    const locked = await run("up");
    expect(locked.code).toBe(1);
    expect(locked.text).toMatch(/t\d: the stack is locked\. .* use --after-kill/);
    expect(locked.results.filter((result) => result === "failed").length).toBeLessThanOrEqual(2);
    expect(await run("up", "--after-kill")).toMatchObject({ code: 0 });

    expect(urls(emulator)).toEqual(hostsOf(tenants));
    const before = emulator.requests.length;
    expect(await run("up")).toMatchObject({ code: 0, results: Array(4).fill("same 6") });
    expect(emulator.requests.slice(before)).toEqual([]);
  });
});

const tenantsOf = (count: number, hosts: number): Tenant[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `t${index}`,
    hosts: Array.from({ length: hosts }, (_, host) => `h${host}.t${index}.example.com`),
  }));
const hostsOf = (tenants: Tenant[]) =>
  tenants.flatMap(({ hosts }) => hosts.map((host) => `https://${host}`)).sort();
const urls = ({ endpoints }: Emulator) => endpoints.map(({ url }) => url).sort();

/** Copies the example with these tenants, and starts a service with the public one's rate limit. */
async function start(tenants: Tenant[], more: NodeJS.ProcessEnv = {}) {
  const emulator = await Emulator.start({ rateLimit: { requests: 120, windowSeconds: 60 } });
  onTestFinished(() => emulator.close());
  const folder = await compileCopy(tenants);
  const env = {
    ...process.env,
    PULUMI_BACKEND_URL: `file://${folder}`,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_CONFIG_PASSPHRASE: "only for tests",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ENDPOINTS_BASE_URL: emulator.baseUrl,
    ENDPOINTS_API_KEY: emulator.apiKey,
    ...more,
  };
  /** Starts the example in a process group of its own. */
  const begin = (...args: string[]): ChildProcess => {
    const child = spawn(process.execPath, ["bin/index.js", ...args], { cwd: folder, env, detached: true });
    onTestFinished(() => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGKILL");
    });
    return child;
  };
  /** The exit code, all output, and the column of results. */
  const run = async (...args: string[]) => {
    const child = begin(...args);
    const parts: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => parts.push(String(data)));
    const [code] = await once(child, "close");
    const text = parts.join("");
    const rows = text.matchAll(/^│ t\d+ +│ '([^']*)' *│/gm);
    return { code, text, results: Array.from(rows, ([, result]) => result) };
  };
  const sh = (command: string) => promisify(execFile)("sh", ["-c", command], { cwd: folder, env });
  return { emulator, folder, begin, run, sh };
}

/** Copies the example out of the repository, with the repository's packages, and compiles it as `npm start` does. */
async function compileCopy(tenants: Tenant[]): Promise<string> {
  const folder = temporaryFolder();
  cpSync(join(root, "examples", "tenants"), folder, { recursive: true });
  writeFileSync(join(folder, "tenants.json"), JSON.stringify(tenants));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules")).filter((name) => !name.startsWith(".")))
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  // An installation makes the command executable.
  const command = `#!/bin/sh\nexec node ${join(root, "dist/sdk/commands/main.js")} "$@"\n`;
  writeFileSync(join(modules, ".bin/pulumi-endpoints"), command, { mode: 0o755 });
  await promisify(execFile)(process.execPath, [join(modules, "typescript/bin/tsc")], { cwd: folder });
  return folder;
}
