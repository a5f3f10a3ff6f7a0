import type { Clock } from "../api/clock";
import type { LiveEndpoint, Mark } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import type { JsonObject } from "../api/json";
import { CLOUD } from "../api/list";
import { parseMark } from "../api/mark";
import { alreadyManaged, sharedEndpoint, UrlCircleError } from "./errors";
import { ACCOUNT_KEY, ENTRY_KEY, MARK_KEY } from "./state";

/*
 * What this process knows of the entries in the stack's state. An endpoint belongs to one entry, and a random token tells
 * entries apart: a dynamic provider does not receive the names of resources, and names change.
 */

/** An endpoint that an update of this run moves to another URL. */
interface Move {
  /** Its URL in the state. */
  from: string;
  /** Sends the update. */
  send: () => Promise<JsonObject>;
  /** The outputs, once it is sent. */
  sent?: Promise<JsonObject>;
}

/** What is known of an entry: it has its endpoint, its deletion was asked for, or it could not take the endpoint over. */
type Standing = "has it" | "is deleted" | "failed to take it over";

/** If the engine asks for no other resource for this long, it waits for the calls under way. In milliseconds. */
const QUIET = 5_000;

/** After this time, the user gets a message about a wait, in milliseconds. */
const LONGEST_SILENCE = 3_000;

/** How often a wait looks whether the engine has asked, in milliseconds. Takes no request. */
const LOOK_EVERY = 250;

export class Entries {
  /** The ids of all entries that this process has met, with the fingerprints of their accounts. None is a stranger's. */
  readonly accounts = new Map<string, unknown>();
  private readonly standings = new Map<string, Map<unknown, Standing>>();
  /** The ids that resources of the program have, with the tokens of their entries. */
  private readonly managed = new Map<string, unknown>();
  /** The ids of managed endpoints without a change, with their URLs. */
  private readonly unchanged = new Map<string, unknown>();
  /** The ids that new resources of the program will adopt. */
  private readonly toAdopt = new Set<string>();
  private readonly deleted = new Set<string>();
  private readonly replaced = new Set<string>();
  private readonly moves = new Map<string, Move>();
  private readonly moved = new Set<string>();
  /** The endpoints that wait for another endpoint's move. */
  private readonly waiting = new Map<string, string>();
  /** How often the engine has asked for a resource of the program. */
  asks = 0;
  /** The listing with the marks that deletions compare, and how often the engine had asked before it. */
  private listing: { asks: number; live: Promise<LiveEndpoint[] | undefined> } | undefined;

  /** Notes an entry of the state. */
  meet(id: string, stored: JsonObject): void {
    this.accounts.set(id, stored[ACCOUNT_KEY]);
    const token = stored[ENTRY_KEY];
    if (token !== undefined && !this.of(id).has(token)) this.of(id).set(token, "has it");
  }

  /**
   * Notes that the program has a resource for this entry.
   *
   * @throws UserError if a new resource will adopt the endpoint; sharedEndpoint if another resource has it.
   */
  manage(id: string, stored: JsonObject): void {
    const token = stored[ENTRY_KEY];
    const other = this.managed.get(id);
    this.meet(id, stored);
    if (this.toAdopt.has(id) && other !== token) throw alreadyManaged(id);
    if (other !== undefined && token !== undefined && other !== token) throw sharedEndpoint(id);
    this.managed.set(id, token);
    this.asks++;
  }

  /** Notes that a diff finds no change. */
  isUnchanged(id: string, { url }: JsonObject): void {
    this.unchanged.set(id, url);
  }

  isManaged = (id: string): boolean => this.managed.has(id);

  /** The token of the entry that a resource of this process has. */
  tokenOf = (id: string): unknown => this.managed.get(id);

  /** Whether a resource of the program has the endpoint with another URL, in the state and in the program. */
  hasOtherUrl = (id: string, url: string): boolean =>
    this.unchanged.has(id) && this.unchanged.get(id) !== url;

  /**
   * Notes a new entry, of a create, an adoption or an import.
   *
   * @throws UserError if another resource of the program has the endpoint.
   */
  add(id: string, token: string, account: string): void {
    if (this.managed.has(id)) throw alreadyManaged(id);
    this.accounts.set(id, account);
    this.managed.set(id, token);
    this.of(id).set(token, "has it");
  }

  /** Notes that an entry could not take its endpoint over. */
  takeOverFailed(id: string, token: string): void {
    this.of(id).set(token, "failed to take it over");
  }

  /**
   * @throws UserError if another resource of the program has the endpoint. One with a change may be the resource
   *   itself: the engine checks a resource again before it replaces it.
   */
  willAdopt(id: string): void {
    if (this.unchanged.has(id)) throw alreadyManaged(id);
    if (!this.managed.has(id)) this.toAdopt.add(id);
  }

