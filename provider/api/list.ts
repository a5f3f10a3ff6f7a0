import { ApiError } from "./apiErrors";
import type { EndpointsApi } from "./endpoints";
import type { LiveEndpoint, SkippedItem } from "./items";

/**
 * One reading of the whole account, newest first, unfiltered. Pages are fetched as far as somebody wants to see, and
 * everybody who reads on shares them.
 */
export class Reading {
  /** What the pages so far have shown, by id. One that moves while pages are read comes twice; the last one counts. */
  readonly endpoints = new Map<string, LiveEndpoint>();
  readonly skipped: SkippedItem[] = [];
  /** Pages so far. */
  pages = 0;
  /** Whether there is no further page. */
  ended = false;
  /** The creation of the last endpoint that tells it. */
  private oldest = Number.POSITIVE_INFINITY;
  private isNewestFirst = true;
  /** What a page failed with. Nothing can be read after that. */
  failure: { error: unknown } | undefined;
  private readonly source: ReturnType<EndpointsApi["pages"]>;
  private turn: Promise<void> = Promise.resolve();

  /** @param began When it began, by our clock: what was created later may be missing. */
  constructor(
    api: EndpointsApi,
    readonly began: number,
  ) {
    this.source = api.pages();
  }

  /**
   * Reads on until the condition holds or the list ends.
   *
   * @throws whatever a page of the list fails with.
   */
  until(holds: () => boolean): Promise<void> {
    const read = this.turn.then(async () => {
      while (!this.ended && !holds()) await this.readPage();
    });
    this.turn = read.catch(() => {});
    return read;
  }

  /** Reads back to before this moment of the service's clock. The contract promises no order: without one, to the end. */
  backTo(moment: number): Promise<void> {
    return this.until(() => this.isNewestFirst && this.oldest < moment);
  }

  private async readPage(): Promise<void> {
    if (this.failure) throw this.failure.error;
    try {
      const { value, done } = await this.source.next();
      this.ended = done === true;
      if (!value) return;
      this.pages++;
      for (const live of value.endpoints) this.note(live);
      this.skipped.push(...value.skipped);
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }

  private note(live: LiveEndpoint): void {
    this.endpoints.set(live.id, live);
    const created = createdAt(live);
    if (created === undefined) return;
    this.isNewestFirst &&= created <= this.oldest;
    this.oldest = created;
  }
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** When an endpoint was created, by the service's clock, in milliseconds; undefined where it does not tell. */
export function createdAt({ createdAt: text }: { createdAt?: unknown }): number | undefined {
  const time = typeof text === "string" && RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Readings of the account, shared by those who can do with the same. */
export class AccountList {
  private current: Reading | undefined;

  constructor(private readonly api: EndpointsApi) {}

  /** A reading that did not begin before this moment, by our clock. A list that was refused is not asked for again. */
  since(moment: number): Reading {
    const { current, api } = this;
    const isUsable = current?.failure ? isRefusal(current.failure.error) : (current?.began ?? -1) >= moment;
    if (current && isUsable) return current;
    this.current = new Reading(api, api.http.clock.now());
    return this.current;
  }
}

/** What another try within the same run would end with too. */
const isRefusal = (error: unknown) =>
  error instanceof ApiError && (error.status === 401 || error.status === 403 || error.status === 404);
