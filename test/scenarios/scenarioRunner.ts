import { expect } from "vitest";
import type { Clock } from "../../provider/service/clock";
import type { Emulator } from "../../sdk/testing/emulator";
import { tooLong } from "../messages";
import { EndpointNames, scriptReplies } from "./names";
import { type Actor, createsOf, type Run, type Scenario } from "./scenario";

/** Harmful advice: an entry may be protected, and another stack may have the endpoint. */
const HARMFUL = /pulumi state delete(?! --force)|delete (that|the other) endpoint/;

/** Runs a scenario, one run after the other, and checks all its expectations. Subclasses know how to run Pulumi. */
export abstract class ScenarioRunner {
  protected readonly names: EndpointNames;

  constructor(
    protected readonly scenario: Scenario,
    protected readonly emulator: Emulator,
    protected readonly clock: Clock,
  ) {
    this.names = new EndpointNames(emulator);
  }

  /** Runs Pulumi. Returns the errors alone, and all messages. */
  protected abstract command(run: Run): Promise<{ errors: string; messages: string }>;
  /** The names of the resources in the state, with their ids. */
  protected abstract state(): Promise<[name: string, id: string][]>;
  /** Checks the state after a run. */
  protected abstract assertState(run: Run): Promise<void> | void;
  protected abstract stateEdits(run: Run): Pick<Actor, "editState" | "renameStack">;

  async runScenario(): Promise<void> {
    const { from, fromKilled, runs, others = {}, fields = {}, live } = this.scenario;
    for (const [name, endpoint] of Object.entries(others)) this.names.seed(name, endpoint);
    if (from) await this.run({ program: from, writes: createsOf(from) });
    if (fromKilled) await this.run({ program: fromKilled, killed: true, writes: createsOf(fromKilled) });
    for (const run of runs) await this.run(run);
    expect(this.names.liveNames()).toEqual(live.toSorted());
    const shown = (await this.state()).map(([name, id]) => [name, this.names.nameWithUrl(id)]);
    expect(Object.fromEntries(shown)).toEqual(this.scenario.state);
    for (const [name, expected] of Object.entries(fields))
      expect(this.emulator.endpoints.find(({ id }) => this.names.nameOf(id) === name)).toMatchObject(
        JSON.parse(this.names.withIds(JSON.stringify(expected))),
      );
  }

  private async run(run: Run): Promise<void> {
    const { emulator, clock, names } = this;
    if (run.later) await clock.sleep(60_000);
    await run.before?.({
      emulator,
      clock,
      seed: (name, endpoint) => names.seed(name, endpoint),
      id: (name) => names.idOf(name),
      ...this.stateEdits(run),
    });
    const endReplies = scriptReplies(emulator, run.replies);
    const sent = emulator.requests.length;
    const { errors, messages } = await this.command(run);
    if (run.fails) expect(errors).toMatch(run.fails);
    else expect(errors).toBe("");
    for (const pattern of run.says ?? []) expect(messages).toMatch(pattern);
    expect(messages).not.toMatch(/CANARY/i);
    expect(messages).not.toMatch(HARMFUL);
    expect(tooLong([messages])).toEqual([]);
    names.nameNew();
    const requests = emulator.requests.slice(sent);
    expect(names.writesOf(requests)).toEqual((run.writes ?? []).toSorted());
    if (run.reads) expect(names.readsOf(requests)).toEqual(run.reads);
    await this.assertState(run);
    endReplies();
  }
}
