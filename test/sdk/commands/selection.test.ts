import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { adoptCommand } from "../../../sdk/commands/adopt";
import { importFileCommand } from "../../../sdk/commands/importFile";
import { temporaryFolder } from "../../folders";
import { service } from "../../provider/plugin/pulumi";
import { runInProcess } from "./runCommand";

const commands = { adopt: adoptCommand, "import-file": importFileCommand };

describe.each(Object.entries(commands))("%s", (name, command) => {
  test("takes the endpoints that --select matches, and logs the number of the others", async () => {
    const emulator = await service();
    for (const host of ["a.shop.example.com", "b.shop.example.com", "api.example.com", "other.internal"])
      emulator.seed({ type: "cloud", url: `https://${host}` });
    emulator.seed({ type: "edge" });
    const patterns = ["https://*.SHOP.example.com", "*://api.*"];
    const { code, stdout, stderr } = await runInProcess(
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

  test("is a usage error if a pattern matches nothing or if the file cannot be written", async () => {
    const emulator = await service();
    emulator.seed({ type: "cloud", url: "https://shop.example.com" });
    const mistakes: [string[], RegExp][] = [
      [["--select", "tcp://*"], /no cloud endpoint of the account has a URL like tcp:\/\/\*/],
      [["--stack", ""], /--stack must not be empty/],
      [["--out", "nowhere/x.ts"], /nowhere\/x\.ts is in a folder that does not exist/],
      [["--out", ".", "--force"], /--out takes a file, and \. is a folder/],
    ];
    for (const [args, message] of mistakes) {
      const { code, stdout, stderr } = await runInProcess(command, args, emulator);
      expect({ code, stdout }, args.join(" ")).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(message);
    }
  });

  test("logs a malformed item of the list, and takes the others", async () => {
    const emulator = await service();
    emulator.seed({ type: "cloud", url: "https://shop.example.com", description: "", metadata: "" });
    const [good] = emulator.endpoints;
    const bad = { ...good, id: "ep_bad", url: ["https://bad.example.com"] };
    const body = { endpoints: [bad, good], next_page_uri: null };
    emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
    const { code, stdout, stderr } = await runInProcess(command, [], emulator);
    expect(code).toBe(0);
    expect(stderr).toContain("an endpoint (ep_bad) that cannot be read and is left out: url");
    expect(stdout).toContain('"shop-example-com"');
  });

  test("overwrites a file only with --force, and otherwise fails before its first request", async () => {
    const emulator = await service();
    const file = join(temporaryFolder(), "result");
    writeFileSync(file, "precious");
    const refused = await runInProcess(command, ["--out", file], emulator);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toBe(
      `pulumi-endpoints ${name}: ${file} exists; give --force to overwrite it, or another --out (--help lists the options)\n`,
    );
    expect(emulator.requests).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe("precious");
    emulator.seed({ type: "cloud", url: "https://shop.example.com" });
    expect((await runInProcess(command, ["--out", file, "--force"], emulator)).code).toBe(0);
    expect(readFileSync(file, "utf8")).not.toBe("precious");
  });

  test.each([
    [["--selct", "x"], "--selct"],
    [["extra"], "extra"],
    [["--cwd", "."], "--cwd needs --stack"],
    [["--force"], "--force needs --out"],
  ])("exits with 2 and a message for %j", async (args, words) => {
    const { code, stdout, stderr } = await runInProcess(command, args, undefined);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(words);
    expect(stderr).toContain("(--help lists the options)");
  });

  test("exits with 3 if the service refuses the key, and with 1 if the key is missing", async () => {
    const { baseUrl } = await service();
    const refused = await runInProcess(command, [], { baseUrl, apiKey: "of-nobody" });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("The API key was refused");
    expect(refused.stderr).not.toContain("of-nobody");
    const none = await runInProcess(command, [], undefined);
    expect(none.code).toBe(1);
    expect(none.stderr).toContain("set ENDPOINTS_API_KEY in the environment");
  });

  test("exits with 1 if --stack is given and there is no Pulumi CLI on the PATH", async () => {
    vi.stubEnv("PATH", "/nowhere");
    const { code, stderr } = await runInProcess(command, ["--stack", "dev"], undefined);
    expect(code).toBe(1);
    expect(stderr).toContain("--stack needs the Pulumi CLI, and there is no pulumi on the PATH");
  });
});

test("import-file gives an explicit provider a name that no resource has", async () => {
  const emulator = await service();
  const { id } = emulator.seed({ type: "cloud", url: "https://theirs.example.com" });
  const urn = "urn:pulumi:dev::shop::pulumi:providers:endpoints::theirs-example-com";
  const { stdout } = await runInProcess(importFileCommand, ["--provider", urn], emulator);
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
  expect((await runInProcess(importFileCommand, ["--provider", "theirs"], emulator)).code).toBe(2);
});
