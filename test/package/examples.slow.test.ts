import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { CliStack, Emulator, findPulumiCli, TestStack, type TestStackOptions } from "../../sdk/testing";
import { startBrex, startEnvironment } from "../e2e/example";
import { pack, root } from "./pack";

/*
 * Makes a project of each example with the packed file's `new`, installs the packed file there, and previews it. Those in YAML
 * and Python need the CLI. `npm run test:installs` also installs Python's packages.
 */
const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-examples-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { tarball } = pack(folder);

const cli = await findPulumiCli();
const previewsYaml = cli && (await findPulumiCli(undefined, "yaml"));
const previewsPython = cli && (await findPulumiCli(undefined, "python")) && process.env["INSTALLS"] === "all";

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

/** @returns What the command printed. */
const makeNew = (example: string, cwd = folder) =>
  run(cwd, join(tool, "node_modules", ".bin", "pulumi-endpoints"), "new", example);

async function installedProject(example: string): Promise<string> {
  await makeNew(example);
  const project = join(folder, example);
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  await run(project, "npm", "install", tarball);
  return project;
}

/** Checks the types with the TypeScript and the settings of the project. */
async function checkTypes(project: string): Promise<void> {
  if (!existsSync(join(project, "tsconfig.json"))) return;
  await run(
    project,
    process.execPath,
    join("node_modules", "typescript", "bin", "tsc"),
    "--noEmit",
    "-p",
    ".",
  );
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

describe.each(examples)("a new project from the example %s", (example) => {
  test("can be installed, compiled and previewed", async () => {
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
  });
});

describe.skipIf(!cli)("with the Pulumi CLI, the commands that new prints for the quickstart", () => {
  test("deploy it on an emulator, whose next start has the same endpoint", async () => {
    const home = join(folder, "home of a user");
    mkdirSync(home);
    const printed = await makeNew("quickstart", home);
    const [install = "", serve = "", deploy = ""] = [...printed.matchAll(/^\n((?: {2}.+\n)+)/gm)].map(
      ([, block = ""]) => block,
    );
    // A release is installed from the registry, this one from its file. There is nobody to confirm an update.
    const npm = `npm() { if [ "$*" = install ]; then command npm install '${tarball}'; else command npm "$@"; fi; }\n`;
    const user = { ...env, PULUMI_HOME: join(home, ".pulumi"), PULUMI_SKIP_CONFIRMATIONS: "true" };
    const terminal = async (commands: string) =>
      (await promisify(execFile)("bash", ["-ec", npm + commands], { cwd: home, env: user })).stdout;

    await terminal(install);
    const project = join(home, "quickstart");
    const emulate = async () => {
      const { baseUrl, apiKey } = accountIn(deploy);
      const child = spawn("bash", ["-ec", serve], { cwd: "/", env: user, detached: true, stdio: "ignore" });
      const ended = once(child, "exit");
      let isStopped = false;
      // As Ctrl-C does, for all of the terminal's processes.
      const stop = async () => {
        if (!isStopped) process.kill(-(child.pid ?? Number.NaN), "SIGINT");
        isStopped = true;
        await ended;
      };
      onTestFinished(stop);
      const headers = { authorization: `Bearer ${apiKey}`, "service-version": "2" };
      const list = () => fetch(`${baseUrl}/endpoints`, { headers }).then((reply) => reply.json());
      await expect.poll(list, { timeout: 30_000 }).toHaveProperty("endpoints");
      return { stop, list };
    };

    const first = await emulate();
    const enter = `cd '${project}'\n`;
    expect(await terminal(enter + deploy)).toMatch(/2 created/);
    const before = await first.list();
    expect(before).toMatchObject({ endpoints: [{ url: "https://shop.example.com" }] });
    await first.stop();

    const second = await emulate();
    expect(await second.list()).toEqual(before);
    const again = deploy.replace(/.*stack init.*\n/, "");
    expect(await terminal(enter + again)).toMatch(/2 unchanged/);
    const refresh = again.replace("pulumi up", "pulumi refresh --run-program --expect-no-changes");
    expect(await terminal(enter + refresh)).toMatch(/2 unchanged/);
    await second.stop();
  });
});

function accountIn(commands: string): { baseUrl: string; apiKey: string } {
  const [, baseUrl = "", apiKey = ""] =
    /ENDPOINTS_BASE_URL=(\S+) ENDPOINTS_API_KEY=(\S+)/.exec(commands) ?? [];
  return { baseUrl, apiKey };
}
