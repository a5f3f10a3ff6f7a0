import type { Log } from "../api/client";
import type { LiveEndpoint, Mark, Owner } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import { isProven, isSameOwner, isSameStack, ownMark, parseMark, withMark } from "../api/mark";
import { alreadyManaged, sharedEndpoint } from "./errors";
import type { Inputs } from "./fields";
import { ACCOUNT_KEY, ENTRY_KEY, type Entry, MARK_KEY, type State } from "./state";

/*
 * Which entries of the stack's state have which endpoint, as far as this process knows. An endpoint belongs to one entry. A
 * random token tells entries apart: a dynamic provider does not receive the names of resources, and names change.
 */

/** A create or an update, and its dependencies. */
export interface Claim {
  api: EndpointsApi;
  inputs: Inputs;
  /** The URL for messages. */
  shownUrl: string;
  entry: Entry;
  /** With `endpoints:mark`, the resource. */
  owner: Owner | undefined;
  owners: Owners;
  log: Log;
  /** The endpoint that an update moves; undefined for a create. */
  mover?: string;
}

/**
 * What this process does with an endpoint: it stays on its URL, its own PATCH or DELETE is queued, under way or repeated, it was
 * moved to another URL, or it is gone; or a new resource could not take it over.
 */
type Fate = "stays" | "in motion" | "moved" | "gone" | "not taken over";

/** In place of the token of an entry that a create with `adopt` will make. */
const WILL_ADOPT = Symbol("will adopt");

export class Owners {
  /** The ids that this process has met in entries, with the fingerprints of their accounts. */
  readonly accounts = new Map<string, unknown>();
  readonly fates = new Map<string, Fate>();
  /** The tokens of the entries that have an endpoint. */
  private readonly tokens = new Map<string, Set<unknown>>();
  /** The ids that resources of the program have, with the tokens of their entries. */
  private readonly managed = new Map<string, unknown>();

  /** Whether this process has met the endpoint in an entry. Then it is no stranger's. */
  knows = (id: string): boolean => this.accounts.has(id);

  /** Notes an entry of the state. One without a token, such as an import's of another tool, is no other owner. */
  meet(id: string, stored: State): void {
    this.accounts.set(id, stored[ACCOUNT_KEY]);
    const token = stored[ENTRY_KEY];
    if (token !== undefined) this.tokensOf(id).add(token);
  }

  /**
   * Notes that the program has a resource for this entry.
   *
   * @throws UserError if another resource of the program has the endpoint, or will adopt it.
   */
  manage(id: string, stored: State): void {
    const token = stored[ENTRY_KEY];
    const other = this.managed.get(id);
    this.meet(id, stored);
    if (other === WILL_ADOPT) throw alreadyManaged(id);
    if (other !== undefined && other !== token) throw sharedEndpoint(id);
    this.managed.set(id, token);
  }

  /**
   * Notes that a create will adopt an endpoint.
   *
   * @throws UserError if another resource of the program has it. One with a change may be the resource itself: the engine
   *   checks a resource again before it replaces it.
   */
  willAdopt(id: string): void {
    if (this.fates.get(id) === "stays") throw alreadyManaged(id);
    if (!this.managed.has(id)) this.managed.set(id, WILL_ADOPT);
  }

  /**
   * Notes a new entry, of a create, an adoption or an import.
   *
   * @throws UserError if another resource of the program has the endpoint.
   */
  add(id: string, { token, account }: Entry): void {
    const isFree = !this.managed.has(id) || [WILL_ADOPT, token].includes(this.managed.get(id));
    if (!isFree) throw alreadyManaged(id);
    this.accounts.set(id, account);
    this.managed.set(id, token);
    this.tokensOf(id).add(token);
  }

  /** Notes that a new entry could not take its endpoint over. */
  fail(id: string, { token }: Entry): void {
    this.tokensOf(id).delete(token);
    this.fates.set(id, "not taken over");
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
    return this.fates.get(id) === "not taken over" ? "not taken over" : undefined;
  }

  /** Notes a request of the endpoint's own, and the endpoint's fate after a success. */
  async during<T>(id: string, request: Promise<T>, after: Fate): Promise<T> {
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

  /** Whether this process has taken the endpoint off its URL. */
  hasLeft = (id: string): boolean => ["moved", "gone"].includes(this.fates.get(id) ?? "");

  private tokensOf(id: string): Set<unknown> {
    const known = this.tokens.get(id) ?? new Set();
    this.tokens.set(id, known);
    return known;
  }
}

/**
 * Whether an endpoint's mark is the one of this state, or of its entry: a run that marked it may have been killed. Both may have
 * none.
 */
export const hasMarkOf = (stored: State, { createdFor }: LiveEndpoint): boolean =>
  createdFor?.nonce === parseMark(stored[MARK_KEY])?.nonce || createdFor?.nonce === stored[ENTRY_KEY];

/**
 * The owner that took the endpoint over in another run: its mark is no copy, and is not ours. Undefined if the endpoint is ours.
 * After a `stack rename` it is, because the random number of the mark stays.
 */
export const belongsElsewhere = (live: LiveEndpoint, stored: State): Mark | undefined =>
  hasMarkOf(stored, live) ? undefined : ownMark(live);

/** The owner of an endpoint that this stack has no entry for, if its mark names another namespace, project or stack. */
export function otherStack(live: LiveEndpoint, own: Owner | undefined): Mark | undefined {
  const mark = ownMark(live);
  return isSameStack(mark, own) ? undefined : mark;
}

/** Whether an earlier run of this stack left the endpoint behind: it was created for this resource, and no entry has it. */
export const isLeftover = (live: LiveEndpoint, owner: Owner | undefined, owners: Owners): boolean =>
  live.type === "cloud" && isProven(live) && isSameOwner(live.createdFor, owner) && !owners.knows(live.id);

/**
 * The mark of an entry; undefined without `endpoints:mark`, and, with a message, if the metadata cannot hold one. Its random number is
 * the entry's token.
 *
 * @param time When the endpoint was created, by the service's clock.
 */
export function markOf(
  { inputs, owner, entry, shownUrl, log }: Claim,
  time: unknown = "unknown",
): Mark | undefined {
  if (!owner) return undefined;
  const mark = { ...owner, nonce: String(entry.token), time: String(time) };
  if (withMark(inputs.metadata, mark) !== undefined) return mark;
  log.info(
    `${shownUrl}: has no mark (endpoints:mark), because its metadata is text or a list, or would get too long. Nothing protects it from another stack that has it, too`,
  );
  return undefined;
}
