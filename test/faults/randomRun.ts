import type { JsonObject } from "../../provider/data/index";
import {
  gatewayReply,
  type KeyOptions,
  type Match,
  type ScriptedReply,
  type Seed,
} from "../../sdk/testing/emulator";
import { matches } from "../../sdk/testing/emulator/script";
import { Engine, type Program } from "../model/engine";
import type { Command, Outcome } from "../model/phase";
import { creationTimes, type Event, type FollowUp, losses, type RandomRun } from "./arbitraries";
import { Oracle, THEIRS, type Verb, type Violations } from "./oracle";
import { kindsOn, rival } from "./serviceFaults";
import { SimulatedUser } from "./simulatedUser";
import { hasSecondProvider, providerOf, SECOND, SECRET_CANARY, Testbed } from "./testbed";

/*
 * Executes a random run: a sequence of events from the user, the network and other users of the account. At the end, the faults
 * stop, and the user follows the messages. Then the account must match the program.
 */

interface Mode {
  /** Whether all endpoints are pooled, three on each URL. */
  pools: boolean;
}

export const modes: Mode[] = [{ pools: false }, { pools: true }];

/** Executes the random run, and returns its violations. */
export async function violationsOf(randomRun: RandomRun, mode: Mode): Promise<Partial<Violations>> {
  const settings = {
    "endpoints:requestsPerWindow": `${randomRun.budget}`,
    "endpoints:listFilter": randomRun.filtersLists ? "on" : "off",
  };
  const testbed = await Testbed.start(settings, randomRun.service);
  try {
    return await new RandomRunExecutor(testbed, randomRun, mode).violations();
  } finally {
    await testbed.close();
  }
}

/** The user's time to read a message, in milliseconds. No request or list is delayed for so long. */
const READING_TIME = 10_000;

type EventOf<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;

const isGood = ({ killed, errors }: Outcome) => !killed && errors.length === 0;

class RandomRunExecutor {
  private readonly engine: Engine;
  private readonly oracle: Oracle;
  private readonly program = new Map<string, JsonObject>();
  private readonly keys: string[] = [];
  private created = 0;
  /** The resources with `retainOnDelete`. */
  private readonly retained = new Set<string>();
  private readonly user: SimulatedUser;
  /** How many commands have told the user to take out an `adopt`. */
  private ignored = 0;
  /** Whether the last recovery succeeded. */
  private isRepaired = true;
  /** Whether the scripted replies of the current command are active. */
  private scripts = { on: true };

  constructor(
    private readonly testbed: Testbed,
    private readonly randomRun: RandomRun,
    private readonly mode: Mode,
  ) {
    const start = async () => testbed.newProcess();
    const schedule = { mode: "at once", parallel: randomRun.parallel } as const;
    this.engine = new Engine({ clock: testbed.clock, schedule, start });
    this.oracle = new Oracle(testbed, this.engine, randomRun, mode);
    const elsewhere = () => `https://elsewhere-${this.created++}.example.com`;
    this.user = new SimulatedUser(this.program, this.engine, this.oracle, testbed.config, elsewhere);
    this.keys.push(this.oracle.otherKey);
  }

  async violations(): Promise<Partial<Violations>> {
    const { emulator, clock } = this.testbed;
    const { seed, probability, kinds } = this.randomRun;
    for (const [index, event] of this.randomRun.events.entries()) {
      emulator.injectFaults({ seed: seed + index, probability, kinds: kindsOn(emulator, kinds) });
      const outcome = await this.run(event);
      this.scripts.on = false;
      this.testbed.override = {};
      if (!outcome || isGood(outcome)) continue;
      if (outcome.killed) await this.testbed.settled();
      if ("looks" in event && event.looks) this.user.lookForStrays();
      else if (outcome.killed) this.oracle.forgiveStrays();
      // The user follows the messages and repairs the stack before the next event.
      await clock.sleep(READING_TIME);
      this.user.follow(outcome.errors);
      this.isRepaired = await this.repair(6);
    }
    emulator.stopFaults();
    await clock.sleep(READING_TIME);
    await this.repair(60);
    return this.oracle.violations(this.program, this.keys);
  }

