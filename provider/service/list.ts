import { setImmediate } from "node:timers/promises";
import { oneLine } from "../../sdk/traffic-policy/index";
import { ApiError, ConnectionError } from "./apiErrors";
import type { HttpClient } from "./client";
import type { Clock } from "./clock";
import type { LiveEndpoint } from "./contract";
import { type EndpointReader, identityFromWire, mistakesIn } from "./replySchemas";
import { spellings, urlOf } from "./url";

/*
 * The one reader of lists. Callers share a reading if it began late enough for all of them. A filter (`endpoints:listFilter`)
 * only saves pages: what it returns is checked here, and what it omits may exist.
 */

/**
 * How fresh a listing must be. `anyAge`: it began at most five minutes ago, and need not show the writes of this process.
 * `withinAMinute`: it began at most a minute ago, and after the last write. `fromNow`: it begins with this call.
 */
export type Age = "anyAge" | "withinAMinute" | "fromNow";

/** The oldest listing, in milliseconds. It bounds how long ago a served item was read. */
export const OLDEST_LISTING = 300_000;

const MINUTE = 60_000;

/** A selection of the account's endpoints. */
export interface Selection {
  /**
   * The selection as a filter, a CEL expression in which `obj` is an endpoint. The contract does not have it. Without one, the
   * whole list is read.
   */
  expression?: string | undefined;
  includes(endpoint: LiveEndpoint): boolean;
}

export const EVERYTHING: Selection = { includes: () => true };

/** All endpoints that stacks can manage. An account may also have thousands of agents' endpoints. */
export const CLOUD: Selection = {
  expression: 'obj.type == "cloud"',
  includes: ({ type }) => type === "cloud",
};

/** The endpoints of any type with a normalized URL. */
export const ofUrl = (url: string): Selection => ({
  expression: isOneOf("url", spellings(url)),
  includes: (live) => urlOf(live) === url,
});

/** The condition that a field has one of these values. Undefined if an expression cannot contain one of them. */
export function isOneOf(field: string, values: readonly string[]): string | undefined {
  if (values.length === 0 || values.some((value) => /\p{Surrogate}/u.test(value))) return undefined;
  // CEL has JSON's escapes, so no value can end its literal.
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? `obj.${field} == ${texts[0]}` : `obj.${field} in [${texts.join(", ")}]`;
}

/** The account's endpoints, with the last reading of the whole list and of each filter. */
export class EndpointList {
  /** When the last write of this process ended; undefined if none has. */
  private lastWrite: number | undefined;
  /** When this process created or changed an endpoint last. */
  private readonly written = new Map<string, number>();
  private sendsFilters: boolean;
  private readonly readings = new Map<string | undefined, Reading>();

  /** @param pages The items of each page of the filtered list. A page is requested when the caller wants it. */
  constructor(
    private readonly http: HttpClient,
    private readonly reader: EndpointReader,
    private readonly pages: (filter: string | undefined) => AsyncIterator<unknown[]>,
  ) {
    this.sendsFilters = http.settings.listFilter === "on";
  }

  /**
   * The cloud endpoint as the list shows it. Undefined if it must be read by id: once this process has sent a write, and if the
   * list does not show it.
   *
   * Pulumi refreshes each endpoint separately, but one page of the list has a hundred. The number of pages is unknown, and most
   * endpoints may belong to other stacks. So reads share a reading, and each read lets it grow by at most one request, which
   * is what a read by id would have cost.
   *
   * @throws ConnectionError, or ApiError 401 or 429, with which a read by id would fail too.
   */
  async item(id: string): Promise<LiveEndpoint | undefined> {
    const oldest = this.oldest("anyAge");
    const isUsable = ({ began, failure }: Reading) => began >= oldest && !isOfEveryRequest(failure);
    const reading = this.reading(CLOUD, isUsable);
    reading.reads++;
    while (this.lastWrite === undefined) {
      const live = reading.endpoints.get(id);
      if (live || reading.ended) return live;
      // Bounds the requests to twice the cost of single reads, and to twice the cost of the whole list.
      if (!reading.fetching && reading.pages >= reading.reads) return undefined;
      try {
        await reading.nextPage();
      } catch (error) {
        if (this.isRefused(reading, error)) return this.item(id);
        if (isOfEveryRequest(error)) throw error;
        // If the key may not list, or the chain of pages has no end, a read by id may still succeed.
        return undefined;
      }
    }
    return undefined;
  }

  /** The endpoints of any type with a normalized URL. */
  onUrl(url: string, age: Age): Promise<LiveEndpoint[]> {
    // A filtered reading is of this URL alone, so nobody shares it.
    return this.select(ofUrl(url), this.sendsFilters ? "fromNow" : age);
  }

  /**
   * The endpoints of a selection.
   *
   * @param pages The most pages to read: services list the newest first.
   */
  async select(selection: Selection, age: Age, pages = Number.POSITIVE_INFINITY): Promise<LiveEndpoint[]> {
    const oldest = this.oldest(age);
    const reading = this.reading(selection, ({ failure, began }) => !failure && began >= oldest);
    try {
      await reading.until(() => reading.pages >= pages);
    } catch (error) {
      if (this.isRefused(reading, error)) return this.select(selection, age, pages);
      throw error;
    }
    this.reportSkipped(reading);
    return [...reading.endpoints.values()].filter(selection.includes);
  }

