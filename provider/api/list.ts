import { setImmediate } from "node:timers/promises";
import { ApiError, ConnectionError, EndpointsError } from "./apiErrors";
import type { LiveEndpoint } from "./contract";
import { CLOUD, EVERYTHING, onUrls, type Selection } from "./filter";
import { IgnoredFilterError, type ListSource, Reading, skippedMessages } from "./reading";
import { urlOf } from "./url";

/*
 * The one reader of lists: for refreshes, adoptions, lost creates, conflicts, endpoints that are gone, data sources and drift.
 * Each states how new a reading must be and how much of it it needs. Readings are shared if they satisfy that.
 */

/**
 * The oldest listing for refreshes and adoptions, in milliseconds. A refresh can continue with its listing after it has waited
 * for a few windows of the rate limit.
 */
export const OLDEST_LISTING = 300_000;

/** The oldest listing for data sources, in milliseconds. */
const OLDEST_LOOKUP = 60_000;

/** The most look-ups by URL that use a filter. Further ones share the whole list. */
const FEW_LOOKUPS = 10;

const UNFILTERED_CLOUD: Selection = { name: "cloud, unfiltered", includes: CLOUD.includes };

/** Look-ups by URL that share a request. */
interface Batch {
  urls: Set<string>;
  found: Promise<LiveEndpoint[]>;
}

/** The account's endpoints, with the last reading of each selection. */
export class EndpointList {
  private readonly readings = new Map<string, Reading>();
  private readonly batches = new Map<boolean, Batch>();
  private lastBatch: Promise<unknown> = Promise.resolve();
  private lookups = 0;
  /** Whether filters are sent. False once the service has refused or ignored one, or failed at it. */
  private filters = true;

  constructor(private readonly source: ListSource) {}

  /** A reading that began at this moment or later, by this machine's clock. A refused list is not requested again. */
  since(moment: number): Reading {
    return this.reading(EVERYTHING, ({ failure, began }) =>
      failure ? isRefusal(failure.error) : began >= moment,
    );
  }

  /**
   * The endpoints of a selection, for data sources and reports. A filter may omit endpoints, so an empty result proves no
   * absence. Calls within a minute share a listing.
   *
   * @param fresh Whether the result must show what happened before this call. Then it joins no reading that has begun.
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
   * All cloud endpoints, in a listing that refreshes and adoptions share.
   *
   * @param current Whether a write of this process outdates a listing.
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
   * Whether a look-up by URL probably costs less than the whole list, which many look-ups can share.
   *
   * @param isOutdated Whether a write has outdated the list that could be shared.
   */
  affordsLookup(isOutdated: boolean): boolean {
    return this.filters && (isOutdated || this.lookups < FEW_LOOKUPS);
  }

  /**
   * The endpoints of any type with a normalized URL. Concurrent look-ups share requests.
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
   * The cloud endpoint as the list shows it. Undefined if it must be read by id. (An endpoint that the list does not show may
   * exist: on a page that was not fetched, or missed between two pages.)
   *
   * Pulumi refreshes each endpoint by itself, but one page of the list has a hundred. The number of pages is unknown, and most
   * endpoints may belong to other stacks. So reads share a reading, and each read lets it grow by at most one request, which
   * is what a read by id would have cost.
   *
   * @throws ConnectionError, or ApiError 401 or 429, with which a read by id would fail too.
   */
  async listed(id: string): Promise<LiveEndpoint | undefined> {
    let reading: Reading | undefined;
    for (;;) {
      const current = this.reading(
        this.filters ? CLOUD : UNFILTERED_CLOUD,
        (last) => !(last.failure && isOfEveryRequest(last.failure.error)) && this.isCurrent(last),
      );
      // A write may have outdated the reading of the last round.
      if (current !== reading) current.reads++;
      reading = current;

      const live = reading.endpoints.get(id);
      if (live || reading.ended || reading.failure) return live;
      // Bounds the requests to twice the cost of single reads, and to twice the cost of the whole list.
      if (!reading.isFetching && reading.pages >= reading.reads) return undefined;
      await reading.nextPage().catch((error: unknown) => {
        if (current.isFiltered && isAgainstFilters(error)) this.filters = false;
        // If the key may not list, or the chain of pages has no end, a read by id may still succeed.
        else if (isOfEveryRequest(error)) throw error;
      });
    }
  }

  /** Marks all readings as outdated, after a write with or without success. */
  outdate(): void {
    for (const reading of this.readings.values())
      if (reading.began !== Number.POSITIVE_INFINITY) reading.isOutdated = true;
  }

  /** The endpoints that the service finds with the selection's filter. Undefined if the whole list must be read instead. */
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

/** Whether the key is invalid, or its rate limit does not end. */
const isOfKey = (error: unknown) =>
  error instanceof ApiError && (error.status === 401 || error.status === 429);

/** Whether any request would fail with this error: the key's fault, or no answer. */
const isOfEveryRequest = (error: unknown) => error instanceof ConnectionError || isOfKey(error);

/**
 * Whether the service refused or ignored the filter, or failed, perhaps because of the filter. Then the whole list is read
 * from now on. If the whole service fails, that fails too.
 */
const isAgainstFilters = (error: unknown) =>
  error instanceof IgnoredFilterError || (error instanceof EndpointsError && !isOfKey(error));

/** Whether another attempt in the same run would fail with this error too. */
const isRefusal = (error: unknown) =>
  error instanceof ApiError && (error.status === 401 || error.status === 403 || error.status === 404);