  private async run(event: Event): Promise<Outcome | undefined> {
    const { emulator } = this.testbed;
    this.scripts = { on: true };
    switch (event.kind) {
      case "create":
        return this.create(event.by);
      case "process killed":
        return this.create(event.by, event.after);
      case "forced replacement":
        return this.replace(this.movable(event.which), event.retains);
      case "change":
        return this.edit(this.pick(event.which), { description: event.text });
      case "change the URL":
        return this.edit(this.movable(event.which), { url: `https://moved-${this.created++}.example.com` });
      case "remove":
        return this.remove(event.which);
      case "refresh":
        return this.refresh();
      case "edit by hand": {
        const id = this.liveId(event.which);
        if (id !== undefined) emulator.edit(id, { description: "by hand" });
        return this.up();
      }
      case "delete by hand": {
        const id = this.liveId(event.which);
        if (id !== undefined) emulator.remove(id);
        return this.refresh();
      }
      case "refusal with secrets": {
        // Some services repeat parts of a request in a refusal.
        const msg = `bad: ${SECRET_CANARY}, key ${this.testbed.config["endpoints:apiKey"]}`;
        const match: Match = ({ body }) => JSON.stringify(body ?? "").includes(SECRET_CANARY);
        this.script(match, { status: 422, body: { error_code: "ERR_NGROK_2204", msg } }, event.by);
        return this.create(event.by);
      }
      case "URL taken": {
        // The URL of this resource, or of a later one.
        const number = this.created + (event.which % 2);
        const type = event.isEqual || event.which % 3 > 0 ? "cloud" : "ephemeral";
        const { url, ...others } = this.wireOf(number);
        const content = event.isEqual ? others : {};
        if (this.isFree(url))
          this.oracle.seedTheirs({ type, url, ...content, ...this.createdAt(event.made) });
        return this.create(1);
      }
      case "rival meanwhile":
        this.createRival(event);
        return this.create(1);
      case "request arrives late": {
        const { request, ms: lateMs, answer } = event;
        this.script(request, { lateMs, ...losses[answer] });
        return this.write(request, event.which);
      }
      case "reply about another endpoint": {
        const { request, done } = event;
        const body = this.anotherBody(event);
        this.script(request, done ? { afterCommit: true, body } : { status: 200, body });
        return request === "read" ? this.refreshById() : this.write(request, event.which);
      }
      case "404 of a gateway":
        // A list may not show yet what another process has just created.
        await this.testbed.clock.sleep(READING_TIME);
        this.script(event.request, gatewayReply(event.form), 99);
        return event.request === "read" ? this.refreshById() : this.remove(event.which);
      case "wrong service":
        // A resource that does not exist yet would be created in the other account.
        if (![...this.program.keys()].every((name) => this.oracle.entries().has(name))) return undefined;
        this.testbed.override = this.wrongService(event.place);
        if (event.command === "change")
          return this.edit(this.pick(event.which), { description: "elsewhere" });
        return event.command === "remove" ? this.remove(event.which) : this.refresh();
      case "rename":
        return this.rename(event);
      case "move URLs":
        return this.moveUrls(event);
      case "destroy":
        return this.runAfterEdit({ ...event.run, verb: "destroy", target: "all" }, [], []);
      case "key rotated":
        this.testbed.config["endpoints:apiKey"] = this.newKey();
        return undefined;
    }
  }

  private resources = (): Program =>
    new Map(
      [...this.program].map(([name, news]) => {
        const options = { deleteBeforeReplace: true, retainOnDelete: this.retained.has(name) };
        return [name, { provider: providerOf(name), news, options }];
      }),
    );

  private up(command: Command = {}): Promise<Outcome> {
    return this.observed("up", command, () => this.engine.up(this.resources(), command));
  }

  private refresh(): Promise<Outcome> {
    return this.observed("refresh", {}, () => this.engine.refresh());
  }

  /** Without a list, each endpoint is read by its id. */
  private refreshById(): Promise<Outcome> {
    this.script("list", { status: 403, body: "" });
    return this.refresh();
  }

  private async observed(verb: Verb, command: Command, run: () => Promise<Outcome>): Promise<Outcome> {
    const before = this.oracle.snapshot();
    const { length } = this.testbed.logged;
    const outcome = await run();
    this.oracle.commandEnded(before, verb, command, outcome, this.program);
    this.oracle.messages.push(...outcome.errors.map(([, message]) => message));
    this.takeAdoptOut(this.testbed.logged.slice(length), verb === "up" && isGood(outcome));
    return outcome;
  }

