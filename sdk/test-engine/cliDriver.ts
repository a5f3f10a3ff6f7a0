import { existsSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type EngineStep,
  findPulumiCli,
  PulumiFailed,
  type PulumiResult,
  parseState,
  plain,
  propsFromState,
  pulumi,
} from "../pulumi-cli/index";
import { removeAtExit } from "./cleanup";
import { isUserResource, nameInUrn, ROOT_STACK, rootUrn, typeInUrn } from "./engine/checkpoint";
import { reportedStep } from "./engine/summary";
import { fromSecretForm, propsToState } from "./properties";
import {
  type Command,
  type CommandOptions,
  type ConfigValue,
  type Driver,
  type ExportedState,
  RunFailed,
  type RunResult,
  type StackOptions,
  type Step,
  type StepOp,
} from "./types";

/** The default time limit of a command, in seconds. */
const MAX_RUN = 180;

/**
 * A stack that the Pulumi CLI runs, with its state in a temporary folder. The CLI needs the stack's settings file in the program's
 * folder; `close` removes it. The driver does not use the Automation API, because that never previews in `up` and starts three
 * more commands after each run.
 */
export class CliDriver implements Driver {
  private readonly stackName: string;
  private remove: (() => void) | undefined;

  private constructor(
    private readonly options: StackOptions,
    private readonly folder: string,
  ) {
    this.stackName = options.stackName ?? "test";
  }

  /** @throws Error if there is no CLI, or if the program already has a settings file for a stack with this name. */
  static async create(options: StackOptions): Promise<CliDriver> {
    if (!(await findPulumiCli(options.env?.["PATH"]))) {
      throw new Error("there is no Pulumi CLI: pulumi and pulumi-language-nodejs must be on the PATH");
    }
    const stack = new CliDriver(options, await mkdtemp(join(tmpdir(), "pulumi-cli-")));
    if (existsSync(stack.settingsFile)) {
      await rm(stack.folder, { recursive: true });
      throw new Error(`${stack.settingsFile} already exists; choose another stackName`);
    }
    stack.remove = removeAtExit(() => {
      for (const path of [stack.settingsFile, stack.folder]) rmSync(path, { recursive: true, force: true });
    });
    try {
      await stack.pulumi(["stack", "init"]);
      await stack.setConfigValues(options.config ?? {});
      for (const [name, outputs] of Object.entries(options.stackReferences ?? {}))
        await stack.createReferencedStack(name, outputs);
      return stack;
    } catch (error) {
      await stack.close();
      throw error;
    }
  }

  async exportState(): Promise<ExportedState> {
    const { stdout } = await this.pulumi(["stack", "export", "--show-secrets"]);
    return parseState(stdout);
  }

  async importState(state: ExportedState): Promise<void> {
    // Keeps the stack's own secrets provider, because the stack encrypts with its own salt.
    const { secrets_providers } = (await this.exportState()).deployment;
    const deployment = { ...state.deployment, ...(secrets_providers && { secrets_providers }) };
    await this.pulumi(["stack", "import"], { input: JSON.stringify({ ...state, deployment }) });
  }

  setConfig(key: string, value: ConfigValue): Promise<void> {
    return this.setConfigValues({ [key]: value });
  }

  /** Creates a stack in the same backend that the program can read with `StackReference`. */
  private async createReferencedStack(name: string, outputs: Record<string, unknown>): Promise<void> {
    const [stack = name, project = ""] = name.split("/").reverse();
    const program = join(this.folder, "others", project);
    await mkdir(program, { recursive: true });
    await writeFile(join(program, "Pulumi.yaml"), JSON.stringify({ name: project, runtime: "nodejs" }));
    const other = new CliDriver({ ...this.options, program, stackName: name }, this.folder);
    await other.pulumi(["stack", "init"]);
    const state = await other.exportState();
    const urn = rootUrn({ stack, project });
    const root = { urn, type: ROOT_STACK, custom: false, outputs: propsToState(fromSecretForm(outputs)) };
    await other.importState({ ...state, deployment: { ...state.deployment, resources: [root] } });
  }

