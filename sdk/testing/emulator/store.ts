import type { WireChange, WireEndpoint } from "../../../provider/service/contract";
import { type Behaviour, reportedTime } from "./behaviour";
import { base62 } from "./random";
import type { EmulatedClock } from "./serviceClock";
import { checkUrlIsFree, type ParsedUrl, parseUrl } from "./serviceRules";

/** The endpoints of one account. */
export class Store {
  private readonly live = new Map<string, WireEndpoint>();
  /** All changes, from which `asOf` restores a former state. */
  private readonly history: { at: number; id: string; endpoint: WireEndpoint | undefined }[] = [];
  /** Creation times. Deleted endpoints are kept, because `before_id` of a page can name them. */
  private readonly created = new Map<string, number>();
  /** The order of all ids, newest first. It is kept between lists, because sorting a large account for each page is slow. */
  private positions: ReadonlyMap<string, number> | undefined;
  private readonly reserved = new Map<string, string>();

  constructor(
    readonly baseUrl: string,
    private readonly clock: EmulatedClock,
    private readonly behaviour: () => Behaviour,
  ) {}

  create(fields: WireChange & { url: string }): WireEndpoint {
    const endpoint = this.cloud(parseUrl(fields.url), this.behaviour().stores(fields));
    this.checkUrl(endpoint);
    return this.insert(endpoint);
  }

  get(id: string): WireEndpoint | undefined {
    return this.live.get(id);
  }

  update(before: WireEndpoint, sent: WireChange): WireEndpoint {
    const { url, bindings, ...texts } = this.behaviour().stores(sent, before);
    const derived = url === undefined ? {} : this.derived(parseUrl(url));
    const bound = bindings && { bindings: bindingsFor(parseUrl(url ?? before.url ?? ""), bindings) };
    const after = withoutEmpty({ ...before, ...texts, ...derived, ...bound, updated_at: this.time() });
    const canConflict = url !== undefined || bindings !== undefined || texts.pooling_enabled !== undefined;
    if (canConflict) this.checkUrl(after);
    return this.put(before.id, after);
  }

  /** Like `update`, but without rules, and for any field. A field in the change has priority over a field derived from a new URL. */
  overwrite(id: string, change: Partial<WireEndpoint>): WireEndpoint {
    const derived = change.url === undefined ? {} : this.derived(parseUrl(change.url));
    const after = withoutEmpty({ ...this.get(id), ...derived, updated_at: this.time(), ...change, id });
    return this.put(id, after);
  }

  /** @param created The time of its creation. Default: now. */
  insert(endpoint: WireEndpoint, created?: number): WireEndpoint {
    this.positions = undefined;
    this.created.delete(endpoint.id);
    this.created.set(endpoint.id, created ?? Date.parse(this.time()));
    return this.put(endpoint.id, endpoint, created);
  }

  delete(id: string): void {
    this.put(id, undefined);
  }

  /**
   * The endpoints, newest first. Undefined if there has never been an endpoint `before`.
   *
   * @param before Only endpoints that are older than this one.
   * @param lag The age of the list, in milliseconds.
   */
  newestFirst(before?: string, lag = 0): WireEndpoint[] | undefined {
    this.positions ??= this.newestFirstPositions();
    const position = before === undefined ? -1 : this.positions.get(before);
    if (position === undefined) return undefined;
    const endpoints = lag > 0 ? this.asOf(this.clock.now() - lag) : this.live;
    return [...this.positions.keys()].slice(position + 1).flatMap((id) => endpoints.get(id) ?? []);
  }

  private newestFirstPositions(): ReadonlyMap<string, number> {
    // If two were created at the same time, the one inserted last is newer.
    const order = [...this.created].reverse().sort(([, one], [, other]) => other - one);
    return new Map(order.map(([id], position) => [id, position]));
  }

  private put<E extends WireEndpoint | undefined>(id: string, after: E, at = this.clock.now()): E {
    if (after) this.live.set(id, after);
    else this.live.delete(id);
    this.history.push({ at: Math.min(at, this.clock.now()), id, endpoint: after });
    return after;
  }

  private asOf(time: number): Map<string, WireEndpoint> {
    const endpoints = new Map<string, WireEndpoint>();
    for (const { at, id, endpoint } of this.history) {
      if (at > time) continue;
      if (endpoint) endpoints.set(id, endpoint);
      else endpoints.delete(id);
    }
    return endpoints;
  }

  private checkUrl(candidate: WireEndpoint): void {
    checkUrlIsFree(candidate, this.live.values(), this.behaviour());
  }

  cloud(parsed: ParsedUrl, fields: WireChange): WireEndpoint {
    const id = `ep_${base62()}`;
    const { url: _, pooling_enabled = false, ...own } = fields;
    const { createdAt } = this.behaviour();
    return withoutEmpty({
      ...own,
      id,
      type: "cloud",
      uri: `${this.baseUrl}/endpoints/${id}`,
      ...this.derived(parsed),
      bindings: bindingsFor(parsed, fields.bindings),
      pooling_enabled,
      created_at: reportedTime(createdAt, this.clock.now(), rfc3339),
      updated_at: this.time(),
    });
  }

  /** The fields that the service derives from a URL. A public host has a reserved domain or, for tcp, a reserved address. */
  derived({ host, internal, ...fields }: ParsedUrl) {
    const { proto, hostport } = fields;
    const domain = internal || proto === "tcp" ? undefined : this.reference("reserved_domains", "rd", host);
    const tcp_addr =
      internal || proto !== "tcp" ? undefined : this.reference("reserved_addrs", "ra", hostport);
    return { ...fields, domain, tcp_addr };
  }

  private reference(collection: string, prefix: string, name: string) {
    const id = this.reserved.get(`${collection} ${name}`) ?? `${prefix}_${base62()}`;
    this.reserved.set(`${collection} ${name}`, id);
    return { id, uri: `${this.baseUrl}/${collection}/${id}` };
  }

  time(): string {
    return rfc3339(new Date(this.clock.now()));
  }
}

/** RFC 3339 in UTC, in whole seconds, like the service. */
const rfc3339 = (date: Date) => date.toISOString().replace(/\.\d+Z$/, "Z");

export function bindingsFor({ internal }: ParsedUrl, given: string[] = []): string[] {
  return given.length > 0 ? given : [internal ? "internal" : "public"];
}

/** The service leaves out fields without a value. It sends neither `null` nor `""`. */
function withoutEmpty(endpoint: WireEndpoint): WireEndpoint {
  const given = Object.entries(endpoint).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given) as WireEndpoint;
}
