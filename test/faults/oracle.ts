import type { Edit, Seed } from "../../sdk/testing/emulator";
import type { JsonObject } from "../../sdk/traffic-policy/data/index";
import { tooLong } from "../messages";
import type { Engine, Entry } from "../model/engine";
import type { Command, Outcome } from "../model/phase";
import { CANARY_KEY } from "../provider/emulated";
import type { RandomRun } from "./arbitraries";
import { rivalsOn } from "./serviceFaults";
import { SECRET_CANARY, type Testbed } from "./testbed";

/* The oracle of random runs: it knows the owner of each endpoint, as no provider does, and finds violated invariants. */

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
  /** Endpoints of others that came into our state although the provider could tell them from ours. */
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

/** Whether an endpoint changed. The end of an agent's endpoint is no change. */
function isChanged(before: string, live: Edit | undefined): boolean {
  if (live === undefined && JSON.parse(before).type === "ephemeral") return false;
  return JSON.stringify(live) !== before;
}

/** Whether the times of replies and endpoints are known. */
export const hasKnownTimes = ({ date, createdAt }: RandomRun["service"]) =>
  [date, createdAt].every((time) => time === undefined || typeof time === "number");

/**
 * The two seconds that the provider grants before and after a lost create, and half a second for what it knows of the service's
 * clock, in milliseconds.
 */
const TOLERANCE = 2_500;

/** Another account. */
const OTHER = "other";

/**
 * Records the violations of a random run, except three unavoidable kinds. If somebody creates an endpoint with our URL and
 * content in the seconds of our lost create, nothing tells the two endpoints apart. If the service accepts equal URLs, no refusal
 * reveals the endpoint that a killed run left. If two entries share an endpoint, a process that knows one entry deletes it.
 */
