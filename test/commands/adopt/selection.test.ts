import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { adoptCommand } from "../../../sdk/commands/adopt";
import type { Emulator } from "../../../sdk/testing";
import { emulatedService } from "../../emulatedService";
import { temporaryFolder } from "../../folders";
import { pathWithPulumi, runInProcess } from "../runCommand";
import { projectWith, stateOf } from "./stubbedProject";

const adopt = (args: string[], account?: Parameters<typeof runInProcess>[2]) =>
  runInProcess(adoptCommand, args, account);

test("takes the endpoints of --select by URL, id, metadata or binding, leaves out those of --except, and logs the numbers", async () => {
  const emulator = await emulatedService();
  const seed = (host: string, more: object) =>
    emulator.seed({ type: "cloud", url: `https://${host}`, ...more }).id;
  const pooled = [1, 2].map(() => seed("pool.example.com", { pooling_enabled: true }));
  const shop = seed("a.example.com", {});
  const other = seed("b.example.com", {});
  const internal = seed("c.internal", { bindings: ["internal"] });
  const wildcard = seed("*.example.com", {});
  const cases: [string[], string[]][] = [
    [[`--select=${pooled[0]}`], [pooled[0] ?? ""]],
    [["--select", internal], [internal]],
    [
      ["--select=https://A.EXAMPLE.com", "--select=*://b.*"],
      [shop, other],
    ],
    [["--select=https://\\*.example.com"], [wildcard]],
    [
      ["--select=https://*", "--except=*://pool.*", "--except", shop, "--except=*://\\**"],
      [other, internal],
    ],
  ];
  emulator.seed({ type: "edge" });
  for (const [args, ids] of cases) {
    const { code, stdout, stderr } = await adopt(args, emulator);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^The account has 6 cloud endpoints\.\nLeft out: \d (not matched by --select|matched by --except)/,
    );
    expect(stderr).toContain(`Selected: ${ids.length} endpoint`);
    expect((stdout.match(/ep_\w+/g) ?? []).sort(), args.join(" ")).toEqual([...ids].sort());
  }
});

test("is a usage error if a selector matches nothing", async () => {
  const emulator = await emulatedService();
  emulator.seed({ type: "cloud", url: "https://shop.example.com" });
  for (const option of ["--select", "--except"])
    for (const value of ["tcp://*", "ep_nobody", "metadata.team=shop", "binding=public"]) {
      const { code, stdout, stderr } = await adopt([option, value], emulator);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(`no cloud endpoint of the account matches ${option} ${value}: it takes a URL`);
    }
});

test("logs a malformed item of the list, and takes the others", async () => {
  const emulator = await emulatedService();
  emulator.seed({ type: "cloud", url: "https://shop.example.com", description: "", metadata: "" });
  const [good] = emulator.endpoints;
  const bad = { ...good, id: "ep_bad", url: ["https://bad.example.com"] };
  const body = { endpoints: [bad, good], next_page_uri: null };
  emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
  const { code, stdout, stderr } = await adopt([], emulator);
  expect(code).toBe(0);
  expect(stderr).toContain("items that cannot be read and are left out (1): ep_bad (url");
  expect(stdout).toContain('"shop-example-com"');
});

test("overwrites a file only with --force, and otherwise fails before its first request", async () => {
  const emulator = await emulatedService();
  const file = join(temporaryFolder(), "result");
  writeFileSync(file, "precious");
  const refused = await adopt(["--out", file], emulator);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toBe(
    `pulumi-endpoints adopt: ${file} exists; give --force to overwrite it, or another --out\n`,
  );
  expect(emulator.requests).toEqual([]);
  expect(readFileSync(file, "utf8")).toBe("precious");
  emulator.seed({ type: "cloud", url: "https://shop.example.com" });
  expect((await adopt(["--out", file, "--force"], emulator)).code).toBe(0);
  expect(readFileSync(file, "utf8")).not.toBe("precious");
});

