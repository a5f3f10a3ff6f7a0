import type { Edit, Seed } from "../../sdk/testing/emulator";
import type { Story } from "./events";
import type { Engine, Entry, Program } from "./model";
import { KEY_CANARY, SECRET_CANARY, type World } from "./world";

/* Knows what is whose, which the provider cannot, and holds what happens against it. */

/** What a story came to. */
export interface Ending {
  /** Objects of ours on the service that no resource of the state has, and that no message named. */
  orphans: string[];
  /** Resources that have no object, or two of which have the same. */
  doubled: string[];
  /** What left the state although it is alive. */
  dropped: string[];
  /** Things of other people that were changed or deleted. */
  harmed: string[];
  /** Things of other people that came into our state although it could be known whose they are. */
  taken: string[];
  /** Objects that are not as the program wants them. */
  wrong: string[];
  /** Messages without a next step, or with a secret in them. */
  badMessages: string[];
  /** Endpoints of ours that a user had to adopt, though nothing was killed and every create could be settled. */
  needless: string[];
  /** Processes that sent more than their budget in some window. */
  overruns: string[];
  /** Strangers' endpoints in our state that nobody can distinguish from ours without marks; see `Judge`. */
  mistaken: number;
  /** Leftovers of killed runs that nobody can find without marks; see `Judge`. */
  unfound: number;
  /** What `endpoints:recoverWithin` took over: the user has asked for that. */
  recovered: number;
  /** Leftovers that a message named or led to, and that nobody needs. */
  named: number;
  faults: number;
  requests: number;
}

/** What every story has to come to. */
export const faultsOf = (ending: Ending): Partial<Ending> =>
  Object.fromEntries(Object.entries(ending).filter(([, found]) => Array.isArray(found) && found.length > 0));

/** A message names what to do in one of these words. */
const NEXT_STEP = /\b(set|run|check|correct|give|wait|choose|delete|use|look|see|ask|put)\b/i;

/** Whether an endpoint is not as it was. An agent's may end by itself. */
function isChanged(before: string, live: Edit | undefined): boolean {
  if (live === undefined && JSON.parse(before).type === "ephemeral") return false;
  return JSON.stringify(live) !== before;
}

/** The account of other people. */
const OTHER = "other";

/**
 * Two things cannot be known without marks. A stranger's endpoint with our URL and content, made in the seconds in which a
 * create of ours was under way and lost, cannot be distinguished from ours. And what a killed run left where equal URLs are not refused, meets
 * nobody who would name it.
 */
export class Judge {
  private readonly theirs = new Map<string, string>();
  /** Theirs, in our state, and excused. By URL. */
  private readonly mistaken = new Map<string, string>();
  private readonly dropped: string[] = [];
  private readonly taken: string[] = [];
  private stranger = 0;
  private recovered = 0;
  readonly messages: string[] = [];
  readonly needless: string[] = [];
  /** Endpoints of ours that a user found, since a message sent him to look at their URL. */
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

  /** Something of somebody else's. */
  seedTheirs(seed: Seed, account?: string): void {
    this.note(this.world.emulator.seed({ description: "theirs", ...seed }, account));
  }

  isTheirs = (id: string): boolean => this.theirs.has(id) || this.world.emulator.rivals.includes(id);

  isInState = (id: string): boolean => [...this.engine.state.values()].some((entry) => entry.id === id);

  /** What is on the service and nobody's, as a person sees it who knows all stacks. */
  leftovers(): Edit[] {
    return this.world.emulator.endpoints.filter(
      ({ id, type }) => type === "cloud" && !this.isInState(id) && !this.isTheirs(id),
    );
  }

  /** A user looks at a URL and sees every endpoint there that is in no stack. */
  lookAt(where: unknown): void {
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
      if (this.theirs.has(id)) this.took(id, String(inputs["url"]), there.get(id) ?? {});
  }

  private took(id: string, url: string, { created_at: shown }: Edit): void {
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
    if (!this.options.marks && !this.options.pools && isOfOurSeconds) this.stranger++;
    else if (!this.options.marks && isYoung) this.recovered++;
    else this.taken.push(`${id} on ${url}, created at ${shown}`);
    this.theirs.delete(id);
    this.mistaken.set(url, id);
  }

  private isMistaken = (id: string) => [...this.mistaken.values()].includes(id);

  ending(program: Program, keys: readonly string[]): Ending {
    const { emulator, said, processes } = this.world;
    const there = this.everything();
    const ids = [...this.engine.state.values()].map(({ id }) => id);
    const writes = emulator.requests.filter(({ method }) => method === "PATCH" || method === "DELETE");
    const isTouched = (id: string) => writes.some(({ path }) => path.endsWith(`/${id}`));
    const left = this.leftovers().filter(({ id = "" }) => !this.isMistaken(id));
    const unnamed = left.filter(
      ({ id = "" }) => !this.found.has(id) && !this.messages.some((message) => message.includes(id)),
    );
    const orphans = unnamed.filter(({ url = "" }) => !this.isUnknowable(url));
    const texts = [...this.messages, ...said];
    return {
      orphans: orphans.map(({ id, url }) => `${id} on ${url}`),
      doubled: ids.filter((id, index) => !there.has(id) || ids.indexOf(id) !== index),
      dropped: this.dropped,
      harmed: [...this.theirs]
        .filter(([id, before]) => isTouched(id) || isChanged(before, there.get(id)))
        .map(([id]) => id),
      taken: this.taken,
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
      needless: this.needless,
      overruns: processes
        .map((process) => this.world.mostInAWindow(process))
        .filter((most) => most > this.story.budget)
        .map(String),
      mistaken: this.stranger,
      unfound: unnamed.length - orphans.length,
      recovered: this.recovered,
      named: left.length - unnamed.length,
      faults: emulator.faults.length,
      requests: emulator.requests.length,
    };
  }

  /** Whether an orphan on this URL is one of those that nothing can identify. */
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
