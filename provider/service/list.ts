import { setImmediate } from "node:timers/promises";
import { oneLine } from "../data/index";
import { ApiError, ConnectionError } from "./apiErrors";
import type { HttpClient } from "./client";
import type { Clock } from "./clock";
import type { Endpoint } from "./contract";
import { type EndpointParser, identitySchema, mistakesIn } from "./replySchemas";
import { urlOf, urlSpellings } from "./url";

/*
 * The one reader of lists. Callers share a listing that began late enough for all of them. Filters (`endpoints:listFilter`) only save
 * pages: results are checked again, and a missing endpoint may still exist.
 */

/**
 * How fresh a listing must be. `recent`: it began at most a minute ago, and after this process's last write. `fresh`: it has not
 * begun before this call.
 */
export type Freshness = "recent" | "fresh";

const MINUTE = 60_000;

/** A selection of the account's endpoints. */
export interface Selection {
  /**
   * The selection as a filter, a CEL expression in which `obj` is an endpoint. The contract does not have it. Without one, the
   * whole list is read.
   */
  expression?: string | undefined;
  includes(endpoint: Endpoint): boolean;
}

export const ALL_ENDPOINTS: Selection = { includes: () => true };

/** All endpoints that stacks can manage. An account may also have thousands of agents' endpoints. */
export const CLOUD_ENDPOINTS: Selection = {
  expression: 'obj.type == "cloud"',
  includes: ({ type }) => type === "cloud",
};

/** The endpoints of any type with a normalized URL. */
export const endpointsOfUrl = (url: string): Selection => ({
  expression: isOneOf("url", urlSpellings(url)),
  includes: (live) => urlOf(live) === url,
});

/** The condition that a field has one of these values. Undefined if an expression cannot contain one of them. */
export function isOneOf(field: string, values: readonly string[]): string | undefined {
  if (values.length === 0 || values.some((value) => /\p{Surrogate}/u.test(value))) return undefined;
  // CEL has JSON's escapes, so no value can end its literal.
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? `obj.${field} == ${texts[0]}` : `obj.${field} in [${texts.join(", ")}]`;
}

/** The account's endpoints, with the last listing without a filter and of each filter. */
export class EndpointList {
  /** When the last write of this process ended; undefined if none has. */
  private lastWrite: number | undefined;
  private sendsFilters: boolean;
  private readonly listings = new Map<string | undefined, Listing>();

  /** @param pages The items of each page of the filtered list. A page is requested when the caller wants it. */
  constructor(
    private readonly http: HttpClient,
    private readonly parser: EndpointParser,
    private readonly pages: (filter: string | undefined) => AsyncIterator<unknown[]>,
  ) {
    this.sendsFilters = http.settings.listFilter === "on";
  }

  /**
   * The cloud endpoint as the list shows it. Undefined if it must be read by id, because the list does not show it.
   *
   * Pulumi refreshes each endpoint separately, but one page of the list has a hundred. The number of pages is unknown, and most
   * endpoints may belong to other stacks. So reads share a listing, and each read lets it grow by at most one request, which
   * is what a read by id would have cost.
   *
   * @throws ConnectionError, or ApiError 401 or 429, with which a read by id would fail too.
   */
  async findInList(id: string): Promise<Endpoint | undefined> {
    const isUsable = (listing: Listing) => this.is(listing, "recent") && !failsEveryRequest(listing.failure);
    const listing = this.listingOf(CLOUD_ENDPOINTS, isUsable);
    listing.readCount++;
    for (;;) {
      const live = listing.endpoints.get(id);
      if (live || listing.isComplete) return live;
      // So a refresh costs at most twice the cheaper of reading each endpoint and listing all.
      if (!listing.pendingPage && listing.pageCount >= listing.readCount) return undefined;
      try {
        await listing.nextPage();
      } catch (error) {
        if (this.stopFiltersIfRefused(listing, error)) return this.findInList(id);
        if (failsEveryRequest(error)) throw error;
        // If the key may not list, or the chain of pages has no end, a read by id may still succeed.
        return undefined;
      }
    }
  }

  /** The endpoints of a selection. */
  async select(selection: Selection, freshness: Freshness): Promise<Endpoint[]> {
    const listing = this.listingOf(selection, (last) => !last.failure && this.is(last, freshness));
    try {
      await listing.readToEnd();
    } catch (error) {
      if (this.stopFiltersIfRefused(listing, error)) return this.select(selection, freshness);
      throw error;
    }
    this.reportSkipped(listing);
    return [...listing.endpoints.values()].filter(selection.includes);
  }

