import { z } from "zod";
import { normalizeUrl, oneLine } from "../data/index";
import { ReplyError, type RequestName, UserError } from "./apiErrors";
import type { HttpClient } from "./client";
import type { Endpoint, WireChange } from "./contract";
import type { Request } from "./httpTransport";
import { EndpointList } from "./list";
import { type EndpointParsers, ID, listPageSchema } from "./replySchemas";

/** The most pages of a list, so that a chain of pages ends: of 100,000 endpoints. */
const MAX_PAGES = 1_000;

/** The five calls of the contract. */
export class EndpointsApi {
  readonly list: EndpointList;

  constructor(
    readonly http: HttpClient,
    private readonly parsers: EndpointParsers,
    list?: EndpointList,
    private readonly redaction: Pick<Request, "hasSecrets"> = {},
  ) {
    this.list = list ?? new EndpointList(http, parsers.strict, (filter) => this.pages(filter));
  }

  /** The calls about a resource. If it has secrets, errors leave out the service's texts. */
  redacting(subject: Pick<Request, "hasSecrets">): EndpointsApi {
    return new EndpointsApi(this.http, this.parsers, this.list, subject);
  }

  /**
   * `POST /endpoints`. Only cloud endpoints can be created. Throws ReplyError if the reply is about another endpoint.
   *
   * @param isNew Whether this may be the endpoint that was just created.
   */
  async create(endpoint: WireChange, isNew: (live: Endpoint) => boolean = () => true): Promise<Endpoint> {
    const request = { method: "POST", path: "/endpoints", body: { type: "cloud", ...endpoint } };
    const { url } = endpoint;
    const reply = this.parsers.lenient.refine((live) => isAbout(live, url) && isNew(live), {
      error: ABOUT_ANOTHER,
    });
    return this.write(request, reply);
  }

  /** `GET /endpoints/{id}`, of any type. */
  async get(id: string): Promise<Endpoint> {
    const request = { method: "GET", path: pathOf(id) };
    return ofId(id, request, await this.send(request, this.parsers.strict));
  }

  /**
   * `PATCH /endpoints/{id}` with the fields to change. An empty text clears a field. Throws ReplyError if the reply is about
   * another endpoint.
   */
  async update(id: string, change: WireChange): Promise<Endpoint> {
    const request = { method: "PATCH", path: pathOf(id), body: { id, ...change } };
    return ofId(id, request, await this.write(request, this.parsers.strict));
  }

  /** `DELETE /endpoints/{id}`. */
  async delete(id: string): Promise<void> {
    await this.write({ method: "DELETE", path: pathOf(id) }, z.unknown());
  }

  /**
   * `GET /endpoints`, newest first, to the end. The next page is requested when the caller wants it.
   *
   * @throws ReplyError if the chain of pages breaks off or has no end, because half a list proves nothing.
   */
  private async *pages(filter: string | undefined): AsyncGenerator<unknown[]> {
    const selection: Record<string, string> = filter === undefined ? {} : { filter };
    const asked = new Set<string>();
    let query = selection;
    for (;;) {
      // A filter has values of fields, such as a URL that may be secret.
      const hasSecrets = () => filter !== undefined;
      const request = { method: "GET", path: "/endpoints", query, hasSecrets };
      const { endpoints, next_page_uri: next } = await this.http.send(request, listPageSchema);
      yield endpoints;

      if (!next) return;
      if (asked.has(next) || asked.size === MAX_PAGES)
        throw new ReplyError(request, 200, "the pages of the list never end");
      asked.add(next);
      query = { ...selection, ...queryOf(next, request) };
    }
  }

  private write<T extends z.ZodType>(request: Request, reply: T): Promise<z.output<T>> {
    return this.send(request, reply).finally(() => this.list.invalidate());
  }

  private send<T extends z.ZodType>(request: Request, reply: T): Promise<z.output<T>> {
    return this.http.send({ ...request, ...this.redaction }, reply);
  }
}

/**
 * The query of the next page. The host of its URI is ignored: the key is only sent to the configured service, and behind a
 * proxy that rewrites no bodies the URI names another host.
 */
function queryOf(next: string, request: RequestName): Record<string, string> {
  if (URL.canParse(next, "http://any")) return Object.fromEntries(new URL(next, "http://any").searchParams);
  throw new ReplyError(request, 200, "next_page_uri is no URI");
}

const ABOUT_ANOTHER = "the reply is about another endpoint";

/** Whether this describes a cloud endpoint with this URL. */
const isAbout = (live: Endpoint, url = ""): boolean =>
  live.type === "cloud" && (normalizeUrl(live.url ?? "") ?? "none") === normalizeUrl(url);

function ofId(id: string, request: RequestName, live: Endpoint): Endpoint {
  if (live.id === id) return live;
  throw new ReplyError(request, 200, ABOUT_ANOTHER);
}

/** The path of an endpoint. An id such as `..` would change the address. */
function pathOf(id: string): string {
  if (ID.test(id)) return `/endpoints/${id}`;
  throw new UserError(
    `${JSON.stringify(oneLine(id, 100))} is no id of an endpoint; give one such as ep_2abc.`,
  );
}
