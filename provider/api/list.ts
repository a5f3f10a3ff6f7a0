import { setImmediate } from "node:timers/promises";
import { ApiError, ConnectionError, EndpointsError, isOfService } from "./apiErrors";
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
  /** Whether this process has sent a write. */
  hasWritten = false;
  private readonly readings = new Map<string, Reading>();
  private readonly batches = new Map<boolean, Batch>();
  private lastBatch: Promise<unknown> = Promise.resolve();
  private lookups = 0;
  /** Whether filters are sent. False once the service has refused or ignored one, or failed at it twice. */
  private filters = true;
  /** The first selection that is read with a filter. It shows whether filters work, or that no list can be read now. */
  private trial: Promise<unknown> | undefined;

  constructor(private readonly source: ListSource) {}

  whole(moment: number): Reading {
    return this.since(moment);
  }
  async item(id: string, since?: number): Promise<LiveEndpoint | undefined> {
    if (since !== undefined) return (await this.cloudSince(since)).find((live) => live.id === id);
    return this.hasWritten ? undefined : this.listed(id);
  }
  async onUrlSince(url: string, moment: number): Promise<LiveEndpoint[]> {
    const reading = this.since(moment);
    await reading.toEnd();
    return [...reading.endpoints.values()].filter((live) => urlOf(live) === url);
  }

  /** A reading that began at this moment or later, by this machine's clock. A refused list is not requested again. */
  since(moment: number): Reading {
    return this.reading(EVERYTHING, ({ failure, began }) =>
      failure ? wouldFailAgain(failure.error) : began >= moment,
    );
  }

  /**
   * The endpoints of a selection, for data sources and reports. A filter may omit endpoints, so an empty result proves no
   * absence. Calls within a minute share a listing.
   *
   * @param options.fresh Whether the result must show what happened before this call. Then it joins no reading that has begun.
   */
  async select(selection: Selection, { fresh }: { fresh: boolean }): Promise<LiveEndpoint[]> {
    const isUsable = ({ began, isOutdated, failure }: Reading) =>
      fresh
        ? began === Number.POSITIVE_INFINITY
        : !isOutdated && !failure && this.source.clock.now() - began <= OLDEST_LOOKUP;
    return this.read(selection, EVERYTHING, isUsable);
  }

  /**
   * All cloud endpoints, in a listing that refreshes and adoptions share.
   *
   * @param options.current Whether a write of this process outdates a listing.
   */
  async cloud({ current }: { current: boolean }): Promise<LiveEndpoint[]> {
    const isUsable = (reading: Reading) =>
      !reading.failure && (current ? this.isCurrent(reading) : this.isYoung(reading));
    return this.read(CLOUD, UNFILTERED_CLOUD, isUsable);
  }

  /** All cloud endpoints, in a listing that began at this moment or later, by this machine's clock. */
  async cloudSince(moment: number): Promise<LiveEndpoint[]> {
    return this.read(CLOUD, UNFILTERED_CLOUD, ({ failure, began }) => !failure && began >= moment);
  }

  /**
   * Whether a look-up by URL probably costs less than the whole list, which many look-ups can share.
   *
   * @param options.isOutdated Whether a write has outdated the list that could be shared.
   */
  affordsLookup({ isOutdated }: { isOutdated: boolean }): boolean {
    return this.filters && (isOutdated || this.lookups < FEW_LOOKUPS);
  }

  /**
   * The endpoints of any type with a normalized URL. Concurrent look-ups share requests.
   */
  async onUrl(url: string, { fresh }: { fresh: boolean }): Promise<LiveEndpoint[]> {
    this.lookups++;
    let batch = this.batches.get(fresh);
    if (!batch) {
      const urls = new Set<string>();
      batch = { urls, found: this.readBatch(urls, { fresh }) };
      this.batches.set(fresh, batch);
    }
    batch.urls.add(url);
    return (await batch.found).filter((live) => urlOf(live) === url);
  }

  /**
   * The cloud endpoint as the list shows it. Undefined if it must be read by id. (An endpoint that the list does not show may
   * exist: on a page that was not fetched, or missed between two pages.)
   *
   * Pulumi refreshes each endpoint separately, but one page of the list has a hundred. The number of pages is unknown, and most
   * endpoints may belong to other stacks. So reads share a reading, and each read lets it grow by at most one request, which
   * is what a read by id would have cost.
   *
   * @throws ConnectionError, or ApiError 401 or 429, with which a read by id would fail too.
   */
  async listed(id: string): Promise<LiveEndpoint | undefined> {
    const isUsable = (last: Reading) =>
      this.isCurrent(last) && !(last.failure && (last.isFiltered || isOfEveryRequest(last.failure.error)));
    let reading: Reading | undefined;
    let failures = 0;
    for (;;) {
      const whole = this.readings.get(UNFILTERED_CLOUD.name);
      // If no list can be read, the next read must not wait for a filtered one again.
      if (whole?.failure && isUsable(whole)) return undefined;
      const current = this.reading(this.filters ? CLOUD : UNFILTERED_CLOUD, isUsable);
      // A write may have outdated the reading of the last round.
      if (current !== reading) current.reads++;
      reading = current;

      const live = reading.endpoints.get(id);
      if (live || reading.ended || reading.failure) return live;
      // Bounds the requests to twice the cost of single reads, and to twice the cost of the whole list.
      if (!reading.isFetching && reading.pages >= reading.reads) return undefined;
      try {
        await reading.nextPage().catch((error: unknown) => {
          if (!current.isFiltered) throw error;
          return this.withoutFilter(error, ++failures, () => this.reading(UNFILTERED_CLOUD, isUsable));
        });
      } catch (error) {
        // If the key may not list, or the chain of pages has no end, a read by id may still succeed.
        if (isOfEveryRequest(error)) throw error;
        return undefined;
      }
    }
  }

  /** Marks all readings as outdated, after a write with or without success. */
  outdate(): void {
    this.hasWritten = true;
    for (const reading of this.readings.values())
      if (reading.began !== Number.POSITIVE_INFINITY) reading.isOutdated = true;
  }

  /** The endpoints of a selection, found by its filter if the service takes it. */
  private async read(
    selection: Selection,
    unfiltered: Selection,
    isUsable: (reading: Reading) => boolean,
  ): Promise<LiveEndpoint[]> {
    const endpointsOf = (reading: Reading) => this.endpointsOf(reading, selection);
    const whole = this.readings.get(EVERYTHING.name);
    if (whole?.willEnd && isUsable(whole)) return endpointsOf(whole);
    if (selection.expression !== undefined) {
      // If filters do not work, a hundred selections at once must not each find that out.
      if (this.trial) await this.trial;
      const reading = this.readFiltered(selection, unfiltered, isUsable, endpointsOf);
      this.trial ??= reading;
      const found = await reading.catch((error: unknown) => {
        this.trial = undefined;
        throw error;
      });
      if (found) return found;
    }
    return endpointsOf(this.reading(unfiltered, isUsable));
  }

  /** Undefined if filters do not work. */
  private async readFiltered(
    selection: Selection,
    unfiltered: Selection,
    isUsable: (reading: Reading) => boolean,
    endpointsOf: (reading: Reading) => Promise<LiveEndpoint[]>,
  ): Promise<LiveEndpoint[] | undefined> {
    for (let failures = 0; this.filters; ) {
      try {
        return await endpointsOf(this.reading(selection, isUsable));
      } catch (error) {
        await this.withoutFilter(error, ++failures, () => this.reading(unfiltered, isUsable));
      }
    }
    return undefined;
  }

  /**
   * Returns if a filtered list must be read again after an error: with its filter, or without. A refusal of the service turns
   * filters off. Any other error may be an outage or a gateway's reply, which proves nothing about filters. So it turns them
   * off if it happens twice, and the service answers without a filter in between.
   */
  private async withoutFilter(error: unknown, failures: number, unfiltered: () => Reading): Promise<void> {
    const isIgnored = error instanceof IgnoredFilterError;
    if (!isIgnored && (!(error instanceof EndpointsError) || isOfKey(error))) throw error;
    if (isIgnored || isRefusedFilter(error) || failures > 1) {
      this.filters = false;
      return;
    }
    const reading = unfiltered();
    await reading.until(() => reading.pages > 0);
  }

  private readBatch(urls: ReadonlySet<string>, { fresh }: { fresh: boolean }): Promise<LiveEndpoint[]> {
    const before = this.lastBatch;
    const read = async () => {
      await Promise.all([setImmediate(), before]);
      this.batches.delete(fresh);
      const found: LiveEndpoint[] = [];
      for (const selection of onUrls([...urls])) found.push(...(await this.select(selection, { fresh })));
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

  private async endpointsOf(reading: Reading, { includes }: Selection): Promise<LiveEndpoint[]> {
    await reading.toEnd();
    for (const message of skippedMessages(reading.skipped.slice(reading.reported))) this.source.warn(message);
    reading.reported = reading.skipped.length;
    return [...reading.endpoints.values()].filter(includes);
  }
}

/** Whether the key is invalid, or its rate limit does not end. */
const isOfKey = (error: unknown) =>
  error instanceof ApiError && (error.status === 401 || error.status === 429);

/** Whether any request would fail with this error: the key's fault, or no answer. */
const isOfEveryRequest = (error: unknown) => error instanceof ConnectionError || isOfKey(error);

/** Whether the service itself refused the filter. */
const isRefusedFilter = (error: unknown) =>
  error instanceof ApiError && isOfService(error) && error.status < 500;

/** Whether another attempt in the same run would fail with this error too. */
const wouldFailAgain = (error: unknown) =>
  error instanceof ApiError && (error.status === 401 || error.status === 403 || error.status === 404);