export class Oracle {
  private readonly theirs = new Map<string, string>();
  /** Endpoints of others in our state that nothing tells from ours, by URL. */
  private readonly indistinguishable = new Map<string, string>();
  private readonly dropped: string[] = [];
  private readonly wronglyAdopted: string[] = [];
  private readonly missing: string[] = [];
  private readonly survivors = new Set<string>();
  /** The ids that entries have had. */
  private readonly everInState = new Set<string>();
  readonly messages: string[] = [];
  readonly needlessAdoptions: string[] = [];
  /** Our endpoints that the user found, because a message advised to look at their URL. */
  private readonly foundByUser = new Set<string>();
  /** Our endpoints whose ids the user puts into ENDPOINTS_ADOPT for the next commands. */
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
    this.recordTheirs(this.testbed.emulator.seed({ description: "theirs", ...seed }, account));
  }

  isTheirs = (id: string): boolean => this.theirs.has(id) || rivalsOn(this.testbed.emulator).includes(id);

  /** Whether the user finds an endpoint of somebody else on the URL. */
  hasTheirs = (where: unknown): boolean =>
    this.testbed.emulator.endpoints.some(({ id, url }) => url === where && this.isTheirs(id));

  /** The entries with endpoints, without those that wait for a replacement. */
  entries = (): Map<string, Entry> =>
    new Map([...this.engine.state].filter(([, { pendingReplacement }]) => !pendingReplacement));

  /** Whether the endpoint exists, in any account. */
  exists = (id: string): boolean => this.allLive().has(id);

  isInState = (id: string): boolean => [...this.entries().values()].some((entry) => entry.id === id);

  /** Whether nobody asked the provider to delete the endpoint of a replaced or removed resource. */
  isRetained = (id: string): boolean => this.engine.skipped.has(id);

  /** Our cloud endpoints that are in no state. */
  orphans(): Edit[] {
    return this.testbed.emulator.endpoints.filter(
      ({ id, type }) => type === "cloud" && !this.isInState(id) && !this.isTheirs(id),
    );
  }

  /** The user lets the next commands adopt all orphans. */
  offerOrphans(): void {
    for (const { id = "" } of this.orphans()) if (!this.isRetained(id)) this.offered.add(id);
  }

  /** The offered ids that no entry has yet. */
  offers = (): string[] => this.orphans().flatMap(({ id = "" }) => (this.offered.has(id) ? [id] : []));

  /** The user looks at a URL, and finds the orphans on it. */
  inspectUrl(where: unknown): void {
    for (const { id = "", url } of this.orphans()) if (url === where) this.foundByUser.add(id);
  }

  snapshot = (): Snapshot => ({ entries: this.entries(), live: this.allLive() });

  /** Compares the states before and after a command. */
  commandEnded(before: Snapshot, verb: Verb, command: Command, outcome: Outcome, program: Program): void {
    const { emulator } = this.testbed;
    const there = this.allLive();
    for (const id of rivalsOn(emulator)) {
      const live = there.get(id);
      if (live && !this.theirs.has(id) && !this.isIndistinguishable(id)) this.recordTheirs(live);
    }
    for (const { id } of before.entries.values())
      if (!this.isInState(id) && there.has(id) && !this.isExcused(id)) this.dropped.push(id);
    for (const { id, inputs } of this.entries().values()) {
      this.everInState.add(id);
      if (this.theirs.has(id)) this.recordAdoptionOfTheirs(id, String(inputs["url"]), there.get(id) ?? {});
    }
    if (outcome.killed || outcome.errors.length > 0) return;
    for (const name of program.keys()) this.recordIfMissing(name, before, there, verb, command);
    if (verb !== "destroy" || command.target !== undefined) return;
    for (const id of this.everInState) if (there.has(id) && !this.isExcused(id)) this.survivors.add(id);
  }

  /** Records a resource whose endpoint is gone since the command began. */
  private recordIfMissing(
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
    // Without a refresh, an endpoint that was deleted by hand before the command is no violation.
    const wasThere = before.live.has(entry.id) || before.entries.get(name)?.id !== entry.id;
    if (there.has(entry.id) || !wasThere) return;
    const isExcused = [...before.entries].some(([other, old]) => {
      if (other === name || old.id !== entry.id) return false;
      return old.provider !== entry.provider || !isTarget;
    });
    if (!isExcused) this.missing.push(`${name} with ${entry.id}`);
  }

  private recordAdoptionOfTheirs(id: string, url: string, { created_at: shown }: Edit): void {
    const { service } = this.randomRun;
    const skew = typeof service.date === "string" || service.date === null ? Number.NaN : (service.date ?? 0);
    const created = Date.parse(shown ?? "");
    const creates = this.testbed.processes.slice(-2).flatMap(({ life }) => life.creates);
    const isOfOurSeconds = creates.some(
      ({ url: ours, sentAt = Number.NaN, lostAt = Number.NaN }) =>
        ours === url && created >= sentAt + skew - TOLERANCE && created <= lostAt + skew + TOLERANCE,
    );
    const isIndistinguishable = !this.mode.pools && isOfOurSeconds;
    if (!isIndistinguishable) this.wronglyAdopted.push(`${id} on ${url}, created at ${shown}`);
    this.theirs.delete(id);
    this.indistinguishable.set(url, id);
  }

  /** Whether a warning says that a run kept the endpoint because ENDPOINTS_ADOPT names it. */
  private isKeptByConsent = (id: string) =>
    this.testbed.logged.some((message) => message.includes("only drops the entry") && message.includes(id));

  private isIndistinguishable = (id: string) => [...this.indistinguishable.values()].includes(id);

  private isExcused = (id: string) =>
    this.isIndistinguishable(id) || this.isRetained(id) || this.isKeptByConsent(id);

  /** The violations of the whole random run. */
  violations(program: Program, keys: readonly string[]): Partial<Violations> {
    const { emulator, logged, processes } = this.testbed;
    const there = this.allLive();
    const entries = this.entries();
    const ids = [...entries.values()].map(({ id }) => id);
    const writes = emulator.requests.filter(({ method }) => method === "PATCH" || method === "DELETE");
    const isTouched = (id: string) => writes.some(({ path }) => path.endsWith(`/${id}`));
    const isKnown = (id: string) =>
      this.isExcused(id) || this.foundByUser.has(id) || this.messages.some((message) => message.includes(id));
    const orphans = this.orphans().filter(
      ({ id = "", url = "" }) => !isKnown(id) && (this.offered.has(id) || !this.isUnavoidable(url)),
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
  private isUnavoidable(url: string): boolean {
    if (this.indistinguishable.has(url)) return true;
    const isRefused = !this.mode.pools && this.randomRun.service.urlTaken !== "allowed";
    const ofKilled = this.testbed.processes.some(
      ({ life }) => life.ended && life.creates.some((create) => create.url === url),
    );
    return !isRefused && ofKilled;
  }

  private recordTheirs(theirs: Edit): void {
    this.theirs.set(theirs.id ?? "", JSON.stringify(theirs));
  }

  private allLive(): Map<string, Edit> {
    const { emulator } = this.testbed;
    return new Map([...emulator.endpoints, ...emulator.endpointsOf(OTHER)].map((live) => [live.id, live]));
  }
}
