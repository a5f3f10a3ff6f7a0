import { expect } from "vitest";
import type { Clock } from "../../provider/service/clock";
import { type ExportedResource, RunFailed, TestStack } from "../../sdk/testing";
import type { Emulator } from "../../sdk/testing/emulator";
import { normalize } from "../e2e/normalize";
import { newCase, writeProgram } from "../e2e/setup";
import { emulatedService } from "../emulatedService";
import { jumpingClock } from "../provider/virtualClock";
import { type Kind, type Program, type Run, resourceOf, type Scenario } from "./scenario";
import { ScenarioRunner } from "./scenarioRunner";

/* Runs a scenario as a real program, on the test kit's engine or on the Pulumi CLI. */

/** Runs the scenario, and checks what it says. Returns the final state, without what differs in each run. */
export async function runAsStack(
  scenario: Scenario,
  kind: Kind,
  driver: TestStack["driver"],
): Promise<unknown> {
  const clock = jumpingClock();
  if (scenario.settings) unfit();
  const emulator = await emulatedService({ now: () => new Date(clock.now()), ...scenario.service });
  const folder = newCase();
  writeProgram(folder, "");
  const env = { ENDPOINTS_PROVIDER: kind };
  await using stack = await TestStack.create({ program: folder, driver, emulator, env });
  await new StackRunner(scenario, emulator, clock, stack, folder).runScenario();
  return normalize(await stack.exportState());
}

function unfit(): never {
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

  protected editState = () => ({ editState: unfit, renameStack: unfit });

  protected async command(run: Run): Promise<{ errors: string; said: string }> {
    if (run.killed || run.continueOnError || run.stack || run.with || run.environment || run.target) unfit();
    if (run.program) writeProgram(this.folder, this.textOf(run.program));
    const { command = "up", replace, says, fails } = run;
    // Only messages need a preview.
    const options = { skipPreview: !says && !fails, ...(replace && { replace }) };
    const done = command === "up" ? this.stack.up(options) : this.stack[command]();
    const { ok, diagnostics, text } = await done.catch((error: unknown) => {
      if (error instanceof RunFailed) return error.result;
      throw error;
    });
    expect(text).not.toMatch(/CANARY/i);
    const said = diagnostics.map(({ message }) => message).join("\n");
    const errors = diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
    return { errors: ok ? "" : errors.join("\n"), said };
  }

  protected async state(): Promise<[string, string][]> {
    const endpoints = (await this.resources()).filter(({ type }) => type.endsWith(":CloudEndpoint"));
    return endpoints.map(({ urn, id = "" }) => [urn.split("::").at(-1) ?? "", id]);
  }

  private async resources(): Promise<ExportedResource[]> {
    return (await this.stack.exportState()).deployment.resources ?? [];
  }

  private textOf(program: Program): string {
    const lines = Object.entries(program).map(([name, resource]) => {
      const { news, options } = resourceOf(resource, (endpoint) => this.names.idOf(endpoint));
      if (options.secret) unfit();
      const { alias, ignores: ignoreChanges } = options;
      const given = { ignoreChanges, ...(alias && { aliases: [{ name: alias }] }) };
      return `new CloudEndpoint("${name}", ${JSON.stringify(news)}, ${JSON.stringify(given)});`;
    });
    return lines.join("\n");
  }
}
