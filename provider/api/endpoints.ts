import { z } from "zod";
import { InvalidIdError, ReplyError, type RequestName } from "./apiErrors";
import type { HttpClient } from "./client";
import type { Request } from "./exchange";
import { EndpointList } from "./list";
import { normalizeUrl } from "./url";
import { endpointFromWire, ID, type LiveEndpoint, listFromWire, type WireChange } from "./wire";

/** A list that goes on beyond this (100,000 endpoints) is taken for one without an end. */
const MOST_PAGES = 1000;

/** The five calls of the contract. */
export class EndpointsApi {
  readonly list: EndpointList;
  /** Whether this process has changed anything on the service, or tried to. */
  hasWritten = false;

  constructor(readonly http: HttpClient) {
    this.list = new EndpointList({
      clock: http.clock,
      pages: () => this.pages(),
      warn: (message) => http.warn(message),
    });
  }

  /** `POST /endpoints`. Only cloud endpoints can be created. A reply about another endpoint is none. */
  async create(endpoint: WireChange): Promise<LiveEndpoint> {
    const request = { method: "POST", path: "/endpoints", body: { type: "cloud", ...endpoint } };
    const live = await this.write(request, endpointFromWire);
    if (isAbout(live, endpoint.url)) return live;
    throw new ReplyError(request, 201, ABOUT_ANOTHER, live);
  }

  /** `GET /endpoints/{id}`, of any type. */
  async get(id: string): Promise<LiveEndpoint> {
    const request = { method: "GET", path: pathOf(id) };
    return ofId(id, request, await this.http.send(request, endpointFromWire));
  }

  /** `PATCH /endpoints/{id}` with the fields to change. An empty text clears a field. */
  async update(id: string, change: WireChange): Promise<LiveEndpoint> {
    const request = { method: "PATCH", path: pathOf(id), body: { id, ...change } };
    return ofId(id, request, await this.write(request, endpointFromWire));
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
  private async *pages(): AsyncGenerator<unknown[]> {
    const asked = new Set<string>();
    let query: Record<string, string> = { limit: "100" };
    for (;;) {
      const request = { method: "GET", path: "/endpoints", query };
      const list = await this.http.send(request, listFromWire);
      yield list.endpoints;

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
      this.hasWritten = true;
      this.list.outdate();
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

const ABOUT_ANOTHER = "the reply is about another endpoint";

/** What a reply about an endpoint that was just created must hold, whatever else it holds. */
const identity = z.object({ url: z.string(), type: z.literal("cloud") });

/** Whether this describes a cloud endpoint with that URL. */
export function isAbout(reply: unknown, url: string | undefined): boolean {
  const { data } = identity.safeParse(reply);
  return data !== undefined && url !== undefined && normalizeUrl(data.url) === normalizeUrl(url);
}

function ofId(id: string, request: RequestName, live: LiveEndpoint): LiveEndpoint {
  if (live.id === id) return live;
  throw new ReplyError(request, 200, ABOUT_ANOTHER);
}

/** An id is a part of a path: `..` would be another address. */
function pathOf(id: string): string {
  if (ID.test(id)) return `/endpoints/${id}`;
  throw new InvalidIdError(id);
}
