import { alreadyManaged, sharedEndpoint } from "./errors";
import type { PreviewInputs } from "./fields";
import { ACCOUNT_KEY, ENTRY_KEY, type Entry, type State } from "./state";

/*
 * A record of what this process has met: the entries of the stack's state, their endpoints, and what becomes of these. An endpoint
 * belongs to one entry. A random id tells entries apart: a dynamic provider does not receive the names of resources, and names
 * change.
 *
 * | call of the engine | what is recorded |
 * |---|---|
 * | `check` of a new resource | the endpoint that the resource will adopt (`willAdopt`) |
 * | `diff` | the entry of a resource, and the URL that the program wants for it (`compares`); that nothing changes (`keeps`), or that the endpoint is replaced (`replaces`) |
 * | `create`, `import` | a new entry (`add`), an endpoint that it takes over, or cannot (`takesOver`), or that holds its URL (`blocks`) |
 * | `read` | an entry of the state (`reads`), whose endpoint may be gone (`findsGone`) |
 * | `update` | the entry of a resource (`manage`), and the request (`moves`) |
 * | `delete` | the end of an entry (`release`), and the request (`goes`) |
 */

/** What becomes of an endpoint in this run. */
type Fate = "stays" | "in motion" | "moved" | "gone";

/** In place of the id of an entry that a create will make. */
const WILL_ADOPT = Symbol("will adopt");

export class Holdings {
  /** The ids that this process has met in entries, with the fingerprints of their accounts. */
  private readonly accounts = new Map<string, unknown>();
  /** Those of them whose deletion was not asked for. */
  private readonly inState = new Set<string>();
  private readonly fates = new Map<string, Fate>();
  /** The entries that have an endpoint, by their ids. */
  private readonly entries = new Map<string, Set<unknown>>();
  /** The entry of the resource that has an endpoint. */
  private readonly managed = new Map<string, unknown>();
  /** What the program wants for each endpoint that a diff has compared. */
  private readonly wanted = new Map<string, unknown>();
  private readonly replaced = new Set<string>();
  /** How many reads of a refresh have no diff yet. */
  private readonly readsWithoutDiff = new Map<string, number>();
  private readonly notAdopted = new Set<string>();
  /** The endpoints that kept their URLs from creates. */
  private readonly inTheWay = new Set<string>();

  /** An entry without an id of its own, such as one that another tool imported, is no other owner. */
  private meet(id: string, stored: State): void {
    // A refresh renews the account, and asks again with what it has found.
    if (!this.accounts.has(id)) this.accounts.set(id, stored[ACCOUNT_KEY]);
    this.inState.add(id);
    const entry = stored[ENTRY_KEY];
    if (entry !== undefined) this.entriesOf(id).add(entry);
  }

  /**
   * Records a resource of the program and what it wants. After each read, a refresh compares what it has read with the state: that
   * says nothing of the program, and must not fail for two entries with one endpoint.
   *
   * @returns Whether the program is compared.
   * @throws UserError if another resource of the program has the endpoint, or will adopt it.
   */
  compares(id: string, stored: State, inputs: PreviewInputs): boolean {
    const reads = this.readsWithoutDiff.get(id) ?? 0;
    if (reads > 0) this.readsWithoutDiff.set(id, reads - 1);
    else this.wanted.set(id, identityOf(inputs));
    this.assign(id, stored, { mayShare: reads > 0 });
    return reads === 0;
  }

  /**
   * Records a resource of the program that is about to change its endpoint.
   *
   * @throws UserError if another resource of the program has the endpoint, or will adopt it.
   */
  manage(id: string, stored: State): void {
    this.assign(id, stored, { mayShare: false });
  }

  private assign(id: string, stored: State, { mayShare }: { mayShare: boolean }): void {
    const entry = stored[ENTRY_KEY];
    const other = this.managed.get(id);
    this.meet(id, stored);
    if (other === WILL_ADOPT) throw alreadyManaged(id);
    const isShared = other !== undefined && other !== entry;
    if (isShared && !mayShare) throw sharedEndpoint(id);
    if (!isShared) this.managed.set(id, entry);
  }

  /** Records an entry that a refresh reads. */
  reads(id: string, stored: State): void {
    this.meet(id, stored);
    this.readsWithoutDiff.set(id, (this.readsWithoutDiff.get(id) ?? 0) + 1);
  }

  /** Records that nothing of the endpoint changes in this run. */
  keeps(id: string): void {
    this.fates.set(id, "stays");
  }

  /**
   * Records that a create will adopt an endpoint.
   *
   * @throws UserError if the endpoint is not free.
   */
  willAdopt(id: string, inputs: PreviewInputs): void {
    if (!this.isFree(id, inputs)) throw alreadyManaged(id);
    if (!this.managed.has(id)) this.managed.set(id, WILL_ADOPT);
  }

