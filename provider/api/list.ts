import { setImmediate } from "node:timers/promises";
import type { z } from "zod";
import { ApiError, ConnectionError, plain, ReplyError } from "./apiErrors";
import type { Clock } from "./clock";
import { CLOUD, EVERYTHING, onUrls, type Selection } from "./filter";
import { isMapping } from "./json";
import { urlOf } from "./url";
import { endpointFromWire, type LiveEndpoint } from "./wire";

/*
 * The one reader of lists: for refreshes, adoption, lost creates, conflicts, endpoints that are gone, data sources and
 * drift. They differ in how new a reading has to be and in how much of it they need, so each states both, and whatever
 * fits is shared.
 */

/**
 * Refreshes and adoptions are not served what was listed longer ago, in milliseconds. Long enough for a refresh that waits
 * for a few windows of the service's rate limit to go on with what it has.
 */
export const OLDEST_LISTING = 300_000;

/** Data sources are not served what was listed longer ago, in milliseconds. */
const OLDEST_LOOKUP = 60_000;

/** So many look-ups by URL cost less than a list that serves them all; who makes more, reads the list. */
const FEW_LOOKUPS = 10;

/** So many endpoints in a row, each older than the one before it, show that the list is sorted. */
const ENOUGH_IN_A_ROW = 10;

const UNFILTERED_CLOUD: Selection = { name: "cloud, unfiltered", includes: CLOUD.includes };

/** A list item that could not be read. It is left out, and must be reported. */
export interface SkippedItem {
  /** The item's id, where it has one. */
  id: string | undefined;
  /** The item's URL, where it has one. */
  url: string | undefined;
  reason: string;
}

/** What a list is read from. */
export interface ListSource {
  clock: Clock;
  /** The items of each page, newest first. The next page is requested only when it is asked for. */
  pages(selection: Selection): AsyncIterator<unknown[]>;
  /** Reports an item that is left out. */
  warn(message: string): void;
}

/** One reading of the account, newest first. Pages are fetched as far as a caller needs, and all callers share them. */
export class Reading {
  /** What the pages so far have shown, by id. One that moves while pages are read comes twice; the last one counts. */
  readonly endpoints = new Map<string, LiveEndpoint>();
  readonly skipped: SkippedItem[] = [];
  /** When the first page was requested, by our clock: what was created later may be missing. */
  began = Number.POSITIVE_INFINITY;
  /** Pages so far. */
  pages = 0;
  /** Whether there is no further page. */
  ended = false;
  /** What a page failed with. Nothing can be read after that. */
  failure: { error: unknown } | undefined;
  /** Whether this process has written since the first page was requested. */
  isOutdated = false;
  /** How many reads by id it has served, or tried to. */
  reads = 0;
  isReported = false;

  private readonly source: AsyncIterator<unknown[]>;
  private fetching: Promise<void> | undefined;
  /** When the last endpoints that tell it were created. */
  private readonly last: number[] = [];
  private isNewestFirst = true;

  constructor(
    private readonly selection: Selection,
    source: ListSource,
    private readonly clock = source.clock,
  ) {
    this.source = source.pages(selection);
  }

  get isFiltered(): boolean {
    return this.selection.expression !== undefined;
  }

  /** Whether a page is on its way. Waiting for it costs nothing. */
  get isFetching(): boolean {
    return this.fetching !== undefined;
  }

  /**
   * Reads on until the condition holds or the list ends.
   *
   * @throws whatever a page of the list fails with.
   */
  async until(holds: () => boolean): Promise<void> {
    while (!this.ended && !holds()) await this.nextPage();
  }

  toEnd(): Promise<void> {
    return this.until(() => false);
  }

  /**
   * Reads back to before this moment of the service's clock. The contract promises no order, and one old endpoint proves
   * none: without several older ones in a row, to the end.
   */
  backTo(moment: number): Promise<void> {
    const { last } = this;
    const isOlder = () => last.length === ENOUGH_IN_A_ROW && last.every((created) => created < moment);
    return this.until(() => this.isNewestFirst && isOlder());
  }

