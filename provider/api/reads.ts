import { ApiError, ConnectionError } from "./apiErrors";
import type { EndpointsApi } from "./endpoints";
import { idOf, type LiveEndpoint, parseItems, type SkippedItem } from "./items";

/*
 * A refresh reads every endpoint of a stack, one by one, where one page of the list carries a hundred. How many pages
 * the account has is not known beforehand, and most of it may be somebody else's. So reads share a listing, and each
 * lets it grow by no more than the one request that the read would have cost.
 */

/**
 * What was listed longer ago is not served, in milliseconds. Long enough for a refresh that has to sit out a few
 * windows of the service's rate limit to go on with what it has.
 */
export const OLDEST_LISTING = 300_000;

/** One reading of the list, page by page, as reads ask for it. */
interface Listing {
  began: number;
  /** How many writes this process had made when it began. */
  writes: number;
  /** Reads so far. */
  reads: number;
  /** Pages so far. */
  fetched: number;
  pages: ReturnType<EndpointsApi["rawPages"]>;
  /** The page that is on its way. Whoever comes waits for it, which costs nothing. */
  fetching: Promise<void> | undefined;
  /** The last page, while nobody has looked into it. */
  unread: { ids: Set<unknown>; items: unknown[] } | undefined;
  /** `whole`: there is no further page. `broken`: it could not be had. */
  ended: "whole" | "broken" | undefined;
  /** Cloud endpoints only: no other is read here, and an account may have thousands of its agents' endpoints. */
  found: Map<string, LiveEndpoint>;
  skipped: SkippedItem[];
}

/** The whole rule. It keeps all requests within twice what reading singly, or listing everything, would have cost. */
const mayFetchPage = (listing: Listing) => listing.fetched < listing.reads;

/** A listing that reads share. What it serves is not older than this process's last write, nor than five minutes. */
export class CoalescedReads {
  private current: Listing | undefined;

  constructor(private readonly api: EndpointsApi) {}

  /**
   * The cloud endpoint as the list shows it; undefined where it is to be read by its id. (An endpoint that the list
   * does not show may be there all the same: on a page not fetched, or pushed out of sight between two pages.)
   *
   * @throws ConnectionError, or ApiError 401 or 429: what a read by id would end with too.
   */
  async listed(id: string): Promise<LiveEndpoint | undefined> {
    let listing: Listing | undefined;
    for (;;) {
      const fresh = this.fresh();
      if (fresh !== listing) fresh.reads++;
      listing = fresh;

      if (listing.unread?.ids.has(id)) lookInto(listing);
      const live = listing.found.get(id);
      if (live || listing.ended) return live;
      if (!listing.fetching && !mayFetchPage(listing)) return undefined;
      await this.nextPage(listing).catch((error: unknown) => {
        if (isOfEveryRequest(error)) throw error;
        // A key that may not list, a chain of pages without an end: reading by id may still do.
      });
    }
  }

  /** All cloud endpoints of the account, and the items that cannot be read. Throws where the list cannot be had whole. */
  async all(): Promise<{ endpoints: LiveEndpoint[]; skipped: readonly SkippedItem[] }> {
    let listing = this.fresh();
    if (listing.ended === "broken") listing = this.begin();
    while (!listing.ended) await this.nextPage(listing);
    lookInto(listing);
    return { endpoints: [...listing.found.values()], skipped: listing.skipped };
  }

  private fresh(): Listing {
    const { current, api } = this;
    if (!current || current.writes !== api.writes) return this.begin();
    return api.http.clock.now() - current.began > OLDEST_LISTING ? this.begin() : current;
  }

  private begin(): Listing {
    const { api } = this;
    this.current = {
      began: api.http.clock.now(),
      writes: api.writes,
      reads: 0,
      fetched: 0,
      pages: api.rawPages(),
      fetching: undefined,
      unread: undefined,
      ended: undefined,
      found: new Map(),
      skipped: [],
    };
    return this.current;
  }

  private async nextPage(listing: Listing): Promise<void> {
    listing.fetching ??= this.fetchPage(listing).finally(() => {
      listing.fetching = undefined;
    });
    try {
      await listing.fetching;
    } catch (error) {
      throw ownCopy(error);
    }
  }

  private async fetchPage(listing: Listing): Promise<void> {
    try {
      const { value: items } = await listing.pages.next();
      if (!items) {
        listing.ended = "whole";
        return;
      }
      listing.fetched++;
      lookInto(listing);
      listing.unread = { ids: new Set(items.map(idOf)), items };
      // Whoever misses his endpoint asks for the next page first, and while that is on its way there is time to look.
      setImmediate(lookInto, listing);
    } catch (error) {
      listing.ended = "broken";
      // Later reads try the list again once the service may be back.
      if (isOfEveryRequest(error) && this.current === listing) this.current = undefined;
      throw error;
    }
  }
}

/** Reads the items of the last page, once. */
function lookInto(listing: Listing): void {
  const { unread } = listing;
  if (!unread) return;
  listing.unread = undefined;
  const { endpoints, skipped } = parseItems(unread.items);
  // One that moved while pages were read comes twice; what was seen last is the truth.
  for (const live of endpoints) if (live.type === "cloud") listing.found.set(live.id, live);
  listing.skipped.push(...skipped);
}

/** What has nothing to do with the list: no answer, a bad key, a rate limit that does not end. */
const isOfEveryRequest = (error: unknown) =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && (error.status === 401 || error.status === 429));

/** Who waited for the same page puts his own words before the message. */
function ownCopy(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error));
}