test("says that the service refuses the key, or that the key is missing", async () => {
  const { baseUrl } = await emulatedService();
  const refused = await adopt([], { baseUrl, apiKey: "a-key-of-nobody-at-all" });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("The API key was refused");
  expect(refused.stderr).not.toContain("a-key-of-nobody-at-all");
  const none = await adopt([], undefined);
  expect(none.code).toBe(1);
  // One line for each setting.
  expect(none.stderr.split("\n")).toEqual([
    expect.stringMatching(
      /^pulumi-endpoints \S+: there is no API key: set ENDPOINTS_API_KEY in the environment/,
    ),
    expect.stringMatching(/^pulumi-endpoints \S+: there is no base URL/),
    "pulumi-endpoints adopt: With --stack, the account is that of the stack's configuration",
    "",
  ]);
});

test("refuses a stack of another project as the one that will manage the endpoints", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: web\nruntime: nodejs\n");
  const args = ["--cwd", folder, "--stack", "organization/other/dev"];
  const { code, stderr } = await adopt(args, undefined);
  expect(code).toBe(2);
  expect(stderr).toMatch(/organization\/other\/dev is no stack of the project web, which is in/);
});

const idsIn = (stdout: string) => stdout.match(/ep_\w+/g);

/** Ids by their hosts. */
const seeded = (emulator: Emulator, ...hosts: string[]) =>
  hosts.map((host) => emulator.seed({ type: "cloud", url: `https://${host}.example.com` }).id);

test("leaves out endpoints that a stack creates after the command has begun, because states are read after the list", async () => {
  const emulator = await emulatedService();
  const [free, fresh, mine] = seeded(emulator, "free", "fresh", "mine");
  const isListed = join(temporaryFolder(), "listed");
  emulator.intercept(
    ({ path }) => {
      if (path === "/endpoints") writeFileSync(isListed, "");
      return false;
    },
    { status: 500, body: {} },
  );
  const first = `case "$*" in *export*) test -e '${isListed}' || { echo '${stateOf()}'; exit; } ;; esac`;
  const folder = projectWith({ dev: mine, "o/blog/prod": fresh }, emulator, { first });
  const { code, stdout } = await adopt(["--cwd", folder, "--stack", "dev", "--known", "o/blog/prod"]);
  expect(code).toBe(0);
  expect(idsIn(stdout)).toEqual([free]);
});

test("leaves out the endpoints of stacks that differ only in their organizations", async () => {
  const emulator = await emulatedService();
  const [free, old, moved] = seeded(emulator, "free", "old", "moved");
  const listed = { projects: [{ folder: ".", stacks: ["old/dev", "new/dev"] }] };
  const folder = projectWith({ "old/dev": old, "new/dev": moved }, emulator, { listed });
  const { code, stdout, stderr } = await adopt(["--projects", join(folder, "stacks.yaml")], emulator);
  expect(code).toBe(0);
  expect(idsIn(stdout)).toEqual([free]);
  expect(stderr).toContain("Left out: 1 that the stack old/web/dev manages already");
});

test("leaves out endpoints that the target stack or the stacks of a file manage, or that the file ignores", async () => {
  const emulator = await emulatedService();
  const [free, mine, theirs, ignored] = seeded(emulator, "free", "mine", "theirs", "ignored");
  const ignore = [{ id: ignored, reason: "x" }];
  const listed = { projects: [{ folder: ".", stacks: ["prod"] }], ignore };
  const folder = projectWith({ dev: mine, prod: theirs }, emulator, { listed });
  const file = join(folder, "stacks.yaml");
  const stack = ["--cwd", folder, "--stack", "dev"];
  const { code, stdout, stderr } = await adopt([...stack, "--projects", file]);
  expect(code).toBe(0);
  expect(idsIn(stdout)).toEqual([free]);
  for (const line of [
    "the stack web/prod manages already",
    "the stack dev manages already",
    "are meant to be there",
  ])
    expect(stderr).toContain(`Left out: 1 that ${line}\n`);
  for (const args of [stack, []])
    expect((await adopt(args, emulator)).stderr).toContain("No other stack was read, and an endpoint");

  const named = await adopt([...stack, "--known", "prod", "--ignore", file]);
  expect(idsIn(named.stdout)).toEqual([free]);
  expect(named.stderr).toContain("Left out: 1 that the stack prod manages already\n");
  expect(named.stderr).not.toContain("No other stack was read");
});

