import type { JsonObject } from "../../provider/data/index";
import type { Edit, Seed } from "../../sdk/testing/emulator";
import { tooLong } from "../messages";
import type { Engine, Entry } from "../model/engine";
import type { Command, Outcome } from "../model/phase";
import { CANARY_KEY } from "../provider/emulated";
import type { RandomRun } from "./arbitraries";
import { RIVAL, rivalsOn } from "./serviceFaults";
import { providerOf, SECRET_CANARY, type Testbed } from "./testbed";

/* The oracle of random runs: it knows the owner of each endpoint, as no provider does, and finds violated invariants. */

/** The violations of a random run, by invariant. */
export interface Violations {
  /** Our endpoints that are in no state, and for which no message said where to look. */
  orphans: string[];
  /** Ids in the state that do not exist, or that two resources share. */
  missingOrShared: string[];
  /** Resources that left the state although their endpoints exist. */
  dropped: string[];
  /** Resources without an endpoint after a run that ended well, or whose endpoint went before they could adopt it. */
  missing: string[];
  /** Endpoints that an entry had, and that exist after a `destroy` that ended well. */
  survivors: string[];
  /** Endpoints of others that we changed or deleted. */
  harmed: string[];
  /** Endpoints of others that came into our state. */
  wronglyAdopted: string[];
  /** Resources whose endpoints differ from the program. */
  wrong: string[];
  /** Fields that a run without a refresh wrote into the state, and that the service shows otherwise. */
  untrue: string[];
  /** Messages without a next step, with a secret, or too long. */
  badMessages: string[];
  /** Our endpoints that the user had to adopt, although no process was killed there, and no message told of an open create. */
  needlessAdoptions: string[];
  /** The most requests in a window, for each process that exceeded the budget. */
  overBudget: string[];
}

/** The inputs of the program's resources, by name. */
type Program = ReadonlyMap<string, JsonObject>;

export type Verb = "up" | "destroy" | "refresh";

/** What exists before a command. */
interface Snapshot {
  entries: ReadonlyMap<string, Entry>;
  live: ReadonlyMap<string, Edit>;
}

/** The words of a next step in a message. */
const NEXT_STEP = /\b(set|run|check|correct|give|wait|choose|delete|use|look|see|ask|put)\b/i;

/** Messages about a create whose outcome is not known. */
const OPEN_CREATE = /could not find out whether|may have made an endpoint/;

/**
 * The two seconds before a lost create that the provider grants, and one for what it knows of the service's clock, in milliseconds.
 */
const TOLERANCE = 3_000;

/** Another account. */
const OTHER = "other";

/** The description of others' endpoints whose content is not ours. */
export const THEIRS = "theirs";

/** Records the violations of a random run. */
export class Oracle {
  private readonly theirs = new Map<string, string>();
  /** The ids of others' endpoints that a lost create may have made, as a warning said. They count as ours. */
  private readonly recovered = new Set<string>();
  /** The ids of strays in pools that a kill left, and that nobody looked for before the next run. */
  private readonly strays = new Set<string>();
  /** The ids that entries have had. */
  private readonly everInState = new Set<string>();
  private readonly found = {
    dropped: [] as string[],
    missing: [] as string[],
    wronglyAdopted: [] as string[],
    untrue: [] as string[],
    needlessAdoptions: [] as string[],
  };
  private readonly survivors = new Set<string>();
  readonly messages: string[] = [];
  readonly otherKey: string;

  constructor(
    private readonly testbed: Testbed,
    private readonly engine: Engine,
    private readonly randomRun: RandomRun,
    readonly mode: { pools: boolean },
  ) {
    this.otherKey = testbed.emulator.addKey({ account: OTHER });
    for (const type of ["edge", "cloud"] as const) this.seedTheirs({ type });
    this.seedTheirs({ type: "cloud" }, OTHER);
  }

  /** Seeds an endpoint of somebody else. */
  seedTheirs(seed: Seed, account?: string): void {
    const theirs = { description: THEIRS, ...seed, principal: RIVAL };
    this.recordTheirs(this.testbed.emulator.seed(theirs, account));
  }

  isTheirs = (id: string): boolean =>
    !this.recovered.has(id) && (this.theirs.has(id) || rivalsOn(this.testbed.emulator).includes(id));

