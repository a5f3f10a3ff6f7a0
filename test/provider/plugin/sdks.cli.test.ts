import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { findOnPath, pulumi } from "../../../sdk/pulumi-cli/index";
import { findPulumiCli } from "../../../sdk/testing";
import { examplesIn } from "../../docs/schemaExamples";
import { root } from "../../package/pack";
import { cli, newProject } from "../../projects";

const run = promisify(execFile);
const tsc = join(root, "node_modules/typescript/bin/tsc");

/** Generates the SDK for a language with Pulumi, which must not warn of the schema. Returns its folder. */
async function generateSdk(language: string): Promise<string> {
  const cwd = newProject("sdk");
  const args = ["package", "gen-sdk", join(root, "provider/plugin"), "--language", language, "--out", "sdk"];
  const { stdout, stderr } = await pulumi(args, { cwd });
  expect(stdout + stderr).not.toMatch(/warning/i);
  return join(cwd, "sdk", language);
}

/** What the compiler prints about a project. */
const mistakesInTypeScript = (folder: string) =>
  spawnSync(process.execPath, [tsc, "--noEmit", "-p", folder], { encoding: "utf8" }).stdout;

describe.skipIf(!cli)("the Node.js SDK that the Pulumi CLI generates", () => {
  test("compiles", async () => {
    const sdk = await generateSdk("nodejs");
    expect(mistakesInTypeScript(sdk)).toBe("");
  });
});

const go = (await findPulumiCli(undefined, "go")) && (await findOnPath("go"));

describe.skipIf(!go)("with pulumi-language-go and go on the PATH, the Go SDK", () => {
  test("builds and passes vet, together with the schema's examples, which are formatted", async (context) => {
    const sdk = await generateSdk("go");
    for (const { name, code } of examplesIn("go")) {
      mkdirSync(join(sdk, "examples", name), { recursive: true });
      writeFileSync(join(sdk, "examples", name, "main.go"), code);
    }
    const inSdk = (file: string, ...args: string[]) =>
      run(file, args, { cwd: sdk, env: { ...process.env, GOFLAGS: "-mod=mod" } });
    await inSdk("go", "build", "./...").catch((error: Error) => {
      context.skip(
        /dial tcp|no such host|GOPROXY/.test(error.message),
        "Pulumi's Go modules are out of reach",
      );
      throw error;
    });
    await inSdk("go", "vet", "./...");
    expect((await inSdk("gofmt", "-l", "examples")).stdout).toBe("");
  });
});