  /** Obeys, after some commands, the warning of a setting that stays, and the page: `adopt` is for one `pulumi up`. */
  private takeAdoptOut(logged: readonly string[], isGoodUp: boolean): void {
    const isSettingLeft = logged.some((text) => text.includes("`pulumi config rm endpoints:adopt`"));
    if ((!isSettingLeft && !isGoodUp) || this.ignored++ < this.randomRun.delay) return;
    this.ignored = 0;
    if (isSettingLeft) this.user.removeSetting();
    if (isGoodUp) this.user.removeAdopt();
  }

  private async runAfterEdit(run: FollowUp, news: string[], olds: string[]): Promise<Outcome> {
    const { verb, target, refresh, continueOnError, runProgram } = run;
    const names = { all: undefined, new: news, old: olds }[target];
    const command = { refresh, continueOnError, target: names };
    const program = runProgram ? this.resources() : new Map();
    const destroy = () => this.observed("destroy", command, () => this.engine.destroy(program, command));
    const outcome = await (verb === "up" ? this.up(command) : destroy());
    if (!isGood(outcome) || (verb === "up" && names === undefined)) return outcome;
    // A list may still show deleted endpoints.
    await this.testbed.clock.sleep(READING_TIME);
    return this.up();
  }

  /** Follows the documented recovery and the messages until nothing fails. */
  private async repair(most: number): Promise<boolean> {
    for (let tries = 0; tries < most; tries++) {
      await this.testbed.clock.sleep(READING_TIME);
      const { adoptions, flags } = this.user;
      this.user.adoptions = new Set();
      this.user.flags = { target: [] };
      const { target, ...others } = flags;
      const errors = [...(await this.refresh()).errors];
      for (const one of target) errors.push(...(await this.up({ target: [one] })).errors);
      for (const adopt of adoptions) {
        // `pulumi up --config endpoints:adopt=…`, which stores the setting.
        this.testbed.config["endpoints:adopt"] = adopt;
        errors.push(...(await this.up()).errors);
      }
      errors.push(...(await this.up(others)).errors);
      if (errors.length === 0) return true;
      await this.testbed.clock.sleep(READING_TIME);
      this.user.follow(errors);
    }
    return false;
  }

  /** Adds resources to the program and runs `up`. */
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

  private async replace(name: string | undefined, retains: boolean): Promise<Outcome | undefined> {
    if (name === undefined) return undefined;
    if (retains) this.retained.add(name);
    const stored = await this.up();
    const outcome = isGood(stored) ? await this.up({ replace: [name] }) : stored;
    this.retained.delete(name);
    return outcome;
  }

  private async rename(event: EventOf<"rename">): Promise<Outcome | undefined> {
    const { how, keepsOld, run } = event;
    const old = this.movable(event.which);
    const entry = this.engine.state.get(old ?? "");
    if (old === undefined || !entry) return undefined;
    const isMoved = how !== "state rename" && event.isMoved && !keepsOld;
    const name = this.newName(isMoved !== hasSecondProvider(old));
    if (how === "state rename" || how === "alias") this.engine.rename(old, name);
    if (how === "state rename") {
      this.user.renamed.set(old, name);
      return this.runAfterEdit(run, [old], [name]);
    }
    if (how === "import")
      await this.observed("refresh", {}, () => this.engine.import(name, providerOf(name), entry.id));
    if (how === "import" && keepsOld) return this.runAfterEdit(run, [old], [name]);
    const inputs = { ...this.program.get(old), ...(how === "adopt" && { adopt: entry.id }) };
    if (how === "another resource") Object.assign(inputs, { description: `another ${this.created++}` });
    else this.user.renamed.set(name, old);
    // In a pool, nothing tells two such resources apart once `adopt` is gone.
    if (how === "adopt" && keepsOld && !this.mode.pools)
      this.program.set(name, { ...inputs, url: this.urlOf(this.created++) });
    else this.replaceInProgram([old], [[name, inputs]]);
    return this.runAfterEdit(run, [name], [old]);
  }

