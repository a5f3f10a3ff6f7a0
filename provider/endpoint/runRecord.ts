import { FINGERPRINT_KEY } from "./account";
import { alreadyManaged, PartialWriteError, sharedEndpoint } from "./errors";
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

/** What this process knows of an endpoint. */
interface EndpointRecord {
  /** The fingerprint of the account in an entry. Undefined if this process has met no entry of the endpoint. */
  account?: { fingerprint: unknown };
  /** Whether the state has an entry of the endpoint whose deletion the engine has not asked for. */
  isInState: boolean;
  /** The ids of its entries. */
  readonly entryIds: Set<unknown>;
  /** The entry whose resource has the endpoint in the program. */
  manager?: { entryId: unknown };
  /** The new resource whose check has announced that it will adopt the endpoint (`resourceKeyOf`). */
  plannedAdopter?: { key: unknown };
  /** The resource of the program whose diff named the endpoint (`resourceKeyOf`). */
  programKey?: unknown;
  /** The URL of the endpoint that is to replace it. */
  replacement?: unknown;
  /** How many reads of a refresh have no diff yet. */
  readsWithoutDiff: number;
  /** Whether an adoption or an import of the endpoint failed. */
  hasFailedAdoption?: boolean;
  status?: EndpointStatus | undefined;
}

export class RunRecord {
  private readonly endpoints = new Map<string, EndpointRecord>();
  /** The endpoints that held the URLs of creates. */
  private readonly urlHolders = new Set<string>();

  /** Records an entry. An entry without an id, for example after an import by another tool, does not count as another owner. */
  private recordEntry(id: string, stored: State): EndpointRecord {
    const endpoint = this.endpoint(id);
    // A refresh renews the fingerprint, and then compares the entry again. The first fingerprint stays.
    endpoint.account ??= { fingerprint: stored[FINGERPRINT_KEY] };
    endpoint.isInState = true;
    const entryId = stored[ENTRY_ID_KEY];
    if (entryId !== undefined) endpoint.entryIds.add(entryId);
    return endpoint;
  }

  /**
   * Records a resource of the program, and the URL that it wants. After each read, a refresh compares what it has read with the
   * state. That diff says nothing of the program, and must not fail for two entries with one endpoint.
   *
   * @returns Whether this diff compares the program, rather than a refresh.
   * @throws UserError if another resource of the program has the endpoint, or will adopt it.
   */
  recordCompared(id: string, stored: State, inputs: PreviewInputs): boolean {
    const endpoint = this.endpoint(id);
    const isOfRefresh = endpoint.readsWithoutDiff > 0;
    if (isOfRefresh) endpoint.readsWithoutDiff--;
    else endpoint.programKey = resourceKeyOf(inputs);
    this.setManager(id, stored, { mayShare: isOfRefresh });
    return !isOfRefresh;
  }

  /**
   * Records a resource of the program that is about to change its endpoint.
   *
   * @throws UserError if another resource of the program has the endpoint, or will adopt it.
   */
  recordManaged(id: string, stored: State): void {
    this.setManager(id, stored, { mayShare: false });
  }

  private setManager(id: string, stored: State, { mayShare }: { mayShare: boolean }): void {
    const entryId = stored[ENTRY_ID_KEY];
    const { manager, plannedAdopter } = this.recordEntry(id, stored);
    if (plannedAdopter) throw alreadyManaged(id);
    const isShared = manager !== undefined && manager.entryId !== entryId;
    if (isShared && !mayShare) throw sharedEndpoint(id);
    if (!isShared) this.endpoint(id).manager = { entryId };
  }

  /** Records an entry that a refresh reads. */
  recordRefreshed(id: string, stored: State): void {
    this.recordEntry(id, stored).readsWithoutDiff++;
  }

  /** Records that nothing of the endpoint changes in this run. */
  recordUnchanged(id: string): void {
    this.endpoint(id).status = "keeps its URL";
  }

  /**
   * Records that a create will adopt an endpoint.
   *
   * @throws UserError if the create may not adopt it.
   */
  recordPlannedAdoption(id: string, inputs: PreviewInputs): void {
    if (!this.canAdopt(id, inputs)) throw alreadyManaged(id);
    const endpoint = this.endpoint(id);
    if (!endpoint.manager) endpoint.plannedAdopter = { key: resourceKeyOf(inputs) };
  }

  /**
   * Whether a create may adopt the endpoint: no other resource plans to adopt it, and this run has met it in no entry but this
   * resource's own.
   */
  canAdopt(id: string, inputs: PreviewInputs): boolean {
    const endpoint = this.endpoint(id);
    return !isPlannedForOther(endpoint, inputs) && (!endpoint.isInState || this.isOwnEndpoint(id, inputs));
  }

  /**
   * Whether the endpoint's entry is this resource's own old entry. If the engine skipped the deletion of a replacement, it creates the
   * resource anew beside that entry.
   */
  isOwnEndpoint(id: string, inputs: PreviewInputs): boolean {
    const programKey = this.endpoints.get(id)?.programKey;
    return programKey !== undefined && programKey === resourceKeyOf(inputs);
  }

  /** Records that an endpoint with this URL is to replace the endpoint. */
  recordReplaced(id: string, url: unknown): void {
    this.endpoint(id).replacement = url;
  }

