import type { ImportSpec, RunOptions } from "../types";
import { Checkpoint } from "./checkpoint";
import { Deployment } from "./deployment";
import { Display, type Kind } from "./display";
import { Executor } from "./executor";
import { Importer } from "./importer";
import { Monitor } from "./monitor";
import { type Child, type Launch, startProgram } from "./processes";
import { providersOf } from "./providerSource";
import { refreshAll } from "./refresh";
import { Registry } from "./registry";
import { nameOf } from "./resourceState";
import { Targets } from "./targets";
import { isProps, type Props, Secret } from "./values";

/** What one command's phase needs. Each phase has processes of its own. */
export interface Run {
  launch: Launch;
  stateFile: string;
  /** The whole stack configuration under full keys. */
  config: Props;
}

/** What a phase did and said, and the stack's outputs after it. */
export interface Outcome {
  ok: boolean;
  display: Display;
  outputs: Props;
  text: string;
}

/** Where a failed run is told how it ended: the summary comes last, whatever happened. */
function outcome(ok: boolean, display: Display, olds: Props, outputs: Props): Outcome {
  return { ok, display, outputs, text: display.text(olds, outputs) };
}

function displayFor({ launch }: Run, kind: Kind, what?: Kind): Display {
  return new Display(kind, launch.stack, launch.project.name, launch.dryRun, what);
}

/** The program's own lines and those of its provider become messages, as they do in Pulumi's display. */
function onLine(display: Display): (stream: string, line: string) => void {
  return (_, line) => {
    if (line.trim() !== "") display.report("info", line);
  };
}

/** Runs the program and does, or in a preview decides, what it asks for. */
export async function runProgram(run: Run, options: RunOptions): Promise<Outcome> {
  const { launch, config } = run;
  const { dryRun } = launch;
  const display = displayFor(run, dryRun ? "preview" : "update");
  const checkpoint = new Checkpoint(run.stateFile, dryRun);
  if (!dryRun) warnOfPending(checkpoint, display);
  const replaceTargets = findTargets(checkpoint, options.replace ?? [], display);
  if (replaceTargets === undefined) return outcome(false, display, {}, {});

  const children: Child[] = [];
  const onCancel = (): void => children.forEach((child) => void child.stop("SIGINT", 2000));
  const registry = new Registry(
    launch,
    config,
    checkpoint.olds,
    () => monitor.address,
    onLine(display),
    display.report.bind(display),
  );
  const deployment = new Deployment(
    {
      ...launch,
      project: launch.project.name,
      config,
      replaceTargets,
      targets: new Targets(options.target),
    },
    checkpoint,
    display,
    registry,
    onCancel,
  );
  const monitor: Monitor = new Monitor(deployment);
  const forget = whenInterrupted(options, () => deployment.interrupt());
  try {
    await monitor.listen();
    const program = startProgram(launch, configText(config), monitor.address, onLine(display));
    children.push(program);
    const code = await program.exited;
    const canceled = deployment.executor.canceled;
    // Exit code 32 says that the program has told its error itself.
    if (code !== 0 && code !== 32 && !canceled)
      display.report("error", `an unhandled error occurred: Program exited with non-zero exit code: ${code}`);
    if (code === 0 && !canceled && !deployment.ended)
      display.report("error", "the program ended before it had told Pulumi that it was done");
    // A program that leaves before it has registered everything must not have the rest deleted.
    await deployment.finish(code === 0 && !canceled && deployment.ended);
    const { olds, news } = deployment.outputs();
    return outcome(!deployment.failed, display, olds, news);
  } finally {
    forget();
    await Promise.all(children.map((child) => child.stop("SIGKILL", 0)));
    await registry.close();
    monitor.close();
  }
}

/** Deletes all that the state knows. The program is not run, and the configuration is that of the state. */
export async function runDestroy(run: Run, interruptible: RunOptions): Promise<Outcome> {
  const display = displayFor(run, run.launch.dryRun ? "preview" : "destroy", "destroy");
  const checkpoint = new Checkpoint(run.stateFile, run.launch.dryRun);
  if (!run.launch.dryRun) warnOfPending(checkpoint, display);
  return withProviders(run, checkpoint, display, async (registry) => {
    const options = {
      ...run.launch,
      project: run.launch.project.name,
      config: {},
      replaceTargets: new Set<string>(),
      targets: new Targets(),
    };
    const deployment = new Deployment(options, checkpoint, display, registry, () => {});
    const forget = whenInterrupted(interruptible, () => deployment.interrupt());
    await deployment.finish(true);
    forget();
    const { olds, news } = deployment.outputs();
    return outcome(!deployment.failed, display, olds, news);
  });
}

