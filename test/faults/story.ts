import type { JsonObject } from "../../provider/api/json";
import { gatewayReply, type Match, type ScriptedReply, type Seed } from "../../sdk/testing/emulator";
import { type Event, lost, madeAt, type Story } from "./events";
import { type Ending, Judge } from "./judge";
import { Engine, type Outcome } from "./model";
import { SECRET_CANARY, World } from "./world";

/*
 * A story: what a user, a network and other people do to a stack, one thing after the other. It ends with a quiet service
 * and a user who follows the messages; then all has to be as the program wants it.
 */

export interface Options {
  /** Creates are marked (`endpoints:mark`). */
  marks: boolean;
  /** All endpoints are pooled, three on a URL. */
  pools: boolean;
}

export async function play(story: Story, options: Options): Promise<Ending> {
  const settings = {
    "endpoints:requestsPerWindow": `${story.budget}`,
    ...(story.recovers && { "endpoints:recoverWithin": "1h" }),
    ...(options.marks && { "endpoints:mark": "team/dev" }),
  };
  const world = await World.start(settings, story.service);
  try {
    return await new Player(world, story, options).play();
  } finally {
    await world.close();
  }
}

/** What a message says of a create that could not be settled. */
const LEFT_OPEN =
  /could not be determined either|may have been created nevertheless|may have created one of these|would notice one more/;

/** Whoever reads a message does not type faster: what comes late has come, and the list shows it. In milliseconds. */
const READING = 10_000;

type Happening<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;

class Player {
  private readonly engine: Engine;
  private readonly judge: Judge;
  private readonly program = new Map<string, JsonObject>();
  private readonly keys: string[] = [];
  private made = 0;
  /** Whether a process has died, or a message left a create open. */
  private leftOpen = false;
  /** Whether the last recovery came to its end. Before that nobody takes a URL out of the program. */
  private mended = true;
  /** Whether a message has asked whether this is the right account. */
  private acceptsAccount = false;
  /** What is scripted for the command that comes. */
  private scripts = { on: true };

  constructor(
    private readonly world: World,
    private readonly story: Story,
    private readonly options: Options,
  ) {
    this.engine = new Engine(world, story.parallel);
    this.judge = new Judge(world, this.engine, story, options);
    this.keys.push(this.judge.otherKey);
    // The age of an endpoint is unknown.
    this.leftOpen = [story.service.date, story.service.createdAt].some(
      (time) => typeof (time ?? null) !== "number",
    )
      ? story.service.date !== undefined || story.service.createdAt !== undefined
      : false;
  }

  async play(): Promise<Ending> {
    const { emulator, clock } = this.world;
    const { seed, probability, kinds } = this.story;
    for (const [index, event] of this.story.events.entries()) {
      emulator.disturb({ seed: seed + index, probability, kinds });
      const outcome = await this.happens(event);
      this.scripts.on = false;
      this.world.aside = {};
      this.leftOpen ||= outcome?.killed === true;
      if (outcome?.killed) await this.world.quiet();
      if (!outcome || (!outcome.killed && outcome.errors.size === 0)) continue;
      // What failed is mended before anything else is asked, and before it is run again its messages are followed.
      await clock.sleep(READING);
      for (const [name, message] of outcome.errors) this.follow(name, message);
      this.mended = await this.mend(3);
    }
    emulator.calm();
    await clock.sleep(READING);
    await this.mend(12);
    return this.judge.ending(this.program, this.keys);
  }

