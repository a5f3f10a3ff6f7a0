import type { Edit, Seed } from "../../sdk/testing/emulator";
import type { JsonObject } from "../../sdk/traffic-policy/data/index";
import { tooLong } from "../messages";
import type { Engine, Entry } from "../model/engine";
import type { Command, Outcome } from "../model/phase";
import { CANARY_KEY } from "../provider/emulated";
import type { RandomRun } from "./arbitraries";
import { rivalsOn } from "./serviceFaults";
import { SECRET_CANARY, type Testbed } from "./testbed";

/* Knows the owner of each endpoint, which the provider cannot know, and finds what a random run violates. */

/** The violations of a random run, by invariant. */
export interface Violations {
  /** Our endpoints that are in no state, and that no message named. */
  orphans: string[];
  /** Ids in the state that do not exist, or that two resources share. */
  missingOrShared: string[];
  /** Resources that left the state although their endpoints exist. */
  dropped: string[];
  /** Resources without an endpoint after a run that ended well. */
  missing: string[];
  /** Endpoints that an entry had, and that exist after a `destroy` that ended well. */
  survivors: string[];
  /** Endpoints of others that we changed or deleted. */
  harmed: string[];
  /** Endpoints of others that came into our state although the provider could know their owner. */
  wronglyAdopted: string[];
  /** Resources whose endpoints differ from the program. */
  wrong: string[];
  /** Messages without a next step, with a secret, or too long. */
  badMessages: string[];
  /** Our endpoints that the user had to adopt, although no process was killed and no create was left open. */
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

/** Whether an endpoint changed. An agent may end its endpoint at any time. */
function isChanged(before: string, live: Edit | undefined): boolean {
  if (live === undefined && JSON.parse(before).type === "ephemeral") return false;
  return JSON.stringify(live) !== before;
}

/** Whether the times of replies and endpoints are known. */
export const tellsTime = ({ date, createdAt }: RandomRun["service"]) =>
  [date, createdAt].every((time) => time === undefined || typeof time === "number");

/**
 * The two seconds that the provider grants before and after a lost create, and half of one, because it knows the service's
 * clock no better than that. In milliseconds.
 */
const SECONDS = 2_500;

/** Another account. */
const OTHER = "other";

/**
 * Excuses three violations that are unavoidable. If somebody creates an endpoint with our URL and content in the same seconds as
 * a lost create of ours, nothing distinguishes it from ours. If the service accepts equal URLs, no refusal reveals the leftover
 * of a killed run. And if two entries have an endpoint, a process that meets only one of them deletes it.
 */
export class Oracle {
  private readonly theirs = new Map<string, string>();
  /** The excused endpoints of others in our state, by URL. */
  private readonly mistaken = new Map<string, string>();
  private readonly dropped: string[] = [];
  private readonly wronglyAdopted: string[] = [];
  private readonly missing: string[] = [];
  private readonly survivors = new Set<string>();
  /** The ids that entries have had. */
  private readonly had = new Set<string>();
  readonly messages: string[] = [];
  readonly needlessAdoptions: string[] = [];
  /** Our endpoints that the user found, because a message advised to look at their URL. */
  private readonly found = new Set<string>();
  /** Our endpoints that the user lets the next commands take over. */
  private readonly offered = new Set<string>();
  readonly otherKey: string;

  constructor(
    private readonly testbed: Testbed,
    private readonly engine: Engine,
    private readonly randomRun: RandomRun,
    private readonly mode: { pools: boolean },
  ) {
    this.otherKey = testbed.emulator.addKey({ account: OTHER });
    for (const type of ["edge", "cloud"] as const) this.seedTheirs({ type });
    this.seedTheirs({ type: "cloud" }, OTHER);
  }

  /** Seeds an endpoint of somebody else. */
  seedTheirs(seed: Seed, account?: string): void {
    this.note(this.testbed.emulator.seed({ description: "theirs", ...seed }, account));
  }

  isTheirs = (id: string): boolean => this.theirs.has(id) || rivalsOn(this.testbed.emulator).includes(id);

  /** The user looks at a URL for an endpoint of somebody else. */
  hasTheirs = (where: unknown): boolean =>
    this.testbed.emulator.endpoints.some(({ id, url }) => url === where && this.isTheirs(id));

  /** The entries that have endpoints. Those that wait for a replacement have none. */
  entries = (): Map<string, Entry> =>
    new Map([...this.engine.state].filter(([, { isPending }]) => !isPending));

  /** Whether the endpoint exists, in whatever account. */
  exists = (id: string): boolean => this.everything().has(id);

  isInState = (id: string): boolean => [...this.entries().values()].some((entry) => entry.id === id);

  /** Whether nobody asked the provider to delete the endpoint of a replaced or removed resource. */
  isRetained = (id: string): boolean => this.engine.skipped.has(id);

  /** The cloud endpoints that are in no stack and nobody else's. */
  orphans(): Edit[] {
    return this.testbed.emulator.endpoints.filter(
      ({ id, type }) => type === "cloud" && !this.isInState(id) && !this.isTheirs(id),
    );
  }

  /** The user lets the next commands take over all that is in no stack. */
  offerOrphans(): void {
    for (const { id = "" } of this.orphans()) if (!this.isRetained(id)) this.offered.add(id);
  }

  /** What the user offers, and no entry has yet. */
  offers = (): string[] => this.orphans().flatMap(({ id = "" }) => (this.offered.has(id) ? [id] : []));

  /** The user looks at a URL, and finds each endpoint there that is in no stack. */
  inspectUrl(where: unknown): void {
    for (const { id = "", url } of this.orphans()) if (url === where) this.found.add(id);
  }

  snapshot = (): Snapshot => ({ entries: this.entries(), live: this.everything() });

