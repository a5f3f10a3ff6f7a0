import { FINGERPRINT_KEY } from "./account";
import { alreadyManaged, sharedEndpoint } from "./errors";
import type { PreviewInputs } from "./fields";
import { ENTRY_ID_KEY, type EntryIdentity, type State } from "./state";

/*
 * The record of a run: the entries of the stack's state that this process has met, their endpoints, and what becomes of the
 * endpoints. An endpoint belongs to one entry. A random id tells entries apart, because names of resources change, and a dynamic
 * provider does not receive them.
 *
 * | call of the engine | what is recorded |
 * |---|---|
 * | `check` of a new resource | the endpoint that the resource will adopt (`recordPlannedAdoption`) |
 * | `diff` | an entry, and the URL that the program wants for it (`recordCompared`); no change (`recordUnchanged`), or a replacement (`recordReplaced`) |
 * | `create`, `import` | a new entry (`recordNewEntry`), an adoption (`trackAdoption`), the endpoint that holds its URL (`recordUrlHolder`) |
 * | `read` | an entry of the state (`recordRefreshed`), whose endpoint may be gone (`recordGone`) |
 * | `update` | the entry of a resource (`recordManaged`), and the request (`trackUpdate`) |
 * | `delete` | the end of an entry (`recordDeletion`), and the request (`trackDelete`) |
 */

/** What becomes of an endpoint in this run. */
type EndpointStatus = "keeps its URL" | "request in flight" | "moved" | "gone";

/** Stands for the id of an entry that a create will make. */
const WILL_ADOPT = Symbol("will adopt");

export class RunRecord {
  /** The fingerprint of the account of each entry that this process has met, by the endpoint's id. */
  private readonly accounts = new Map<string, unknown>();
  /** The endpoints of those entries, without entries whose deletion the engine has asked for. */
  private readonly inState = new Set<string>();
  private readonly statuses = new Map<string, EndpointStatus>();
  /** The ids of all entries that have an endpoint. */
  private readonly entryIds = new Map<string, Set<unknown>>();
  /** The id of the entry whose resource has an endpoint in the program. */
  private readonly managed = new Map<string, unknown>();
  /** The URL that the program wants for each endpoint that a diff has compared (`resourceKeyOf`). */
  private readonly wanted = new Map<string, unknown>();
  /** The URLs of replacements, by the id of the replaced endpoint. */
  private readonly replaced = new Map<string, unknown>();
  /** How many reads of a refresh have no diff yet. */
  private readonly readsWithoutDiff = new Map<string, number>();
  private readonly failedAdoptions = new Set<string>();
  /** The endpoints that held the URLs of creates. */
  private readonly urlHolders = new Set<string>();

  /** An entry may lack an id of its own, for example after an import by another tool. Such an entry is no other owner. */
  private recordEntry(id: string, stored: State): void {
    // A refresh renews the fingerprint, and then compares the entry again. The first fingerprint stays.
    if (!this.accounts.has(id)) this.accounts.set(id, stored[FINGERPRINT_KEY]);
    this.inState.add(id);
    const entryId = stored[ENTRY_ID_KEY];
    if (entryId !== undefined) this.entryIdsOf(id).add(entryId);
  }

  /**
   * Records a resource of the program, and the URL that it wants. After each read, a refresh compares what it has read with the
   * state. That diff says nothing of the program, and must not fail for two entries with one endpoint.
   *
   * @returns Whether this diff compares the program, rather than a refresh.
   * @throws UserError if another resource of the program has the endpoint, or will adopt it.
   */
  recordCompared(id: string, stored: State, inputs: PreviewInputs): boolean {
    const reads = this.readsWithoutDiff.get(id) ?? 0;
    if (reads > 0) this.readsWithoutDiff.set(id, reads - 1);
    else this.wanted.set(id, resourceKeyOf(inputs));
    this.assign(id, stored, { mayShare: reads > 0 });
    return reads === 0;
  }

  /**
   * Records a resource of the program that is about to change its endpoint.
   *
   * @throws UserError if another resource of the program has the endpoint, or will adopt it.
   */
  recordManaged(id: string, stored: State): void {
    this.assign(id, stored, { mayShare: false });
  }

  private assign(id: string, stored: State, { mayShare }: { mayShare: boolean }): void {
    const entryId = stored[ENTRY_ID_KEY];
    const other = this.managed.get(id);
    this.recordEntry(id, stored);
    if (other === WILL_ADOPT) throw alreadyManaged(id);
    const isShared = other !== undefined && other !== entryId;
    if (isShared && !mayShare) throw sharedEndpoint(id);
    if (!isShared) this.managed.set(id, entryId);
  }

  /** Records an entry that a refresh reads. */
  recordRefreshed(id: string, stored: State): void {
    this.recordEntry(id, stored);
    this.readsWithoutDiff.set(id, (this.readsWithoutDiff.get(id) ?? 0) + 1);
  }

  /** Records that nothing of the endpoint changes in this run. */
  recordUnchanged(id: string): void {
    this.statuses.set(id, "keeps its URL");
  }

  /**
   * Records that a create will adopt an endpoint.
   *
   * @throws UserError if the endpoint is not free.
   */
  recordPlannedAdoption(id: string, inputs: PreviewInputs): void {
    if (!this.canAdopt(id, inputs)) throw alreadyManaged(id);
    if (!this.managed.has(id)) this.managed.set(id, WILL_ADOPT);
  }