  private async happens(event: Event): Promise<Outcome | undefined> {
    const { emulator } = this.world;
    this.scripts = { on: true };
    switch (event.kind) {
      case "grow":
      case "grow at once":
        return this.grow(event.by);
      case "killed":
        return this.grow(event.by, event.after);
      case "change":
        return this.change(event.which, event.text);
      case "rename":
        return this.rename(event.which);
      case "shrink":
        return this.shrink(event.which);
      case "refresh":
        return this.refresh();
      case "edited by hand": {
        const id = this.live(event.which);
        if (id !== undefined) emulator.edit(id, { description: "by hand" });
        return this.up();
      }
      case "deleted by hand": {
        const id = this.live(event.which);
        if (id !== undefined) emulator.remove(id);
        return this.refresh();
      }
      case "secrets repeated": {
        // A refusal that repeats what it was sent, as services do.
        const msg = `bad: ${SECRET_CANARY}, key ${this.world.apiKey}`;
        const match: Match = ({ body }) => JSON.stringify(body ?? "").includes(SECRET_CANARY);
        this.script(match, { status: 422, body: { error_code: "ERR_NGROK_2204", msg } }, event.by);
        return this.grow(event.by);
      }
      case "taken by somebody": {
        // The URL of a resource that is still to come.
        const url = this.urlOf(this.made + (event.which % 2));
        if (this.isFree(url)) this.judge.seedTheirs({ type: event.which % 3 ? "cloud" : "ephemeral", url });
        return undefined;
      }
      case "an equal there before": {
        const seed = { type: "cloud", ...this.wireOf(this.made), ...this.createdAt(event.made) } as const;
        if (this.isFree(seed.url)) this.judge.seedTheirs(seed);
        return this.grow(1);
      }
      case "an equal meanwhile":
        this.meets(event);
        return this.grow(1);
      case "comes late": {
        const { request, ms: lateMs, answer } = event;
        this.script(request, { lateMs, ...lost[answer] });
        return this.write(request, event.which);
      }
      case "answered with another": {
        const { request, done } = event;
        const body = this.another(event);
        this.script(request, done ? { afterCommit: true, body } : { status: 200, body });
        if (request !== "read") return this.write(request, event.which);
        // One by one, since what is listed is not read.
        this.script("list", { status: 403, body: "" });
        return this.refresh();
      }
      case "no route":
        this.script(event.request, gatewayReply(event.form), 99);
        if (event.request === "delete") return this.shrink(event.which);
        this.script("list", { status: 403, body: "" });
        return this.refresh();
      case "asked elsewhere":
        // What is not there yet would be created in the other account, as was asked.
        if (![...this.program.keys()].every((name) => this.engine.state.has(name))) return undefined;
        this.world.aside = this.elsewhere(event.place);
        if (event.command === "change") return this.change(event.which, "elsewhere");
        return event.command === "shrink" ? this.shrink(event.which) : this.refresh();
      case "key rotated":
        this.world.apiKey = emulator.addKey(event.colleague ? { principal: "usr_colleague" } : {});
        this.keys.push(this.world.apiKey);
        return undefined;
    }
  }

  private up(killAfter?: number): Promise<Outcome> {
    return this.noted(() => this.engine.up(this.program, killAfter));
  }

  private refresh(): Promise<Outcome> {
    return this.noted(() => this.engine.refresh());
  }

  private async noted(command: () => Promise<Outcome>): Promise<Outcome> {
    const before = new Map(this.engine.state);
    const outcome = await command();
    this.judge.commandEnded(before);
    const messages = [...outcome.errors.values()];
    this.judge.messages.push(...messages);
    this.leftOpen ||= messages.some((message) => LEFT_OPEN.test(message));
    return outcome;
  }

  /** The documented recovery, and what the messages say, until nothing fails. */
  private async mend(most: number): Promise<boolean> {
    for (let tries = 0; tries < most; tries++) {
      await this.world.clock.sleep(READING);
      this.world.aside = this.acceptsAccount ? { environment: { ENDPOINTS_ACCEPT_ACCOUNT: "1" } } : {};
      this.acceptsAccount = false;
      const refresh = await this.refresh();
      const { errors } = await this.up();
      await this.world.clock.sleep(READING);
      for (const [name, message] of [...refresh.errors, ...errors]) this.follow(name, message);
      if (errors.size > 0 || refresh.errors.size > 0) continue;
      // As the message says: for one `pulumi up`.
      for (const [name, { adopt: _, ...inputs }] of this.program) this.program.set(name, inputs);
      return true;
    }
    return false;
  }

  /** Does what a message says about a URL that is taken, about endpoints that may be ours, or about the account. */
  private follow(name: string, message: string): void {
    // Who runs the command again uses the right key.
    this.acceptsAccount ||= /ENDPOINTS_ACCEPT_ACCOUNT/.test(message);
    const { adopt: _, ...inputs } = this.program.get(name) ?? {};
    if (!this.program.has(name) || this.engine.state.has(name)) return;
    if (/remove adopt/i.test(message)) this.program.set(name, inputs);
    if (/is in no stack/.test(message)) this.judge.lookAt(inputs["url"]);
    const named: string[] = message.match(/\bep_\w+/g) ?? [];
    const wanted = new Set([...this.program.values()].map(({ adopt }) => adopt));
    const isOurs = ({ id = "", url = "" }) =>
      !wanted.has(id) && (named.includes(id) || (/is in no stack/.test(message) && url === inputs["url"]));
    const left = this.judge.leftovers().find(isOurs);
    if (left !== undefined && /set adopt/i.test(message)) {
      this.program.set(name, { ...inputs, adopt: left.id });
      if (!this.leftOpen) this.judge.needless.push(`${left.id}: ${message}`);
    }
    if (left === undefined && /is served by/.test(message) && named.some(this.judge.isTheirs))
      this.program.set(name, { ...inputs, url: `https://elsewhere-${this.made++}.example.com` });
  }

  /** Adds resources to the program, and runs it. */
  private grow(by: number, killAfter?: number): Promise<Outcome> {
    for (let index = 0; index < by; index++, this.made++)
      this.program.set(`r${this.made}`, this.inputsOf(this.made));
    return this.up(killAfter);
  }