test("names the stacks of the backend that were not read, at most ten, without the target", async () => {
  const emulator = await emulatedService();
  emulator.seed({ type: "cloud", url: "https://free.example.com" });
  const warned = async (stacks: string[] | undefined, ...args: string[]) => {
    const list = JSON.stringify(stacks?.map((name) => ({ name })));
    const first = `case "$*" in "stack ls --all --json"*) ${stacks ? `echo '${list}'` : "exit 1"}; exit ;; esac`;
    const listed = { projects: [{ folder: ".", stacks: ["prod"] }] };
    const states = { prod: "ep_x", "organization/shop/dev": "ep_y", dev: "ep_z" };
    const folder = projectWith(states, emulator, { first, listed });
    const file = join(folder, "stacks.yaml");
    const own = ["--cwd", folder, "--stack", "dev"];
    const { code, stderr } = await adopt([...own, ...args.map((one) => (one === "FILE" ? file : one))]);
    expect(code).toBe(0);
    return /^(No other|Not every) stack was read, and an endpoint does not show who manages it\. (.*)$/m
      .exec(stderr)
      ?.slice(1);
  };
  const option = "with --known or --projects";
  const all = ["dev", "prod", "organization/shop/dev"];
  const named = (...stacks: string[]) => `Name the backend's other stacks ${option}: ${stacks.join(", ")}`;
  expect(await warned(all)).toEqual(["No other", named("prod", "organization/shop/dev")]);
  expect(await warned(all, "--known", "prod")).toEqual(["Not every", named("organization/shop/dev")]);
  expect(await warned(all, "--projects", "FILE")).toEqual(["Not every", named("organization/shop/dev")]);
  const known = ["--known", "prod", "--known", "organization/shop/dev"];
  expect(await warned(all, ...known)).toBeUndefined();
  expect(await warned(undefined, ...known)).toBeUndefined();
  const many = Array.from({ length: 12 }, (_, index) => `org/p/s${index}`);
  expect((await warned(many))?.[1]).toMatch(/: org\/p\/s0, (org\/p\/s\d, ){9}and 2 more$/);
  expect(await warned(["organization/web/dev"])).toEqual([
    "No other",
    "This backend has no other stack, but another backend may have one",
  ]);
  const unknown = `Name the stacks of \`pulumi stack ls --all\` ${option}`;
  expect(await warned(undefined)).toEqual(["No other", unknown]);
});

test("exits with 1 if --stack is given and there is no Pulumi CLI on the PATH", async () => {
  vi.stubEnv("PATH", "/nowhere");
  const { code, stderr } = await adopt(["--stack", "dev"], undefined);
  expect(code).toBe(1);
  expect(stderr).toContain("this needs the Pulumi CLI, and there is no pulumi on the PATH");
  const folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: web\n");
  writeFileSync(join(folder, "stacks.yaml"), "projects: [{ folder: ., stacks: [dev] }]\n");
  const listed = await adopt(["--projects", join(folder, "stacks.yaml")], await emulatedService());
  expect(listed.code).toBe(1);
  expect(listed.stderr).toContain("this needs the Pulumi CLI, and there is no pulumi on the PATH");
});

test("names a folder of --cwd that does not exist, and does not say that there is no Pulumi CLI", async () => {
  vi.stubEnv("PATH", pathWithPulumi("exit 1"));
  const { code, stderr } = await adopt(
    ["--cwd", "/nowhere/at/all", "--known", "o/blog/prod"],
    await emulatedService(),
  );
  expect(code).toBe(1);
  expect(stderr).toContain("there is no folder /nowhere/at/all");
});
