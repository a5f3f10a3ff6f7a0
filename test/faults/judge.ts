import type { Edit, Seed } from "../../sdk/testing/emulator";
import type { Story } from "./events";
import type { Engine, Entry, Program } from "./model";
import { KEY_CANARY, SECRET_CANARY, type World } from "./world";

/* Knows the owner of each endpoint, which the provider cannot know, and finds the faults of a story. */

/** The result of a story. */
export interface Ending {
  /** Our endpoints that are in no state, and that no message named. */
  orphans: string[];
  /** Ids in the state that do not exist, or that two resources share. */
  missingOrShared: string[];
  /** Resources that left the state although their endpoints exist. */
  dropped: string[];
  /** Endpoints of others that we changed or deleted. */
  harmed: string[];
  /** Endpoints of others that came into our state although the provider could know their owner. */
  wronglyAdopted: string[];
  /** Resources whose endpoints differ from the program. */
  wrong: string[];
  /** Messages without a next step, or with a secret. */
  badMessages: string[];
  /** Our endpoints that the user had to adopt, although no process was killed and no create was left open. */
  needlessAdoptions: string[];
  /** The most requests in a window, for each process that exceeded the budget. */
  overBudget: string[];
  /** How many endpoints of others in our state cannot be distinguished from ours without marks. See `Judge`. */
  indistinguishable: number;
  /** How many leftovers of killed runs cannot be found without marks. See `Judge`. */
  unfindable: number;
  /** How many endpoints of others `endpoints:recoverWithin` took over, as the user had allowed. */
  recovered: number;
  /** How many leftovers a message named or led to, but the program does not need. */
  named: number;
  faults: number;
  requests: number;
}

/** The faults of a story. A good story has none. */
export const faultsOf = (ending: Ending): Partial<Ending> =>
  Object.fromEntries(Object.entries(ending).filter(([, found]) => Array.isArray(found) && found.length > 0));

/** The words of a next step in a message. */
const NEXT_STEP = /\b(set|run|check|correct|give|wait|choose|delete|use|look|see|ask|put)\b/i;

/** Whether an endpoint changed. An agent may end its endpoint at any time. */
function isChanged(before: string, live: Edit | undefined): boolean {
  if (live === undefined && JSON.parse(before).type === "ephemeral") return false;
  return JSON.stringify(live) !== before;
}

/** Another account. */
const OTHER = "other";

/**
 * Excuses two faults that are unavoidable without marks. If somebody creates an endpoint with our URL and content in the same
 * seconds as a lost create of ours, nothing distinguishes it from ours. And if the service accepts equal URLs, no refusal
 * reveals the leftover of a killed run.
 */
export class Judge {
  private readonly theirs = new Map<string, string>();
  /** The excused endpoints of others in our state, by URL. */
  private readonly mistaken = new Map<string, string>();
  private readonly dropped: string[] = [];
  private readonly wronglyAdopted: string[] = [];
  private indistinguishable = 0;
  private recovered = 0;
  readonly messages: string[] = [];
  readonly needlessAdoptions: string[] = [];
  /** Our endpoints that the user found, because a message advised to look at their URL. */
  private readonly found = new Set<string>();
  readonly otherKey: string;

  constructor(
    private readonly world: World,
    private readonly engine: Engine,
    private readonly story: Story,
    private readonly options: { marks: boolean; pools: boolean },
  ) {
    this.otherKey = world.emulator.addKey({ account: OTHER });
    for (const type of ["edge", "cloud"] as const) this.seedTheirs({ type });
    this.seedTheirs({ type: "cloud" }, OTHER);
  }

  /** Seeds an endpoint of somebody else. */
  seedTheirs(seed: Seed, account?: string): void {
    this.note(this.world.emulator.seed({ description: "theirs", ...seed }, account));
  }

  isTheirs = (id: string): boolean => this.theirs.has(id) || this.world.emulator.rivals.includes(id);

  isInState = (id: string): boolean => [...this.engine.state.values()].some((entry) => entry.id === id);

  /** The cloud endpoints that are in no stack and nobody else's. */
  leftovers(): Edit[] {
    return this.world.emulator.endpoints.filter(
      ({ id, type }) => type === "cloud" && !this.isInState(id) && !this.isTheirs(id),
    );
  }

  /** The user looks at a URL, and finds each endpoint there that is in no stack. */
  inspectUrl(where: unknown): void {
    for (const { id = "", url } of this.leftovers()) if (url === where) this.found.add(id);
  }