  private async moveUrls(event: EventOf<"move URLs">): Promise<Outcome | undefined> {
    const { how, which, length, isReversed, run } = event;
    const from = which % Math.max(1, this.program.size - 1);
    const list = [...this.program].slice(from, from + length);
    if (list.length < 2 || !this.isRepaired) return undefined;
    if (isReversed) list.reverse();
    const olds = list.map(([name]) => name);
    const names = [...olds, this.newName(false)];
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

  private newName = (isSecond: boolean): string => `${isSecond ? SECOND : ""}n${this.created++}`;

  /** Replaces resources, at the place of the first replaced resource. */
  private replaceInProgram(olds: string[], news: [string, JsonObject][]): void {
    const entries = [...this.program];
    const at = entries.findIndex(([name]) => olds.includes(name));
    const kept = entries.filter(([name]) => !olds.includes(name));
    this.program.clear();
    for (const [name, inputs] of [...kept.slice(0, at), ...news, ...kept.slice(at)])
      this.program.set(name, inputs);
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
    this.testbed.emulator.intercept((request) => scripts.on && matches(match, request), reply, times);
  }

  /** Lets somebody create an endpoint on our URL at the same time as we do. */
  private createRival({ isEqual, when, made, answer }: EventOf<"rival meanwhile">): void {
    const { url, metadata } = this.wireOf(this.created);
    const { scripts } = this;
    rival(this.testbed.emulator, when, {
      match: (request) => scripts.on && matches("create", request) && Object(request.body).url === url,
      fields: {
        metadata,
        ...(!isEqual && { description: THEIRS }),
        ...(made !== "now" && this.createdAt(made)),
      },
      ...(answer !== null && {
        reply: { ...(when !== "instead" && { afterCommit: true }), ...losses[answer] },
      }),
    });
  }

  /** The body of a reply about another endpoint. */
  private anotherBody({
    about,
    which,
  }: EventOf<"reply about another endpoint">): object | ((real: object) => object) {
    const { endpoints } = this.testbed.emulator;
    // The provider cannot know the owner of an endpoint with our URL in the reply to a create.
    const isOther = ({ url }: { url?: string | undefined }) => url !== this.urlOf(this.created);
    const theirs = endpoints.find(
      (one) => one.type === "cloud" && this.oracle.isTheirs(one.id) && isOther(one),
    );
    const ours = endpoints.find(({ id }) => id === this.liveId(which));
    if (about === "an agent's") return (real: object) => ({ ...theirs, ...real, type: "ephemeral" });
    return (about === "ours" ? ours : theirs) ?? {};
  }

  private wrongService(place: EventOf<"wrong service">["place"]): Record<string, string> {
    const { emulator } = this.testbed;
    if (place === "another prefix") return { "endpoints:baseUrl": new URL(emulator.baseUrl).origin };
    if (place === "another account") return { "endpoints:apiKey": this.oracle.otherKey };
    return { "endpoints:apiKey": this.newKey({ mayList: false }) };
  }

  private newKey(options: KeyOptions = {}): string {
    const key = this.testbed.emulator.addKey(options);
    this.keys.push(key);
    return key;
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

  private createdAt(made: keyof typeof creationTimes): { created_at: string | undefined } {
    const { date, createdAt } = this.randomRun.service;
    const skew = [createdAt, date].find((time) => typeof time === "number") ?? 0;
    const time = creationTimes[made];
    if (typeof time !== "number") return { created_at: time ?? undefined };
    const moment = new Date(this.testbed.clock.now() + Number(skew) + time);
    return { created_at: moment.toISOString().replace(/\.\d+Z$/, "Z") };
  }

  private isFree = (url: string) => !this.testbed.emulator.endpoints.some((endpoint) => endpoint.url === url);

  private pick(which: number): string | undefined {
    const names = [...this.program.keys()];
    return names[which % Math.max(1, names.length)];
  }

  /** A resource that may leave its URL. Before a recovery has succeeded, there is none. */
  private movable = (which: number) => (this.isRepaired ? this.pick(which) : undefined);

  /** The id of one of our existing endpoints. */
  private liveId(which: number): string | undefined {
    const entries = [...this.engine.state.values()];
    const id = entries[which % Math.max(1, entries.length)]?.id;
    return this.testbed.emulator.endpoints.find((endpoint) => endpoint.id === id)?.id;
  }
}