  private async setConfigValues(config: Record<string, ConfigValue>): Promise<void> {
    const settings = Object.entries(config).flatMap(([key, value]) =>
      typeof value === "string" ? ["--plaintext", `${key}=${value}`] : ["--secret", `${key}=${value.secret}`],
    );
    if (settings.length > 0) await this.pulumi(["config", "set-all", ...settings]);
  }

  async cancel(): Promise<void> {
    await this.pulumi(["cancel", "--yes"]);
  }

  async close(): Promise<void> {
    this.remove?.();
  }

  async run(command: Command, options: CommandOptions): Promise<RunResult> {
    const { file, protect = true, skipPreview = command !== "up", previewOnly } = options;
    const urns = await this.urnsOf(options.replace ?? []);
    const started = performance.now();
    const args = [
      command,
      ...(previewOnly ? ["--preview-only"] : []),
      ...(command === "preview" || previewOnly ? [] : ["--yes", ...(skipPreview ? ["--skip-preview"] : [])]),
      ...(file ? ["--file", file, `--protect=${protect}`, "--generate-code=false"] : []),
      ...(options.expectNoChanges ? ["--expect-no-changes"] : []),
      ...(options.diff ? ["--diff"] : []),
      ...(options.clearPendingCreates ? ["--clear-pending-creates"] : []),
      ...(options.refresh === undefined ? [] : [`--refresh=${options.refresh}`]),
      ...urns.flatMap((urn) => ["--replace", urn]),
      ...(options.target ?? []).flatMap((urn) => ["--target", urn]),
    ];
    const ended = await this.pulumi(args, { events: true }).catch(failedRun);
    const seconds = (performance.now() - started) / 1000;
    const { stdout, stderr, run, failure } = { failure: undefined, ...ended };
    const { steps = [], changes = {}, diagnostics = [] } = run ?? {};
    const { resources = [] } = (await this.exportState()).deployment;
    const root = resources.find(({ type }) => type === ROOT_STACK);
    const result: RunResult = {
      command,
      ok: failure === undefined,
      seconds,
      outputs: plain(propsFromState(root?.outputs ?? {})),
      steps: steps.filter(({ urn }) => isUserResource(urn)).map((step) => stepWithDiff(step, stdout)),
      changes,
      diagnostics,
      text: stdout + stderr,
      requests: [],
    };
    if (failure === undefined) return result;
    if (!diagnostics.some(({ severity }) => severity === "error"))
      diagnostics.push({ severity: "error", message: failure });
    throw new RunFailed(result);
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
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      NO_COLOR: "1",
    };
  }

  private get settingsFile(): string {
    return join(this.options.program, `Pulumi.${this.stackName}.yaml`);
  }

  private pulumi(args: string[], options: { input?: string; events?: boolean } = {}): Promise<PulumiResult> {
    const { program: cwd, longestRun = MAX_RUN } = this.options;
    const common = { cwd, env: this.environment, timeout: longestRun * 1000 };
    return pulumi([...args, "--stack", this.stackName], { ...common, ...options });
  }
}

/** The output of a run that failed or was stopped. */
function failedRun(error: unknown): PulumiResult & { failure: string } {
  if (error instanceof PulumiFailed) return { ...error.result, failure: error.message };
  throw error;
}

/** A step with its diff. The diff is only in the output for the terminal. */
function stepWithDiff({ op, urn, id, outputs }: EngineStep, text: string): Step {
  // A deletion's line repeats the diff of the replacement, and an import's change is a step of its own.
  const hasNone = /^(delete|discard|import)/.test(op);
  const named = ` ${typeInUrn(urn)} ${nameInUrn(urn)} `;
  const line = text.split("\n").findLast((each) => each.includes(named) && each.includes("[diff: "));
  const diff = hasNone ? undefined : /\[diff: ([^\]]*)\]/.exec(line ?? "")?.[1]?.split(",");
  return reportedStep(op as StepOp, urn, id, expandSigns(diff ?? []), outputs);
}

/** Gives each property its sign. The CLI writes a sign once for all properties that share it: `+a,b~c`. */
function expandSigns(parts: string[]): string[] {
  let sign = "~";
  return parts
    .flatMap((part) => part.split(/(?=[+\-~])/))
    .map((part) => {
      const own = /^[+\-~]/.exec(part)?.[0];
      sign = own ?? sign;
      return own ? part : sign + part;
    });
}
