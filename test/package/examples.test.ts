import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { CliStack, Emulator, findPulumiCli, TestStack, type TestStackOptions } from "../../sdk/testing";
import { startBrex, startEnvironment } from "../engine/example";
import { pack, root } from "./pack";

/*
 * Copies each example out of the repository, installs the packed file there, and previews the example. Those in YAML and Python
 * need the CLI. `npm run test:installs` also installs Python's packages.
 */
const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-examples-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { tarball } = pack(folder);

const cli = await findPulumiCli();
const previewsYaml = cli && (await findPulumiCli(undefined, "yaml"));
const previewsPython = cli && (await findPulumiCli(undefined, "python")) && process.env["INSTALLS"] === "all";

async function run(cwd: string, command: string, ...args: string[]): Promise<void> {
  // Without the settings that npm passes to its scripts.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  await promisify(execFile)(command, args, { cwd, env, maxBuffer: 1 << 26 });
}

async function installedCopy(example: string): Promise<string> {
  const copy = join(folder, example);
  cpSync(join(root, "examples", example), copy, {
    recursive: true,
    filter: (file) => !/[/\\](node_modules|bin|sdks|venv)$/.test(file),
  });
  await run(copy, "npm", "install", "--no-audit", "--no-fund", "--prefer-offline", tarball);
  return copy;
}

const OPTIONS =
  "--strict --target es2022 --module nodenext --moduleResolution nodenext --skipLibCheck --types node".split(
    " ",
  );

/** Checks the types with the TypeScript that was installed. */
async function checkTypes(copy: string): Promise<void> {
  const sources = readdirSync(copy).filter((file) => file.endsWith(".ts"));
  if (sources.length === 0) return;
  const options = existsSync(join(copy, "tsconfig.json")) ? ["-p", "."] : [...OPTIONS, ...sources];
  const compiler = join(copy, "node_modules", "typescript", "bin", "tsc");
  await run(copy, process.execPath, compiler, "--noEmit", ...options);
}

/** The settings that an example needs. */
const config: Record<string, () => Promise<NonNullable<TestStackOptions["config"]>>> = {
  accounts: async () => ({ "accounts:partnerApiKey": { secret: "key" } }),
  brex: async () => {
    const brex = await startBrex();
    brex.secrets.push({ secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQ=", status: "ACTIVE" });
    return { "brex:brexApi": brex.url, "brex:brexToken": { secret: "a token" } };
  },
  calendly: async () => ({ "calendly:signingKey": { secret: "a key of our choice" } }),
  yaml: async () => ({
    webhookSecret: { secret: "a secret" },
    partnerKey: { secret: "key" },
    partnerUrl: "http://127.0.0.1:9",
  }),
};

const runtimeName = z.object({ runtime: z.union([z.string(), z.object({ name: z.string() })]) });

/** The example's language. Undefined if it is no stack of its own: a policy pack, or a program with many stacks. */
function languageOf(copy: string): string | undefined {
  const project = join(copy, "Pulumi.yaml");
  if (!existsSync(project) || existsSync(join(copy, "job.ts"))) return undefined;
  const { runtime } = runtimeName.parse(parse(readFileSync(project, "utf8")));
  return typeof runtime === "string" ? runtime : runtime.name;
}

async function previewOnKit(example: string, program: string) {
  if (example === "environments") return (await startEnvironment("dev", "kit", { program })).preview();
  const stack = await TestStack.create({ program, config: (await config[example]?.()) ?? {} });
  onTestFinished(() => stack.close());
  if (example === "lookup") stack.emulator.seed({ type: "ephemeral", url: "https://shop.internal" });
  return stack.preview();
}

async function previewOnCli(example: string, program: string) {
  const emulator = await Emulator.start();
  const env = { ENDPOINTS_BASE_URL: emulator.baseUrl, ENDPOINTS_API_KEY: emulator.apiKey };
  const stack = await CliStack.create({ program, env, config: (await config[example]?.()) ?? {} });
  onTestFinished(async () => {
    await stack.close();
    await emulator.close();
  });
  return stack.preview();
}

const examples = readdirSync(join(root, "examples")).filter(
  // A test of its own creates a project from the template.
  (name) => name !== "template" && existsSync(join(root, "examples", name, "package.json")),
);

describe.each(examples)("a copy of the example %s", (example) => {
  test("can be installed, compiled and previewed", async () => {
    const copy = await installedCopy(example);
    await checkTypes(copy);
    const language = languageOf(copy);
    if (language === "nodejs") {
      expect((await previewOnKit(example, copy)).changes).toEqual({ create: expect.any(Number) });
    } else if (language === "yaml" && previewsYaml) {
      expect((await previewOnCli(example, copy)).changes).toEqual({ create: 4 });
    } else if (language === "python" && previewsPython) {
      await run(copy, "pulumi", "install");
      expect((await previewOnCli(example, copy)).changes).toEqual({ create: 3 });
    }
  });
});
