import type { WireChange, WireEndpoint } from "../../../provider/api/contract";
import { type Behaviour, type Busy, reportedTime } from "./behaviour";
import { base62 } from "./random";
import type { Clock } from "./serviceClock";
import { ServiceError } from "./serviceErrors";
import { type Address, addressOf, checkUrlIsFree, placeOf } from "./serviceRules";

/** The endpoints of an account. */
export class Store {
  private readonly live = new Map<string, WireEndpoint>();
  /** All former states of `live`, for a list that lags. */
  private readonly history: { at: number; id: string; endpoint: WireEndpoint | undefined }[] = [];
  /** Includes deleted endpoints: a page that starts after one of them must still find its place. */
  private readonly created = new Map<string, number>();
  /** The places of all ids, newest first, until one is inserted: sorting a large account for each page takes long. */
  private places: ReadonlyMap<string, number> | undefined;
  private readonly reserved = new Map<string, string>();
  private readonly busy = new Map<string, { until: number; code: Busy["code"] }>();

  constructor(
    readonly baseUrl: string,
    private readonly clock: Clock,
    private readonly behaviour: () => Behaviour,
    /** The default principal. */
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
    const derived = url === undefined ? {} : this.derived(addressOf(url));
    const bound = bindings && { bindings: bindingsFor(addressOf(url ?? before.url ?? ""), bindings) };
    const after = withoutEmpty({ ...before, ...texts, ...derived, ...bound, updated_at: this.time() });
    const moved = url !== undefined || bindings !== undefined || texts.pooling_enabled !== undefined;
    if (moved) this.checkPlace(after);
    return this.put(before.id, after);
  }

  /** As `update`, without the rules. Fields derived from a new URL follow it unless they are given. */
  overwrite(id: string, change: Partial<WireEndpoint>): WireEndpoint {
    const derived = change.url === undefined ? {} : this.derived(addressOf(change.url));
    const after = withoutEmpty({ ...this.get(id), ...derived, updated_at: this.time(), ...change, id });
    return this.put(id, after);
  }

  /** Puts an endpoint there that was created then. Default: now. */
  insert(endpoint: WireEndpoint, created?: number): WireEndpoint {
    this.places = undefined;
    this.created.delete(endpoint.id);
    this.created.set(endpoint.id, created ?? Date.parse(this.time()));
    return this.put(endpoint.id, endpoint, created);
  }

  delete(id: string): void {
    this.put(id, undefined);
  }

  /** Refuses creates and moves to a place for a while, unless an endpoint is there. */
  keepBusy(place: string, { ms, code }: Busy): void {
    this.busy.set(place, { until: this.clock.now() + ms, code });
  }

  /**
   * Endpoints, newest first; with `before`, those that are older; with `lag`, those of so many milliseconds ago.
   * `undefined` for an id that never was.
   */
  newestFirst(before?: string, lag = 0): WireEndpoint[] | undefined {
    this.places ??= this.newestFirstPlaces();
    const place = before === undefined ? -1 : this.places.get(before);
    if (place === undefined) return undefined;
    const world = lag > 0 ? this.asOf(this.clock.now() - lag) : this.live;
    return [...this.places.keys()].slice(place + 1).flatMap((id) => world.get(id) ?? []);
  }

  private newestFirstPlaces(): ReadonlyMap<string, number> {
    // Of two with the same time, the later insertion is newer.
    const order = [...this.created].reverse().sort(([, one], [, other]) => other - one);
    return new Map(order.map(([id], place) => [id, place]));
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
      bindings: bindingsFor(address, fields.bindings),
      pooling_enabled,
      created_at: reportedTime(createdAt, this.clock.now(), rfc3339),
      updated_at: this.time(),
      principal: principals ? { id: principal, uri: "" } : undefined,
      description,
      metadata,
      traffic_policy,
    });
  }

  /** What follows from a URL: a public host has a reserved domain or, for tcp, a reserved address. */
  derived({ host, internal, ...address }: Address) {
    const { proto, hostport } = address;
    const domain = internal || proto === "tcp" ? undefined : this.reference("reserved_domains", "rd", host);
    const tcp_addr =
      internal || proto !== "tcp" ? undefined : this.reference("reserved_addrs", "ra", hostport);
    return { ...address, domain, tcp_addr };
  }

  /** A reference to something reserved; the same name has the same id for as long as the emulator runs. */
  private reference(collection: string, prefix: string, name: string) {
    const id = this.reserved.get(`${collection} ${name}`) ?? `${prefix}_${base62()}`;
    this.reserved.set(`${collection} ${name}`, id);
    return { id, uri: `${this.baseUrl}/${collection}/${id}` };
  }

  time(): string {
    return rfc3339(new Date(this.clock.now()));
  }
}