/** Takes over what exists, by its ids. The program is not run. */
export async function runImport(run: Run, specs: ImportSpec[], protect: boolean): Promise<Outcome> {
  const { launch, config } = run;
  const display = displayFor(run, "import");
  const checkpoint = new Checkpoint(run.stateFile);
  return withProviders(run, checkpoint, display, async (registry) => {
    const { of: providerOf, keep: keepProvider } = providersOf(registry);
    const report = display.report.bind(display);
    const context = { dryRun: false, checkpoint, providerOf, keepProvider, report };
    const executor = new Executor(context, display, launch.parallel, () => {});
    const place = { stack: launch.stack, project: launch.project.name };
    let failed = false;
    try {
      await new Importer(place, config, checkpoint, executor, registry, report).run(specs, protect);
    } catch (error) {
      failed = true;
      report("error", error instanceof Error ? error.message : String(error));
    }
    const { failure } = executor;
    if (failure !== undefined && !failed)
      report("error", `update failed: step application failed: ${failure}`);
    const outputs = checkpoint.stackOutputs();
    return outcome(!failed && !executor.sawError, display, outputs, outputs);
  });
}

/** Takes what is really there into the state, or in a preview tells what that would be. */
export async function runRefresh(
  run: Run,
  { clearPendingCreates = false, target }: RunOptions,
): Promise<Outcome> {
  const { dryRun, parallel } = run.launch;
  const display = displayFor(run, dryRun ? "preview" : "refresh", "refresh");
  const checkpoint = new Checkpoint(run.stateFile, dryRun);
  if (clearPendingCreates) checkpoint.clearPending((type) => type !== "creating");
  return withProviders(run, checkpoint, display, async (registry) => {
    const ok = await refreshAll(checkpoint, display, registry, parallel, new Targets(target));
    const outputs = checkpoint.stackOutputs();
    return outcome(ok, display, outputs, outputs);
  });
}

/** For runs without a program: providers still want an engine's address to talk to. */
async function withProviders(
  run: Run,
  checkpoint: Checkpoint,
  display: Display,
  work: (registry: Registry) => Promise<Outcome>,
): Promise<Outcome> {
  const refuse = (): never => {
    throw new Error("no program is running");
  };
  const monitor = new Monitor({
    register: refuse,
    read: refuse,
    invoke: refuse,
    registerOutputs: refuse,
    lookup: refuse,
    refuse: (message) => display.report("error", message),
    log: (severity, message, urn) => display.report(severity, message, urn),
    finished: () => {},
  });
  const registry = new Registry(
    run.launch,
    run.config,
    checkpoint.olds,
    () => monitor.address,
    onLine(display),
    display.report.bind(display),
  );
  try {
    await monitor.listen();
    return await work(registry);
  } finally {
    await registry.close();
    monitor.close();
  }
}

/** Stops the run at once where it was interrupted before it began. What is returned forgets about it. */
function whenInterrupted({ interrupt }: RunOptions, stop: () => void): () => void {
  if (interrupt?.aborted) stop();
  interrupt?.addEventListener("abort", stop, { once: true });
  return () => interrupt?.removeEventListener("abort", stop);
}

/** URNs as they are, names as the URNs of the resources that have them; undefined where one is not in the state. */
function findTargets(checkpoint: Checkpoint, wanted: string[], display: Display): Set<string> | undefined {
  const found = new Set<string>();
  let missing = false;
  for (const target of wanted) {
    const urns = checkpoint.olds
      .map(({ urn }) => urn)
      .filter((urn) => urn === target || nameOf(urn) === target);
    for (const urn of urns) found.add(urn);
    if (urns.length > 0) continue;
    missing = true;
    display.report("error", `Target '${target}' could not be found in the stack.`);
  }
  return missing ? undefined : found;
}

/** As `printPendingOperationsWarning`. */
function warnOfPending(checkpoint: Checkpoint, display: Display): void {
  const pending = checkpoint.pendingOperations;
  if (pending.length === 0) return;
  const list = pending.map(({ urn, type }) => `  * ${urn}, interrupted while ${type}\n`).join("");
  display.report(
    "warning",
    `Attempting to deploy or update resources with ${pending.length} pending operations from previous deployment.\n${list}` +
      "Whether they were completed is not known. See what the service has, then forget the interrupted creates with " +
      "`pulumi refresh --clear-pending-creates`.",
  );
}

/** The configuration as the Node language host hands it to a program. */
function configText(config: Props): { values: string; secretKeys: string } {
  const text = (value: unknown): string => String(value instanceof Secret ? value.element : value);
  const secretKeys = Object.keys(config).filter((key) => config[key] instanceof Secret);
  const values = Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, isProps(value) ? "" : text(value)]),
  );
  return { values: JSON.stringify(values), secretKeys: JSON.stringify(secretKeys) };
}
