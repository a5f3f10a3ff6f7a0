import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Tenant } from "../../examples/tenants/tenant";
import { emulatedService } from "../emulatedService";
import { root } from "../package/pack";
import { cli, localBackend } from "../projects";
import { copyOf } from "./copyOf";

test.skipIf(!cli)(
  "with the Pulumi CLI, the example deploys every tenant but one that fails or throws, shows drift of all, continues after a kill, and removes one",
  async () => {
    const { emulator, runWith, folder } = await start(tenantsOf(4, 2));
    const run = runWith({});
    expect(await runWith({ PATH: "" })("up")).toMatchObject({
      code: 1,
      text: expect.stringContaining("t2: Command failed with ENOENT: pulumi version\nspawn pulumi ENOENT\n"),
      results: Array(4).fill("failed"),
    });
    const unknown = await run("up", "hooli");
    expect(unknown).toMatchObject({ code: 1, text: "there is no tenant hooli in tenants.json\n" });
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

    // A killed run leaves its lock.
    const locks = join(folder, ".pulumi/locks/organization/tenants/t0");
    mkdirSync(locks, { recursive: true });
    const lock = { pid: 1, username: "nobody", hostname: "elsewhere", timestamp: "2026-01-02T03:04:05Z" };
    writeFileSync(join(locks, "00000000-0000-0000-0000-000000000000.json"), JSON.stringify(lock));
    const locked = await run("up");
    expect(locked).toMatchObject({ code: 1, results: ["failed", "same 2", "same 2", "same 2"] });
    expect(locked.text).toMatch(/t0: the stack is locked\. .* use --after-kill/);
    expect(await run("up", "--after-kill")).toMatchObject({ code: 0 });

    expect(await run("remove", "t1")).toMatchObject({ code: 0, results: ["delete 2"] });
    const left = tenantsOf(4, 2).flatMap(({ name, hosts }) => (name === "t1" ? [] : hosts));
    expect(new Set(emulator.endpoints.map(({ url }) => url))).toEqual(
      new Set(left.map((host) => `https://${host}`)),
    );
    expect(existsSync(join(folder, ".pulumi/stacks/tenants/t1.json"))).toBe(false);
  },
);

const tenantsOf = (count: number, hosts: number): Tenant[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `t${index}`,
    hosts: Array.from({ length: hosts }, (_, host) => `h${host}.t${index}.example.com`),
  }));

/** Compiles the example with these tenants, and starts a service with the public one's rate limit. */
async function start(tenants: Tenant[]) {
  const emulator = await emulatedService({ rateLimit: { requests: 120, windowSeconds: 60 } });
  const folder = await compileCopy(tenants);
  const env = {
    ...process.env,
    ...localBackend(folder),
    ENDPOINTS_BASE_URL: emulator.baseUrl,
    ENDPOINTS_API_KEY: emulator.apiKey,
  };
  /** Runs the program in an environment with these variables, too. Returns its exit code, all output, and the column of results. */
  const runWith =
    (more: NodeJS.ProcessEnv) =>
    async (...args: string[]) => {
      const child = spawn(process.execPath, ["bin/index.js", ...args], {
        cwd: folder,
        env: { ...env, ...more },
      });
      const parts: string[] = [];
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (data) => parts.push(String(data)));
      const [code] = await once(child, "close");
      const text = parts.join("");
      const rows = text.matchAll(/^│ t\d+ +│ '([^']*)' *│/gm);
      return { code, text, results: Array.from(rows, ([, result]) => result) };
    };
  return { emulator, folder, runWith };
}

/** Copies the example with these tenants, and compiles it as `npm start` does. */
async function compileCopy(tenants: Tenant[]): Promise<string> {
  const folder = copyOf("tenants");
  writeFileSync(join(folder, "tenants.json"), JSON.stringify(tenants));
  // An installation makes the command executable.
  mkdirSync(join(folder, "node_modules/.bin"));
  const command = `#!/bin/sh\nexec node ${join(root, "dist/sdk/commands/main.js")} "$@"\n`;
  writeFileSync(join(folder, "node_modules/.bin/pulumi-endpoints"), command, { mode: 0o755 });
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [tsc], { cwd: folder });
  return folder;
}