  /** The entries with endpoints, without those that wait for a replacement. */
  entries = (): Map<string, Entry> =>
    new Map([...this.engine.state].filter(([, { pendingReplacement }]) => !pendingReplacement));

  /** Whether the endpoint exists, in any account. */
  exists = (id: string): boolean => this.allLive().has(id);

  isInState = (id: string): boolean => [...this.entries().values()].some((entry) => entry.id === id);

  /** Our cloud endpoints that are in no state, those last that Pulumi was told to leave. */
  orphans(): { id: string; url: string }[] {
    return this.testbed.emulator.endpoints
      .filter(({ id, type }) => type === "cloud" && !this.isInState(id) && !this.isTheirs(id))
      .map(({ id, url = "" }) => ({ id, url }))
      .sort((one, other) => Number(this.isRetained(one.id)) - Number(this.isRetained(other.id)));
  }

  /** After a kill in a pool, a run without a look at the strays doubles them. */
  forgiveStrays(): void {
    if (this.mode.pools) for (const { id } of this.orphans()) this.strays.add(id);
  }

  /** Records an adoption that the user was told to make. */
  adoptionAdvised(id: string, url: string, message: string): void {
    const { service, parallel } = this.randomRun;
    // With parallel steps, the wait of one moves the clock while requests of others are under way.
    const isTimed =
      parallel === 1 &&
      [service.date, service.createdAt].every((time) => typeof time !== "string" && time !== null);
    const isKilled = this.testbed.processes.some(
      ({ life }) => life.ended && life.creates.some((create) => create.url === url),
    );
    const isTold = this.messages.some((text) => OPEN_CREATE.test(text) && text.includes(url));
    if (!isKilled && !isTold && isTimed && !this.isRetained(id))
      this.found.needlessAdoptions.push(`${id}: ${message}`);
  }

  snapshot = (): Snapshot => ({ entries: this.entries(), live: this.allLive() });

  /** Compares the states before and after a command. */
  commandEnded(before: Snapshot, verb: Verb, command: Command, outcome: Outcome, program: Program): void {
    const there = this.allLive();
    const entries = this.entries();
    for (const id of rivalsOn(this.testbed.emulator)) {
      const live = there.get(id);
      if (live && !this.theirs.has(id) && !this.recovered.has(id)) this.recordTheirs(live);
    }
    for (const { id } of before.entries.values())
      if (!this.isInState(id) && there.has(id) && !this.isRetained(id)) this.found.dropped.push(id);
    for (const [name, { id, inputs, outputs }] of entries) {
      this.everInState.add(id);
      if (this.theirs.has(id)) this.recordAdoptionOfTheirs(id, String(inputs["url"]));
      const isWritten = outputs !== before.entries.get(name)?.outputs;
      // A reply may lie, and the read after it may fail. Then a warning tells.
      const isTold = this.testbed.logged.some((text) => text.includes(`${inputs["url"]}: the service has`));
      if (verb !== "up" || command.refresh || !isWritten || isTold || outcome.killed) continue;
      for (const [field, value] of Object.entries(there.get(id) ?? {}))
        if (["url", "description", "metadata"].includes(field) && (value || undefined) !== outputs[field])
          this.found.untrue.push(`${field} of ${name}: ${outputs[field]}, not ${value}`);
    }
    const isGood = !outcome.killed && outcome.errors.length === 0;
    for (const [name, { adopt }] of program)
      this.recordIfMissing(name, before, there, { verb, target: command.target, isGood, adopt });
    if (!isGood || verb !== "destroy" || command.target !== undefined) return;
    for (const id of this.everInState) if (there.has(id) && !this.isRetained(id)) this.survivors.add(id);
  }