  /** Whether a create may adopt the endpoint: no entry that this run has met has it, or the entry is this resource's own. */
  canAdopt = (id: string, inputs: PreviewInputs): boolean =>
    !this.inState.has(id) || this.isOwnEndpoint(id, inputs);

  /**
   * Whether the endpoint's entry is this resource's own old entry. If the engine skipped the deletion of a replacement, it creates the
   * resource anew beside that entry.
   */
  isOwnEndpoint(id: string, inputs: PreviewInputs): boolean {
    const wanted = this.wanted.get(id);
    return wanted !== undefined && wanted === resourceKeyOf(inputs);
  }

  /** Records that an endpoint with this URL is to replace the endpoint. */
  recordReplaced(id: string, url: unknown): void {
    this.replaced.set(id, url);
  }

  /** The replaced endpoints whose replacements have this URL, and whose deletion the engine has not asked for. */
  replacedOnUrl = (url: unknown): string[] =>
    [...this.replaced].filter(([id, by]) => by === url && this.inState.has(id)).map(([id]) => id);

  /** Whether no check of this run has promised the endpoint to a create. */
  hasNoPlannedAdoption = (id: string): boolean => this.managed.get(id) !== WILL_ADOPT;

  /**
   * Records a new entry.
   *
   * @param inputs The inputs of the create; undefined for an import.
   * @throws UserError if another resource of the program has the endpoint.
   */
  recordNewEntry(id: string, { entryId, account }: EntryIdentity, inputs?: PreviewInputs): void {
    const isOthers = this.managed.has(id) && ![WILL_ADOPT, entryId].includes(this.managed.get(id));
    if (isOthers && !(inputs && this.isOwnEndpoint(id, inputs))) throw alreadyManaged(id);
    this.accounts.set(id, account);
    this.inState.add(id);
    this.managed.set(id, entryId);
    this.entryIdsOf(id).add(entryId);
  }

  /** Tracks the work by which a new entry adopts an endpoint. If the work fails, no deletion of this run deletes the endpoint. */
  async trackAdoption<T>(id: string, { entryId }: EntryIdentity, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.entryIds.get(id)?.delete(entryId);
      this.failedAdoptions.add(id);
      throw error;
    }
  }

  /**
   * Records that an entry's deletion was asked for.
   *
   * @returns Whether another entry has the endpoint, or could not take it over; undefined if the endpoint is to go.
   */
  recordDeletion(id: string, stored: State): "owned by another entry" | "adoption failed" | undefined {
    this.recordEntry(id, stored);
    const others = this.entryIdsOf(id);
    others.delete(stored[ENTRY_ID_KEY]);
    if (others.size > 0) return "owned by another entry";
    if (this.failedAdoptions.has(id)) return "adoption failed";
    this.inState.delete(id);
    if (this.managed.get(id) === stored[ENTRY_ID_KEY]) this.managed.delete(id);
    return undefined;
  }

  /** Tracks the request that updates an endpoint. */
  trackUpdate<T>(id: string, request: Promise<T>, { toOtherUrl }: { toOtherUrl: boolean }): Promise<T> {
    return this.track(id, request, toOtherUrl ? "moved" : "keeps its URL");
  }

  /** Tracks the request that deletes an endpoint. */
  trackDelete<T>(id: string, request: Promise<T>): Promise<T> {
    return this.track(id, request, "gone");
  }

  /** Records an endpoint that a read has found gone. */
  recordGone(id: string): void {
    this.statuses.set(id, "gone");
  }

  /** Records an endpoint that holds the URL of a create. Returns the ids of all such endpoints, which one run can adopt together. */
  recordUrlHolder(id: string): string[] {
    return [...this.urlHolders.add(id)];
  }

  /** Whether this process has met the endpoint in an entry. */
  wasMetInState = (id: string): boolean => this.accounts.has(id);

  /** Whether an entry with this endpoint was written with this account. */
  isOfAccount = (id: string, account: unknown): boolean =>
    this.wasMetInState(id) && this.accounts.get(id) === account;

  keepsItsUrl = (id: string): boolean => this.statuses.get(id) === "keeps its URL";

  /** Whether the endpoint's own request is queued, under way, or repeated. */
  hasRequestInFlight = (id: string): boolean => this.statuses.get(id) === "request in flight";

  isGone = (id: string): boolean => this.statuses.get(id) === "gone";

  /** Whether this process has taken the endpoint off its URL. */
  hasFreedItsUrl = (id: string): boolean => this.isGone(id) || this.statuses.get(id) === "moved";

  private async track<T>(id: string, request: Promise<T>, after: EndpointStatus): Promise<T> {
    this.statuses.set(id, "request in flight");
    try {
      const result = await request;
      this.statuses.set(id, after);
      return result;
    } catch (error) {
      this.statuses.delete(id);
      throw error;
    }
  }

  private entryIdsOf(id: string): Set<unknown> {
    const known = this.entryIds.get(id) ?? new Set();
    this.entryIds.set(id, known);
    return known;
  }
}

/**
 * What tells two resources of a program apart: the URL, and in a pool the id of `adopt`, because members share their URL.
 * `urlRegistry.ts` refuses a program in which two resources have the same key.
 */
const resourceKeyOf = ({ adopt, poolingEnabled, url }: PreviewInputs): unknown =>
  poolingEnabled === true ? adopt : url;