  private async change(which: number, description: string): Promise<Outcome | undefined> {
    const name = this.pick(which);
    if (name === undefined) return undefined;
    this.program.set(name, { ...this.program.get(name), description });
    return this.up();
  }

  private async rename(which: number): Promise<Outcome | undefined> {
    const name = this.pick(which);
    if (name === undefined || !this.mended) return undefined;
    const url = `https://moved-${this.made++}.example.com`;
    this.program.set(name, { ...this.program.get(name), url });
    return this.up();
  }

  private async shrink(which: number): Promise<Outcome | undefined> {
    const name = this.pick(which);
    if (name === undefined || !this.mended) return undefined;
    this.program.delete(name);
    return this.up();
  }

  /** A command that makes such a request. */
  private write(request: "create" | "update" | "delete", which: number): Promise<Outcome | undefined> {
    if (request === "create") return this.grow(1);
    return request === "update" ? this.change(which, `changed ${this.made++}`) : this.shrink(which);
  }

  /** Scripts replies of the command that comes. */
  private script(match: Match, reply: ScriptedReply, times = 1): void {
    const { scripts } = this;
    this.world.emulator.intercept(
      (request) => scripts.on && (typeof match === "function" ? match(request) : isThat(match, request)),
      reply,
      times,
    );
  }

  /** Somebody else makes the same while we do; his endpoint carries no mark of ours. */
  private meets({ when, made, answer }: Happening<"an equal meanwhile">): void {
    const { url, metadata } = this.wireOf(this.made);
    const { scripts } = this;
    this.world.emulator.rival(when, {
      match: (request) => scripts.on && isThat("create", request) && Object(request.body).url === url,
      fields: { metadata, ...(made !== "now" && this.createdAt(made)) },
      ...(answer !== null && {
        reply: { ...(when !== "instead" && { afterCommit: true }), ...lost[answer] },
      }),
    });
  }

  /** What another endpoint's answer looks like. */
  private another({ about, which }: Happening<"answered with another">): object | ((real: object) => object) {
    const { endpoints } = this.world.emulator;
    // Whose an endpoint on our own URL is, that a create is answered with, only a mark can show.
    const isOther = ({ url }: { url?: string | undefined }) =>
      this.options.marks || url !== this.urlOf(this.made);
    const theirs = endpoints.find(
      (one) => one.type === "cloud" && this.judge.isTheirs(one.id) && isOther(one),
    );
    const ours = endpoints.find(({ id }) => id === this.live(which));
    if (about === "an agent's") return (real: object) => ({ ...theirs, ...real, type: "ephemeral" });
    return (about === "ours" ? ours : theirs) ?? {};
  }

  private elsewhere(place: Happening<"asked elsewhere">["place"]) {
    const { emulator } = this.world;
    if (place === "another prefix") return { baseUrl: new URL(emulator.baseUrl).origin };
    if (place === "another account") return { apiKey: this.judge.otherKey };
    const apiKey = emulator.addKey({ mayList: false });
    this.keys.push(apiKey);
    return { apiKey };
  }

  /** In pools three resources have the same URL and content. */
  private urlOf = (number: number) =>
    `https://made-${this.options.pools ? number - (number % 3) : number}.example.com`;

  private inputsOf(made: number): JsonObject {
    const url = this.urlOf(made);
    const number = Number(/\d+/.exec(url));
    const config = { secret: SECRET_CANARY, number };
    return {
      url,
      trafficPolicy: { on_http_request: [{ actions: [{ type: "verify-webhook", config }] }] },
      ...(number % 2 === 0 && { description: `number ${number}`, metadata: { number } }),
      ...(this.options.pools && { poolingEnabled: true }),
    };
  }

  /** The same on the wire. */
  private wireOf(made: number) {
    const { description, metadata, trafficPolicy } = this.inputsOf(made);
    return {
      url: this.urlOf(made),
      description: description === undefined ? undefined : String(description),
      metadata: metadata === undefined ? undefined : JSON.stringify(metadata),
      traffic_policy: JSON.stringify(trafficPolicy),
      pooling_enabled: this.options.pools,
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

  /** The id of one of ours that is there. */
  private live(which: number): string | undefined {
    const entries = [...this.engine.state.values()];
    const id = entries[which % Math.max(1, entries.length)]?.id;
    return this.world.emulator.endpoints.find((endpoint) => endpoint.id === id)?.id;
  }
}

const METHODS = { create: "POST", list: "GET", read: "GET", update: "PATCH", delete: "DELETE" };

const isThat = (name: keyof typeof METHODS, { method, path }: { method: string; path: string }) =>
  method === METHODS[name] && (path === "/endpoints") === (name === "create" || name === "list");
