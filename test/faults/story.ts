import type { JsonObject } from "../../provider/schema";
import type { Event, Story } from "./events";
import { Engine, type Outcome } from "./model";
import { BUDGET, KEY_CANARY, SECRET_CANARY, World } from "./world";

/*
 * A story: what a user, a network and other people do to a stack, one thing after the other. It ends with a quiet service
 * and a user who follows what the messages say; then all has to be as the program wants it.
 */

/** What a story came to. */
export interface Ending {
  /** Objects of ours on the service that no resource of the state has. */
  orphans: string[];
  /** Resources that have no object, or two of which have the same. */
  missing: string[];
  /** Things of other people that were changed or deleted. */
  harmed: string[];
  /** Objects that are not as the program wants them. */
  wrong: string[];
  mostInAWindow: number;
  /** Messages without a next step, or with a secret in them. */
  badMessages: string[];
  /** Endpoints of ours that a user had to adopt, though nothing was killed and every create could be settled. */
  needless: string[];
  faults: number;
  requests: number;
}

export async function play(story: Story): Promise<Ending> {
  const world = await World.start(story.recovers ? { "endpoints:recoverWithin": "1h" } : {});
  try {
    return await new Teller(world, story).tell();
  } finally {
    await world.close();
  }
}

/** A message tells what to do in one of these words. */
const NEXT_STEP = /\b(set|run|check|correct|give|wait|choose|delete|use|look|see|ask|put)\b/i;

/** What a message says of a create that could not be settled. */
const LEFT_OPEN = /could not be seen either|may have been created all the same/;

class Teller {
  private readonly engine: Engine;
  private readonly program = new Map<string, JsonObject>();
  private readonly theirs = new Map<string, string>();
  private readonly messages: string[] = [];
  private readonly needless: string[] = [];
  private made = 0;
  /** Whether a process has died, or a create was left open and the user told so. */
  private leftOpen = false;
  /** Whether the last recovery came to its end. Before that nobody takes a URL out of the program. */
  private mended = true;

  constructor(
    private readonly world: World,
    private readonly story: Story,
  ) {
    this.engine = new Engine(world);
    for (const type of ["edge", "cloud"] as const) this.seedTheirs({ type });
  }

  async tell(): Promise<Ending> {
    const { emulator } = this.world;
    const { seed, probability, kinds } = this.story;
    for (const [index, event] of this.story.events.entries()) {
      emulator.disturb({ seed: seed + index, probability, kinds });
      const outcome = await this.happens(event);
      // What was begun when the process died reaches the service in a moment, or never.
      this.leftOpen ||= outcome?.killed === true;
      if (outcome?.killed) await new Promise((resolve) => setTimeout(resolve, 60));
      // A command that failed is run again, as its message says, before anything else is asked of it.
      if (outcome && (outcome.killed || outcome.errors.size > 0)) this.mended = await this.mend(3);
    }
    emulator.calm();
    await this.mend(12);
    return this.ending();
  }

  private async happens(event: Event): Promise<Outcome | undefined> {
    const { emulator } = this.world;
    switch (event.kind) {
      case "grow":
        this.grow(event.by);
        return this.up();
      case "killed":
        this.grow(event.by);
        return this.up(event.after);
      case "change": {
        const name = this.pick(event.which);
        if (name === undefined) return undefined;
        this.program.set(name, { ...this.program.get(name), description: event.text });
        return this.up();
      }
      case "rename": {
        const name = this.pick(event.which);
        if (name === undefined || !this.mended) return undefined;
        this.program.set(name, {
          ...this.program.get(name),
          url: `https://moved-${this.made++}.example.com`,
        });
        return this.up();
      }
      case "shrink": {
        const name = this.pick(event.which);
        if (name === undefined || !this.mended) return undefined;
        this.program.delete(name);
        return this.up();
      }
      case "refresh":
        return this.noted(this.engine.refresh());
      case "edited by hand": {
        const entry = this.entry(event.which);
        if (entry && emulator.endpoints.some(({ id }) => id === entry.id))
          emulator.edit(entry.id, { description: "by hand" });
        return this.up();
      }
      case "deleted by hand": {
        const entry = this.entry(event.which);
        if (entry && emulator.endpoints.some(({ id }) => id === entry.id)) emulator.remove(entry.id);
        return this.noted(this.engine.refresh());
      }
      case "told too much":
        // A refusal that repeats what it was sent, as services do.
        emulator.intercept(
          ({ body }) => JSON.stringify(body ?? "").includes(SECRET_CANARY),
          {
            status: 422,
            body: { error_code: "ERR_NGROK_2204", msg: `bad: ${SECRET_CANARY}, key ${KEY_CANARY}` },
          },
          event.by,
        );
        this.grow(event.by);
        return this.up();
      case "taken by somebody": {
        // The URL of a resource that is still to come.
        const url = `https://made-${this.made + (event.name % 2)}.example.com`;
        if (!emulator.endpoints.some((endpoint) => endpoint.url === url))
          this.seedTheirs({ type: "cloud", url });
        return undefined;
      }
    }
  }

