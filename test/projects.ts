import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { type PulumiResult, pulumi } from "../sdk/pulumi-cli/index";
import { FAST_START } from "../sdk/test-engine/test/fastStart";
import { type ExportedState, findPulumiCli, TestStack, type TestStackOptions } from "../sdk/testing";
import type { Emulator } from "../sdk/testing/emulator";
import { type CommandResult, runCommand } from "./commands/runCommand";
import { programFolder, temporaryFolder } from "./folders";
import { root } from "./package/pack";

/*
 * How tests start Pulumi projects. `newTestStack` starts one stack on the test kit's engine or on the CLI. A `Backend` has any number of
 * projects and stacks, and their commands run on the CLI as a user's do.
 */

export const cli = await findPulumiCli();

const plugin = JSON.stringify(join(root, "provider", "plugin"));
const WITH_PLUGIN = `plugins: { providers: [{ name: endpoints, path: ${plugin} }] }\n`;

/**
 * Creates the folder of a Pulumi project, without a program.
 *
 * @param settings Additional lines of Pulumi.yaml.
 */
export function newProject(name: string, settings = WITH_PLUGIN): string {
  const folder = programFolder();
  const runtime = "runtime: { name: nodejs, options: { typescript: false } }\n";
  writeFileSync(join(folder, "Pulumi.yaml"), `name: ${name}\n${runtime}${settings}`);
  writeFileSync(join(folder, "package.json"), `{"name": "${name}", "main": "index.js"}\n`);
  return folder;
}

/** What each program can use: this package's class, and as `endpoints` the classes of a generated SDK for the plugin. */
const HEAD = `
const pulumi = require("@pulumi/pulumi");
const { CloudEndpoint } = require("pulumi-endpoints");
const endpoints = {
  Binding: require("pulumi-endpoints").Binding,
  Provider: class extends pulumi.ProviderResource {
    constructor(name, args = {}, options = {}) { super("endpoints", name, args, options); }
  },
  CloudEndpoint: class extends pulumi.CustomResource {
    constructor(name, args, options) {
      const outputs = ["publicUrl", "createdAt", "trafficPolicy", "description", "metadata"].map((output) => [output, undefined]);
      super("endpoints:index:CloudEndpoint", name, { ...Object.fromEntries(outputs), ...args }, options);
    }
  },
};
`;

export const writeProgram = (folder: string, program: string): void =>
  writeFileSync(join(folder, "index.js"), HEAD + program);

/** Starts a stack of a new project. The caller closes it. */
export async function newTestStack(program: string, options: Partial<TestStackOptions> = {}) {
  const folder = newProject("case");
  writeProgram(folder, program);
  const env = { ...FAST_START, ...options.env };
  return { folder, stack: await TestStack.create({ program: folder, ...options, env }) };
}

/** The environment of a Pulumi CLI whose states and settings are in this folder. */
export const localBackend = (folder: string) => ({
  PULUMI_BACKEND_URL: `file://${folder}`,
  PULUMI_HOME: join(folder, "home"),
  PULUMI_CONFIG_PASSPHRASE: "only for tests",
  PULUMI_SKIP_UPDATE_CHECK: "true",
});

/** A backend in a folder. Its projects find the emulated service by the environment. */
export class Backend {
  readonly folder = temporaryFolder();

  constructor(private readonly emulator: Emulator) {}

  /** Creates a project with this program, and selects a new stack. */
  async project(
    program: string,
    {
      name = "shop",
      stack = "test",
      environment = {},
    }: { name?: string; stack?: string; environment?: NodeJS.ProcessEnv } = {},
  ): Promise<Project> {
    const own = Object.keys(process.env).filter((variable) => variable.startsWith("ENDPOINTS_"));
    const project = new Project(newProject(name), {
      ...process.env,
      ...Object.fromEntries(own.map((variable) => [variable, undefined])),
      ...localBackend(this.folder),
      ...FAST_START,
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      NO_COLOR: "1",
      ENDPOINTS_BASE_URL: this.emulator.baseUrl,
      ENDPOINTS_API_KEY: this.emulator.apiKey,
      ENDPOINTS_REQUESTS_PER_WINDOW: "100000",
      ...environment,
    });
    project.edit(program);
    await project.pulumi("stack", "init", stack);
    return project;
  }
}

