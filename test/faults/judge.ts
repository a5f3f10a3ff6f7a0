import type { Edit, Seed } from "../../sdk/testing/emulator";
import { CANARY_KEY } from "../provider/world";
import type { Story } from "./events";
import type { Engine, Entry, Flags, Outcome, Program } from "./model";
import type { World } from "./world";

/* Knows the owner of each endpoint, which the provider cannot know, and finds the faults of a story. */

/** What a good story has none of, by kind. */
export interface Faults {
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
  /** Endpoints of others that came into our state. */
  wronglyAdopted: string[];
  /** Resources whose endpoints differ from the program. */
  wrong: string[];
  /** Messages without a next step, or with a secret. */
  badMessages: string[];
  /** Our endpoints that the user had to adopt, although no process was killed and no create was left open. */
  needlessAdoptions: string[];
}

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
export const tellsTime = ({ date, createdAt }: Story["service"]) =>
  [date, createdAt].every((time) => time === undefined || typeof time === "number");

/**
 * Excuses a fault that is unavoidable without marks: if the service accepts equal URLs, no refusal reveals the leftover of a
 * killed run. (Nor does a mark, if the service tells no times.)
 *
 * Excuses another one: two entries have an endpoint, and one is deleted by a process that meets only that one. Without marks, or
 * with the same mark in both entries, or with a list from before the adoption, nothing tells it of the other entry.
 */
export class Judge {
  private readonly theirs = new Map<string, string>();
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

  constructor(
    private readonly world: World,
    private readonly engine: Engine,
    private readonly story: Story,
    private readonly mode: { marks: boolean; pools: boolean },
  ) {
    for (const type of ["edge", "cloud"] as const) this.seedTheirs({ type });
  }

  /** Seeds an endpoint of somebody else. */
  seedTheirs(seed: Seed): void {
    this.note(this.world.emulator.seed({ description: "theirs", ...seed }));
  }

  isTheirs = (id: string): boolean => this.theirs.has(id);

  /** The user looks at a URL for an endpoint of somebody else. */
  hasTheirs = (where: unknown): boolean =>
    this.world.emulator.endpoints.some(({ id, url }) => url === where && this.isTheirs(id));

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

  snapshot = (): Snapshot => ({ entries: new Map(this.engine.state), live: this.everything() });

  /** Compares the state after a command with the one before it. */
  commandEnded(before: Snapshot, verb: Verb, flags: Flags, outcome: Outcome, program: Program): void {
    const there = this.everything();
    for (const { id } of before.entries.values())
      if (!this.isInState(id) && there.has(id)) this.dropped.push(id);
    for (const { id } of this.engine.state.values()) {
      this.had.add(id);
      if (this.isTheirs(id)) this.wronglyAdopted.push(id);
    }
    if (outcome.killed || outcome.errors.size > 0) return;
    for (const name of program.keys()) this.assertThere(name, before, there, verb, flags);
    if (verb !== "destroy" || flags.targets !== undefined) return;
    for (const id of this.had) if (there.has(id)) this.survivors.add(id);
  }

  /** Notes a resource whose endpoint is gone since the command began. */
  private assertThere(
    name: string,
    before: Snapshot,
    there: Snapshot["live"],
    verb: Verb,
    flags: Flags,
  ): void {
    const entry = this.engine.state.get(name);
    const isTarget = flags.targets?.has(name) ?? true;
    if (!entry && verb === "up" && isTarget) this.missing.push(`${name}, which has no entry`);
    if (!entry) return;
    // An endpoint that was deleted by hand before is not missed without a refresh.
    const wasThere = before.live.has(entry.id) || before.entries.get(name)?.id !== entry.id;
    if (there.has(entry.id) || !wasThere) return;
    const numberOf = ({ outputs }: Entry) => Object(outputs["__mark"]).nonce;
    const isExcused = [...before.entries].some(([other, old]) => {
      if (isTarget || other === name || old.id !== entry.id) return false;
      const isMarked = this.mode.marks && numberOf(old) !== undefined && numberOf(old) !== numberOf(entry);
      return !isMarked || Boolean(this.story.service.listLag);
    });
    if (!isExcused) this.missing.push(`${name} with ${entry.id}`);
  }

  /** The faults of the whole story. */
  faults(program: Program): Partial<Faults> {
    const { emulator, logged } = this.world;
    const there = this.everything();
    const ids = [...this.engine.state.values()].map(({ id }) => id);
    const writes = emulator.requests.filter(({ method }) => method === "PATCH" || method === "DELETE");
    const isTouched = (id: string) => writes.some(({ path }) => path.endsWith(`/${id}`));
    const isKnown = (id: string) =>
      this.found.has(id) || this.messages.some((message) => message.includes(id));
    const orphans = this.leftovers().filter(
      ({ id = "", url = "" }) => !isKnown(id) && !this.isUnknowable(url),
    );
    const all: Faults = {
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
          const live = there.get(this.engine.state.get(name)?.id ?? "");
          return live?.url !== url || (live?.description ?? "") !== description;
        })
        .map(([name]) => name),
      badMessages: [
        ...this.messages.filter((message) => !NEXT_STEP.test(message)),
        ...[...this.messages, ...logged].filter((text) => text.includes(CANARY_KEY)),
      ],
      needlessAdoptions: this.needlessAdoptions,
    };
    return Object.fromEntries(Object.entries(all).filter(([, found]) => found.length > 0));
  }

  /** Whether an orphan on this URL is unavoidable. */
  private isUnknowable(url: string): boolean {
    const { marks, pools } = this.mode;
    const isRefused = !pools && this.story.service.urlTaken !== "allowed";
    const ofKilled = this.world.processes.some(({ life }) => life.ended && life.creates.includes(url));
    return !isRefused && ofKilled && !(marks && pools && tellsTime(this.story.service));
  }

  private note(theirs: Edit): void {
    this.theirs.set(theirs.id ?? "", JSON.stringify(theirs));
  }

  private everything(): Map<string, Edit> {
    return new Map(this.world.emulator.endpoints.map((live) => [live.id, live]));
  }
}
