import { expect } from "vitest";
import type { Clock } from "../../provider/service/clock";
import { type ExportedResource, RunFailed, type TestStack } from "../../sdk/testing";
import type { Emulator } from "../../sdk/testing/emulator";
import { normalize } from "../e2e/normalize";
import { emulatedService } from "../emulatedService";
import { newTestStack, writeProgram } from "../projects";
import { jumpingClock } from "../provider/virtualClock";
import { type Program, type ProviderKind, type Run, resourceOf, type Scenario } from "./scenario";
import { ScenarioRunner } from "./scenarioRunner";

/* Runs scenarios as real programs, on the test kit's engine or on the Pulumi CLI. */

/** Runs the scenario, and checks its expectations. Returns the final state, without the values that differ in each run. */
export async function runAsStack(
  scenario: Scenario,
  kind: ProviderKind,
  driver: TestStack["driver"],
): Promise<unknown> {
  const clock = jumpingClock();
  if (scenario.settings) cannotRunAsStack();
  const emulator = await emulatedService({ now: () => new Date(clock.now()), ...scenario.service });
  const env = { ENDPOINTS_PROVIDER: kind };
  const { folder, stack: opened } = await newTestStack("", { driver, emulator, env });
  await using stack = opened;
  await new StackRunner(scenario, emulator, clock, stack, folder).runScenario();
  return normalize(await stack.exportState());
}

function cannotRunAsStack(): never {
  throw new Error("this scenario cannot be run as a stack");
}

class StackRunner extends ScenarioRunner {
  constructor(
    scenario: Scenario,
    emulator: Emulator,
    clock: Clock,
    private readonly stack: TestStack,
    private readonly folder: string,
  ) {
    super(scenario, emulator, clock);
  }

  protected stateEdits = () => ({ editState: cannotRunAsStack, renameStack: cannotRunAsStack });

  protected async command(run: Run): Promise<{ errors: string; messages: string }> {
    if (run.killed || run.continueOnError || run.stack || run.target) cannotRunAsStack();
    // Without a value, the setting of an earlier run stays, as Pulumi keeps it in the stack's file.
    for (const [name, value] of Object.entries(run.overrides ?? {}))
      await this.stack.setConfig(`endpoints:${name}`, this.names.withIds(value ?? ""));
    if (run.program) writeProgram(this.folder, this.codeOf(run.program));
    const { command = "up", replace, says, fails } = run;
    // The preview matters only to expected messages.
    const options = { skipPreview: !says && !fails, ...(replace && { replace }) };
    const done = command === "up" ? this.stack.up(options) : this.stack[command]();
    const { ok, diagnostics, text } = await done.catch((error: unknown) => {
      if (error instanceof RunFailed) return error.result;
      throw error;
    });
    expect(text).not.toMatch(/CANARY/i);
    const messages = diagnostics.map(({ message }) => message).join("\n");
    const errors = diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
    return { errors: ok ? "" : errors.join("\n"), messages };
  }

  protected async state(): Promise<[string, string][]> {
    const endpoints = (await this.resources()).filter(({ type }) => type.endsWith(":CloudEndpoint"));
    return endpoints.map(({ urn, id = "" }) => [urn.split("::").at(-1) ?? "", id]);
  }

  private async resources(): Promise<ExportedResource[]> {
    return (await this.stack.exportState()).deployment.resources ?? [];
  }

  private codeOf(program: Program): string {
    const lines = Object.entries(program).map(([name, resource]) => {
      const { news, options } = resourceOf(resource, (endpoint) => this.names.idOf(endpoint));
      if (options.secret || options.provider || options.deleteBeforeReplace || options.replaceWith)
        cannotRunAsStack();
      const { alias, ignoreChanges, retainOnDelete } = options;
      const given = { ignoreChanges, retainOnDelete, ...(alias && { aliases: [{ name: alias }] }) };
      return `new CloudEndpoint("${name}", ${JSON.stringify(news)}, ${JSON.stringify(given)});`;
    });
    return lines.join("\n");
  }
}