  /** Waits for the page that is on its way, or requests the next one. */
  nextPage(): Promise<void> {
    this.fetching ??= this.fetchPage().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  private async fetchPage(): Promise<void> {
    if (this.failure) throw this.failure.error;
    try {
      if (this.began === Number.POSITIVE_INFINITY) {
        // Calls that start together have all joined when the event loop comes round.
        await setImmediate();
        this.began = this.clock.now();
      }
      const { value, done } = await this.source.next();
      this.ended = done === true;
      if (done) return;
      this.pages++;
      for (const item of value) this.add(item);
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }

  private add(item: unknown): void {
    const { data: live, error } = endpointFromWire.safeParse(item);
    if (error) {
      this.skipped.push({ id: textOf(item, "id"), url: textOf(item, "url"), reason: reasonOf(error) });
      return;
    }
    if (this.selection.includes(live)) this.endpoints.set(live.id, live);
    else if (this.selection.expression !== undefined) throw new IgnoredFilterError();
    const created = createdAt(live);
    if (created === undefined) return;
    this.isNewestFirst &&= created <= (this.last.at(-1) ?? created);
    this.last.push(created);
    if (this.last.length > ENOUGH_IN_A_ROW) this.last.shift();
  }
}

/** The service sent what the filter leaves out. */
class IgnoredFilterError extends Error {}

/** Look-ups by URL that share a request. */
interface Batch {
  urls: Set<string>;
  found: Promise<LiveEndpoint[]>;
}

/** The endpoints of the account, with the last reading of each selection. */
export class EndpointList {
  private readonly readings = new Map<string, Reading>();
  private readonly batches = new Map<boolean, Batch>();
  private lastBatch: Promise<unknown> = Promise.resolve();
  private lookups = 0;
  /** Whether filters are sent: until the service refuses or ignores one. */
  private filters = true;

  constructor(private readonly source: ListSource) {}

  /** A reading that did not begin before this moment, by our clock. A list that was refused is not requested again. */
  since(moment: number): Reading {
    return this.reading(EVERYTHING, ({ failure, began }) =>
      failure ? isRefusal(failure.error) : began >= moment,
    );
  }

  /**
   * The endpoints of a selection, for data sources and reports. A filter may leave out what fits: that nothing is found
   * proves no absence. Calls share what was listed within a minute.
   *
   * @param fresh Whether the call follows something that it must show: then it joins no reading that has begun.
   */
  async select(selection: Selection, fresh: boolean): Promise<LiveEndpoint[]> {
    const isUsable = ({ began, isOutdated, failure }: Reading) =>
      fresh
        ? began === Number.POSITIVE_INFINITY
        : !isOutdated && !failure && this.source.clock.now() - began <= OLDEST_LOOKUP;
    const whole = this.readings.get(EVERYTHING.name);
    const isListed = whole !== undefined && isUsable(whole);
    if (selection.expression !== undefined && this.filters && !isListed) {
      try {
        return await this.endpointsOf(this.reading(selection, isUsable));
      } catch (error) {
        if (!this.isWithoutFilters(error)) throw error;
      }
    }
    const all = await this.endpointsOf(this.reading(EVERYTHING, isUsable));
    return all.filter((live) => selection.includes(live));
  }

  /** All cloud endpoints, as a refresh or another adoption listed them since this process's last write. */
  async cloud(): Promise<LiveEndpoint[]> {
    const isUsable = (reading: Reading) => !reading.failure && this.isCurrent(reading);
    if (this.filters) {
      try {
        return await this.endpointsOf(this.reading(CLOUD, isUsable));
      } catch (error) {
        if (!this.isWithoutFilters(error)) throw error;
      }
    }
    return this.endpointsOf(this.reading(UNFILTERED_CLOUD, isUsable));
  }

  /** Whether a look-up by URL is likely to cost less than the whole list, which many can share. */
  get affordsLookup(): boolean {
    return this.filters && this.lookups < FEW_LOOKUPS;
  }

  /**
   * The endpoints of any type on a URL in its one spelling. Look-ups that come together, or while another one is under way,
   * share a request.
   */
  async onUrl(url: string, fresh: boolean): Promise<LiveEndpoint[]> {
    this.lookups++;
    let batch = this.batches.get(fresh);
    if (!batch) {
      const urls = new Set<string>();
      batch = { urls, found: this.readBatch(urls, fresh) };
      this.batches.set(fresh, batch);
    }
    batch.urls.add(url);
    return (await batch.found).filter((live) => urlOf(live) === url);
  }

  /**
   * The cloud endpoint as the list shows it; undefined where it has to be read by its id. (An endpoint that the list does
   * not show may be there all the same: on a page not fetched, or missed between two pages.)
   *
   * A refresh reads every endpoint of a stack by itself, where one page of the list carries a hundred. How many pages the
   * account has is not known beforehand, and most of it may be other stacks'. So reads share a reading, and each lets it
   * grow by no more than the one request that the read would have cost.
   *
   * @throws ConnectionError, or ApiError 401 or 429: what a read by id would end with too.
   */
  async listed(id: string): Promise<LiveEndpoint | undefined> {
    let reading: Reading | undefined;
    for (;;) {
      const current = this.reading(
        this.filters ? CLOUD : UNFILTERED_CLOUD,
        (last) => !(last.failure && isOfEveryRequest(last.failure.error)) && this.isCurrent(last),
      );
      // A write may have outdated the reading that this call began with.
      if (current !== reading) current.reads++;
      reading = current;

      const live = reading.endpoints.get(id);
      if (live || reading.ended || reading.failure) return live;
      // Keeps all requests within twice what reading singly, or listing everything, would have cost.
      if (!reading.isFetching && reading.pages >= reading.reads) return undefined;
      await reading.nextPage().catch((error: unknown) => {
        // Where the key may not list, or the chain of pages has no end, reading by id may still do.
        if (isOfEveryRequest(error)) throw error;
        if (current.isFiltered) this.isWithoutFilters(error);
      });
    }
  }

  /** Something was written, successfully or not: what has been listed so far may not be true any more. */
  outdate(): void {
    for (const reading of this.readings.values())
      if (reading.began !== Number.POSITIVE_INFINITY) reading.isOutdated = true;
  }

  /** Whether a filter was refused or ignored, so that the whole list is read from now on. */
  private isWithoutFilters(error: unknown): boolean {
    const isRefused = error instanceof ApiError && error.status < 500 && !isOfEveryRequest(error);
    if (isRefused || error instanceof ReplyError || error instanceof IgnoredFilterError) this.filters = false;
    return !this.filters;
  }

  private readBatch(urls: ReadonlySet<string>, fresh: boolean): Promise<LiveEndpoint[]> {
    const before = this.lastBatch;
    const read = async () => {
      await Promise.all([setImmediate(), before]);
      this.batches.delete(fresh);
      const found: LiveEndpoint[] = [];
      for (const selection of onUrls([...urls])) found.push(...(await this.select(selection, fresh)));
      return found;
    };
    const found = read();
    this.lastBatch = found.catch(() => {});
    return found;
  }

  private reading(selection: Selection, isUsable: (reading: Reading) => boolean): Reading {
    const last = this.readings.get(selection.name);
    if (last && isUsable(last)) return last;
    const reading = new Reading(selection, this.source);
    this.readings.set(selection.name, reading);
    return reading;
  }

  private isCurrent({ isOutdated, began }: Reading): boolean {
    return !isOutdated && this.source.clock.now() - began <= OLDEST_LISTING;
  }

  private async endpointsOf(reading: Reading): Promise<LiveEndpoint[]> {
    await reading.toEnd();
    if (!reading.isReported)
      for (const message of skippedMessages(reading.skipped)) this.source.warn(message);
    reading.isReported = true;
    return [...reading.endpoints.values()];
  }
}

/** What has nothing to do with the list: no answer, a bad key, a rate limit that does not end. */
const isOfEveryRequest = (error: unknown) =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && (error.status === 401 || error.status === 429));

/** What another try within the same run would end with too. */
const isRefusal = (error: unknown) =>
  error instanceof ApiError && (error.status === 401 || error.status === 403 || error.status === 404);

/** More are only counted. */
const MOST_SKIPPED = 10;

function skippedMessages(skipped: readonly SkippedItem[]): string[] {
  const named = skipped.slice(0, MOST_SKIPPED).map(({ id, reason }) => {
    const name = id === undefined ? "without an id" : plain(id, 100);
    return `the service's list holds an endpoint (${name}) that cannot be read, and is left out: ${reason}`;
  });
  const more = skipped.length - named.length;
  return more > 0 ? [...named, `the service's list holds ${more} more endpoints that cannot be read`] : named;
}

function textOf(item: unknown, name: string): string | undefined {
  const value = isMapping(item) ? item[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

function reasonOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join(".") || "item"}: ${issue.message}`)
    .join("; ");
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** When an endpoint was created, by the service's clock, in milliseconds; undefined where it has no such time. */
export function createdAt({ createdAt: text }: { createdAt?: unknown }): number | undefined {
  const time = typeof text === "string" && RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
