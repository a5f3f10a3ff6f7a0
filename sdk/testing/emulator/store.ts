import type { WireChange, WireEndpoint } from "../../../provider/wire";
import { type Address, addressOf } from "./address";
import type { Behaviour } from "./behaviour";
import { base62 } from "./ids";
import { checkUrlIsFree } from "./rules";

/** Where an endpoint stands in the list: the time of its creation, then the order of creation within that time. */
interface Place {
  created: number;
  sequence: number;
}

/** The endpoints of an account. */
export class Store {
  private readonly live = new Map<string, WireEndpoint>();
  /** Kept for endpoints that are gone too: a page that starts after one of them must still find its place. */
  private readonly places = new Map<string, Place>();
  private readonly reserved = new Map<string, string>();

  constructor(
    readonly baseUrl: string,
    private readonly now: () => Date,
    private readonly behaviour: () => Behaviour,
    /** The user that made what nobody is named for. */
    private readonly owner: string,
  ) {}

  create(fields: WireChange & { url: string }, principal?: string): WireEndpoint {
    const endpoint = this.cloud(addressOf(fields.url), fields, principal);
    checkUrlIsFree(endpoint, this.live.values(), this.behaviour());
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
    if (moved) checkUrlIsFree(after, this.live.values(), this.behaviour());
    this.live.set(before.id, after);
    return after;
  }

  /** As `update`, by somebody who is bound by no rule; what follows from a URL follows unless it is given. */
  overwrite(id: string, change: Partial<WireEndpoint>): WireEndpoint {
    const derived = change.url === undefined ? {} : this.derived(addressOf(change.url));
    const after = withoutEmpty({ ...this.get(id), ...derived, updated_at: this.time(), ...change, id });
    this.live.set(id, after);
    return after;
  }

  insert(endpoint: WireEndpoint): WireEndpoint {
    const created = Date.parse(endpoint.created_at ?? this.time());
    this.live.set(endpoint.id, endpoint);
    this.places.set(endpoint.id, { created, sequence: this.places.size });
    return endpoint;
  }

  delete(id: string): boolean {
    return this.live.delete(id);
  }

  /** Live endpoints, newest first; with `before`, those that are older. `undefined` for an id that never was. */
  newestFirst(before?: string): WireEndpoint[] | undefined {
    const start = before === undefined ? undefined : this.places.get(before);
    if (before !== undefined && !start) return undefined;
    return [...this.live.values()]
      .map((endpoint) => ({ endpoint, place: this.places.get(endpoint.id) ?? { created: 0, sequence: 0 } }))
      .filter(({ place }) => !start || newerFirst(start, place) < 0)
      .sort((one, other) => newerFirst(one.place, other.place))
      .map(({ endpoint }) => endpoint);
  }

  /** A whole cloud endpoint; texts that are empty are left out. */
  cloud(address: Address, fields: WireChange, principal = this.owner): WireEndpoint {
    const id = `ep_${base62()}`;
    const { description, metadata, traffic_policy, pooling_enabled = false } = fields;
    return withoutEmpty({
      id,
      type: "cloud",
      uri: `${this.baseUrl}/endpoints/${id}`,
      ...this.derived(address),
      bindings: this.bindingsFor(address, fields.bindings),
      pooling_enabled,
      created_at: this.time(),
      updated_at: this.time(),
      principal: this.behaviour().principals ? { id: principal, uri: "" } : undefined,
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

  /** RFC 3339 in UTC, in whole seconds as the service shows it. */
  time(): string {
    return this.now()
      .toISOString()
      .replace(/\.\d+Z$/, "Z");
  }
}

function newerFirst(one: Place, other: Place): number {
  return other.created - one.created || other.sequence - one.sequence;
}

/** A field without a value is not sent, neither as `null` nor as `""`. */
function withoutEmpty(endpoint: WireEndpoint): WireEndpoint {
  const given = Object.entries(endpoint).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given) as WireEndpoint;
}
