import { execFile } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { readEvents } from "./cliEvents";
import {
  type Command,
  type ConfigValue,
  type ExportedState,
  type ImportFile,
  type ImportOptions,
  type ImportResult,
  type ImportSpec,
  RunFailed,
  type RunOptions,
  type RunResult,
  type Stack,
  type StackOptions,
} from "./types";

/** The programs of tests are small. In seconds. */
const LONGEST_RUN = 180;

/** The path of the Pulumi CLI; undefined unless the CLI and its language host are on the PATH. */
export async function findPulumiCli(path?: string, language = "nodejs"): Promise<string | undefined> {
  return (await findOnPath(`pulumi-language-${language}`, path)) && (await findOnPath("pulumi", path));
}

/** The path of the first program with this name on the PATH; undefined if there is none. */
export async function findOnPath(
  name: string,
  path = process.env["PATH"] ?? "",
): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return file;
  }
  return undefined;
}

/**
 * A stack of the real Pulumi CLI, with its state in a temporary folder. The CLI needs the stack's settings file in the program's
 * folder; `close` removes it. It does not use the Automation API, whose `up` never previews, and which starts three
 * more commands after each run.
 */
export class CliStack implements Stack {
  readonly driver = "cli";
  private readonly stackName: string;
  private runs = 0;

  private constructor(
    private readonly options: StackOptions,
    private readonly folder: string,
  ) {
    this.stackName = options.stackName ?? "test";
  }

  /** @throws Error if there is no CLI, or if the program already has a settings file for a stack with this name. */
  static async create(options: StackOptions): Promise<CliStack> {
    if (!(await findPulumiCli(options.env?.["PATH"]))) {
      throw new Error("there is no Pulumi CLI: pulumi and pulumi-language-nodejs must be on the PATH");
    }
    const stack = new CliStack(options, await mkdtemp(join(tmpdir(), "pulumi-endpoints-")));
    if (existsSync(stack.settingsFile)) {
      await rm(stack.folder, { recursive: true });
      throw new Error(`${stack.settingsFile} already exists; choose another stackName`);
    }
    try {
      await stack.pulumi(["stack", "init", stack.stackName]);
      await stack.setAll(options.config ?? {});
      return stack;
    } catch (error) {
      await stack.close();
      throw error;
    }
  }

  preview(options: RunOptions = {}): Promise<RunResult> {
    return this.run("preview", [], options);
  }

  up(options: RunOptions = {}): Promise<RunResult> {
    return this.run("up", ["--yes"], options);
  }

  refresh(options: RunOptions = {}): Promise<RunResult> {
    const how = options.previewOnly ? ["--preview-only"] : ["--yes", "--skip-preview"];
    return this.run("refresh", how, options);
  }

  destroy(options: RunOptions = {}): Promise<RunResult> {
    return this.run("destroy", ["--yes", "--skip-preview"], options);
  }

  async import(what: ImportSpec[] | ImportFile, options: ImportOptions = {}): Promise<ImportResult> {
    const code = join(this.folder, `code-${++this.runs}`);
    const file = Array.isArray(what) ? join(this.folder, `import-${this.runs}.json`) : what.file;
    if (Array.isArray(what)) await writeFile(file, JSON.stringify({ resources: what }));
    const flags = [
      "--file",
      file,
      "--yes",
      "--skip-preview",
      `--protect=${options.protect ?? true}`,
      ...(options.code ? ["--out", code] : ["--generate-code=false"]),
    ];
    const result = await this.run("import", flags, {});
    return { ...result, ...(options.code && { code: await readFile(code, "utf8") }) };
  }

  async exportState(): Promise<ExportedState> {
    const { stdout } = await this.pulumi(["stack", "export", "--show-secrets"]);
    return JSON.parse(stdout) as ExportedState;
  }

  async importState(state: ExportedState): Promise<void> {
    // The stack encrypts with its own salt, so it keeps its own secrets provider.
    const { secrets_providers } = (await this.exportState()).deployment;
    const deployment = { ...state.deployment, ...(secrets_providers && { secrets_providers }) };
    await this.pulumi(["stack", "import"], JSON.stringify({ ...state, deployment }));
  }

  setConfig(key: string, value: ConfigValue): Promise<void> {
    return this.setAll({ [key]: value });
  }

