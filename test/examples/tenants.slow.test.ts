import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Tenant } from "../../examples/tenants/tenant";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { compileCopy } from "./tenantsCopy";

const cli = await findPulumiCli();

describe.skipIf(!cli)("with the Pulumi CLI on the PATH, the example tenants", () => {
  test("deploys every tenant, shows drift of all, and removes one", async () => {
    const { emulator, run, folder } = await start(tenantsOf(3, 2));
    expect(await run("preview")).toMatchObject({ code: 0, results: Array(3).fill("create 2") });
    expect(emulator.requests).toEqual([]);
    expect(await run("up")).toMatchObject({ code: 0, results: Array(3).fill("create 2") });
    expect(await run("drift")).toMatchObject({ code: 0 });
    const [edited] = emulator.endpoints;
    emulator.edit(edited?.id ?? "", { description: "by hand" });
    expect(await run("drift")).toMatchObject({ code: 7, text: expect.stringContaining("by hand") });

    expect(await run("remove", "t1")).toMatchObject({ code: 0, results: ["delete 2"] });
    expect(urls(emulator)).toEqual(hostsOf(tenantsOf(3, 2).filter(({ name }) => name !== "t1")));
    expect(existsSync(join(folder, ".pulumi/stacks/tenants/t1.json"))).toBe(false);
  });

  test("a tenant that fails stops no other, and its other endpoints are created", async () => {
    const { emulator, run } = await start(tenantsOf(4, 2));
    emulator.seed({ type: "cloud", url: "https://h0.t1.example.com" });
    const { code, text, results } = await run("up");
    expect({ code, results }).toEqual({
      code: 1,
      results: ["create 2", "failed, create 1", "create 2", "create 2"],
    });
    expect(text).toContain("t1: cannot create https://h0.t1.example.com: POST /endpoints: status 400");
    expect(urls(emulator)).toEqual(hostsOf(tenantsOf(4, 2)));
  });

  test("an uncaught error of one program fails only its tenant", async () => {
    const { run, folder } = await start(tenantsOf(4, 2));
    const program = join(folder, "bin/tenant.js");
    const thrown = 'if (name === "t1") throw new Error("thrown by t1");';
    writeFileSync(program, readFileSync(program, "utf8").replace("const doors", `${thrown} const doors`));
    const { text, results } = await run("up");
    expect(results).toEqual(["create 2", "failed", "create 2", "create 2"]);
    expect(text).toContain("t1: thrown by t1");
  });

  test("after a kill of all processes, the next runs complete every tenant, and double nothing", async () => {
    const tenants = tenantsOf(4, 6);
    const { emulator, begin, run, sh, idsInStates } = await start(tenants);
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
    expect((await idsInStates()).sort()).toEqual(emulator.endpoints.map(({ id }) => id).sort());
    const before = emulator.requests.length;
    expect(await run("up")).toMatchObject({ code: 0, results: Array(4).fill("same 6") });
    expect(emulator.requests.slice(before)).toEqual([]);
  });

  test("after a kill of the runner alone, the running tenants are completed, and the next run creates the others", async () => {
    const tenants = tenantsOf(3, 3);
    const { emulator, begin, run } = await start(tenants);
    emulator.intercept("create", { afterCommit: true, delayMs: 300 }, 9);
    const killed = begin("up", "--at-once", "1");
    await vi.waitUntil(() => emulator.endpoints.length >= 1, { timeout: 120_000 });
    killed.kill("SIGKILL");
    const seen = () => emulator.endpoints.length;
    await vi.waitUntil(() => seen() === 3, { timeout: 60_000 });
    await vi.waitUntil(async () => (await run("up")).code === 0, { timeout: 120_000 });
    expect(urls(emulator)).toEqual(hostsOf(tenants));
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
async function start(tenants: Tenant[]) {
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
  const sh = async (command: string) =>
    (await promisify(execFile)("sh", ["-c", command], { cwd: folder, env })).stdout;
  const idsInStates = async (): Promise<string[]> => {
    const states = await Promise.all(tenants.map(({ name }) => sh(`pulumi stack export --stack ${name}`)));
    return states.flatMap((state) =>
      JSON.parse(state).deployment.resources.flatMap(({ type, id }: { type: string; id: string }) =>
        type.endsWith(":CloudEndpoint") ? [id] : [],
      ),
    );
  };
  return { emulator, folder, begin, run, sh, idsInStates };
}