/** RFC 3339 in UTC, in whole seconds as the service shows it. */
const rfc3339 = (date: Date) => date.toISOString().replace(/\.\d+Z$/, "Z");

function bindingsFor(address: Address, given: string[] = []): string[] {
  return given.length > 0 ? given : [address.internal ? "internal" : "public"];
}

/** A field without a value is not sent, neither as `null` nor as `""`. */
function withoutEmpty(endpoint: WireEndpoint): WireEndpoint {
  const given = Object.entries(endpoint).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given) as WireEndpoint;
}

/** An endpoint to put there: its type, and any field of it. A field given as `undefined` is left out. */
export type Seed = { type: "cloud" | "ephemeral" | "edge" } & Partial<WireEndpoint>;

const EDGE_KINDS: Record<string, string> = { https: "edghts", http: "edghts", tls: "edgtls", tcp: "edgtcp" };

/** A whole endpoint of the seed's type, as its maker would have made it, with the seed's fields over it. */
export function endpointOf(seed: Seed, store: Store): WireEndpoint {
  const makers = { cloud, ephemeral, edge };
  const whole = { ...makers[seed.type](seed, store), ...seed };
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined)) as WireEndpoint;
}

function cloud(seed: Seed, store: Store): WireEndpoint {
  const { url = `https://${randomLabel()}.example.com`, bindings, id } = seed;
  const made = store.cloud(addressOf(url), bindings ? { bindings } : {});
  return id === undefined ? made : { ...made, uri: `${store.baseUrl}/endpoints/${id}` };
}

/** An agent's endpoint on a random address: no domain is reserved, and the owner's reference has an empty `uri`. */
function ephemeral(seed: Seed, store: Store): WireEndpoint {
  const { baseUrl } = store;
  const suffix = base62();
  const session = base62();
  const { domain: _none, ...address } = store.derived(
    addressOf(seed.url ?? `https://${randomLabel()}.example.app`),
  );
  return {
    ...common(store),
    ...address,
    id: `ep_${suffix}`,
    name: "command_line",
    upstream_url: "http://localhost:80",
    principal: { id: `usr_${base62()}`, uri: "" },
    tunnel: { id: `tn_${suffix}`, uri: `${baseUrl}/tunnels/tn_${suffix}` },
    tunnel_session: { id: `ts_${session}`, uri: `${baseUrl}/tunnel_sessions/ts_${session}` },
  };
}

/** An edge's endpoint has a `public_url` and no `url`. */
function edge(seed: Seed, store: Store): WireEndpoint {
  const { public_url: publicUrl = `tls://${randomLabel()}.example.com`, hostport } = seed;
  // A public URL of tcp need not hold its port, which is still part of the address.
  const port = hostport?.split(":")[1] ?? (publicUrl.startsWith("tcp:") ? "10000" : undefined);
  const complete = port === undefined || /:\d+$/.test(publicUrl);
  const { url: _none, ...address } = store.derived(addressOf(complete ? publicUrl : `${publicUrl}:${port}`));
  const id = `${EDGE_KINDS[address.proto]}_${base62()}`;
  return {
    ...common(store),
    ...address,
    id: `ep_${base62()}`,
    edge: { id, uri: `${store.baseUrl}/edges/${address.proto === "http" ? "https" : address.proto}/${id}` },
  };
}

function common(store: Store) {
  const time = store.time();
  return { bindings: ["public"], pooling_enabled: false, created_at: time, updated_at: time };
}

const randomLabel = () => base62(12).toLowerCase();
