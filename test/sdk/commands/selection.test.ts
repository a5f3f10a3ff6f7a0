import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { adoptCommand } from "../../../sdk/commands/adopt";
import { importFileCommand } from "../../../sdk/commands/importFile";
import { temporaryFolder } from "../../folders";
import { service } from "../../provider/plugin/pulumi";
import { ranWith } from "./inProcess";

const commands = { adopt: adoptCommand, "import-file": importFileCommand };

describe.each(Object.entries(commands))("%s", (name, command) => {
  test("takes what --select matches, and logs what it leaves out", async () => {
    const emulator = await service();
    for (const host of ["a.shop.example.com", "b.shop.example.com", "api.example.com", "other.internal"])
      emulator.seed({ type: "cloud", url: `https://${host}` });
    emulator.seed({ type: "edge" });
    const patterns = ["https://*.SHOP.example.com", "*://api.*"];
    const { code, stdout, stderr } = await ranWith(
      command,
      patterns.flatMap((pattern) => ["--select", pattern]),
      emulator,
    );
    expect(code).toBe(0);
    for (const host of ["a-shop", "b-shop", "api"]) expect(stdout).toContain(`"${host}-example-com"`);
    expect(stdout).not.toContain("other-internal");
    expect(stderr).toContain("The account has 4 cloud endpoints.\n");
    expect(stderr).toContain("Left out: 1 not matched by --select");
    expect(stderr).toContain("Selected: 3 endpoints");
  });

  test("takes nothing if a pattern matches nothing, or if the result could not be written", async () => {
    const emulator = await service();
    emulator.seed({ type: "cloud", url: "https://shop.example.com" });
    const mistakes: [string[], RegExp][] = [
      [["--select", "tcp://*"], /no cloud endpoint of the account has a URL like tcp:\/\/\*/],
      [["--stack", ""], /--stack must not be empty/],
      [["--out", "nowhere/x.ts"], /nowhere\/x\.ts is in a folder that does not exist/],
      [["--out", ".", "--force"], /--out takes a file, and \. is a folder/],
    ];
    for (const [args, message] of mistakes) {
      const { code, stdout, stderr } = await ranWith(command, args, emulator);
      expect({ code, stdout }, args.join(" ")).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(message);
    }
  });

  test("logs an item of the list that cannot be read, and takes the others", async () => {
    const emulator = await service();
    emulator.seed({ type: "cloud", url: "https://shop.example.com", description: "", metadata: "" });
    const [good] = emulator.endpoints;
    const bad = { ...good, id: "ep_bad", url: ["https://bad.example.com"] };
    const body = { endpoints: [bad, good], next_page_uri: null };
    emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
    const { code, stdout, stderr } = await ranWith(command, [], emulator);
    expect(code).toBe(0);
    expect(stderr).toContain("an endpoint (ep_bad) that cannot be read, and is left out: url");
    expect(stdout).toContain('"shop-example-com"');
  });

  test("overwrites a file only with --force, and sends no request before it has checked that", async () => {
    const emulator = await service();
    const file = join(temporaryFolder(), "result");
    writeFileSync(file, "precious");
    const refused = await ranWith(command, ["--out", file], emulator);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toBe(
      `pulumi-endpoints ${name}: ${file} exists; give --force to overwrite it, or another --out (--help lists the options)\n`,
    );
    expect(emulator.requests).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe("precious");
    emulator.seed({ type: "cloud", url: "https://shop.example.com" });
    expect((await ranWith(command, ["--out", file, "--force"], emulator)).code).toBe(0);
    expect(readFileSync(file, "utf8")).not.toBe("precious");
  });

  test.each([
    [["--selct", "x"], "--selct"],
    [["extra"], "extra"],
    [["--cwd", "."], "--cwd needs --stack"],
    [["--force"], "--force needs --out"],
  ])("refuses %j with a message and 2", async (args, words) => {
    const { code, stdout, stderr } = await ranWith(command, args, undefined);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(words);
    expect(stderr).toContain("(--help lists the options)");
  });

  test("ends with 3 if the key is refused, and with 1 if there is none", async () => {
    const { baseUrl } = await service();
    const refused = await ranWith(command, [], { baseUrl, apiKey: "of-nobody" });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("The API key was refused");
    expect(refused.stderr).not.toContain("of-nobody");
    const none = await ranWith(command, [], undefined);
    expect(none.code).toBe(1);
    expect(none.stderr).toContain("set ENDPOINTS_API_KEY in the environment");
  });

  test("with --stack and without a Pulumi CLI ends with 1 and how to install it", async () => {
    vi.stubEnv("PATH", "/nowhere");
    const { code, stderr } = await ranWith(command, ["--stack", "dev"], undefined);
    expect(code).toBe(1);
    expect(stderr).toContain("--stack needs the Pulumi CLI, and there is no pulumi on the PATH");
  });

  test("lists its options for --help", async () => {
    const { code, stdout } = await ranWith(command, ["--help"], undefined);
    expect(code).toBe(0);
    for (const option of ["--select", "--stack", "--cwd", "--out", "--force", "--help"])
      expect(stdout).toContain(`  ${option} `);
  });
});

test("import-file can name an explicit provider, under a name that no resource has", async () => {
  const emulator = await service();
  const { id } = emulator.seed({ type: "cloud", url: "https://theirs.example.com" });
  const urn = "urn:pulumi:dev::shop::pulumi:providers:endpoints::theirs-example-com";
  const { stdout } = await ranWith(importFileCommand, ["--provider", urn], emulator);
  expect(JSON.parse(stdout)).toEqual({
    nameTable: { "theirs-example-com-provider": urn },
    resources: [
      {
        type: "endpoints:index:CloudEndpoint",
        name: "theirs-example-com",
        id,
        provider: "theirs-example-com-provider",
      },
    ],
  });
  expect((await ranWith(importFileCommand, ["--provider", "theirs"], emulator)).code).toBe(2);
});
