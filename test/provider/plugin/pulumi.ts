import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PulumiResult, pulumi } from "../../../sdk/test-engine/index";
import { type ExportedState, findPulumiCli } from "../../../sdk/testing";
import type { Emulator } from "../../../sdk/testing/emulator";
import { localBackend, newProject } from "../../folders";

export { emulatedService as service } from "../../emulatedService";

/* Commands of the Pulumi CLI with this repository's plugin, in a new project for each case. */

export const cli = await findPulumiCli();

const root = join(import.meta.dirname, "..", "..", "..");
const MAIN = join(root, "dist/sdk/commands/main.js");

/** The parts of a generated SDK that these tests need. */
const SDK = `
const pulumi = require("@pulumi/pulumi");
class CloudEndpoint extends pulumi.CustomResource {
  constructor(name, args, options) {
    super("endpoints:index:CloudEndpoint", name, { publicUrl: undefined, createdAt: undefined, ...args }, options);
  }
}
const { Binding } = require("pulumi-endpoints");
const endpoints = { Binding, CloudEndpoint };
`;

/** Generates the SDK for a language with Pulumi. Returns its folder. Throws if Pulumi warns of the schema. */
export async function generateSdk(language: string): Promise<string> {
  const stack = await project("", {});
  const plugin = "../../../provider/plugin";
  const { stdout, stderr } = await stack.pulumi(
    ...["package", "gen-sdk", plugin, "--language", language, "--out", "sdk"],
  );
  if (/warning/i.test(stdout + stderr)) throw new Error(stdout + stderr);
  return join(stack.folder, "sdk", language);
}

/** Creates a stack with this program, and with the emulator's URL and key as its configuration. */
export async function project(
  program: string,
  {
    emulator,
    name = "case",
    environment = {},
  }: { emulator?: Emulator; name?: string; environment?: Record<string, string> },
): Promise<Project> {
  const plugin = JSON.stringify(join(root, "provider", "plugin"));
  const folder = newProject(name, `plugins: {providers: [{name: endpoints, path: ${plugin}}]}\n`);
  const project = new Project(folder, environment);
  project.edit(program);
  await project.pulumi("stack", "init", "test");
  if (emulator) {
    await project.setConfig("endpoints:baseUrl", emulator.baseUrl);
    await project.setConfig("endpoints:apiKey", { secret: emulator.apiKey });
  }
  return project;
}

export class Project {
  constructor(
    readonly folder: string,
    private readonly environment: Record<string, string>,
  ) {}

  edit(program: string): void {
    writeFileSync(join(this.folder, "index.js"), SDK + program);
  }

  async setConfig(key: string, value: string | { secret: string }): Promise<void> {
    const [flag, text] = typeof value === "string" ? ["--plaintext", value] : ["--secret", value.secret];
    await this.pulumi("config", "set", flag, key, text);
  }

  /** The exported state, with encrypted secrets. */
  async state(): Promise<{ text: string; resources: NonNullable<ExportedState["deployment"]["resources"]> }> {
    const text = (await this.pulumi("stack", "export")).stdout;
    const { deployment } = JSON.parse(text) as ExportedState;
    return { text, resources: deployment.resources ?? [] };
  }

  /** Runs a command of the CLI. Throws with its message if it fails. */
  pulumi(...args: string[]): Promise<PulumiResult> {
    return pulumi(args, { cwd: this.folder, env: this.env });
  }

  /** The environment of commands that use this project's state. */
  get env(): Record<string, string | undefined> {
    const ambient = Object.entries(process.env).filter(([name]) => !name.startsWith("ENDPOINTS_"));
    return {
      ...Object.fromEntries(ambient),
      ...localBackend(this.folder),
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      NO_COLOR: "1",
      ENDPOINTS_REQUESTS_PER_WINDOW: "100000",
      ...this.environment,
    };
  }

  /** Runs a command of this package in the project's folder. */
  command(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const options = { cwd: this.folder, env: this.env };
    return new Promise((resolve) => {
      execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr }),
      );
    });
  }
}
