import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { CliStack, Emulator, findPulumiCli, TestStack, type TestStackOptions } from "../../sdk/testing";
import { startBrex, startEnvironment } from "../e2e/example";
import { pack, root } from "./pack";

/*
 * Makes a project of an example with the packed file's `new`, installs the packed file there, checks its types, and previews it:
 * of the quickstart, and with `npm run test:installs` of each example. Those in YAML and Python need the CLI.
 */
const isLong = process.env["INSTALLS"] === "all";
const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-examples-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { tarball } = pack(folder);

const cli = await findPulumiCli();
const previewsYaml = cli && (await findPulumiCli(undefined, "yaml"));
const previewsPython = cli && (await findPulumiCli(undefined, "python"));

/** As a user's shell: without the settings that npm passes to its scripts, and without an account. */
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|ENDPOINTS_|PULUMI_(BACKEND|CONFIG))/i.test(name)),
  ),
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_prefer_offline: "true",
};

async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)(command, args, { cwd, env, maxBuffer: 1 << 26 })).stdout;
}

/** Where `npx` would install the package. */
const tool = join(folder, "tool");
beforeAll(async () => {
  mkdirSync(tool);
  await run(tool, "npm", "install", tarball);
});

async function installedProject(example: string): Promise<string> {
  await run(folder, join(tool, "node_modules", ".bin", "pulumi-endpoints"), "new", example);
  const project = join(folder, example);
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  await run(project, "npm", "install", tarball);
  return project;
}

/** Checks the types with the TypeScript and the settings of the project. */
async function checkTypes(project: string): Promise<void> {
  const compiler = join("node_modules", "typescript", "bin", "tsc");
  if (existsSync(join(project, "tsconfig.json"))) await run(project, process.execPath, compiler, "-p", ".");
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
function languageOf(project: string): string | undefined {
  const settings = join(project, "Pulumi.yaml");
  if (!existsSync(settings) || existsSync(join(project, "job.ts"))) return undefined;
  const { runtime } = runtimeName.parse(parse(readFileSync(settings, "utf8")));
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

test.each(isLong ? examples : ["quickstart"])(
  "a new project from the example %s can be installed, compiled and previewed",
  async (example) => {
    const project = await installedProject(example);
    await checkTypes(project);
    const language = languageOf(project);
    if (language === "nodejs") {
      expect((await previewOnKit(example, project)).changes).toEqual({ create: expect.any(Number) });
    } else if (language === "yaml" && previewsYaml) {
      expect((await previewOnCli(example, project)).changes).toEqual({ create: 4 });
    } else if (language === "python" && previewsPython) {
      await run(project, "pulumi", "install");
      expect((await previewOnCli(example, project)).changes).toEqual({ create: 3 });
    }
  },
);