  private async setAll(config: Record<string, ConfigValue>): Promise<void> {
    const settings = Object.entries(config).flatMap(([key, value]) =>
      typeof value === "string" ? ["--plaintext", `${key}=${value}`] : ["--secret", `${key}=${value.secret}`],
    );
    if (settings.length > 0) await this.pulumi(["config", "set-all", ...settings]);
  }

  async cancel(): Promise<void> {
    await this.pulumi(["cancel", "--yes"]);
  }

  async close(): Promise<void> {
    await rm(this.settingsFile, { force: true });
    await rm(this.folder, { recursive: true, force: true });
  }

  private async run(command: Command, flags: string[], options: RunOptions): Promise<RunResult> {
    const events = join(this.folder, `events-${++this.runs}.json`);
    const urns = await this.urnsOf(options.replace ?? []);
    const started = performance.now();
    const { code, stdout, stderr } = await this.pulumi(
      [
        command,
        ...flags,
        "--event-log",
        events,
        ...(options.expectNoChanges ? ["--expect-no-changes"] : []),
        ...(options.skipPreview && command === "up" ? ["--skip-preview"] : []),
        ...(options.diff ? ["--diff"] : []),
        ...(options.clearPendingCreates ? ["--clear-pending-creates"] : []),
        ...(options.refresh && (command === "up" || command === "preview") ? ["--refresh"] : []),
        ...urns.flatMap((urn) => ["--replace", urn]),
        ...(options.target ?? []).flatMap((urn) => ["--target", urn]),
      ],
      undefined,
      true,
    );
    const seconds = (performance.now() - started) / 1000;
    const result: RunResult = {
      command,
      ok: code === 0,
      seconds,
      outputs: await this.outputs(),
      ...(await readEvents(events, stdout)),
      text: stdout + stderr,
      requests: [],
    };
    if (!result.ok && !result.diagnostics.some((diagnostic) => diagnostic.severity === "error")) {
      result.diagnostics.push({
        severity: "error",
        message: (stderr || stdout).trim().replace(/^error: /, ""),
      });
    }
    if (!result.ok) throw new RunFailed(result);
    return result;
  }

  private async outputs(): Promise<Record<string, unknown>> {
    const args = ["stack", "output", "--json", "--show-secrets"];
    const { code, stdout } = await this.pulumi(args, undefined, true);
    return code === 0 ? (JSON.parse(stdout) as Record<string, unknown>) : {};
  }

  private async urnsOf(names: string[]): Promise<string[]> {
    if (names.length === 0) return [];
    const { resources = [] } = (await this.exportState()).deployment;
    return names.map((name) => resources.find(({ urn }) => urn.endsWith(`::${name}`))?.urn ?? name);
  }

  private get environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      ...this.options.env,
      PULUMI_BACKEND_URL: `file://${this.folder}`,
      PULUMI_HOME: join(this.folder, "home"),
      PULUMI_CONFIG_PASSPHRASE: "only for tests",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      // Enables `--event-log`, a hidden option that the Automation API uses too.
      PULUMI_DEBUG_COMMANDS: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      NO_COLOR: "1",
    };
  }

  private get settingsFile(): string {
    return join(this.options.program, `Pulumi.${this.stackName}.yaml`);
  }

  private pulumi(
    args: string[],
    input?: string,
    mayFail = false,
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const needsStack = args[0] !== "stack" || args[1] !== "init";
    const all = [
      ...args.slice(0, 1),
      "--non-interactive",
      ...(needsStack ? ["--stack", this.stackName] : []),
      ...args.slice(1),
    ];
    const { program: cwd, longestRun = LONGEST_RUN } = this.options;
    return new Promise((resolve, reject) => {
      const child = execFile(
        "pulumi",
        all,
        { cwd, env: this.environment, timeout: longestRun * 1000, maxBuffer: 64 << 20 },
        (error, stdout, stderr) => {
          const code = typeof error?.code === "number" ? error.code : error ? -1 : 0;
          if (code === 0 || (mayFail && code > 0)) resolve({ code, stdout, stderr });
          else
            reject(new Error(`pulumi ${args.slice(0, 2).join(" ")}: ${error?.message}\n${stdout}${stderr}`));
        },
      );
      child.stdin?.end(input ?? "");
    });
  }
}
