import { z } from "zod";
import { RefusedError } from "../refusals";
import type { Endpoint, JsonObject } from "../schema";
import { plain } from "../userError";
import { endpointFromWire, ID, listFromWire, type WireChange } from "../wire";
import { ReplyError } from "./errors";
import type { Request } from "./exchange";
import type { HttpClient } from "./http";
import { CoalescedReads } from "./reads";

/** An endpoint with whatever else the service said of it. */
export type LiveEndpoint = Endpoint & JsonObject;

/** A list item that could not be read. It is left out, and must be reported. */
export interface SkippedItem {
  /** The item's id, where it has one. */
  id: string | undefined;
  reason: string;
}

/** More are only counted. */
const MOST_SKIPPED = 10;

/** How skipped items are reported, by the provider and by the data sources. */
export function skippedMessages(skipped: readonly SkippedItem[]): string[] {
  const told = skipped.slice(0, MOST_SKIPPED).map(({ id, reason }) => {
    const name = id === undefined ? "without an id" : plain(id, 100);
    return `the service's list holds an endpoint (${name}) that cannot be read, and is left out: ${reason}`;
  });
  const more = skipped.length - told.length;
  return more > 0 ? [...told, `the service's list holds ${more} more endpoints that cannot be read`] : told;
}

export interface Page {
  endpoints: LiveEndpoint[];
  skipped: SkippedItem[];
}

/** A list that goes on beyond this (100,000 endpoints) is taken for one without an end. */
const MOST_PAGES = 1000;

/** The five calls of the contract. */
export class EndpointsApi {
  /** How many writes have ended, well or not: what was listed before the last of them may not be true any more. */
  writes = 0;
  /** Reads by the page. */
  readonly reads: CoalescedReads = new CoalescedReads(this);

  constructor(readonly http: HttpClient) {}

  /** `POST /endpoints`. Only cloud endpoints can be created. */
  create(endpoint: WireChange): Promise<LiveEndpoint> {
    return this.write(
      { method: "POST", path: "/endpoints", body: { type: "cloud", ...endpoint } },
      endpointFromWire,
    );
  }

  /** `GET /endpoints/{id}`, of any type. */
  async get(id: string): Promise<LiveEndpoint> {
    return this.http.send({ method: "GET", path: pathOf(id) }, endpointFromWire);
  }

  /** `PATCH /endpoints/{id}` with the fields to change. An empty text clears a field. */
  async update(id: string, change: WireChange): Promise<LiveEndpoint> {
    return this.write({ method: "PATCH", path: pathOf(id), body: { id, ...change } }, endpointFromWire);
  }

  /** `DELETE /endpoints/{id}`. */
  async delete(id: string): Promise<void> {
    await this.write({ method: "DELETE", path: pathOf(id) }, z.unknown());
  }

  /**
   * `GET /endpoints`, page by page, newest first, to the end. The next page is asked for only when it is wanted.
   *
   * @throws ReplyError where the chain of pages leaves the service or has no end: better than half a list.
   */
  async *pages(): AsyncGenerator<Page> {
    const asked = new Set<string>();
    let query: Record<string, string> = { limit: "100" };
    for (;;) {
      const request = { method: "GET", path: "/endpoints", query };
      const list = await this.http.send(request, listFromWire);
      yield parseItems(list.endpoints);

      if (!list.next_page_uri) return;
      if (asked.has(list.next_page_uri) || asked.size >= MOST_PAGES) {
        throw new ReplyError(request, 200, "its pages go on without an end");
      }
      asked.add(list.next_page_uri);
      query = this.nextQuery(request, list.next_page_uri);
    }
  }

  private write<T extends z.ZodType>(request: Request, reply: T): Promise<z.output<T>> {
    return this.http.send(request, reply).finally(() => {
      this.writes++;
    });
  }

  /** The next page is asked of the configured service, whatever host the reply names: the key goes nowhere else. */
  private nextQuery(request: { method: string; path: string }, next: string): Record<string, string> {
    const here = `${this.http.settings.baseUrl}/endpoints`;
    const url = URL.canParse(next, here) ? new URL(next, here) : undefined;
    if (url?.origin !== this.http.origin) {
      throw new ReplyError(request, 200, "its next_page_uri does not lie within the configured service");
    }
    return Object.fromEntries(url.searchParams);
  }
}

function parseItems(items: unknown[]): Page {
  const page: Page = { endpoints: [], skipped: [] };
  for (const item of items) {
    const parsed = endpointFromWire.safeParse(item);
    if (parsed.success) page.endpoints.push(parsed.data);
    else page.skipped.push({ id: idOf(item), reason: reasonOf(parsed.error) });
  }
  return page;
}

function idOf(item: unknown): string | undefined {
  return typeof item === "object" && item !== null && "id" in item && typeof item.id === "string"
    ? item.id
    : undefined;
}

function reasonOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join(".") || "item"}: ${issue.message}`)
    .join("; ");
}

/** An id is a part of a path: `..` would be another address. */
function pathOf(id: string): string {
  if (ID.test(id)) return `/endpoints/${id}`;
  throw new RefusedError(
    `${JSON.stringify(plain(id, 100))} is no id of an endpoint; give one such as ep_2abc.`,
  );
}