  /** Compares the state after a command with the one before it. */
  commandEnded(before: ReadonlyMap<string, Entry>): void {
    const { emulator } = this.world;
    const there = this.everything();
    for (const id of emulator.rivals) {
      const live = there.get(id);
      if (live && !this.theirs.has(id) && !this.isMistaken(id)) this.note(live);
    }
    for (const { id } of before.values())
      if (!this.isInState(id) && there.has(id) && !this.isMistaken(id)) this.dropped.push(id);
    for (const { id, inputs } of this.engine.state.values())
      if (this.theirs.has(id)) this.adoptedTheirs(id, String(inputs["url"]), there.get(id) ?? {});
  }

  private adoptedTheirs(id: string, url: string, { created_at: shown }: Edit): void {
    const { recovers, service } = this.story;
    const skew = typeof service.date === "string" || service.date === null ? Number.NaN : (service.date ?? 0);
    const created = Date.parse(shown ?? "");
    const creates = this.world.processes.at(-1)?.life.creates ?? [];
    const now = this.world.clock.now() + skew;
    const secondOf = (time = Number.NaN) => Math.floor((time + skew) / 1000) * 1000;
    const isOfOurSeconds = creates.some(
      ({ url: ours, sentAt, lostAt }) =>
        ours === url && created >= secondOf(sentAt) && created <= secondOf(lostAt),
    );
    const isYoung = recovers && created <= now && created > now - 3_600_000;
    if (!this.options.marks && !this.options.pools && isOfOurSeconds) this.indistinguishable++;
    else if (!this.options.marks && isYoung) this.recovered++;
    else this.wronglyAdopted.push(`${id} on ${url}, created at ${shown}`);
    this.theirs.delete(id);
    this.mistaken.set(url, id);
  }

  private isMistaken = (id: string) => [...this.mistaken.values()].includes(id);

  ending(program: Program, keys: readonly string[]): Ending {
    const { emulator, logged, processes } = this.world;
    const there = this.everything();
    const ids = [...this.engine.state.values()].map(({ id }) => id);
    const writes = emulator.requests.filter(({ method }) => method === "PATCH" || method === "DELETE");
    const isTouched = (id: string) => writes.some(({ path }) => path.endsWith(`/${id}`));
    const left = this.leftovers().filter(({ id = "" }) => !this.isMistaken(id));
    const unnamed = left.filter(
      ({ id = "" }) => !this.found.has(id) && !this.messages.some((message) => message.includes(id)),
    );
    const orphans = unnamed.filter(({ url = "" }) => !this.isUnknowable(url));
    const texts = [...this.messages, ...logged];
    return {
      orphans: orphans.map(({ id, url }) => `${id} on ${url}`),
      missingOrShared: ids.filter((id, index) => !there.has(id) || ids.indexOf(id) !== index),
      dropped: this.dropped,
      harmed: [...this.theirs]
        .filter(([id, before]) => isTouched(id) || isChanged(before, there.get(id)))
        .map(([id]) => id),
      wronglyAdopted: this.wronglyAdopted,
      wrong: [...program]
        .filter(([name, { url, description = "" }]) => {
          const live = there.get(this.engine.state.get(name)?.id ?? "");
          return live?.url !== url || (live?.description ?? "") !== description;
        })
        .map(([name]) => name),
      badMessages: [
        ...this.messages.filter((message) => !NEXT_STEP.test(message)),
        ...texts.filter((text) => [SECRET_CANARY, KEY_CANARY, ...keys].some((key) => text.includes(key))),
      ],
      needlessAdoptions: this.needlessAdoptions,
      overBudget: processes
        .map((process) => this.world.mostInAWindow(process))
        .filter((most) => most > this.story.budget)
        .map(String),
      indistinguishable: this.indistinguishable,
      unfindable: unnamed.length - orphans.length,
      recovered: this.recovered,
      named: left.length - unnamed.length,
      faults: emulator.faults.length,
      requests: emulator.requests.length,
    };
  }

  /** Whether an orphan on this URL is unavoidable. */
  private isUnknowable(url: string): boolean {
    const { marks, pools } = this.options;
    if (!marks && this.mistaken.has(url)) return true;
    const isRefused = !pools && this.story.service.urlTaken !== "allowed";
    const ofKilled = this.world.processes.some(
      ({ life }) => life.ended && life.creates.some((create) => create.url === url),
    );
    return !isRefused && ofKilled && !(marks && pools);
  }

  private note(theirs: Edit): void {
    this.theirs.set(theirs.id ?? "", JSON.stringify(theirs));
  }

  private everything(): Map<string, Edit> {
    const { emulator } = this.world;
    return new Map([...emulator.endpoints, ...emulator.endpointsOf(OTHER)].map((live) => [live.id, live]));
  }
}
