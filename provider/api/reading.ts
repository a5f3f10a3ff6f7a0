import { setImmediate } from "node:timers/promises";
import type { z } from "zod";
import type { Clock } from "./clock";
import type { LiveEndpoint } from "./contract";
import type { Selection } from "./filter";
import { isMapping } from "./json";
import { oneLine } from "./text";
import type { EndpointReader } from "./wire";

/** This many endpoints in a row, each older than the one before it, show that the list is sorted. */
const ENOUGH_IN_A_ROW = 10;

/** A list item that could not be parsed. It is omitted and must be reported. */
export interface SkippedItem {
  /** The item's id, if it has one. */
  id: string | undefined;
  /** The item's URL, if it has one. */
  url: string | undefined;
  reason: string;
}

/** The source of a list. */
export interface ListSource {
  clock: Clock;
  reader: EndpointReader;
  /** The items of each page, newest first. A page is requested when the caller wants it. */
  pages(selection: Selection): AsyncIterator<unknown[]>;
  /** Reports an omitted item. */
  warn(message: string): void;
}

/** A reading of the account, newest first. It fetches as many pages as callers need, and all callers share them. */
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
  failure: { error: unknown } | undefined;
  /** Whether this process has sent a write since the first page was requested. */
  isOutdated = false;
  /** Whether a caller reads it to its end. */
  willEnd = false;
  /** How many reads have used this reading. */
  reads = 0;
  /** How many of the omitted items have been reported. */
  reported = 0;

  private readonly items: AsyncIterator<unknown[]>;
  private fetching: Promise<void> | undefined;
  /** The creation times of the last endpoints that have one. */
  private readonly last: number[] = [];
  private isNewestFirst = true;

  constructor(
    private readonly selection: Selection,
    private readonly source: ListSource,
  ) {
    this.items = source.pages(selection);
  }

  get isFiltered(): boolean {
    return this.selection.expression !== undefined;
  }

  /** Whether a page is being fetched. Waiting for it costs no request. */
  get isFetching(): boolean {
    return this.fetching !== undefined;
  }

  /**
   * Reads on until the condition holds or the list ends.
   *
   * @throws The failure of a page.
   */
  async until(holds: () => boolean): Promise<void> {
    while (!this.ended && !holds()) await this.nextPage();
  }

  toEnd(): Promise<void> {
    this.willEnd = true;
    return this.until(() => false);
  }

  /**
   * Reads until the endpoints are older than this moment of the service's clock. The contract promises no order, so this takes
   * several older endpoints in a row; without them it reads to the end.
   */
  backTo(moment: number): Promise<void> {
    const { last } = this;
    const isOlder = () => last.length === ENOUGH_IN_A_ROW && last.every((created) => created < moment);
    return this.until(() => this.isNewestFirst && isOlder());
  }

  /** Waits for the page that is being fetched, or requests the next one. */
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
        // After one turn of the event loop, all calls that start together have joined.
        await setImmediate();
        this.began = this.source.clock.now();
      }
      const { value, done } = await this.items.next();
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
    const { data: live, error } = this.source.reader.safeParse(item);
    if (error) {
      this.skipped.push({ id: textField(item, "id"), url: textField(item, "url"), reason: reasonOf(error) });
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

/** The service returned endpoints that the filter excludes. */
export class IgnoredFilterError extends Error {}

/** The most omitted items that are reported one by one. */
const MOST_SKIPPED = 10;

export function skippedMessages(skipped: readonly SkippedItem[]): string[] {
  const named = skipped.slice(0, MOST_SKIPPED).map(({ id, reason }) => {
    const name = id === undefined ? "without an id" : oneLine(id, 100);
    return `the service's list contains an endpoint (${name}) that cannot be read and is left out: ${reason}`;
  });
  const more = skipped.length - named.length;
  return more > 0
    ? [...named, `the service's list contains ${more} more endpoints that cannot be read`]
    : named;
}

function textField(item: unknown, name: string): string | undefined {
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

/** When an endpoint was created, by the service's clock, in milliseconds; undefined if that is unknown. */
export function createdAt({ createdAt: text }: { createdAt?: unknown }): number | undefined {
  const time = typeof text === "string" && RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
