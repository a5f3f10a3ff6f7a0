import type { JsonObject } from "../../provider/api/json";
import { gatewayReply, type Match, type ScriptedReply } from "../../sdk/testing/emulator";
import { matches } from "../../sdk/testing/emulator/script";
import { Advice } from "./advice";
import { type Event, lost, type Run, type Story } from "./events";
import { type Faults, Judge, tellsTime, type Verb } from "./judge";
import { Engine, type Flags, type Outcome } from "./model";
import { faultsOf } from "./serviceFaults";
import { World } from "./world";

/*
 * Plays a story: a sequence of events from the user, the network and other users of the account. At the end, the service has no
 * more faults, and the user follows the messages. Then the account must match the program.
 */

export interface Mode {
  /** Whether creates are marked (`endpoints:mark`). */
  marks: boolean;
  /** Whether all endpoints are pooled, three on each URL. */
  pools: boolean;
}

export const modes: Mode[] = [false, true].flatMap((marks) =>
  [false, true].map((pools) => ({ marks, pools })),
);

/** Plays the story, and returns its faults. */
export async function play(story: Story, mode: Mode): Promise<Partial<Faults>> {
  const settings = {
    "endpoints:listFilter": story.filtersLists ? "on" : "off",
    ...(mode.marks && { "endpoints:mark": "team/dev" }),
  };
  const world = await World.start(settings, story.service);
  try {
    return await new StoryRunner(world, story, mode).play();
  } finally {
    await world.close();
  }
}

/** Messages about a create whose result is unknown. */
const OPEN_CREATE =
  /could not find out whether the endpoint exists|may have been created nevertheless|may have created one of these|could add a second endpoint to the pool/;

/** The user's time to read a message, in milliseconds. It is longer than any delay of a request or of the list. */
const READING = 10_000;

type EventOf<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;

class StoryRunner {
  private readonly engine: Engine;
  private readonly judge: Judge;
  private readonly program = new Map<string, JsonObject>();
  private created = 0;
  /** The names that resources have had. */
  private readonly names = new Set<string>();
  private readonly advice: Advice;
  /** Whether a process was killed, or a create's result is unknown. */
  private hasOpenCreate = false;
  /** Whether the last recovery succeeded. */
  private isRepaired = true;
  /** Whether the scripted replies of the current command are active. */
  private scripts = { on: true };

  constructor(
    private readonly world: World,
    private readonly story: Story,
    private readonly mode: Mode,
  ) {
    this.engine = new Engine(world, story.parallel);
    this.judge = new Judge(world, this.engine, story, mode);
    const elsewhere = () => `https://elsewhere-${this.created++}.example.com`;
    this.advice = new Advice(this.program, this.engine, this.judge, elsewhere);
    // If the age of endpoints is unknown, creates may be left open.
    this.hasOpenCreate = !tellsTime(story.service);
  }

  async play(): Promise<Partial<Faults>> {
    const { emulator, clock } = this.world;
    const { seed, probability, kinds } = this.story;
    for (const [index, event] of this.story.events.entries()) {
      emulator.disturb({ seed: seed + index, probability, kinds: faultsOf(kinds) });
      const outcome = await this.run(event);
      this.scripts.on = false;
      this.hasOpenCreate ||= outcome?.killed === true;
      if (outcome?.killed) await this.world.quiet();
      const isGood = !outcome || (!outcome.killed && outcome.errors.size === 0);
      if (isGood) this.advice.removeAdopt();
      if (isGood) continue;
      // The user follows the messages and repairs the stack before the next event.
      await clock.sleep(READING);
      for (const [name, message] of outcome.errors) this.advice.follow(name, message, this.hasOpenCreate);
      this.isRepaired = await this.repair(6);
    }
    emulator.calm();
    await clock.sleep(READING);
    await this.repair(60);
    return this.judge.faults(this.program);
  }