  /** Whether a create may adopt the endpoint: no entry that this run has met has it, or the entry is this resource's own. */
  isFree = (id: string, inputs: PreviewInputs): boolean => !this.inState.has(id) || this.isItsOwn(id, inputs);

  /**
   * Whether the program wants the endpoint's entry for this resource. The engine creates a resource anew beside its old entry if it
   * skipped the deletion of a replacement.
   */
  isItsOwn(id: string, inputs: PreviewInputs): boolean {
    const wanted = this.wanted.get(id);
    return wanted !== undefined && wanted === identityOf(inputs);
  }

  /** Records that the endpoint is to be replaced by another one. */
  replaces(id: string): void {
    this.replaced.add(id);
  }

  /** The endpoints that this resource replaces, and whose deletion the engine has not asked for. */
  replacedBy = (inputs: PreviewInputs): string[] =>
    [...this.replaced].filter((id) => this.inState.has(id) && this.isItsOwn(id, inputs));

  /** Whether no check of this run has promised the endpoint to a create. */
  isUnpromised = (id: string): boolean => this.managed.get(id) !== WILL_ADOPT;

  /**
   * Records a new entry.
   *
   * @param inputs The inputs of the create; undefined for an import.
   * @throws UserError if another resource of the program has the endpoint.
   */
  add(id: string, { token, account }: Entry, inputs?: PreviewInputs): void {
    const isOthers = this.managed.has(id) && ![WILL_ADOPT, token].includes(this.managed.get(id));
    if (isOthers && !(inputs && this.isItsOwn(id, inputs))) throw alreadyManaged(id);
    this.accounts.set(id, account);
    this.inState.add(id);
    this.managed.set(id, token);
    this.entriesOf(id).add(token);
  }

  /** Does the work by which a new entry takes an endpoint over. If it fails, no deletion of this run deletes the endpoint. */
  async takesOver<T>(id: string, { token }: Entry, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.entries.get(id)?.delete(token);
      this.notAdopted.add(id);
      throw error;
    }
  }

  /**
   * Records that an entry's deletion was asked for.
   *
   * @returns Whether another entry has the endpoint, or could not take it over; undefined if the endpoint is to go.
   */
  release(id: string, stored: State): "has it" | "not taken over" | undefined {
    this.meet(id, stored);
    const others = this.entriesOf(id);
    others.delete(stored[ENTRY_KEY]);
    if (others.size > 0) return "has it";
    if (this.notAdopted.has(id)) return "not taken over";
    this.inState.delete(id);
    if (this.managed.get(id) === stored[ENTRY_KEY]) this.managed.delete(id);
    return undefined;
  }

  /** Tracks the request that updates an endpoint. */
  moves<T>(id: string, request: Promise<T>, { toOtherUrl }: { toOtherUrl: boolean }): Promise<T> {
    return this.during(id, request, toOtherUrl ? "moved" : "stays");
  }

  /** Tracks the request that deletes an endpoint. */
  goes<T>(id: string, request: Promise<T>): Promise<T> {
    return this.during(id, request, "gone");
  }

  /** Records an endpoint that a read has found gone. */
  findsGone(id: string): void {
    this.fates.set(id, "gone");
  }

  /** Records an endpoint that keeps its URL from a create. Returns the ids of all so far: one run can adopt them together. */
  blocks(id: string): string[] {
    return [...this.inTheWay.add(id)];
  }

  /** Whether this process has met the endpoint in an entry. */
  isOurs = (id: string): boolean => this.accounts.has(id);

  /** Whether an entry with this endpoint was written with this account. */
  isOfAccount = (id: string, account: unknown): boolean =>
    this.isOurs(id) && this.accounts.get(id) === account;

  stays = (id: string): boolean => this.fates.get(id) === "stays";

  /** Whether the endpoint's own request is queued, under way, or repeated. */
  isMoving = (id: string): boolean => this.fates.get(id) === "in motion";

  isGone = (id: string): boolean => this.fates.get(id) === "gone";

  /** Whether this process has taken the endpoint off its URL. */
  hasLeft = (id: string): boolean => this.isGone(id) || this.fates.get(id) === "moved";

  private async during<T>(id: string, request: Promise<T>, after: Fate): Promise<T> {
    this.fates.set(id, "in motion");
    try {
      const result = await request;
      this.fates.set(id, after);
      return result;
    } catch (error) {
      this.fates.delete(id);
      throw error;
    }
  }

  private entriesOf(id: string): Set<unknown> {
    const known = this.entries.get(id) ?? new Set();
    this.entries.set(id, known);
    return known;
  }
}

/**
 * What no two resources of a program share: the URL. Members of a pool share it, so that only an id tells them apart.
 * `urlRegistry.ts` refuses other programs.
 */
const identityOf = ({ adopt, poolingEnabled, url }: PreviewInputs): unknown =>
  poolingEnabled === true ? adopt : url;
