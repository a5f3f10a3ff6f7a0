import type { WireChange, WireEndpoint } from "../../../provider/wire";
import { type Address, addressOf } from "./address";
import { type Behaviour, type Busy, told } from "./behaviour";
import type { Clock } from "./clock";
import { ServiceError } from "./errors";
import { base62 } from "./ids";
import { checkUrlIsFree, placeOf } from "./rules";

/** Where an endpoint stands in the list: the time of its creation, then the order of creation within that time. */
interface Place {
  created: number;
  sequence: number;
}

/** The endpoints of an account. */
export class Store {
  private readonly live = new Map<string, WireEndpoint>();
  /** Everything that `live` ever held, for a list that lags. */
  private readonly history: { at: number; id: string; endpoint: WireEndpoint | undefined }[] = [];
  /** Kept for endpoints that are gone too: a page that starts after one of them must still find its place. */
  private readonly places = new Map<string, Place>();
  private readonly reserved = new Map<string, string>();
  private readonly busy = new Map<string, { until: number; code: Busy["code"] }>();

  constructor(
    readonly baseUrl: string,
    private readonly clock: Clock,
    private readonly behaviour: () => Behaviour,
    /** The user that made what nobody is named for. */
    private readonly owner: string,
  ) {}

  create(fields: WireChange & { url: string }, principal?: string): WireEndpoint {
    const endpoint = this.cloud(addressOf(fields.url), fields, principal);
    this.checkPlace(endpoint);
    return this.insert(endpoint);
  }

  get(id: string): WireEndpoint | undefined {
    return this.live.get(id);
  }

  update(before: WireEndpoint, { url, bindings, ...texts }: WireChange): WireEndpoint {
    const after = withoutEmpty({
      ...before,
      ...texts,
      ...(url === undefined ? {} : this.derived(addressOf(url))),
      ...(bindings === undefined
        ? {}
        : { bindings: this.bindingsFor(addressOf(url ?? before.url ?? ""), bindings) }),
      updated_at: this.time(),
    });
    const moved = url !== undefined || bindings !== undefined || texts.pooling_enabled !== undefined;
    if (moved) this.checkPlace(after);
    return this.put(before.id, after);
  }

  /** As `update`, by somebody who is bound by no rule; what follows from a URL follows unless it is given. */
  overwrite(id: string, change: Partial<WireEndpoint>): WireEndpoint {
    const derived = change.url === undefined ? {} : this.derived(addressOf(change.url));
    const after = withoutEmpty({ ...this.get(id), ...derived, updated_at: this.time(), ...change, id });
    return this.put(id, after);
  }

  /** Puts an endpoint there that was created then. Default: now. */
  insert(endpoint: WireEndpoint, created?: number): WireEndpoint {
    const place = { created: created ?? Date.parse(this.time()), sequence: this.places.size };
    this.places.set(endpoint.id, place);
    return this.put(endpoint.id, endpoint, created);
  }

  delete(id: string): void {
    this.put(id, undefined);
  }

  /** Refuses whoever comes to a place for a while, as long as nobody is there. */
  keepBusy(place: string, { ms, code }: Busy): void {
    this.busy.set(place, { until: this.clock.now() + ms, code });
  }

  /**
   * Endpoints, newest first; with `before`, those that are older; with `lag`, those of so many milliseconds ago.
   * `undefined` for an id that never was.
   */
  newestFirst(before?: string, lag = 0): WireEndpoint[] | undefined {
    const start = before === undefined ? undefined : this.places.get(before);
    if (before !== undefined && !start) return undefined;
    return [...(lag > 0 ? this.asOf(this.clock.now() - lag) : this.live).values()]
      .map((endpoint) => ({ endpoint, place: this.places.get(endpoint.id) ?? { created: 0, sequence: 0 } }))
      .filter(({ place }) => !start || newerFirst(start, place) < 0)
      .sort((one, other) => newerFirst(one.place, other.place))
      .map(({ endpoint }) => endpoint);
  }

  private put<E extends WireEndpoint | undefined>(id: string, after: E, at = this.clock.now()): E {
    const before = this.live.get(id);
    if (after) this.live.set(id, after);
    else this.live.delete(id);
    this.history.push({ at: Math.min(at, this.clock.now()), id, endpoint: after });
    const { busyUrl } = this.behaviour();
    const freed = before && (!after || placeOf(after) !== placeOf(before));
    if (freed && busyUrl) this.keepBusy(placeOf(before), busyUrl);
    return after;
  }

  private asOf(time: number): Map<string, WireEndpoint> {
    const world = new Map<string, WireEndpoint>();
    for (const { at, id, endpoint } of this.history) {
      if (at > time) continue;
      if (endpoint) world.set(id, endpoint);
      else world.delete(id);
    }
    return world;
  }

  private checkPlace(candidate: WireEndpoint): void {
    const others = [...this.live.values()];
    checkUrlIsFree(candidate, others, this.behaviour());
    const place = placeOf(candidate);
    const busy = this.busy.get(place);
    if (!busy || this.clock.now() >= busy.until || others.some((other) => placeOf(other) === place)) return;
    throw new ServiceError(busy.code, candidate.url ?? "");
  }

  /** A whole cloud endpoint; texts that are empty are left out. */
  cloud(address: Address, fields: WireChange, principal = this.owner): WireEndpoint {
    const id = `ep_${base62()}`;
    const { description, metadata, traffic_policy, pooling_enabled = false } = fields;
    const { principals, createdAt } = this.behaviour();
    return withoutEmpty({
      id,
      type: "cloud",
      uri: `${this.baseUrl}/endpoints/${id}`,
      ...this.derived(address),
      bindings: this.bindingsFor(address, fields.bindings),
      pooling_enabled,
      created_at: told(createdAt, this.clock.now(), rfc3339),
      updated_at: this.time(),
      principal: principals ? { id: principal, uri: "" } : undefined,
      description,
      metadata,
      traffic_policy,
    });
  }

  /** What follows from a URL: a public host has a reserved domain or, for tcp, a reserved address. */
  derived({ url, publicUrl, hostport, proto, host, internal }: Address) {
    const kept = !internal && proto !== "tcp" ? this.reference("reserved_domains", "rd", host) : undefined;
    const address =
      !internal && proto === "tcp" ? this.reference("reserved_addrs", "ra", hostport) : undefined;
    return { url, public_url: publicUrl, hostport, proto, domain: kept, tcp_addr: address };
  }

  /** A reference to something reserved; the same name has the same id for as long as the emulator runs. */
  private reference(collection: string, prefix: string, name: string) {
    const id = this.reserved.get(`${collection} ${name}`) ?? `${prefix}_${base62()}`;
    this.reserved.set(`${collection} ${name}`, id);
    return { id, uri: `${this.baseUrl}/${collection}/${id}` };
  }

  private bindingsFor(address: Address, given: string[] = []): string[] {
    return given.length > 0 ? given : [address.internal ? "internal" : "public"];
  }

  time(): string {
    return rfc3339(new Date(this.clock.now()));
  }
}

/** RFC 3339 in UTC, in whole seconds as the service shows it. */
const rfc3339 = (date: Date) => date.toISOString().replace(/\.\d+Z$/, "Z");

function newerFirst(one: Place, other: Place): number {
  return other.created - one.created || other.sequence - one.sequence;
}

/** A field without a value is not sent, neither as `null` nor as `""`. */
function withoutEmpty(endpoint: WireEndpoint): WireEndpoint {
  const given = Object.entries(endpoint).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given) as WireEndpoint;
}
