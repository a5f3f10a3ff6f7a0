import type { LiveEndpoint, Mark, Owner } from "../api/contract";
import type { JsonObject } from "../api/json";
import { isProven, isSameOwner, isSameStack, ownMark, parseMark } from "../api/mark";
import { alreadyManaged, sharedEndpoint } from "./errors";
import { ACCOUNT_KEY, ENTRY_KEY, MARK_KEY } from "./state";

/*
 * Which entries of the stack's state have which endpoint, as far as this process knows. An endpoint belongs to one entry. A
 * random token tells entries apart: a dynamic provider does not receive the names of resources, and names change.
 */

/** What is known of an entry: it has its endpoint, its deletion was asked for, or it could not take the endpoint over. */
type Standing = "has it" | "is deleted" | "failed to take it over";

export class Owners {
  /** The ids that this process has met in entries, with the fingerprints of their accounts. None is a stranger's. */
  readonly accounts = new Map<string, unknown>();
  private readonly standings = new Map<string, Map<unknown, Standing>>();
  /** The ids that resources of the program have, with the tokens of their entries. */
  private readonly managed = new Map<string, unknown>();
  /** The ids that new resources of the program will adopt. */
  private readonly toAdopt = new Set<string>();
  /** Endpoints whose resource has no change, so they stay on their URL. */
  private readonly unchanged = new Set<string>();
  /** Endpoints whose own PATCH or DELETE is queued, under way, or repeated. */
  private readonly sending = new Set<string>();
  /** Endpoints that this process has moved to another URL. */
  private readonly moved = new Set<string>();
  /** Endpoints that this process has deleted, or found gone. */
  private readonly gone = new Set<string>();

  /** Notes an entry of the state. One without a token, such as an import's of another tool, is no other owner. */
  meet(id: string, stored: JsonObject): void {
    this.accounts.set(id, stored[ACCOUNT_KEY]);
    const token = stored[ENTRY_KEY];
    if (token !== undefined && !this.of(id).has(token)) this.of(id).set(token, "has it");
  }

  /**
   * Notes that the program has a resource for this entry.
   *
   * @throws UserError if another resource of the program has the endpoint, or will adopt it.
   */
  manage(id: string, stored: JsonObject): void {
    const token = stored[ENTRY_KEY];
    const other = this.managed.get(id);
    this.meet(id, stored);
    if (this.toAdopt.has(id) && other !== token) throw alreadyManaged(id);
    if (other !== undefined && token !== undefined && other !== token) throw sharedEndpoint(id);
    this.managed.set(id, token);
  }

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
  fail(id: string, token: string): void {
    this.of(id).set(token, "failed to take it over");
  }

  /**
   * Notes that an entry's deletion was asked for.
   *
   * @returns What another entry with the endpoint has done; undefined if there is none, so that the endpoint goes.
   */
  release(id: string, stored: JsonObject): "has it" | "failed to take it over" | undefined {
    this.meet(id, stored);
    const standings = this.of(id);
    standings.set(stored[ENTRY_KEY], "is deleted");
    const others = [...standings.values()].filter((standing) => standing !== "is deleted");
    return others.find((standing) => standing === "has it") ?? others[0];
  }

  /**
   * Notes that a preview adopts an endpoint.
   *
   * @throws UserError if another resource of the program has it. One with a change may be the resource itself: the engine
   *   checks a resource again before it replaces it.
   */
  willAdopt(id: string): void {
    if (this.unchanged.has(id)) throw alreadyManaged(id);
    if (!this.managed.has(id)) this.toAdopt.add(id);
  }

  isManaged = (id: string): boolean => this.managed.has(id);

  /** Notes that a diff finds no change. */
  noteUnchanged(id: string): void {
    this.unchanged.add(id);
  }

  /** Whether the endpoint stays on its URL in this run. */
  stays = (id: string): boolean => this.unchanged.has(id);

  /** Notes a request of the endpoint's own, with which it may leave its URL. */
  async during<T>(id: string, request: Promise<T>): Promise<T> {
    this.sending.add(id);
    return request.finally(() => this.sending.delete(id));
  }

  isSending = (id: string): boolean => this.sending.has(id);

  noteMoved(id: string): void {
    this.moved.add(id);
  }

  noteGone(id: string): void {
    this.gone.add(id);
  }

  isGone = (id: string): boolean => this.gone.has(id);

  /** Whether this process has taken the endpoint off its URL. */
  hasLeft = (id: string): boolean => this.moved.has(id) || this.gone.has(id);

  private of(id: string): Map<unknown, Standing> {
    const known = this.standings.get(id) ?? new Map<unknown, Standing>();
    this.standings.set(id, known);
    return known;
  }
}

/**
 * The owner that took the endpoint over in another run: its mark is no copy, and is not the one that our state notes. Undefined if the endpoint is ours. After a `stack rename` it is, because the random number of the mark stays.
 */
export function belongsElsewhere(live: LiveEndpoint, stored: JsonObject): Mark | undefined {
  const mark = ownMark(live);
  return mark?.nonce === parseMark(stored[MARK_KEY])?.nonce ? undefined : mark;
}

/** The owner of an endpoint that this stack has no entry for, if its mark names another namespace, project or stack. */
export function otherStack(live: LiveEndpoint, own: Owner | undefined): Mark | undefined {
  const mark = ownMark(live);
  return isSameStack(mark, own) ? undefined : mark;
}

/** Whether an earlier run of this stack left the endpoint behind: it was created for this resource, and no entry has it. */
export const isLeftover = (live: LiveEndpoint, owner: Owner | undefined, owners: Owners): boolean =>
  live.type === "cloud" &&
  isProven(live) &&
  isSameOwner(live.createdFor, owner) &&
  !owners.accounts.has(live.id) &&
  !owners.isGone(live.id);