  private up(killAfter?: number): Promise<Outcome> {
    return this.noted(this.engine.up(this.program, killAfter));
  }

  private async noted(run: Promise<Outcome>): Promise<Outcome> {
    const outcome = await run;
    this.messages.push(...outcome.errors.values());
    this.leftOpen ||= [...outcome.errors.values()].some((message) => LEFT_OPEN.test(message));
    return outcome;
  }

  /** The documented recovery, and what the messages say, until nothing fails. */
  private async mend(most: number): Promise<boolean> {
    for (let tries = 0; tries < most; tries++) {
      const refresh = await this.noted(this.engine.refresh());
      const { errors } = await this.up();
      for (const [name, message] of errors) this.follow(name, message);
      if (errors.size > 0 || refresh.errors.size > 0) continue;
      // As the message says: for one `pulumi up`.
      for (const [name, { adopt: _, ...inputs }] of this.program) this.program.set(name, inputs);
      return true;
    }
    return false;
  }

  /** Does what a message says about a URL that is taken, or about endpoints that may be ours. */
  private follow(name: string, message: string): void {
    const { adopt: _, ...inputs } = this.program.get(name) ?? {};
    if (/take adopt out/.test(message)) this.program.set(name, inputs);
    const named = [...message.matchAll(/\bep_\w+/g)].map(([id]) => id);
    const inAState = new Set([...this.engine.state.values()].map(({ id }) => id));
    const left = named.find((id) => !inAState.has(id) && !this.theirs.has(id));
    if (left !== undefined && /set adopt/.test(message)) {
      this.program.set(name, { ...inputs, adopt: left });
      if (!this.leftOpen) this.needless.push(left);
    }
    if (left === undefined && named.some((id) => this.theirs.has(id)))
      this.program.set(name, { ...inputs, url: `https://elsewhere-${this.made++}.example.com` });
  }

  private grow(by: number): void {
    for (let index = 0; index < by; index++) {
      const number = this.made++;
      this.program.set(`r${number}`, {
        url: `https://made-${number}.example.com`,
        trafficPolicy: {
          on_http_request: [
            { actions: [{ type: "verify-webhook", config: { secret: SECRET_CANARY, number } }] },
          ],
        },
        ...(number % 3 === 0 && { description: `number ${number}`, metadata: { number } }),
      });
    }
  }

  private seedTheirs(seed: { type: "edge" | "cloud"; url?: string }): void {
    const theirs = this.world.emulator.seed({ ...seed, description: "theirs" });
    this.theirs.set(theirs.id, JSON.stringify(theirs));
  }

  private pick(which: number): string | undefined {
    const names = [...this.program.keys()];
    return names[which % Math.max(1, names.length)];
  }

  private entry(which: number) {
    const entries = [...this.engine.state.values()];
    return entries[which % Math.max(1, entries.length)];
  }

  private ending(): Ending {
    const { emulator, said, mostInAWindow } = this.world;
    const there = new Map(emulator.endpoints.map((endpoint) => [endpoint.id, endpoint]));
    const ids = [...this.engine.state.values()].map(({ id }) => id);
    const wanted = ([name, inputs]: [string, JsonObject]) => {
      const live = there.get(this.engine.state.get(name)?.id ?? "");
      return live?.url === inputs["url"] && (live?.description ?? "") === (inputs["description"] ?? "");
    };
    return {
      orphans: [...there.values()]
        .filter(({ id, type }) => type === "cloud" && !ids.includes(id) && !this.theirs.has(id))
        .map(({ id }) => id),
      missing: ids.filter((id, index) => !there.has(id) || ids.indexOf(id) !== index),
      harmed: [...this.theirs]
        .filter(([id, before]) => JSON.stringify(there.get(id)) !== before)
        .map(([id]) => id),
      wrong: [...this.program].filter((resource) => !wanted(resource)).map(([name]) => name),
      mostInAWindow,
      badMessages: [
        ...this.messages.filter((message) => !NEXT_STEP.test(message)),
        ...[...this.messages, ...said].filter(
          (text) => text.includes(SECRET_CANARY) || text.includes(KEY_CANARY),
        ),
      ],
      needless: this.needless,
      faults: emulator.faults.length,
      requests: emulator.requests.length,
    };
  }
}

/** What every story has to come to. */
export const wellEnded = (ending: Ending): boolean =>
  [ending.orphans, ending.missing, ending.harmed, ending.wrong, ending.badMessages, ending.needless].every(
    (found) => found.length === 0,
  ) && ending.mostInAWindow <= BUDGET.requests;