  private async run(event: Event): Promise<Outcome | undefined> {
    const { emulator } = this.world;
    this.scripts = { on: true };
    switch (event.kind) {
      case "create":
        return this.create(event.by);
      case "process killed":
        return this.create(event.by, event.after);
      case "change":
        return this.edit(this.pick(event.which), { description: event.text });
      case "change the URL":
        return this.edit(this.movable(event.which), { url: `https://moved-${this.created++}.example.com` });
      case "remove":
        return this.remove(event.which);
      case "refresh":
        return this.refresh();
      case "edit by hand": {
        const id = this.live(event.which);
        if (id !== undefined) emulator.edit(id, { description: "by hand" });
        return this.up();
      }
      case "delete by hand": {
        const id = this.live(event.which);
        if (id !== undefined) emulator.remove(id);
        return this.refresh();
      }
      case "URL taken": {
        // The URL of a later resource.
        const url = this.urlOf(this.created + (event.which % 2));
        if (this.isFree(url)) this.judge.seedTheirs({ type: event.which % 3 ? "cloud" : "ephemeral", url });
        return undefined;
      }
      case "request arrives late": {
        const { request, ms: lateMs, answer } = event;
        this.script(request, { lateMs, ...lost[answer] });
        // Without a mark, a create is ours for two seconds after its loss. Later, the user decides.
        this.hasOpenCreate ||= request === "create" && !this.mode.marks && lateMs > 2_000;
        return this.write(request, event.which);
      }
      case "404 of a gateway":
        this.script(event.request, gatewayReply(event.form), 99);
        return event.request === "read" ? this.refreshById() : this.remove(event.which);
      case "rename":
        return this.rename(event);
      case "destroy":
        return this.runAfterEdit({ ...event.run, verb: "destroy", target: "all" }, [], []);
    }
  }

  private up(flags: Flags = {}): Promise<Outcome> {
    return this.noted("up", flags, () => this.engine.up(this.program, flags));
  }

  private refresh(): Promise<Outcome> {
    return this.noted("refresh", {}, () => this.engine.refresh());
  }

  /** Without a list, each endpoint is read by its id. */
  private refreshById(): Promise<Outcome> {
    this.script("list", { status: 403, body: "" });
    return this.refresh();
  }

  private async noted(verb: Verb, flags: Flags, command: () => Promise<Outcome>): Promise<Outcome> {
    const before = this.judge.snapshot();
    const outcome = await command();
    this.judge.commandEnded(before, verb, flags, outcome, this.program);
    const messages = [...outcome.errors.values()];
    this.judge.messages.push(...messages);
    this.hasOpenCreate ||= messages.some((message) => OPEN_CREATE.test(message));
    return outcome;
  }

  private async runAfterEdit(run: Run, news: string[], olds: string[]): Promise<Outcome> {
    const { verb, target, refresh, continueOnError, runProgram } = run;
    const targets = { all: undefined, new: new Set(news), old: new Set(olds) }[target];
    const flags = { refresh, continueOnError, targets };
    const program = runProgram ? this.program : new Map<string, JsonObject>();
    const destroy = () => this.noted("destroy", flags, () => this.engine.destroy(program, flags));
    const outcome = await (verb === "up" ? this.up(flags) : destroy());
    if (outcome.errors.size > 0 || (verb === "up" && targets === undefined)) return outcome;
    // A list may still show what was deleted.
    await this.world.clock.sleep(READING);
    return this.up();
  }

  /** Follows the documented recovery and the messages until nothing fails. */
  private async repair(most: number): Promise<boolean> {
    for (let tries = 0; tries < most; tries++) {
      await this.world.clock.sleep(READING);
      const { targets } = this.advice;
      this.advice.targets = new Set();
      const errors = [...(await this.refresh()).errors];
      if (targets.size > 0) errors.push(...(await this.up({ targets })).errors);
      errors.push(...(await this.up()).errors);
      await this.world.clock.sleep(READING);
      for (const [name, message] of errors) this.advice.follow(name, message, this.hasOpenCreate);
      if (errors.length > 0) continue;
      this.advice.removeAdopt();
      return true;
    }
    return false;
  }

  /** Adds resources to the program, and runs `up`. */
  private create(by: number, killAfter?: number): Promise<Outcome> {
    for (let index = 0; index < by; index++, this.created++)
      this.program.set(`r${this.created}`, this.inputsOf(this.created));
    return this.up({ killAfter });
  }