  /** A listing of all endpoints, which grows as far as the caller wants it. It is never filtered. */
  fullListing(freshness: Freshness): Listing {
    return this.listingOf(ALL_ENDPOINTS, (last) => !last.failure && this.is(last, freshness));
  }

  /** The items that no listing so far could parse, with the reason. */
  get skipped(): SkippedItem[] {
    return [...this.listings.values()].flatMap(({ skipped }) => skipped);
  }

  /** Marks what was listed as outdated, after a write with or without success. */
  invalidate(): void {
    this.lastWrite = this.http.clock.now();
  }

  private is({ startedAt }: Listing, freshness: Freshness): boolean {
    const now = this.http.clock.now();
    if (freshness === "fresh") return startedAt >= now;
    return startedAt >= now - MINUTE && startedAt > (this.lastWrite ?? 0);
  }

  private listingOf({ expression }: Selection, isUsable: (listing: Listing) => boolean): Listing {
    const filter = this.sendsFilters ? expression : undefined;
    const last = this.listings.get(filter);
    if (last && isUsable(last)) return last;
    const listing = new Listing(this.http.clock, this.parser, this.pages(filter), filter);
    this.listings.set(filter, listing);
    return listing;
  }

  /** Warns of the omitted items of a listing, once. */
  private reportSkipped(listing: Listing): void {
    const { skipped, isReported } = listing;
    listing.isReported = true;
    if (isReported || skipped.length === 0) return;
    const names = skipped.map(({ id = "one without an id", reason }) => `${oneLine(id, 100)} (${reason})`);
    const what = `the service's list has items that cannot be read and are left out (${skipped.length})`;
    this.http.warn(`${what}: ${oneLine(names.join(", "))}`);
  }

  /** Sends no more filters if the service refused this one, and returns whether it did. */
  private stopFiltersIfRefused({ filter }: Listing, error: unknown): boolean {
    if (filter === undefined || !(error instanceof ApiError) || ![400, 422].includes(error.status))
      return false;
    if (this.sendsFilters)
      this.http.warn(
        `the service refuses filters of its list (status ${error.status}), so this process reads the whole list; set endpoints:listFilter (or ENDPOINTS_LIST_FILTER) to off`,
      );
    this.sendsFilters = false;
    return true;
  }
}

/** A list item that could not be parsed. It is left out, and must be reported. */
type SkippedItem = ReturnType<typeof identitySchema.parse> & { reason: string };

/** A list that is fetched page by page. It fetches as many pages as callers need, and all callers share them. */
export class Listing {
  /** The endpoints of the pages so far, by id. If an endpoint comes twice, the last one counts. */
  readonly endpoints = new Map<string, Endpoint>();
  readonly skipped: SkippedItem[] = [];
  /** When the first page was requested, by this machine's clock. Endpoints that were created later may be missing. */
  startedAt = Number.POSITIVE_INFINITY;
  /** The number of pages so far. */
  pageCount = 0;
  /** Whether the list has been read to its end. */
  isComplete = false;
  /** The failure of a page, after which nothing more can be read. */
  failure: unknown;
  /** How many reads of single items have used this listing. */
  readCount = 0;
  /** Whether the user knows of the skipped items. */
  isReported = false;
  /** The page that is being fetched. Waiting for it costs no request. */
  pendingPage: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly parser: EndpointParser,
    private readonly items: AsyncIterator<unknown[]>,
    readonly filter: string | undefined,
  ) {}

  /**
   * Reads on until the list ends.
   *
   * @throws The failure of a page.
   */
  async readToEnd(): Promise<void> {
    while (!this.isComplete) await this.nextPage();
  }

  /** Waits for the page that is being fetched, or requests the next one. */
  nextPage(): Promise<void> {
    this.pendingPage ??= this.fetchPage().finally(() => {
      this.pendingPage = undefined;
    });
    return this.pendingPage;
  }

  private async fetchPage(): Promise<void> {
    if (this.failure) throw this.failure;
    try {
      if (this.startedAt === Number.POSITIVE_INFINITY) {
        // After one turn of the event loop, all calls that start together have joined.
        await setImmediate();
        this.startedAt = this.clock.now();
      }
      const { value, done } = await this.items.next();
      this.isComplete = done === true;
      if (done) return;
      this.pageCount++;
      for (const item of value) {
        const { data: live, error } = this.parser.safeParse(item);
        if (live) this.endpoints.set(live.id, live);
        else this.skipped.push({ ...identitySchema.parse(item), reason: mistakesIn(error) });
      }
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}

/** Whether any request would fail with this error: the key was refused, its rate limit is used up, or there was no answer. */
const failsEveryRequest = (error: unknown) =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && (error.status === 401 || error.status === 429));
