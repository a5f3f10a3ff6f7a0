import { accountFingerprint } from "../../provider/endpoint/gone";
import type { JsonObject } from "../../provider/service/json";
import { gatewayReply, type Match, type ScriptedReply, type Seed } from "../../sdk/testing/emulator";
import { matches } from "../../sdk/testing/emulator/script";
import { Advice } from "./advice";
import { type Event, lost, madeAt, type Run, type Story } from "./events";
import { type Faults, Judge, tellsTime, type Verb } from "./judge";
import { Engine, type Flags, hasSecondProvider, type Outcome, SECOND } from "./model";
import { kindsOn, rival } from "./serviceFaults";
import { SECRET_CANARY, World } from "./world";

/*
 * Plays a story: a sequence of events from the user, the network and other users of the account. At the end, the service has no
 * more faults, and the user follows the messages. Then the account must match the program.
 */

interface Mode {
  /** Whether all endpoints are pooled, three on each URL. */
  pools: boolean;
}

export const modes: Mode[] = [{ pools: false }, { pools: true }];

/** Plays the story, and returns its faults. */
export async function play(story: Story, mode: Mode): Promise<Partial<Faults>> {
  const settings = {
    "endpoints:requestsPerWindow": `${story.budget}`,
    "endpoints:listFilter": story.filtersLists ? "on" : "off",
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
  /could not find out whether the endpoint exists|may have been created nevertheless|may have created one of these|could add a second one to the pool|The reply has no code of the service/;

/** The user's time to read a message, in milliseconds. It is longer than any delay of a request or of the list. */
const READING = 10_000;

type EventOf<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;

class StoryRunner {
  private readonly engine: Engine;
  private readonly judge: Judge;
  private readonly program = new Map<string, JsonObject>();
  private readonly keys: string[] = [];
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
    this.keys.push(this.judge.otherKey);
    // If the age of endpoints is unknown, creates may be left open.
    this.hasOpenCreate = !tellsTime(story.service);
  }

  async play(): Promise<Partial<Faults>> {
    const { emulator, clock } = this.world;
    const { seed, probability, kinds } = this.story;
    for (const [index, event] of this.story.events.entries()) {
      emulator.disturb({ seed: seed + index, probability, kinds: kindsOn(emulator, kinds) });
      const outcome = await this.run(event);
      this.scripts.on = false;
      this.world.override = {};
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
    return this.judge.faults(this.program, this.keys);
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
      case "refusal with secrets": {
        // A refusal that repeats parts of the request, as some services do.
        const msg = `bad: ${SECRET_CANARY}, key ${this.world.apiKey}`;
        const match: Match = ({ body }) => JSON.stringify(body ?? "").includes(SECRET_CANARY);
        this.script(match, { status: 422, body: { error_code: "ERR_NGROK_2204", msg } }, event.by);
        return this.create(event.by);
      }
      case "URL taken": {
        // The URL of a later resource.
        const url = this.urlOf(this.created + (event.which % 2));
        if (this.isFree(url)) this.judge.seedTheirs({ type: event.which % 3 ? "cloud" : "ephemeral", url });
        return undefined;
      }
      case "equal endpoint exists": {
        const seed = { type: "cloud", ...this.wireOf(this.created), ...this.createdAt(event.made) } as const;
        if (this.isFree(seed.url)) this.judge.seedTheirs(seed);
        return this.create(1);
      }
      case "equal endpoint meanwhile":
        this.createEqual(event);
        return this.create(1);
      case "request arrives late": {
        const { request, ms: lateMs, answer } = event;
        this.script(request, { lateMs, ...lost[answer] });
        // A create is ours for two seconds after its loss. Later, the user decides.
        this.hasOpenCreate ||= request === "create" && lateMs > 2_000;
        return this.write(request, event.which);
      }
      case "reply about another endpoint": {
        const { request, done } = event;
        const body = this.anotherBody(event);
        this.script(request, done ? { afterCommit: true, body } : { status: 200, body });
        return request === "read" ? this.refreshById() : this.write(request, event.which);
      }
      case "404 of a gateway":
        this.script(event.request, gatewayReply(event.form), 99);
        return event.request === "read" ? this.refreshById() : this.remove(event.which);
      case "wrong service":
        // A resource that does not exist yet would be created in the other account.
        if (![...this.program.keys()].every((name) => this.engine.state.has(name))) return undefined;
        this.world.override = this.wrongService(event.place);
        if (event.command === "change")
          return this.edit(this.pick(event.which), { description: "elsewhere" });
        return event.command === "remove" ? this.remove(event.which) : this.refresh();
      case "rename":
        return this.rename(event);
      case "move URLs":
        return this.moveUrls(event);
      case "import again":
        return this.importAgain(event);
      case "destroy":
        return this.runAfterEdit({ ...event.run, verb: "destroy", target: "all" }, [], []);
      case "key rotated":
        this.world.apiKey = emulator.addKey();
        this.keys.push(this.world.apiKey);
        return undefined;
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
      const { adopted, acceptsAccount } = this.advice;
      const { baseUrl } = this.world.emulator;
      const account = acceptsAccount ? accountFingerprint({ baseUrl, apiKey: this.world.apiKey }) : "";
      this.world.override = {
        environment: { ENDPOINTS_ADOPT: [...adopted].join(","), ENDPOINTS_ACCEPT_ACCOUNT: account },
      };
      this.advice.acceptsAccount = false;
      adopted.clear();
      const { targets, ...flags } = this.advice.flags;
      this.advice.flags = { targets: new Set(), parallel: flags.parallel };
      const errors = [...(await this.refresh()).errors];
      if (targets.size > 0) errors.push(...(await this.up({ targets })).errors);
      errors.push(...(await this.up(flags)).errors);
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
    const isMoved = how !== "state rename" && event.isMoved;
    const name = this.newName(isReused, isMoved !== hasSecondProvider(old));
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
    this.replaceInProgram([old], [[name, inputs]]);
    return this.runAfterEdit(run, [name], [old]);
  }

  private async moveUrls(event: EventOf<"move URLs">): Promise<Outcome | undefined> {
    const { how, which, length, isReversed, isReused, run } = event;
    const from = which % Math.max(1, this.program.size - 1);
    const list = [...this.program].slice(from, from + length);
    if (list.length < 2 || !this.isRepaired) return undefined;
    if (isReversed) list.reverse();
    const olds = list.map(([name]) => name);
    const names = [...olds, this.newName(isReused, false)];
    const [first = {}, ...others] = list.map(([, inputs]) => inputs);
    const fresh = this.inputsOf(this.created++);
    const moved = {
      grow: [fresh, first, ...others],
      shrink: others,
      slide: [...others, fresh],
      rotate: [...others, first],
    }[how];
    const placed = moved.map((inputs, index): [string, JsonObject] => [names[index] ?? "", inputs]);
    this.replaceInProgram(olds, isReversed ? placed.reverse() : placed);
    return this.runAfterEdit(run, names.slice(0, moved.length), olds.slice(moved.length));
  }

  private async importAgain(event: EventOf<"import again">): Promise<Outcome | undefined> {
    const old = this.movable(event.which);
    const id = this.engine.state.get(old ?? "")?.id;
    if (old === undefined || id === undefined) return undefined;
    const names = Array.from({ length: event.times }, () => this.newName(false, event.isMoved));
    for (const name of names) await this.noted("refresh", {}, () => this.engine.import(name, id));
    const [name = ""] = names;
    if (event.keeps === "old") return this.runAfterEdit(event.run, [old], names);
    this.advice.renamed.set(name, old);
    this.replaceInProgram([old], [[name, this.program.get(old) ?? {}]]);
    return this.runAfterEdit(event.run, [name], [old]);
  }

  /** A name that no resource has; a reused one was a resource's before. */
  private newName(isReused: boolean, isSecond: boolean): string {
    const isFree = (name: string) =>
      !this.program.has(name) && !this.engine.state.has(name) && hasSecondProvider(name) === isSecond;
    const reused = isReused ? [...this.names].find(isFree) : undefined;
    return reused ?? `${isSecond ? SECOND : ""}n${this.created++}`;
  }

  /** Replaces resources at the place of the first one. */
  private replaceInProgram(olds: string[], news: [string, JsonObject][]): void {
    const entries = [...this.program];
    const at = entries.findIndex(([name]) => olds.includes(name));
    const kept = entries.filter(([name]) => !olds.includes(name));
    this.program.clear();
    for (const [name, inputs] of [...kept.slice(0, at), ...news, ...kept.slice(at)])
      this.program.set(name, inputs);
    for (const name of olds) this.names.add(name);
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

  /** Somebody creates an equal endpoint at the same time as we do. */
  private createEqual({ when, made, answer }: EventOf<"equal endpoint meanwhile">): void {
    const { url, metadata } = this.wireOf(this.created);
    const { scripts } = this;
    rival(this.world.emulator, when, {
      match: (request) => scripts.on && matches("create", request) && Object(request.body).url === url,
      fields: { metadata, ...(made !== "now" && this.createdAt(made)) },
      ...(answer !== null && {
        reply: { ...(when !== "instead" && { afterCommit: true }), ...lost[answer] },
      }),
    });
  }

  /** The body of a reply about another endpoint. */
  private anotherBody({
    about,
    which,
  }: EventOf<"reply about another endpoint">): object | ((real: object) => object) {
    const { endpoints } = this.world.emulator;
    // The provider cannot know the owner of an endpoint with our URL in the reply to a create.
    const isOther = ({ url }: { url?: string | undefined }) => url !== this.urlOf(this.created);
    const theirs = endpoints.find(
      (one) => one.type === "cloud" && this.judge.isTheirs(one.id) && isOther(one),
    );
    const ours = endpoints.find(({ id }) => id === this.live(which));
    if (about === "an agent's") return (real: object) => ({ ...theirs, ...real, type: "ephemeral" });
    return (about === "ours" ? ours : theirs) ?? {};
  }

  private wrongService(place: EventOf<"wrong service">["place"]) {
    const { emulator } = this.world;
    if (place === "another prefix") return { baseUrl: new URL(emulator.baseUrl).origin };
    if (place === "another account") return { apiKey: this.judge.otherKey };
    const apiKey = emulator.addKey({ mayList: false });
    this.keys.push(apiKey);
    return { apiKey };
  }

  /** In pools, three resources have the same URL and content. */
  private urlOf = (number: number) =>
    `https://made-${this.mode.pools ? number - (number % 3) : number}.example.com`;

  private inputsOf(made: number): JsonObject {
    const url = this.urlOf(made);
    const number = Number(/\d+/.exec(url));
    const config = { secret: SECRET_CANARY, number };
    return {
      url,
      trafficPolicy: { on_http_request: [{ actions: [{ type: "verify-webhook", config }] }] },
      ...(number % 2 === 0 && { description: `number ${number}`, metadata: { number } }),
      ...(this.mode.pools && { poolingEnabled: true }),
    };
  }

  /** The inputs on the wire. */
  private wireOf(made: number) {
    const { description, metadata, trafficPolicy } = this.inputsOf(made);
    return {
      url: this.urlOf(made),
      description: description === undefined ? undefined : String(description),
      metadata: metadata === undefined ? undefined : JSON.stringify(metadata),
      traffic_policy: JSON.stringify(trafficPolicy),
      pooling_enabled: this.mode.pools,
    } satisfies Partial<Seed>;
  }

  private createdAt(made: keyof typeof madeAt): { created_at: string | undefined } {
    const { date, createdAt } = this.story.service;
    const skew = [createdAt, date].find((time) => typeof time === "number") ?? 0;
    const time = madeAt[made];
    if (typeof time !== "number") return { created_at: time ?? undefined };
    const moment = new Date(this.world.clock.now() + Number(skew) + time);
    return { created_at: moment.toISOString().replace(/\.\d+Z$/, "Z") };
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