export class Project {
  constructor(
    readonly folder: string,
    /** The environment of its commands, which a test may change. */
    readonly env: NodeJS.ProcessEnv,
  ) {}

  edit(program: string): void {
    writeProgram(this.folder, program);
  }

  /** Runs a command of the CLI. Throws with its message if it fails. */
  pulumi(...args: string[]): Promise<PulumiResult> {
    return pulumi(args, { cwd: this.folder, env: this.env });
  }

  up(...args: string[]): Promise<PulumiResult> {
    return this.pulumi("up", ...UNASKED, ...args);
  }

  /** Starts an `up` that a test can kill, with all processes that it starts. */
  startUp(...args: string[]) {
    const how = { cwd: this.folder, env: this.env, detached: true, stdio: "ignore" } as const;
    const child = spawn("pulumi", ["up", ...UNASKED, "--non-interactive", ...args], how);
    const kill = async (pid: number) => {
      const ended = once(child, "exit");
      process.kill(pid, "SIGKILL");
      await ended;
    };
    const { pid = 0 } = child;
    onTestFinished(() => void child.kill("SIGKILL"));
    return { killEngine: () => kill(pid), killAll: () => kill(-pid) };
  }

  async setSecret(key: string, value: string): Promise<void> {
    await this.pulumi("config", "set", "--secret", key, value);
  }

  /** The exported state, with encrypted secrets. */
  async state(): Promise<{ text: string; resources: NonNullable<ExportedState["deployment"]["resources"]> }> {
    const text = (await this.pulumi("stack", "export")).stdout;
    return { text, resources: (JSON.parse(text) as ExportedState).deployment.resources ?? [] };
  }

  /** The cloud endpoints in the state. */
  async endpoints(): Promise<{ id: string; urn: string }[]> {
    const { resources } = await this.state();
    return resources.flatMap(({ type, id = "", urn }) =>
      type.endsWith("CloudEndpoint") ? [{ id, urn }] : [],
    );
  }

  /** The ids of the cloud endpoints in the state, sorted. */
  async ids(): Promise<string[]> {
    return (await this.endpoints()).map(({ id }) => id).sort();
  }

  /** Runs a command of this package in the project's folder. */
  command(...args: string[]): Promise<CommandResult> {
    return runCommand(args, this.env, this.folder);
  }

  /** Runs commands as a page or a message has them, and returns all that they print. Here they do not ask, and preview only on demand. */
  async sh(commands: string, cwd = this.folder): Promise<string> {
    const shell = `exec 2>&1\nnpx() { shift; node ${join(root, "dist/sdk/commands/main.js")} "$@"; }`;
    const unasked = commands
      .replace(/\bpulumi (state delete|cancel)\b(?!.* --yes)/g, "$& --yes")
      .replace(/\bpulumi (up|refresh)\b(?!.* --(yes|preview-only))/g, `$& ${UNASKED.join(" ")}`);
    const run = promisify(execFile)("bash", ["-ec", `${shell}\n${unasked}`], { cwd, env: this.env });
    return run.then(
      ({ stdout }) => stdout,
      (cause: { stdout?: string }) => {
        throw new Error(`${unasked}: ${cause.stdout}`, { cause });
      },
    );
  }

  /** What commands print that must fail. */
  failing(commands: string): Promise<string> {
    return this.sh(commands).then(
      (output) => Promise.reject(new Error(`${commands} did not fail: ${output}`)),
      ({ message }: Error) => message,
    );
  }
}

const UNASKED = ["--yes", "--skip-preview"];
