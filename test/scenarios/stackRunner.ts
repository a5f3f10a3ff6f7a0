import { expect } from "vitest";
import { SECRET, SIGNATURE, UNKNOWN } from "../../provider/pulumi/sentinels";
import type { Clock } from "../../provider/service/clock";
import { type ExportedResource, RunFailed, type TestStack } from "../../sdk/testing";
import type { Emulator } from "../../sdk/testing/emulator";
import { normalize } from "../e2e/normalize";
import { plainIn } from "../e2e/setup";
import { emulatedService } from "../emulatedService";
import { newTestStack, writeProgram } from "../projects";
import { secret } from "../provider/plugin/pluginClient";
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
  const { folder, stack: opened } = await newTestStack("", { driver, emulator, env, stackName: "dev" });
  await using stack = opened;
  await new StackRunner(scenario, emulator, clock, stack, folder).runScenario();
  const state = await stack.exportState();
  expect(plainIn(state)).not.toMatch(CANARY);
  return normalize(state);
}

/** Every secret of a scenario contains this, also in base64. */
const CANARY = /CANARY|Q0FOQV/i;

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
    // The preview matters only to expected messages, and to what a program looks up.
    const looksUp = Object.values(run.program ?? {}).some((one) => resourceOf(one, String).options.finds);
    const options = { skipPreview: !says && !fails && !looksUp, ...(replace && { replace }) };
    const done = command === "up" ? this.stack.up(options) : this.stack[command]();
    const { ok, diagnostics, text } = await done.catch((error: unknown) => {
      if (error instanceof RunFailed) return error.result;
      throw error;
    });
    expect(text).not.toMatch(CANARY);
    expect(text).not.toMatch(/\n\s+at .*\(/);
    // The CLI shows an explicit provider's id.
    expect(text.replace(/\[provider=.*\]/g, "")).not.toContain(UNKNOWN);
    const messages = diagnostics.map(({ message }) => message).join("\n");
    const errors = diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
    return { errors: ok ? "" : errors.join("\n"), messages };
  }

  protected async assertState({ outputs }: Run): Promise<void> {
    if (!outputs) return;
    for (const { urn, outputs: stored = {} } of await this.resources()) {
      const marked = JSON.parse(JSON.stringify(stored), (_, value) =>
        value?.[SIGNATURE] === SECRET ? secret(JSON.parse(value.plaintext)) : value,
      );
      expect(marked).toMatchObject(outputs[nameIn(urn)] ?? {});
    }
  }

  protected async state(): Promise<[string, string][]> {
    const endpoints = (await this.resources()).filter(({ type }) => type.endsWith(":CloudEndpoint"));
    return endpoints.map(({ urn, id = "" }) => [nameIn(urn), id]);
  }

  private async resources(): Promise<ExportedResource[]> {
    return (await this.stack.exportState()).deployment.resources ?? [];
  }

  private codeOf(program: Program): string {
    const lines = Object.entries(program).map(([name, resource]) => {
      const { news, options } = resourceOf(resource, (endpoint) => this.names.idOf(endpoint));
      const { alias, secret: secrets = [], finds, ...others } = options;
      if (others.provider || others.deleteBeforeReplace || others.replaceWith || others.deletedWith)
        cannotRunAsStack();
      const given = { ...others, ...(alias && { aliases: [{ name: alias }] }) };
      const inputs = Object.entries(news).map(([input, value]) => {
        const code = JSON.stringify(value);
        return `${input}: ${secrets.includes(input) ? `pulumi.secret(${code})` : code}`;
      });
      if (finds) inputs.push(`description: getEndpointOutput({ url: all["${finds}"].url }).id`);
      return `all["${name}"] = new CloudEndpoint("${name}", { ${inputs.join(", ")} }, ${JSON.stringify(given)});`;
    });
    return ['const { getEndpointOutput } = require("pulumi-endpoints");', "const all = {};", ...lines].join(
      "\n",
    );
  }
}

const nameIn = (urn: string) => urn.split("::").at(-1) ?? "";