  /** Whether another entry has the endpoint, now that the deletion of this entry is asked for. So the last of several deletes. */
  otherStanding(id: string, stored: JsonObject): "has it" | "failed to take it over" | undefined {
    const standings = this.of(id);
    standings.set(stored[ENTRY_KEY], "is deleted");
    const others = [...standings.values()].filter((standing) => standing !== "is deleted");
    return others.find((standing) => standing === "has it") ?? others[0];
  }

  isDeleted = (id: string): boolean => this.deleted.has(id);

  noteDeleted(id: string): void {
    this.deleted.add(id);
  }

  /** Notes that a diff replaces the endpoint, so that its deletion frees the URL. */
  willBeReplaced(id: string): void {
    this.replaced.add(id);
  }

  /** Notes that a diff moves the endpoint to another URL. */
  willMove(id: string, move: Omit<Move, "sent">): void {
    this.moves.set(id, move);
  }

  /** Sends an update, or returns the outputs of one that another resource has started because it needs the URL. */
  async update(id: string, send: () => Promise<JsonObject>): Promise<JsonObject> {
    const move = this.moves.get(id);
    if (!move) return send();
    const outputs = await start(move);
    this.moves.delete(id);
    this.moved.add(id);
    return outputs;
  }

  /**
   * Waits until an endpoint has left its URL, if this run moves or deletes it. With a small `--parallel`, the engine may ask for
   * that update only after this call. So if the engine asks for nothing more, the update starts here.
   *
   * @param waiter The id of the endpoint that needs the URL; undefined for a create.
   * @param log Is called once, before a wait that is certain, or during a long one.
   * @returns Whether it has left the URL.
   * @throws UrlCircleError if it waits for the waiter.
   */
  async left(
    id: string,
    { clock, retryFor, waiter, log }: { clock: Clock; retryFor: number; waiter?: string; log: () => void },
  ): Promise<boolean> {
    const began = clock.now();
    const hasLeft = () => this.deleted.has(id) || this.moved.has(id);
    const mayLeave = () => !this.managed.has(id) || this.replaced.has(id) || this.moves.has(id);
    let isLogged = false;
    for (let asks = -1, since = 0; !hasLeft() && mayLeave() && !this.moves.get(id)?.sent; ) {
      const now = clock.now();
      if (this.asks !== asks) [asks, since] = [this.asks, now];
      if (now >= Math.min(began + retryFor, since + QUIET)) break;
      const isCertain = this.managed.has(id) || now - began >= LONGEST_SILENCE;
      if (isCertain && !isLogged) log();
      isLogged ||= isCertain;
      await clock.sleep(LOOK_EVERY);
    }
    if (hasLeft()) return true;
    const move = this.moves.get(id);
    if (!move) return false;
    this.assertNoCircle(id, waiter);
    if (!isLogged) log();
    if (waiter !== undefined) this.waiting.set(waiter, id);
    try {
      await start(move);
      return true;
    } finally {
      if (waiter !== undefined) this.waiting.delete(waiter);
    }
  }

  /**
   * The resource that has adopted the endpoint in another process: an adoption writes a new random number into the mark, with
   * the endpoint's own creation time. (In a copied mark, that of another endpoint.) Deletions share a listing that began after
   * the engine last asked for a resource of the program.
   */
  async newOwner(id: string, stored: JsonObject, api: EndpointsApi): Promise<Mark | undefined> {
    const mark = parseMark(stored[MARK_KEY]);
    if (mark === undefined) return undefined;
    if (this.listing?.asks !== this.asks) {
      const live = api.list.select(CLOUD, { fresh: true });
      this.listing = { asks: this.asks, live: live.catch(() => undefined) };
    }
    const all = await this.listing.live;
    // Without a list, the endpoint itself has the mark. A missing mark proves nothing.
    const live = all ? all.find((listed) => listed.id === id) : await api.find(id).catch(() => undefined);
    const isNewer = live?.createdFor?.time === live?.createdAt && live?.createdFor?.nonce !== mark.nonce;
    return isNewer ? live?.createdFor : undefined;
  }

  private assertNoCircle(id: string, waiter: string | undefined): void {
    const circle = [id];
    for (let next = this.waiting.get(id); next !== undefined; next = this.waiting.get(next))
      circle.push(next);
    if (waiter === undefined || !circle.includes(waiter)) return;
    throw new UrlCircleError(circle.map((one) => `${one} (now ${this.moves.get(one)?.from})`));
  }

  private of(id: string): Map<unknown, Standing> {
    const known = this.standings.get(id) ?? new Map<unknown, Standing>();
    this.standings.set(id, known);
    return known;
  }
}

/** A failed update can be sent again: by the engine's call, after that of a resource that needs the URL. */
function start(move: Move): Promise<JsonObject> {
  move.sent ??= move.send().catch((error: unknown) => {
    delete move.sent;
    throw error;
  });
  return move.sent;
}