  /** Records a resource that an `up` did not create, and one whose endpoint, or the one that it is to adopt, was deleted. */
  private recordIfMissing(
    name: string,
    before: Snapshot,
    there: Snapshot["live"],
    {
      verb,
      target,
      isGood,
      adopt,
    }: { verb: Verb; target: Command["target"]; isGood: boolean; adopt: unknown },
  ): void {
    const entry = this.entries().get(name);
    const isTarget = target?.includes(name) ?? true;
    if (!entry && verb === "up" && isGood && isTarget) this.found.missing.push(`${name}, which has no entry`);
    // Only a new resource adopts.
    const isToAdopt = verb === "up" && adopt !== undefined && !before.entries.has(name);
    const id = String(isToAdopt ? adopt : isGood && entry?.id);
    // Without a refresh, an endpoint that was deleted by hand before the command is no violation.
    const isNew = id === entry?.id && before.entries.get(name)?.id !== id;
    if (there.has(id) || (!before.live.has(id) && !isNew)) return;
    // A process that meets only one of two entries deletes their endpoint.
    const isExcused = [...before.entries].some(
      ([other, old]) => other !== name && old.id === id && (old.provider !== providerOf(name) || !isTarget),
    );
    if (!isExcused) this.found.missing.push(`${name} with ${id}`);
  }

  /**
   * Records an endpoint of others in our state. The one excuse: outside of pools it has our URL and content, is no older than a lost
   * create, and a warning names it.
   */
  private recordAdoptionOfTheirs(id: string, url: string): void {
    const { service } = this.randomRun;
    const { description, created_at: shown } = JSON.parse(this.theirs.get(id) ?? "{}");
    const skew = typeof (service.date ?? 0) === "number" ? Number(service.date ?? 0) : Number.NaN;
    const creates = this.testbed.processes.slice(-2).flatMap(({ life }) => life.creates);
    const isRecent = creates.some(
      ({ url: ours, lostSince = Number.NaN }) =>
        ours === url && Date.parse(shown) >= lostSince + skew - TOLERANCE,
    );
    const isTold = this.testbed.logged.some((text) => /so this run keeps it/.test(text) && text.includes(id));
    this.theirs.delete(id);
    this.recovered.add(id);
    if (this.mode.pools || description === THEIRS || !isRecent || !isTold)
      this.found.wronglyAdopted.push(`${id} on ${url}, created at ${shown}`);
  }

  /** Whether nobody asked the provider to delete the endpoint of a replaced or removed resource. */
  private isRetained = (id: string): boolean => this.engine.skipped.has(id);

  /** The violations of the whole random run. */
  violations(program: Program, keys: readonly string[]): Partial<Violations> {
    const { emulator, logged, processes } = this.testbed;
    const there = this.allLive();
    const entries = this.entries();
    const ids = [...entries.values()].map(({ id }) => id);
    const writes = emulator.requests.filter(({ method }) => method === "PATCH" || method === "DELETE");
    const isTouched = (id: string) => writes.some(({ path }) => path.endsWith(`/${id}`));
    const isTold = (url: string) =>
      this.messages.some((text) => text.includes(url) && /npx pulumi-endpoints drift/.test(text));
    const orphans = this.orphans().filter(
      ({ id, url }) => !this.isRetained(id) && !this.strays.has(id) && !isTold(url),
    );
    const texts = [...new Set([...this.messages, ...logged])];
    const all: Violations = {
      ...this.found,
      orphans: orphans.map(({ id, url }) => `${id} on ${url}`),
      missingOrShared: ids.filter((id, index) => !there.has(id) || ids.indexOf(id) !== index),
      survivors: [...this.survivors],
      harmed: [...this.theirs]
        .filter(([id, before]) => isTouched(id) || JSON.stringify(there.get(id)) !== before)
        .map(([id]) => id),
      wrong: [...program]
        .filter(([name, { url, description = "" }]) => {
          const live = there.get(entries.get(name)?.id ?? "");
          return live?.url !== url || (live?.description ?? "") !== description;
        })
        .map(([name]) => name),
      badMessages: [
        ...this.messages.filter((message) => !NEXT_STEP.test(message)),
        ...tooLong(texts),
        ...texts.filter((text) => [SECRET_CANARY, CANARY_KEY, ...keys].some((key) => text.includes(key))),
      ],
      overBudget: processes
        .map((process) => this.testbed.mostInAWindow(process))
        .filter((most) => most > this.randomRun.budget)
        .map(String),
    };
    return Object.fromEntries(Object.entries(all).filter(([, found]) => found.length > 0));
  }

  private recordTheirs(theirs: Edit): void {
    this.theirs.set(theirs.id ?? "", JSON.stringify(theirs));
  }

  private allLive(): Map<string, Edit> {
    const { emulator } = this.testbed;
    return new Map([...emulator.endpoints, ...emulator.endpointsOf(OTHER)].map((live) => [live.id, live]));
  }
}
