import { alreadyManaged, sharedEndpoint } from "./errors";
import type { PreviewInputs } from "./fields";
import { ACCOUNT_KEY, ENTRY_KEY, type Entry, type State } from "./state";

/*
 * What this process knows of the entries of the stack's state and of their endpoints. An endpoint belongs to one entry. A random
 * token tells entries apart: a dynamic provider does not receive the names of resources, and names change.
 *
 * | call of the engine | what it says |
 * |---|---|
 * | `check` of a new resource | the resource will adopt an endpoint (`willAdopt`), or cannot (`takesOver`) |
 * | `diff` | the program has a resource for an entry (`manage`), which may change nothing (`keeps`), or ask for the entry's own endpoint (`asksForItself`) |
 * | `create`, `import` | a new entry takes an endpoint over (`takesOver`), has one (`add`), or met another one on its URL (`blocks`) |
 * | `read` | an entry has an endpoint (`reads`), which may be gone (`findsGone`) |
 * | `update` | the endpoint stays on its URL, or moves to another one (`moves`) |
 * | `delete` | the entry no longer has the endpoint (`release`), which then goes (`goes`) |
 */

/** What becomes of an endpoint in this run. */
type Fate = "stays" | "in motion" | "moved" | "gone";

/** In place of the token of an entry that a create with `adopt` will make. */
const WILL_ADOPT = Symbol("will adopt");

export class Holdings {
  /** The ids that this process has met in entries, with the fingerprints of their accounts. */
  private readonly accounts = new Map<string, unknown>();
  private readonly fates = new Map<string, Fate>();
  /** The tokens of the entries that have an endpoint. */
  private readonly tokens = new Map<string, Set<unknown>>();
  /** The ids that resources of the program have, with the tokens of their entries. */
  private readonly managed = new Map<string, unknown>();
  /** The ids that resources ask for although their own entries have them, with how they ask. */
  private readonly askedFor = new Map<string, string>();
  private readonly wasRead = new Set<string>();
  /** The ids and URLs of endpoints that new entries could not take over. */
  private readonly notTakenOver = new Set<unknown>();
  /** The ids that kept their URLs from creates. */
  private readonly inTheWay = new Set<string>();

  /** Notes an entry of the state. An entry without a token, such as one that another tool imported, is no other owner. */
  private meet(id: string, stored: State): void {
    // A refresh renews the account, and asks again with what it has found.
    if (!this.accounts.has(id)) this.accounts.set(id, stored[ACCOUNT_KEY]);
    const token = stored[ENTRY_KEY];
    if (token !== undefined) this.tokensOf(id).add(token);
  }

  /**
   * Notes that the program has a resource for this entry.
   *
   * @param options.isComparison Whether nothing changes by this call. A refresh compares what it has read, and must not fail for two
   *   entries with one endpoint.
   * @throws UserError if another resource of the program has the endpoint, or will adopt it.
   */
  manage(id: string, stored: State, { isComparison }: { isComparison: boolean }): void {
    const token = stored[ENTRY_KEY];
    const other = this.managed.get(id);
    this.meet(id, stored);
    if (other === WILL_ADOPT) throw alreadyManaged(id);
    const isShared = other !== undefined && other !== token;
    if (isShared && !(isComparison && this.wasRead.has(id))) throw sharedEndpoint(id);
    if (!isShared) this.managed.set(id, token);
  }

  /** Notes an entry that a refresh reads. */
  reads(id: string, stored: State): void {
    this.meet(id, stored);
    this.wasRead.add(id);
  }

  /** Notes that nothing of the endpoint changes in this run. */
  keeps(id: string): void {
    this.fates.set(id, "stays");
  }

  /**
   * Notes that a resource asks for the endpoint of its own entry. If the engine has skipped the deletion of a replacement, it
   * creates the resource while the old endpoint is on the URL. A create has a new token, so it is recognized by how it asks.
   */
  asksForItself(id: string, inputs: PreviewInputs): void {
    this.askedFor.set(id, wayOfAsking(inputs));
  }

  /** Whether a create with these inputs asks for the endpoint of its own entry. */
  isItsOwn = (id: string, inputs: PreviewInputs): boolean => this.askedFor.get(id) === wayOfAsking(inputs);

  /**
   * Notes that a create will adopt an endpoint.
   *
   * @throws UserError if another resource of the program has the endpoint.
   */
  willAdopt(id: string, inputs: PreviewInputs): void {
    if (!this.isFree(id, inputs)) throw alreadyManaged(id);
    if (!this.managed.has(id)) this.managed.set(id, WILL_ADOPT);
  }

  /** Whether a create with these inputs may have the endpoint. An earlier check may have promised it to this create. */
  isFree = (id: string, inputs: PreviewInputs): boolean =>
    !this.managed.has(id) || this.managed.get(id) === WILL_ADOPT || this.isItsOwn(id, inputs);

  /** Whether no check of this run has promised the endpoint to a create. */
  isUnpromised = (id: string): boolean => this.managed.get(id) !== WILL_ADOPT;

  /**
   * Notes a new entry.
   *
   * @param inputs The inputs of the create; undefined for an import.
   * @throws UserError if another resource of the program has the endpoint.
   */
  add(id: string, { token, account }: Entry, inputs?: PreviewInputs): void {
    const isOthers = this.managed.has(id) && ![WILL_ADOPT, token].includes(this.managed.get(id));
    if (isOthers && !(inputs && this.isItsOwn(id, inputs))) throw alreadyManaged(id);
    this.accounts.set(id, account);
    this.managed.set(id, token);
    this.tokensOf(id).add(token);
  }

  /**
   * Does the work by which a new entry takes an endpoint over. If it fails, no deletion of this run deletes the endpoint.
   *
   * @param asked The endpoint's id, or its URL if the id is not known.
   */
  async takesOver<T>(asked: string, { token }: Entry, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      for (const tokens of this.tokens.values()) tokens.delete(token);
      this.notTakenOver.add(asked);
      throw error;
    }
  }

  /**
   * Notes that an entry's deletion was asked for.
   *
   * @returns Whether another entry has the endpoint, or could not take it over; undefined if the endpoint is to go.
   */
  release(id: string, stored: State): "has it" | "not taken over" | undefined {
    this.meet(id, stored);
    const others = this.tokensOf(id);
    others.delete(stored[ENTRY_KEY]);
    if (others.size > 0) return "has it";
    return [id, stored.url].some((known) => this.notTakenOver.has(known)) ? "not taken over" : undefined;
  }

  /** Notes the request that updates an endpoint. */
  moves<T>(id: string, request: Promise<T>, { toOtherUrl }: { toOtherUrl: boolean }): Promise<T> {
    return this.during(id, request, toOtherUrl ? "moved" : "stays");
  }

  /** Notes the request that deletes an endpoint. */
  goes<T>(id: string, request: Promise<T>): Promise<T> {
    return this.during(id, request, "gone");
  }

  /** Notes an endpoint that a read has found gone. */
  findsGone(id: string): void {
    this.fates.set(id, "gone");
  }

  /** Notes an endpoint that keeps its URL from a create. Returns the ids of all so far: one run can adopt them together. */
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

  private tokensOf(id: string): Set<unknown> {
    const known = this.tokens.get(id) ?? new Set();
    this.tokens.set(id, known);
    return known;
  }
}

/** No two resources of a program ask for one endpoint in the same way: `urlRegistry.ts` refuses that. */
const wayOfAsking = ({ adopt, url }: PreviewInputs): string => JSON.stringify([adopt, url]);