  /** The replaced endpoints whose replacements have this URL, and whose deletion the engine has not asked for. */
  replacedOnUrl = (url: unknown): string[] =>
    [...this.endpoints]
      .filter(([, { replacement, isInState }]) => replacement === url && isInState)
      .map(([id]) => id);

  /** Whether a check of this run has announced that a create adopts the endpoint. */
  hasPlannedAdoption = (id: string): boolean => this.endpoints.get(id)?.plannedAdopter !== undefined;

  /**
   * Records a new entry.
   *
   * @param inputs The inputs of the create; undefined for an import.
   * @throws UserError if another resource of the program has the endpoint.
   */
  recordNewEntry(id: string, { entryId, account }: EntryIdentity, inputs?: PreviewInputs): void {
    const endpoint = this.endpoint(id);
    const isOthers = endpoint.manager !== undefined && endpoint.manager.entryId !== entryId;
    if (isOthers && !(inputs && this.isOwnEndpoint(id, inputs))) throw alreadyManaged(id);
    endpoint.account = { fingerprint: account };
    endpoint.isInState = true;
    endpoint.manager = { entryId };
    delete endpoint.plannedAdopter;
    endpoint.entryIds.add(entryId);
  }

  /** Tracks the work by which a new entry adopts an endpoint. If the work fails, no deletion of this run deletes the endpoint. */
  async trackAdoption<T>(id: string, { entryId }: EntryIdentity, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // After a partial write, the state has the new entry.
      if (error instanceof PartialWriteError) throw error;
      const endpoint = this.endpoint(id);
      endpoint.entryIds.delete(entryId);
      endpoint.hasFailedAdoption = true;
      throw error;
    }
  }

  /**
   * Records that an entry's deletion was asked for.
   *
   * @returns Why the endpoint must not be deleted: another entry has it, or its adoption failed. Undefined if it can be deleted.
   */
  recordDeletion(id: string, stored: State): "owned by another entry" | "not adopted" | undefined {
    const endpoint = this.recordEntry(id, stored);
    const entryId = stored[ENTRY_ID_KEY];
    endpoint.entryIds.delete(entryId);
    // The entry of the program's resource may lack an id.
    const isManagedByOther =
      endpoint.manager && entryId !== undefined && endpoint.manager.entryId === undefined;
    if (endpoint.entryIds.size > 0 || isManagedByOther) return "owned by another entry";
    if (endpoint.hasFailedAdoption || isPlannedForOther(endpoint, stored)) return "not adopted";
    endpoint.isInState = false;
    if (endpoint.manager?.entryId === entryId) delete endpoint.manager;
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
    this.endpoint(id).status = "gone";
  }

  /** Records an endpoint that holds the URL of a create. Returns the ids of all such endpoints, which one run can adopt together. */
  recordUrlHolder(id: string): string[] {
    return [...this.urlHolders.add(id)];
  }

  /** Whether this process has met the endpoint in an entry. */
  wasMetInState = (id: string): boolean => this.endpoints.get(id)?.account !== undefined;

  /** Whether an entry with this endpoint was written with this account. */
  isOfAccount = (id: string, fingerprint: unknown): boolean => {
    const account = this.endpoints.get(id)?.account;
    return account !== undefined && account.fingerprint === fingerprint;
  };

  keepsItsUrl = (id: string): boolean => this.statusOf(id) === "keeps its URL";

  /** Whether the endpoint's own request is queued, under way, or repeated. */
  hasRequestInFlight = (id: string): boolean => this.statusOf(id) === "request in flight";

  isGone = (id: string): boolean => this.statusOf(id) === "gone";

  /** Whether this process has taken the endpoint off its URL. */
  hasFreedItsUrl = (id: string): boolean => this.isGone(id) || this.statusOf(id) === "moved";

  private statusOf = (id: string): EndpointStatus | undefined => this.endpoints.get(id)?.status;

  private async track<T>(id: string, request: Promise<T>, finalStatus: EndpointStatus): Promise<T> {
    const endpoint = this.endpoint(id);
    endpoint.status = "request in flight";
    try {
      const result = await request;
      endpoint.status = finalStatus;
      return result;
    } catch (error) {
      endpoint.status = undefined;
      throw error;
    }
  }

  /** The record of an endpoint, to be changed. */
  private endpoint(id: string): EndpointRecord {
    const known = this.endpoints.get(id) ?? { isInState: false, entryIds: new Set(), readsWithoutDiff: 0 };
    this.endpoints.set(id, known);
    return known;
  }
}

/** Whether another resource than that of these inputs, or of this state, will adopt the endpoint. */
const isPlannedForOther = ({ plannedAdopter }: EndpointRecord, props: ResourceKeyProps): boolean =>
  plannedAdopter !== undefined && plannedAdopter.key !== resourceKeyOf(props);

type ResourceKeyProps = Record<"adopt" | "poolingEnabled" | "url", unknown> | State;

/**
 * What tells two resources of a program apart: the URL, and in a pool the id of `adopt`, because members share their URL.
 * `urlRegistry.ts` refuses a program in which two resources have the same key.
 */
const resourceKeyOf = ({ adopt, poolingEnabled, url }: ResourceKeyProps): unknown =>
  poolingEnabled === true ? adopt : url;
