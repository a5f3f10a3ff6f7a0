import { setImmediate } from "node:timers/promises";
import type { z } from "zod";
import { plain } from "./apiErrors";
import type { Clock } from "./clock";
import type { LiveEndpoint } from "./contract";
import type { Selection } from "./filter";
import { isMapping } from "./json";
import { endpointFromWire } from "./wire";

/** So many endpoints in a row, each older than the one before it, show that the list is sorted. */
const ENOUGH_IN_A_ROW = 10;

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
  /** When the last endpoints with a time were created. */
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
export class IgnoredFilterError extends Error {}

/** More are only counted. */
const MOST_SKIPPED = 10;

export function skippedMessages(skipped: readonly SkippedItem[]): string[] {
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