  /** A reading of the whole list, which grows as far as the caller wants it. It is never filtered. */
  whole(age: Age): Reading {
    const oldest = this.oldest(age);
    return this.reading(EVERYTHING, ({ failure, began }) => !failure && began >= oldest);
  }

  /** A reading of the whole list, of any age, that began after this process wrote the endpoint last. */
  sinceWriteOf(id: string): Reading {
    const written = this.written.get(id) ?? Number.NEGATIVE_INFINITY;
    return this.reading(EVERYTHING, ({ failure, began }) => !failure && began > written);
  }

  /** Whether a list of this id alone shows the endpoint. Undefined if the service takes no filters. */
  async filtersById(id: string): Promise<boolean | undefined> {
    if (!this.sendsFilters) return undefined;
    const reading = this.reading({ expression: isOneOf("id", [id]), includes: () => true }, () => false);
    try {
      await reading.toEnd();
    } catch (error) {
      if (this.isRefused(reading, error)) return undefined;
      throw error;
    }
    return shows(reading, id);
  }

  /** The items that no reading so far could parse, with the reason. */
  get skipped(): SkippedItem[] {
    return [...this.readings.values()].flatMap(({ skipped }) => skipped);
  }

  /** Marks what was listed as outdated, after a write with or without success. */
  outdate(): void {
    this.lastWrite = this.http.clock.now();
  }

  /** Records that this process has created or changed the endpoint. */
  recordWrite(id: string): void {
    this.written.set(id, this.http.clock.now());
  }

  /** When a listing of this age began at the earliest, by this machine's clock. */
  private oldest(age: Age): number {
    const now = this.http.clock.now();
    if (age === "fromNow") return now;
    return age === "anyAge" ? now - OLDEST_LISTING : Math.max(now - MINUTE, this.lastWrite ?? 0);
  }

  private reading({ expression }: Selection, isUsable: (reading: Reading) => boolean): Reading {
    const filter = this.sendsFilters ? expression : undefined;
    const last = this.readings.get(filter);
    if (last && isUsable(last)) return last;
    const reading = new Reading(this.http.clock, this.reader, this.pages(filter), filter);
    this.readings.set(filter, reading);
    return reading;
  }

  /** Warns of the omitted items of a reading, once. */
  private reportSkipped(reading: Reading): void {
    const { skipped, isReported } = reading;
    reading.isReported = true;
    if (isReported || skipped.length === 0) return;
    const names = skipped.map(({ id = "one without an id", reason }) => `${oneLine(id, 100)} (${reason})`);
    const what = `the service's list has items that cannot be read and are left out (${skipped.length})`;
    this.http.warn(`${what}: ${oneLine(names.join(", "))}`);
  }

  /** Whether the service refused the filter. From then on, none is sent. */
  private isRefused({ filter }: Reading, error: unknown): boolean {
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
type SkippedItem = ReturnType<typeof identityFromWire.parse> & { reason: string };

/** A reading of the list. It fetches as many pages as callers need, and all callers share them. */
export class Reading {
  /** The endpoints of the pages so far, by id. If an endpoint comes twice, the last one counts. */
  readonly endpoints = new Map<string, LiveEndpoint>();
  readonly skipped: SkippedItem[] = [];
  /** When the first page was requested, by this machine's clock. Endpoints that were created later may be missing. */
  began = Number.POSITIVE_INFINITY;
  /** The number of pages so far. */
  pages = 0;
  /** Whether the list has been read to its end. */
  ended = false;
  /** The failure of a page, after which nothing more can be read. */
  failure: unknown;
  /** How many reads of single items have used this reading. */
  reads = 0;
  /** Whether the user knows of the skipped items. */
  isReported = false;
  /** The page that is being fetched. Waiting for it costs no request. */
  fetching: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly reader: EndpointReader,
    private readonly items: AsyncIterator<unknown[]>,
    readonly filter: string | undefined,
  ) {}

  /**
   * Reads on until the condition holds or the list ends.
   *
   * @throws The failure of a page.
   */
  async until(holds: () => boolean): Promise<void> {
    while (!this.ended && !holds()) await this.nextPage();
  }

  firstPage(): Promise<void> {
    return this.until(() => this.pages > 0);
  }

  toEnd(): Promise<void> {
    return this.until(() => false);
  }

  /** Waits for the page that is being fetched, or requests the next one. */
  nextPage(): Promise<void> {
    this.fetching ??= this.fetchPage().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  private async fetchPage(): Promise<void> {
    if (this.failure) throw this.failure;
    try {
      if (this.began === Number.POSITIVE_INFINITY) {
        // After one turn of the event loop, all calls that start together have joined.
        await setImmediate();
        this.began = this.clock.now();
      }
      const { value, done } = await this.items.next();
      this.ended = done === true;
      if (done) return;
      this.pages++;
      for (const item of value) {
        const { data: live, error } = this.reader.safeParse(item);
        if (live) this.endpoints.set(live.id, live);
        else this.skipped.push({ ...identityFromWire.parse(item), reason: mistakesIn(error) });
      }
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}

/** Whether a reading has the endpoint so far, also as an item that cannot be read. */
export const shows = ({ endpoints, skipped }: Reading, id: string): boolean =>
  endpoints.has(id) || skipped.some((item) => item.id === id);

/** Whether any request would fail with this error: the key's fault, its rate limit, or no answer. */
const isOfEveryRequest = (error: unknown) =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && (error.status === 401 || error.status === 429));
