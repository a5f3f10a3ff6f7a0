import { execFile } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { access, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { oneLine } from "../../provider/data/index";

/* Runs the Pulumi CLI without questions, and reads its events. */

interface PulumiOptions {
  cwd: string;
  /** The text for stdin. Secrets belong there, because all users can see the arguments of a process. */
  input?: string;
  env?: NodeJS.ProcessEnv;
  /** Whether to read the engine's events. Only for commands that run the engine. */
  events?: boolean;
  /** Stops the command as Ctrl-C does: Pulumi completes its current operations first. Once it is aborted, no command starts. */
  signal?: AbortSignal | undefined;
  /** The time limit in milliseconds; 0 for none. */
  timeout?: number;
}

/** The output of a command of the CLI. */
export interface PulumiResult {
  /** The output, which may contain secrets. */
  stdout: string;
  stderr: string;
  /** What the events say. Undefined if the engine wrote no event, because it did not start. */
  run: EngineRun | undefined;
}

/** A message of the program, a provider or the engine. */
export interface Diagnostic {
  severity: "debug" | "info" | "warning" | "error";
  message: string;
  /** The URN of the resource. Missing if the message is about the stack. */
  urn?: string;
}

/** What the engine did, or in a preview would do. If a command previews first, this is the run after the preview. */
interface EngineRun {
  steps: EngineStep[];
  /** The number of steps by operation. */
  changes: Record<string, number>;
  diagnostics: Diagnostic[];
}

/** A finished operation on a resource. */
export interface EngineStep {
  /** The operation: `same`, `update`, `create-replacement`… */
  op: string;
  urn: string;
  id?: string;
  /** The outputs after the operation, without the values of secrets. */
  outputs?: Record<string, unknown>;
}

/** The error if the CLI failed. Its message is the CLI's, without stdout. */
export class PulumiFailed extends Error {
  override readonly name = "PulumiFailed";
  /** Whether the backend has no stack with this name. */
  readonly isUnknownStack: boolean;

  constructor(
    readonly code: number,
    readonly result: PulumiResult,
  ) {
    const own = oneLine(result.stderr.replace(/^[\s\S]*?error: /, ""));
    const isUnknown = /^no stack named \S+ found$/.test(own);
    const next = isUnknown ? ": `pulumi stack ls --all` lists the stacks" : "";
    const silent = code < 0 ? "the Pulumi CLI was stopped" : "the Pulumi CLI failed without a message";
    super(own + next || silent);
    this.isUnknownStack = isUnknown;
  }
}

/**
 * Runs a command of the CLI.
 *
 * @throws PulumiFailed if it ends with another exit code than 0; Error if there is no CLI; the signal's reason if it is aborted.
 */
export async function pulumi(args: string[], options: PulumiOptions): Promise<PulumiResult> {
  const { cwd, input = "", env = process.env, events, signal, timeout = 0 } = options;
  signal?.throwIfAborted();
  const folder = events ? await mkdtemp(join(tmpdir(), "pulumi-events-")) : "";
  const file = join(folder, "events.json");
  const all = [...args, "--non-interactive", ...(events ? ["--event-log", file] : [])];
  // The check for a newer CLI takes time. The CLI accepts `--event-log` only with the variable for debug commands.
  const environment = {
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ...env,
    ...(events && { PULUMI_DEBUG_COMMANDS: "true" }),
  };
  const whole = { cwd, env: environment, timeout, maxBuffer: Number.POSITIVE_INFINITY };
  try {
    const ended = await new Promise<{ code: number; stdout: string; stderr: string }>((done, failed) => {
      const child = execFile("pulumi", all, whole, (error, stdout, stderr) => {
        signal?.removeEventListener("abort", interrupt);
        if (error?.code === ("ENOENT" as unknown))
          failed(existsSync(cwd) ? noPulumi() : new Error(`there is no folder ${cwd}`));
        else done({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr });
      });
      const interrupt = () => child.kill("SIGINT");
      signal?.addEventListener("abort", interrupt);
      // If the CLI ends before it has read its input, its own message has the reason.
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
    });
    const run = events ? eventsIn(await readFile(file, "utf8").catch(() => "")) : undefined;
    const { code, ...texts } = ended;
    const result = { ...texts, run };
    if (code !== 0) throw new PulumiFailed(code, result);
    return result;
  } finally {
    if (events) await rm(folder, { recursive: true, force: true });
  }
}

const noPulumi = () =>
  new Error(
    "this needs the Pulumi CLI, and there is no pulumi on the PATH: install it (https://www.pulumi.com/docs/install)",
  );

/** @throws Error if there is no Pulumi CLI. */
export async function assertPulumi(): Promise<void> {
  if (!((await findOnPath("pulumi")) ?? (await findOnPath("pulumi.exe")))) throw noPulumi();
}

interface EngineEvent {
  resOutputsEvent?: { metadata: StepMetadata };
  diagnosticEvent?: { urn?: string; message: string; severity: string; ephemeral?: boolean };
  summaryEvent?: { resourceChanges?: Record<string, number> };
}

interface StepMetadata {
  op: string;
  urn: string;
  old?: { id?: string } | null;
  new?: { id?: string; outputs?: Record<string, unknown> } | null;
}

/** Reads an event log. The text after the last line break is left out, because a killed CLI may have written half an event. */
function eventsIn(text: string): EngineRun | undefined {
  const steps = new Map<string, EngineStep>();
  const run: EngineRun = { steps: [], changes: {}, diagnostics: [] };
  let hasEnded = false;
  const lines = text.split("\n").slice(0, -1);
  for (const { summaryEvent, diagnosticEvent, resOutputsEvent } of lines.map(eventOf)) {
    // A summary ends each run: first the preview, then the run after it.
    if (summaryEvent) run.changes = summaryEvent.resourceChanges ?? {};
    hasEnded ||= summaryEvent !== undefined;
    // The log also has the engine's debug messages, which a terminal does not show.
    if (diagnosticEvent && !diagnosticEvent.ephemeral && diagnosticEvent.severity !== "debug") {
      const { urn, message, severity } = diagnosticEvent;
      const kind = severity.startsWith("info") ? "info" : (severity as "warning" | "error");
      // Colours are written as `<{%reset%}>`.
      const uncoloured = message.replace(/<\{%[^%]*%\}>/g, "").trim();
      run.diagnostics.push({ severity: kind, message: uncoloured, ...(urn && { urn }) });
    }
    if (!resOutputsEvent) continue;
    const { op, urn, old, new: fresh } = resOutputsEvent.metadata;
    if (hasEnded) steps.clear();
    hasEnded = false;
    const id = fresh?.id || old?.id;
    // A preview reports a component twice: at its registration, and with its outputs.
    const key = `${op} ${urn} ${id}`;
    if (!steps.has(key))
      steps.set(key, { op, urn, ...(id && { id }), ...(fresh?.outputs && { outputs: fresh.outputs }) });
  }
  return lines.length === 0 ? undefined : { ...run, steps: [...steps.values()] };
}

const eventOf = (line: string) => JSON.parse(line) as EngineEvent;

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

/** The path of the Pulumi CLI; undefined unless the CLI and its language host are on the PATH. */
export async function findPulumiCli(path?: string, language = "nodejs"): Promise<string | undefined> {
  return (await findOnPath(`pulumi-language-${language}`, path)) && (await findOnPath("pulumi", path));
}