  /** Compares the state after a command with the one before it. */
  commandEnded(before: Snapshot, verb: Verb, command: Command, outcome: Outcome, program: Program): void {
    const { emulator } = this.testbed;
    const there = this.everything();
    for (const id of rivalsOn(emulator)) {
      const live = there.get(id);
      if (live && !this.theirs.has(id) && !this.isMistaken(id)) this.note(live);
    }
    for (const { id } of before.entries.values())
      if (!this.isInState(id) && there.has(id) && !this.isExcused(id)) this.dropped.push(id);
    for (const { id, inputs } of this.entries().values()) {
      this.had.add(id);
      if (this.theirs.has(id)) this.adoptedTheirs(id, String(inputs["url"]), there.get(id) ?? {});
    }
    if (outcome.killed || outcome.errors.length > 0) return;
    for (const name of program.keys()) this.assertThere(name, before, there, verb, command);
    if (verb !== "destroy" || command.target !== undefined) return;
    for (const id of this.had) if (there.has(id) && !this.isExcused(id)) this.survivors.add(id);
  }

  /** Notes a resource whose endpoint is gone since the command began. */
  private assertThere(
    name: string,
    before: Snapshot,
    there: Snapshot["live"],
    verb: Verb,
    command: Command,
  ): void {
    const entry = this.entries().get(name);
    const isTarget = command.target?.includes(name) ?? true;
    if (!entry && verb === "up" && isTarget) this.missing.push(`${name}, which has no entry`);
    if (!entry) return;
    // An endpoint that was deleted by hand before is not missed without a refresh.
    const wasThere = before.live.has(entry.id) || before.entries.get(name)?.id !== entry.id;
    if (there.has(entry.id) || !wasThere) return;
    const isExcused = [...before.entries].some(([other, old]) => {
      if (other === name || old.id !== entry.id) return false;
      return old.provider !== entry.provider || !isTarget;
    });
    if (!isExcused) this.missing.push(`${name} with ${entry.id}`);
  }

  private adoptedTheirs(id: string, url: string, { created_at: shown }: Edit): void {
    const { service } = this.randomRun;
    const skew = typeof service.date === "string" || service.date === null ? Number.NaN : (service.date ?? 0);
    const created = Date.parse(shown ?? "");
    const creates = this.testbed.processes.slice(-2).flatMap(({ life }) => life.creates);
    const isOfOurSeconds = creates.some(
      ({ url: ours, sentAt = Number.NaN, lostAt = Number.NaN }) =>
        ours === url && created >= sentAt + skew - SECONDS && created <= lostAt + skew + SECONDS,
    );
    const isIndistinguishable = !this.mode.pools && isOfOurSeconds;
    if (!isIndistinguishable) this.wronglyAdopted.push(`${id} on ${url}, created at ${shown}`);
    this.theirs.delete(id);
    this.mistaken.set(url, id);
  }

  /** Whether a warning has told that a run did not delete the endpoint, since the run might have taken it over. */
  private isKeptByConsent = (id: string) =>
    this.testbed.logged.some(
      (message) => message.includes("only drops their entries") && message.includes(id),
    );

  private isMistaken = (id: string) => [...this.mistaken.values()].includes(id);

  private isExcused = (id: string) => this.isMistaken(id) || this.isRetained(id) || this.isKeptByConsent(id);

  /** The violations of the whole random run. */
  violations(program: Program, keys: readonly string[]): Partial<Violations> {
    const { emulator, logged, processes } = this.testbed;
    const there = this.everything();
    const entries = this.entries();
    const ids = [...entries.values()].map(({ id }) => id);
    const writes = emulator.requests.filter(({ method }) => method === "PATCH" || method === "DELETE");
    const isTouched = (id: string) => writes.some(({ path }) => path.endsWith(`/${id}`));
    const isKnown = (id: string) =>
      this.isExcused(id) || this.found.has(id) || this.messages.some((message) => message.includes(id));
    const orphans = this.orphans().filter(
      ({ id = "", url = "" }) => !isKnown(id) && (this.offered.has(id) || !this.isUnknowable(url)),
    );
    const texts = [...this.messages, ...logged];
    const all: Violations = {
      orphans: orphans.map(({ id, url }) => `${id} on ${url}`),
      missingOrShared: ids.filter((id, index) => !there.has(id) || ids.indexOf(id) !== index),
      dropped: this.dropped,
      missing: this.missing,
      survivors: [...this.survivors],
      harmed: [...this.theirs]
        .filter(([id, before]) => isTouched(id) || isChanged(before, there.get(id)))
        .map(([id]) => id),
      wronglyAdopted: this.wronglyAdopted,
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
      needlessAdoptions: this.needlessAdoptions,
      overBudget: processes
        .map((process) => this.testbed.mostInAWindow(process))
        .filter((most) => most > this.randomRun.budget)
        .map(String),
    };
    return Object.fromEntries(Object.entries(all).filter(([, found]) => found.length > 0));
  }

  /** Whether an orphan on this URL is unavoidable. */
  private isUnknowable(url: string): boolean {
    if (this.mistaken.has(url)) return true;
    const isRefused = !this.mode.pools && this.randomRun.service.urlTaken !== "allowed";
    const ofKilled = this.testbed.processes.some(
      ({ life }) => life.ended && life.creates.some((create) => create.url === url),
    );
    return !isRefused && ofKilled;
  }

  private note(theirs: Edit): void {
    this.theirs.set(theirs.id ?? "", JSON.stringify(theirs));
  }

  private everything(): Map<string, Edit> {
    const { emulator } = this.testbed;
    return new Map([...emulator.endpoints, ...emulator.endpointsOf(OTHER)].map((live) => [live.id, live]));
  }
}
