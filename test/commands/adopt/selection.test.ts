import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { SECRET, SIGNATURE } from "../../../provider/pulumi/sentinels";
import { adoptCommand } from "../../../sdk/commands/adopt";
import type { Emulator } from "../../../sdk/testing";
import { emulatedService } from "../../emulatedService";
import { temporaryFolder } from "../../folders";
import { pathWithPulumi, runInProcess } from "../runCommand";
import { entryOf, projectWith, stateOf, stateWith } from "./stubbedProject";

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
      /^pulumi-endpoints \S+: there is no API key: set ENDPOINTS_API_KEY in the shell's environment, or run .*; the provider reads these two, and no \.env/,
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

const DEV = "organization/web/dev";

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
  const states = { [DEV]: stateOf(mine), "o/blog/prod": stateOf(fresh) };
  const folder = projectWith(states, emulator, { first });
  const { code, stdout } = await adopt(["--cwd", folder, "--stack", "dev"]);
  expect(code).toBe(0);
  expect(idsIn(stdout)).toEqual([free]);
});

test("leaves out what stacks of the backend have or are creating, of any provider, and what a file ignores", async () => {
  const emulator = await emulatedService();
  const [free, mine, theirs, foreign, read, ignored] = seeded(
    ...([emulator, "free", "mine", "theirs", "foreign", "read"] as const),
    "ignored",
  );
  seeded(emulator, "begun");
  const terraform = { type: "ngrok:index/cloudEndpoint:CloudEndpoint" };
  const states = {
    [DEV]: stateOf(mine),
    "organization/api/prod": stateOf(theirs),
    "organization/edge/prod": stateWith([
      entryOf(foreign ?? "", terraform),
      entryOf(read ?? "", { external: true }),
    ]),
    "organization/edge/dev": stateWith([], [{ url: "https://begun.example.com" }]),
  };
  const listed = { projects: [{ folder: ".", stacks: ["dev"] }], ignore: [{ id: ignored, reason: "x" }] };
  const folder = projectWith(states, emulator, { listed });
  const stack = ["--cwd", folder, "--stack", "dev"];
  const { code, stdout, stderr } = await adopt([...stack, "--ignore", join(folder, "stacks.yaml")]);
  expect(code).toBe(0);
  expect(idsIn(stdout)?.sort()).toEqual([free, read].sort());
  for (const line of [
    "the stack web/dev has",
    "the stack api/prod has",
    "the stack edge/prod has",
    "the stack edge/dev is creating",
    "are meant to be there",
  ])
    expect(stderr).toContain(`Left out: 1 that ${line}\n`);
  const inFile = await adopt([...stack, "--projects", join(folder, "stacks.yaml")]);
  expect(idsIn(inFile.stdout)).toEqual(idsIn(stdout));

  const alone = await adopt([], emulator);
  expect(alone.stderr).toContain("No state was read, so a stack may have any of these endpoints");
  expect(idsIn(alone.stdout)).toHaveLength(7);
});

test("leaves out what a stack has in the second backend of a projects file", async () => {
  const emulator = await emulatedService();
  const [free, theirs] = seeded(emulator, "free", "theirs");
  const listed = { projects: [{ folder: "." }, { folder: "second", stacks: ["prod"] }] };
  const first = `case "$PWD $*" in
*second" whoami"*) echo '{"url":"file:///second"}'; exit ;;
*second" stack ls"*) echo '[{"name":"organization/edge/prod"}]'; exit ;;
*"--stack organization/edge/prod --"*) echo '${stateOf(theirs)}'; exit ;;
esac`;
  const folder = projectWith({ [DEV]: stateOf() }, emulator, { listed, first });
  writeFileSync(join(folder, "Pulumi.dev.yaml"), "");
  mkdirSync(join(folder, "second"));
  writeFileSync(join(folder, "second/Pulumi.yaml"), "name: edge\nbackend: { url: file:///second }\n");
  const stack = ["--cwd", folder, "--stack", "dev"];
  const { stdout, stderr } = await adopt([...stack, "--projects", join(folder, "stacks.yaml")]);
  expect(idsIn(stdout)).toEqual([free]);
  expect(stderr).toContain("Left out: 1 that the stack edge/prod has\n");
});

test.each([
  ["a state cannot be read", "", "api/prod: it is locked"],
  [
    "a stack is creating an endpoint with an encrypted URL",
    stateWith([], [{ url: { [SIGNATURE]: SECRET, ciphertext: "v1:x" } }]),
    "api/prod: it is creating an endpoint whose URL is encrypted",
  ],
])("writes no program if %s, because it could adopt what that stack has", async (_, state, reason) => {
  const emulator = await emulatedService();
  seeded(emulator, "free");
  const folder = projectWith({ [DEV]: stateOf(), "organization/api/prod": state }, emulator);
  const { code, stdout, stderr } = await adopt(["--cwd", folder, "--stack", "dev"]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(`because a state cannot be read: ${reason}`);
});

test("exits with 1 if --stack is given and there is no Pulumi CLI on the PATH", async () => {
  vi.stubEnv("PATH", "/nowhere");
  const { code, stderr } = await adopt(["--stack", "dev"], undefined);
  expect(code).toBe(1);
  expect(stderr).toContain("this needs the Pulumi CLI, and there is no pulumi on the PATH");
});

test("names a folder of --cwd that does not exist, and does not say that there is no Pulumi CLI", async () => {
  vi.stubEnv("PATH", pathWithPulumi("exit 1"));
  const { code, stderr } = await adopt(
    ["--cwd", "/nowhere/at/all", "--stack", "dev"],
    await emulatedService(),
  );
  expect([code, stderr]).toEqual([2, expect.stringContaining("does not exist: /nowhere/at/all")]);
});