  private async edit(name: string | undefined, inputs: JsonObject): Promise<Outcome | undefined> {
    if (name === undefined) return undefined;
    this.program.set(name, { ...this.program.get(name), ...inputs });
    return this.up();
  }

  private async remove(which: number): Promise<Outcome | undefined> {
    const name = this.movable(which);
    if (name === undefined) return undefined;
    this.program.delete(name);
    return this.up();
  }

  private async rename(event: EventOf<"rename">): Promise<Outcome | undefined> {
    const { how, isReused, run } = event;
    const old = this.movable(event.which);
    const entry = this.engine.state.get(old ?? "");
    if (old === undefined || !entry) return undefined;
    const name = this.newName(isReused);
    if (how === "state rename") {
      this.engine.rename(old, name);
      this.advice.renamed.set(old, name);
      return this.runAfterEdit(run, [old], [name]);
    }
    // If somebody else has an endpoint with the same URL, the user adopts by id.
    const isOnly = !this.judge.hasTheirs(this.program.get(old)?.["url"]);
    const { [how]: adopt } = { adopt: isOnly || entry.id, "adopt the id": entry.id } as JsonObject;
    const inputs = { ...this.program.get(old), ...(adopt !== undefined && { adopt }) };
    if (how === "another resource") Object.assign(inputs, { description: `another ${this.created++}` });
    else this.advice.renamed.set(name, old);
    if (how === "alias") this.engine.rename(old, name);
    this.replaceInProgram(old, name, inputs);
    return this.runAfterEdit(run, [name], [old]);
  }

  /** A name that no resource has; a reused one was a resource's before. */
  private newName(isReused: boolean): string {
    const isFree = (name: string) => !this.program.has(name) && !this.engine.state.has(name);
    // In a pool with marks, a new resource may take over the endpoint of one that left its name. A warning says so.
    const { marks, pools } = this.mode;
    const reused = isReused && !(marks && pools) ? [...this.names].find(isFree) : undefined;
    return reused ?? `n${this.created++}`;
  }

  /** Puts a resource in the place of another one. */
  private replaceInProgram(old: string, name: string, inputs: JsonObject): void {
    const entries = [...this.program];
    this.program.clear();
    for (const [each, given] of entries) {
      if (each === old) this.program.set(name, inputs);
      else this.program.set(each, given);
    }
    this.names.add(old);
  }

  /** Runs a command that sends this kind of request. */
  private write(request: "create" | "update" | "delete", which: number): Promise<Outcome | undefined> {
    if (request === "create") return this.create(1);
    if (request === "delete") return this.remove(which);
    return this.edit(this.pick(which), { description: `changed ${this.created++}` });
  }

  /** Scripts replies to the next command. */
  private script(match: Match, reply: ScriptedReply, times = 1): void {
    const { scripts } = this;
    this.world.emulator.intercept((request) => scripts.on && matches(match, request), reply, times);
  }

  /** In pools, three resources have the same URL and content. */
  private urlOf = (number: number) =>
    `https://made-${this.mode.pools ? number - (number % 3) : number}.example.com`;

  private inputsOf(made: number): JsonObject {
    const url = this.urlOf(made);
    const number = Number(/\d+/.exec(url));
    return {
      url,
      trafficPolicy: {
        on_http_request: [{ actions: [{ type: "deny", config: { status_code: 400 + number } }] }],
      },
      ...(number % 2 === 0 && { description: `number ${number}`, metadata: { number } }),
      ...(this.mode.pools && { poolingEnabled: true }),
    };
  }

  private isFree = (url: string) => !this.world.emulator.endpoints.some((endpoint) => endpoint.url === url);

  private pick(which: number): string | undefined {
    const names = [...this.program.keys()];
    return names[which % Math.max(1, names.length)];
  }

  /** A resource that may leave its URL: before a recovery has succeeded, the user removes none. */
  private movable = (which: number) => (this.isRepaired ? this.pick(which) : undefined);

  /** The id of one of our existing endpoints. */
  private live(which: number): string | undefined {
    const entries = [...this.engine.state.values()];
    const id = entries[which % Math.max(1, entries.length)]?.id;
    return this.world.emulator.endpoints.find((endpoint) => endpoint.id === id)?.id;
  }
}
