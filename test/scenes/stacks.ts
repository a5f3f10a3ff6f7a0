import { expect } from "vitest";
import { realClock } from "../../provider/api/clock";
import { type ExportedResource, RunFailed, type RunResult, TestStack } from "../../sdk/testing";
import { Emulator } from "../../sdk/testing/emulator";
import { normalize } from "../e2e/normalize";
import { newCase, writeProgram } from "../e2e/setup";
import { EndpointNames, reply } from "./names";
import type { Kind } from "./phase";
import { createsOf, type Program, type Props, type Run, resourceOf, type Scene } from "./scene";

/* Plays a scene as a real program, on the test kit's engine or on the Pulumi CLI. */

/** Plays the scene, and checks what it says. Returns the final state, without what differs in each run. */
export async function playAsStack(scene: Scene, kind: Kind, driver: TestStack["driver"]): Promise<unknown> {
  let ahead = 0;
  const clock = {
    ...realClock,
    now: () => realClock.now() + ahead,
    sleep: async (milliseconds: number) => {
      ahead += milliseconds;
    },
  };
  const emulator = await Emulator.start({ now: () => new Date(clock.now()), ...scene.service });
  const folder = newCase();
  writeProgram(folder, "");
  const settings = Object.entries(scene.settings ?? {}).map(([name, value]) => [`endpoints:${name}`, value]);
  const stack = await TestStack.create({
    program: folder,
    driver,
    emulator,
    config: Object.fromEntries(settings),
    env: { ENDPOINTS_PROVIDER: kind },
  });
  try {
    const player = new StackPlayer(scene, stack, new EndpointNames(emulator), folder, clock);
    player.start();
    if (scene.from) await player.run({ program: scene.from, writes: createsOf(scene.from) });
    for (const run of scene.runs) await player.run(run);
    return await player.end();
  } finally {
    await stack.close();
    await emulator.close();
  }
}

class StackPlayer {
  constructor(
    private readonly scene: Scene,
    private readonly stack: TestStack,
    private readonly names: EndpointNames,
    private readonly folder: string,
    private readonly clock: typeof realClock,
  ) {}

  start(): void {
    for (const [name, endpoint] of Object.entries(this.scene.others ?? {})) this.names.seed(name, endpoint);
  }

  async run(run: Run): Promise<void> {
    const { emulator } = this.stack;
    const unfit = () => {
      throw new Error("this scene cannot be played as a stack");
    };
    if (run.later) await this.clock.sleep(60_000);
    await run.byHand?.({
      emulator,
      clock: this.clock,
      seed: (name, endpoint) => this.names.seed(name, endpoint),
      id: (name) => this.names.idOf(name),
      editState: unfit,
      renameStack: unfit,
    });
    const endReplies = reply(emulator, run.replies);
    if (run.killed || run.continueOnError || run.stack || run.with || run.environment) unfit();
    if (run.program) writeProgram(this.folder, this.textOf(run.program));
    const result = await this.command(run);
    const said = result.diagnostics.map(({ message }) => message).join("\n");
    if (run.fails) expect(said).toMatch(run.fails);
    expect(result.ok, said).toBe(run.fails === undefined);
    for (const pattern of run.says ?? []) expect(said).toMatch(pattern);
    expect(result.text).not.toMatch(/CANARY/i);
    expect(this.names.writesOf(result.requests)).toEqual((run.writes ?? []).toSorted());
    endReplies();
    this.names.nameNew();
  }

  async end(): Promise<unknown> {
    const { live, state, fields = {} } = this.scene;
    expect(this.names.live()).toEqual(live.toSorted());
    const endpoints = (await this.resources()).filter(({ type }) => type.endsWith(":CloudEndpoint"));
    const entries = endpoints.map(({ urn, id = "" }) => [urn.split("::").at(-1), this.names.shown(id)]);
    expect(Object.fromEntries(entries)).toEqual(state);
    for (const [name, expected] of Object.entries(fields))
      expect(this.stack.emulator.endpoints.find(({ id }) => this.names.of(id) === name)).toMatchObject(
        expected,
      );
    return normalize(await this.stack.exportState());
  }

  private async command({ command = "up", target, replace, says, fails }: Run): Promise<RunResult> {
    const known = await this.resources();
    const urns = target?.map((name) => known.find(({ urn }) => urn.endsWith(`::${name}`))?.urn ?? name);
    const options = {
      // Only messages need a preview.
      skipPreview: !says && !fails,
      ...(urns && { target: urns }),
      ...(replace && { replace }),
    };
    try {
      return await this.stack[command](options);
    } catch (error) {
      if (error instanceof RunFailed) return error.result;
      throw error;
    }
  }

  private async resources(): Promise<ExportedResource[]> {
    return (await this.stack.exportState()).deployment.resources ?? [];
  }

  private textOf(program: Program): string {
    const lines = Object.entries(program).map(([name, resource]) => {
      const { news, options } = resourceOf(resource, (endpoint) => this.names.idOf(endpoint));
      const aliases = options.alias ? { aliases: [{ name: options.alias }] } : {};
      return `new CloudEndpoint("${name}", ${inputsText(news, options.secret)}, ${JSON.stringify(aliases)});`;
    });
    return lines.join("\n");
  }
}

function inputsText(news: Props, secret: string[] = []): string {
  const texts = Object.entries(news).map(([name, value]) => {
    const text = JSON.stringify(value);
    return `${name}: ${secret.includes(name) ? `pulumi.secret(${text})` : text}`;
  });
  return `{ ${texts.join(", ")} }`;
}
