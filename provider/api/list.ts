import { setImmediate } from "node:timers/promises";
import { ApiError, ConnectionError, ReplyError } from "./apiErrors";
import type { LiveEndpoint } from "./contract";
import { CLOUD, EVERYTHING, onUrls, type Selection } from "./filter";
import { IgnoredFilterError, type ListSource, Reading, skippedMessages } from "./reading";
import { urlOf } from "./url";

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

/** Up to this many look-ups by URL are made one by one. Further ones share the whole list. */
const FEW_LOOKUPS = 10;

const UNFILTERED_CLOUD: Selection = { name: "cloud, unfiltered", includes: CLOUD.includes };

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
    const found = isListed ? undefined : await this.filtered(selection, isUsable);
    if (found) return found;
    const all = await this.endpointsOf(this.reading(EVERYTHING, isUsable));
    return all.filter((live) => selection.includes(live));
  }

  /**
   * All cloud endpoints, as a refresh or another adoption listed them.
   *
   * @param current Whether only a listing will do that no write of this process has outdated.
   */
  async cloud(current: boolean): Promise<LiveEndpoint[]> {
    const isUsable = (reading: Reading) =>
      !reading.failure && (current ? this.isCurrent(reading) : this.isYoung(reading));
    const found = await this.filtered(CLOUD, isUsable);
    if (found) return found;
    const whole = this.readings.get(EVERYTHING.name);
    const reading = whole && isUsable(whole) ? whole : this.reading(UNFILTERED_CLOUD, isUsable);
    return (await this.endpointsOf(reading)).filter(CLOUD.includes);
  }

  /**
   * Whether a look-up by URL is likely to cost less than the whole list, which many can share.
   *
   * @param isOutdated Whether a write has outdated what could be shared.
   */
  affordsLookup(isOutdated: boolean): boolean {
    return this.filters && (isOutdated || this.lookups < FEW_LOOKUPS);
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
        if (current.isFiltered && isAgainstFilters(error)) this.filters = false;
      });
    }
  }

  /** Something was written, successfully or not: what has been listed so far may not be true any more. */
  outdate(): void {
    for (const reading of this.readings.values())
      if (reading.began !== Number.POSITIVE_INFINITY) reading.isOutdated = true;
  }

  /** What the service finds with the selection's filter; undefined where the whole list has to be read instead. */
  private async filtered(
    selection: Selection,
    isUsable: (reading: Reading) => boolean,
  ): Promise<LiveEndpoint[] | undefined> {
    if (selection.expression === undefined || !this.filters) return undefined;
    try {
      return await this.endpointsOf(this.reading(selection, isUsable));
    } catch (error) {
      if (!isAgainstFilters(error)) throw error;
      this.filters = false;
      return undefined;
    }
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

  private isCurrent(reading: Reading): boolean {
    return !reading.isOutdated && this.isYoung(reading);
  }

  private isYoung({ began }: Reading): boolean {
    return this.source.clock.now() - began <= OLDEST_LISTING;
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

/** The service refused the filter, or ignored it. Then the whole list is read from now on. */
const isAgainstFilters = (error: unknown) =>
  error instanceof IgnoredFilterError ||
  error instanceof ReplyError ||
  (error instanceof ApiError && (error.status < 500 || error.status === 501) && !isOfEveryRequest(error));

/** What another try within the same run would end with too. */
const isRefusal = (error: unknown) =>
  error instanceof ApiError && (error.status === 401 || error.status === 403 || error.status === 404);
